// Areas: the sum of live bytes over the calls, stacked by group, and under it a
// strip of the calls by their phases.

class Areas extends Picture {
  constructor(app, plan) {
    const m = plan.model;
    super(app, plan, 'areas', {role: 'img', 'aria-label':
      `Live bytes over ${m.calls} ${m.unit}s; the peak is ${
        both(m.peak)} at ${m.unit} ${m.peakCall}.`});
    this.sums = {};
  }

  scale() {
    return this.scaled(0, this.app.top, 22, 14);
  }

  /** Live bytes of each colour at each call. */
  series() {
    const name = this.app.split;
    if (!this.sums[name]) {
      const {colour} = this.app.colours(this.plan);
      const m = this.model;
      this.sums[name] = Array.from({length: 10}, (_, k) =>
        m.between(i => (colour[i] === k ? m.bytes[i] : 0)));
    }
    return this.sums[name];
  }

  /** A column of pixels takes the call in it at which most is live. */
  paint(s) {
    const {app, raster, low: {width}} = this;
    const {live, calls, clock} = this.model;
    const series = this.series();
    const inks = app.paints.map(({ink}) => ({ink}));
    const picked = [];
    let c = this.model.callAt(s.t0);
    for (let x = s.left + 1; x <= width && calls; ++x) {
      const end = s.t0 + (x - s.left) / s.x;
      let most = c;
      while (c + 1 < calls && clock[c + 1] < end) {
        ++c;
        if (live[c] > live[most]) most = c;
      }
      if (end - 1 / s.x >= clock[calls]) break;
      picked.push(most);
    }
    for (let k = 0, end = 1; k < picked.length; k = end++) {
      while (picked[end] === picked[k]) ++end;
      let sum = 0;
      let low = s.bottom;
      series.forEach((of, colour) => {
        sum += of[picked[k]];
        const high = Math.round(s.atByte(sum));
        if (high < low) {
          raster.rect(s.left + k, high, s.left + end, low, inks[colour]);
        }
        low = high;
      });
    }
    const strip = Math.round(s.bottom + 5 * this.ratio);
    for (const [phase, again, from, to] of this.model.phases()) {
      const x = Math.max(s.left, Math.round(s.atCall(from)));
      const right = Math.min(width, Math.round(s.atCall(to)));
      if (right > x) {
        raster.rect(x, strip, right, this.low.height, app.tones[phase],
                    again ? 2 : 0);
      }
    }
  }

  /** Names of the phases where there is room; the budget; the peak. */
  label(context, s) {
    const {app, ratio, model: m} = this;
    const {width, height} = this.low;
    for (const [phase, again, from, to] of m.phases()) {
      const x = Math.max(s.left, s.atCall(from)) + 5 * ratio;
      const room = Math.min(width, s.atCall(to)) - x;
      const name = m.eager ? 'events' : PHASES[phase];
      if (!again && room > 9 * name.length * ratio) {
        this.text(context, name, x, height - 2 * ratio, 'ink', 'left');
      }
    }
    const budget = m.room();
    if (budget !== null && budget >= 0) {
      const above = budget > app.top;
      const y = above ? 15 * ratio : Math.round(s.atByte(budget));
      this.text(context, `budget leaves ${brief(budget)}${
        above ? ', above this scale' : ''}`, width - 4 * ratio, y - 2 * ratio,
        'budget', 'right');
      for (let x = s.left; x < width && !above; x += 9 * ratio) {
        context.fillRect(x, y, 5 * ratio, Math.max(1, 1.5 * ratio));
      }
    }
    const x = s.middle(m.peakCall);
    if (!(x >= s.left && x <= width)) return;
    const y = Math.round(s.atByte(m.peak));
    const right = x > width * 0.7;
    this.text(context, `peak ${brief(m.peak)}`, x + (right ? -8 : 8) * ratio, y,
      'peak', right ? 'right' : 'left');
    context.fillRect(Math.round(x - ratio / 2), y, Math.max(1, ratio),
                     s.bottom - y);
    context.beginPath();
    context.arc(x, y, 3.5 * ratio, 0, 7);
    context.fill();
  }
}
