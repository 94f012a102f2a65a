// ArenaMap: the arena as a picture; calls to the right, addresses upward.

class ArenaMap extends Picture {
  constructor(app, plan) {
    super(app, plan, 'map', {tabindex: 0, role: 'application', 'aria-label':
      `Map of the arena: ${plan.model.unit}s to the right, addresses upward. ` +
      `Left and right: ${plan.model.unit}s. Up and down: blocks. Enter: pin.`,
      'aria-describedby': 'said'});
  }

  scale() {
    const {view} = this.app;
    return this.scaled(view.a0, view.a1, 2, 0);
  }

  blockAt(px, py) {
    const s = this.scale();
    const t = s.time(px);
    const a = s.byte(py);
    const {first, last, low, bytes, clock} = this.model;
    const there = this.model.blocks(i => clock[first[i]] <= t &&
      t < clock[last[i] + 1] && low[i] <= a && a < low[i] + bytes[i]);
    return px < LEFT || !there.length ? -1 : there[0];
  }

  /** The edges of a block in device pixels. */
  edges(s, i) {
    const m = this.model;
    return [s.atCall(m.first[i]), s.atByte(m.low[i] + m.bytes[i]),
      s.atCall(m.last[i] + 1), s.atByte(m.low[i])];
  }

  /** The middle of a block in CSS pixels. */
  centre(i) {
    const [x0, y0, x1, y1] = this.edges(this.scale(), i);
    return [(x0 + x1) / 2 / this.ratio, (y0 + y1) / 2 / this.ratio];
  }

  paint(s) {
    const {app, raster, low: {width}} = this;
    const {group, colour} = app.colours(this.plan);
    const {first, last, low, bytes, kind, clock, count} = this.model;
    const specks = this.specks = this.specks || new Float64Array(5 * count);
    let more = 0;
    for (let i = 0; i < count; ++i) {
      const x0 = s.left + (clock[first[i]] - s.t0) * s.x;
      const x1 = s.left + (clock[last[i] + 1] - s.t0) * s.x;
      if (x1 <= s.left || x0 >= width) continue;
      const y1 = s.bottom - (low[i] - s.from) * s.y;
      const y0 = y1 - bytes[i] * s.y;
      if (y1 <= 0 || y0 >= s.bottom) continue;
      const l = Math.max(s.left, x0 + 0.5) | 0;
      const r = Math.min(width, x1 + 0.5) | 0;
      const t = Math.max(0, y0 + 0.5) | 0;
      const b = Math.min(s.bottom, y1 + 0.5) | 0;
      const dim = app.lit >= 0 && group[i] !== app.lit;
      const paint = app.paints[colour[i] + (dim ? 10 : 0)];
      if (r > l && b > t) raster.rect(l, t, r, b, paint, kind[i]);
      else {
        specks[more++] = Math.max(s.left, x0);
        specks[more++] = y0;
        specks[more++] = x1;
        specks[more++] = y1;
        specks[more++] = paint.ink;
      }
    }
    for (let k = 0; k < more; k += 5) {
      raster.speck(specks[k], specks[k + 1], specks[k + 2], specks[k + 3],
                   specks[k + 4]);
    }
  }

  axis(context, s) {
    super.axis(context, s);
    context.fillStyle = this.app.inks.empty;
    context.fillRect(s.left, 0, this.low.width - s.left, s.bottom);
  }

  /** Where each space begins, if there are several. */
  label(context, s) {
    const {bases} = this.model;
    for (let k = 0; bases.length > 1 && k < bases.length; ++k) {
      const y = Math.round(s.atByte(bases[k]));
      this.text(context, `space ${k}`, this.low.width - 4 * this.ratio, y - 2,
                'ink', 'right');
      context.fillRect(s.left, y, this.low.width - s.left, 1);
    }
  }

  /** The block pointed at, too; a pinned one dims the rest, has its readers. */
  drawHigh() {
    super.drawHigh();
    const {app, ratio, model: m} = this;
    if (!app.shown || app.shown.plan !== this.plan) return;
    const context = pen(this.high);
    const s = this.scale();
    const parts = m.parts(app.shown.block).map(i => {
      const [x0, y0, x1, y1] = this.edges(s, i);
      return [x0, y0, Math.max(2, x1 - x0), Math.max(2, y1 - y0)];
    });
    context.save();
    context.beginPath();
    context.rect(s.left, 0, this.high.width - s.left, s.bottom);
    context.clip();
    if (app.pin) {
      context.globalAlpha = 0.62;
      context.fillStyle = app.inks.card;
      context.fillRect(s.left, 0, this.high.width, s.bottom);
      for (const part of parts) context.clearRect(...part);
      context.globalAlpha = 1;
      this.readers(context, s, app.shown.block);
    }
    context.lineWidth = 2 * ratio;
    context.strokeStyle = app.inks.ink;
    for (const part of parts) context.strokeRect(...part);
    context.restore();
  }

  readers(context, s, i) {
    const {app, ratio, model: m} = this;
    const y = s.atByte(m.low[i] + m.bytes[i] / 2);
    context.strokeStyle = context.fillStyle = app.inks.ink;
    context.lineWidth = 1.5 * ratio;
    for (const call of m.readers(i).slice(0, 500)) {
      const x = s.middle(call);
      context.beginPath();
      context.moveTo(s.middle(m.first[i]), y);
      context.lineTo(x, y);
      context.lineTo(x, y + 9 * ratio);
      context.stroke();
      context.beginPath();
      context.arc(x, y, 3 * ratio, 0, 7);
      context.fill();
    }
  }
}

/** Pointer, wheel and keys over the map of a plan. */
function handle(app, plan) {
  const canvas = plan.map.high;
  const on = (name, act, how) => canvas.addEventListener(name, act, how);
  let drag = null;
  const zoom = (from, to, at, by, low, high) => {
    const span = within((to - from) * by, low, high);
    const share = (at - from) / (to - from);
    const start = within(at - share * span, 0, high - span);
    return [start, start + span];
  };
  const over = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  on('wheel', event => {
    event.preventDefault();
    const [px, py] = over(event);
    const s = plan.map.scale();
    const v = app.view;
    const by = Math.exp((event.deltaY || event.deltaX) * 0.002);
    if (event.shiftKey) {
      [v.a0, v.a1] = zoom(v.a0, v.a1, s.byte(py), by, 256, app.high);
    } else {
      [v.t0, v.t1] = zoom(v.t0, v.t1, s.time(px), by, 2 * app.span / app.calls,
                          app.span);
    }
    app.redraw();
  }, {passive: false});
  on('pointerdown', event => {
    drag = {from: over(event), view: {...app.view}, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  on('pointermove', event => {
    const [px, py] = over(event);
    if (!drag) {
      app.point(plan, plan.map.blockAt(px, py));
      return;
    }
    const dx = px - drag.from[0];
    const dy = py - drag.from[1];
    if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
    if (drag.moved) app.pan(plan, drag.view, dx, dy);
  });
  on('pointerup', event => {
    const [px, py] = over(event);
    if (drag && !drag.moved) {
      app.turnTo(plan);
      app.call = plan.model.callAt(plan.map.scale().time(px));
      app.pinBlock(plan, plan.map.blockAt(px, py));
    }
    drag = null;
  });
  on('pointerleave', () => app.point(plan, -1));
  on('keydown', event => app.press(plan, event));
}
