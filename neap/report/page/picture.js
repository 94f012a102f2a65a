// Raster: pixels written by hand, so that a hundred thousand blocks take no
// more time than the pixels that they cover. Picture: two canvases, of which
// the upper one has what follows the pointer, and the axes of both pictures.

// Room for the numbers of the axis, in CSS pixels.
const LEFT = 72;
// A picture that takes more milliseconds is not drawn in a gesture.
const SLOW = 8;

/** "#rrggbb" as a pixel: bytes of a canvas are red, green, blue, opacity. */
function pixel(ink) {
  const n = parseInt(ink.slice(1), 16);
  return (n & 255) << 16 | n & 0xff00 | n >> 16 | 0xff000000;
}

/** A pixel between `a` and `b`, red and blue at once. */
function mix(a, b, share) {
  const k = 256 * share | 0;
  const part = mask => (a & mask) + (((b & mask) - (a & mask)) * k >> 8) & mask;
  return part(0xff00ff) | part(0xff00) | 0xff000000;
}

/** What a block of one colour is painted with, mixed into a ground. */
function paintOf(ink, line, ground, share) {
  const here = mix(ground, ink, share);
  return {ink: here, line: mix(here, line, 0.72 * share),
    edge: mix(here, 0, 0.22 * share)};
}

/** Workspace leans right, recomputed left, fetched is dotted. */
function isLine(kind, x, y, size) {
  if (kind === 3) {
    return Math.hypot(x % size - size / 2, y % size - size / 2) < size / 4;
  }
  return ((kind === 1 ? x + y : x - y) % size + size) % size < size / 4;
}

class Raster {
  constructor(canvas) {
    this.canvas = canvas;
    this.image = new ImageData(canvas.width, canvas.height);
    this.data = new Int32Array(this.image.data.buffer);
    this.size = Math.round(8 * (devicePixelRatio || 1));
  }

  rect(left, top, right, bottom, {ink, line, edge}, kind = 0) {
    const {data, size} = this;
    const {width} = this.canvas;
    const edged = edge !== undefined && right - left > 3 && bottom - top > 5;
    for (let y = top, row = top * width; y < bottom; ++y, row += width) {
      const colour = edged && y === top ? edge : ink;
      // A call costs more than a few pixels.
      if (right - left > 24) data.fill(colour, row + left, row + right);
      else for (let x = left; x < right; ++x) data[row + x] = colour;
      for (let x = left; kind && x < right; ++x) {
        if (isLine(kind, x, y, size)) data[row + x] = line;
      }
      if (edged) data[row + left] = edge;
    }
  }

  /** What no pixel holds: its area goes to the pixels that it touches. */
  speck(left, top, right, bottom, ink) {
    const {data} = this;
    const {width, height} = this.canvas;
    const from = Math.max(0, top | 0);
    const end = Math.min(height, Math.ceil(bottom));
    for (let x = left | 0; x < right && x < width; ++x) {
      const wide = Math.min(right, x + 1) - Math.max(left, x);
      for (let y = from, at = from * width + x; y < end; ++y, at += width) {
        const tall = Math.min(bottom, y + 1) - Math.max(top, y);
        const area = 255 * wide * tall;
        const old = data[at];
        const cover = old >>> 24;
        const more = cover ? Math.min(255, cover + Math.max(1, area)) :
          Math.max(10, area);
        data[at] = cover === 255 ? mix(old, ink, area / 255) :
          more << 24 | (cover ? old : ink) & 0xffffff;
      }
    }
  }

  show() {
    pen(this.canvas).putImageData(this.image, 0, 0);
    this.data.fill(0);
  }
}

class Picture {
  constructor(app, plan, kind, about) {
    Object.assign(this, {app, plan, model: plan.model, look: ''});
    this.low = make('canvas', kind === 'areas' ? about : {});
    this.high = make('canvas',
      kind === 'areas' ? {'aria-hidden': 'true'} : about);
    this.box = box(`plot ${kind}`, this.low, this.high);
  }

  /** Both canvases as large as their box, in device pixels. */
  resize() {
    const {box, low, high} = this;
    this.ratio = devicePixelRatio || 1;
    this.look = '';
    this.slow = 0;
    const pixels = size => Math.max(1, Math.round(size * this.ratio));
    low.width = high.width = pixels(box.clientWidth);
    low.height = high.height = pixels(box.clientHeight);
    this.raster = new Raster(low);
  }

  /** Places in device pixels; bytes `from` to `to` are above `foot`. */
  scaled(from, to, foot, roof) {
    const {view} = this.app;
    const {clock} = this.model;
    const left = Math.round(LEFT * this.ratio);
    const top = Math.round(roof * this.ratio);
    const bottom = this.low.height - Math.round(foot * this.ratio);
    const x = (this.low.width - left) / (view.t1 - view.t0);
    const y = (bottom - top) / (to - from);
    const atTime = t => left + (t - view.t0) * x;
    return {left, top, bottom, x, y, from, to, t0: view.t0,
      atCall: c => atTime(clock[c]),
      middle: c => atTime((clock[c] + clock[c + 1]) / 2),
      atByte: a => bottom - (a - from) * y,
      time: px => view.t0 + (px * this.ratio - left) / x,
      byte: py => from + (bottom - py * this.ratio) / y};
  }

  text(context, text, x, y, ink, align, baseline = 'bottom') {
    context.font = `${11 * this.ratio}px system-ui, sans-serif`;
    context.fillStyle = this.app.inks[ink];
    context.textAlign = align;
    context.textBaseline = baseline;
    // The peak's name lies over the areas.
    if (ink === 'peak') {
      context.lineWidth = 4 * this.ratio;
      context.strokeStyle = this.app.inks.card;
      context.strokeText(text, x, y);
    }
    context.fillText(text, x, y);
  }

  /** Draws the picture where it is not what is seen already. */
  draw() {
    const {app} = this;
    const {t0, t1, a0, a1} = app.view;
    const style = [app.split, app.lit, app.theme].join();
    const look = [t0, t1, a0, a1, style].join();
    if (look === this.look) return;
    const s = this.scale();
    const start = performance.now();
    const context = pen(this.low);
    if (this.slow > 2 && style === this.style) {
      this.move(context, s);
    } else {
      this.paint(s);
      this.raster.show();
      this.slow = performance.now() - start > SLOW ? this.slow + 1 : 0;
      if (this.slow > 2) this.keep(s);
    }
    this.look = look;
    this.style = style;
    context.globalCompositeOperation = 'destination-over';
    this.axis(context, s);
    context.globalCompositeOperation = 'source-over';
    this.label(context, s);
  }

  keep(s) {
    const {width, height} = this.low;
    this.still = make('canvas', {width, height});
    pen(this.still).drawImage(this.low, 0, 0);
    this.stood = s;
  }

  /** A slow picture follows a gesture as it was, until that rests. */
  move(context, s) {
    const {still, stood, low: {width, height}} = this;
    const wide = width - s.left;
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(s.left, 0, wide, height);
    context.clip();
    context.drawImage(still, s.left, 0, wide, height,
      s.left + (stood.t0 - s.t0) * s.x, s.atByte(stood.byte(0)),
      wide * s.x / stood.x, height * s.y / stood.y);
    context.restore();
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.slow = 2;
      this.look = '';
      this.app.redraw();
    }, 80);
  }

  /** Numbers and hairlines of the axis of bytes. */
  axis(context, s) {
    const {ratio} = this;
    let step = 1;
    while ((s.to - s.from) / step > 5) step *= 2;
    for (let a = Math.ceil(s.from / step) * step; a <= s.to; a += step) {
      const y = Math.round(s.atByte(a));
      const room = 6 * ratio;
      this.text(context, brief(a), s.left - 8 * ratio,
        Math.min(Math.max(y, room), this.low.height - room), 'soft', 'right',
        'middle');
      context.fillStyle = this.app.inks.faint;
      context.fillRect(s.left, y, this.low.width - s.left, Math.max(1, ratio));
    }
  }

  /** The call that the panel is about, as a band. */
  drawHigh() {
    const {app, model, high, ratio} = this;
    const context = pen(high);
    const s = this.scale();
    context.clearRect(0, 0, high.width, high.height);
    const call = app.at(this.plan);
    const x0 = s.atCall(call);
    const x1 = s.atCall(call + 1);
    if (!(x1 >= s.left && x0 <= high.width)) return;
    const fill = (from, wide, share) => {
      const x = Math.max(s.left, Math.round(from));
      context.globalAlpha = share;
      context.fillRect(x, 0, wide, s.bottom);
    };
    context.fillStyle = app.inks[call === model.peakCall ? 'peak' : 'ink'];
    const thin = Math.max(1, ratio);
    if (x1 - x0 < 6 * ratio) {
      fill((x0 + x1 - ratio) / 2, thin, 0.85);
    } else {
      fill(x0, thin, 0.85);
      fill(x1 - ratio, thin, 0.85);
      fill(x0, x1 - Math.max(s.left, x0), 0.06);
    }
    context.globalAlpha = 1;
  }
}
