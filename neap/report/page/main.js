// The page: its state, what the hands do, and when to draw.

const DARK = matchMedia('(prefers-color-scheme: dark)');

class App {
  constructor(models) {
    this.plans = models.map((model, k) => ({model, name: 'AB'[k]}));
    this.diff = models.length > 1 ? new Diff(...models) : null;
    this.split = 'category';
    this.lit = -1;
    this.pin = this.shown = null;
    [this.active] = this.plans;
    this.strips = [];
    this.call = models[0].peakCall;
    const most = of => Math.max(1, ...models.map(of));
    this.calls = most(m => m.calls);
    this.unit = models[0].unit;
    this.high = most(m => Math.max(m.arena, m.sums.arena));
    this.top = most(m => m.peak) * 1.08;
    const room = most(m => m.room() || 0);
    if (room > this.top && room < 1.8 * this.top) this.top = room * 1.08;
    this.setClock(false);
    for (const plan of this.plans) {
      plan.map = new ArenaMap(this, plan);
      plan.areas = new Areas(this, plan);
    }
    this.pictures = this.plans.flatMap(({areas, map}) => [areas, map]);
  }

  /** The call of a plan: the active one's, or that beside it. */
  at({model}) {
    return model === this.active.model ? this.call :
      this.diff.beside(model, this.call)[0];
  }

  turnTo(plan) {
    this.call = this.at(plan);
    this.active = plan;
  }

  mark(plan) { return this.diff ? `${plan.name}: ` : ''; }
  colours(plan) { return plan.model.groups(this.split); }
  whole() { this.view = {t0: 0, t1: this.span, a0: 0, a1: this.high}; }

  /** Time counts calls, or microseconds. */
  setClock(timed) {
    this.timed = timed;
    this.span = 1;
    for (const {model} of this.plans) {
      model.setClock(timed);
      this.span = Math.max(this.span, model.clock[model.calls]);
    }
    this.whole();
  }

  dress() {
    // A sheet of paper is light.
    this.theme = (this.sheet ? 'light' : this.chosen) ||
      (DARK.matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = this.theme;
    this.inks = {};
    for (const name of ['ink', 'soft', 'faint', 'accent', 'peak', 'budget',
      'empty', 'card', 'phase0', 'phase1', 'phase2']) {
      this.inks[name] = colourOf(`--${name}`);
    }
    const [ground, card, soft] =
      ['empty', 'card', 'soft'].map(name => pixel(this.inks[name]));
    // Paints of blocks, those of blocks that are not lit, those of phases.
    this.paints = [1, 0.16].flatMap(share => COLOURS.map(ink =>
      paintOf(pixel(ink), 0xffffffff, ground, share)));
    this.tones = PHASES.map((_, k) =>
      ({ink: pixel(this.inks[`phase${k}`]), line: mix(card, soft, 0.8)}));
    for (const strip of this.strips) strip.draw();
  }

  build(root) {
    const names = this.diff ? [...SPLITS, 'change'] : SPLITS;
    this.choices = names.map(name => make('button', {
      onclick: () => this.splitBy(name)}, name));
    const theme = make('button', {title: 'Key: d', onclick: () =>
      this.toggle()}, 'dark / light');
    this.plans.forEach((plan, k) =>
      root.append(...headOf(plan.model, k ? '' : theme, this.mark(plan))));
    this.instant = plain();
    this.about = plain();
    this.legends = [1, 2].map(() => make('ul', {class: 'legend'}));
    this.slider = make('input', {type: 'range', 'aria-label': this.unit,
      oninput: () => this.go(Number(this.slider.value))});
    this.spoken = make('output', {});
    this.said = make('div', {id: 'said', class: 'tip', 'aria-live': 'polite'});
    this.time = make('button', {title: 'Microseconds', onclick: () => {
      this.setClock(!this.timed);
      this.tell();
    }}, 'time');
    const main = plain(box('bar',
      make('h2', {}, `Bytes over the ${this.unit}s, by`),
      make('div', {class: 'choice', role: 'group'}, ...this.choices),
      this.plans.every(plan => plan.model.timed) ? this.time : '',
      make('button', {title: 'Key: p', onclick: () => this.toPeak()}, 'peak'),
      make('button', {title: 'Key: 0', onclick: () => this.reset()}, 'whole')));
    for (const plan of this.plans) {
      if (this.diff) {
        main.append(make('h2', {}, this.mark(plan) + plan.model.title));
      }
      main.append(plan.areas.box, plan.map.box);
    }
    main.append(box('slide', this.slider, this.spoken),
      ...this.legends, make('p', {class: 'keys'}, 'Wheel: zoom the ' +
      `${this.unit}s. Shift and wheel: zoom the addresses. Drag: move. Arrows: ` +
      `next ${this.unit}, next block. Enter or click: pin. Esc: let go. ` +
      'p: peak. 0: whole.'), this.said);
    root.append(box(this.diff ? 'bench two' : 'bench', main,
      make('div', {}, this.instant, this.about)), below(this));
  }

  /** Panels anew: the call, the grouping or the block has changed. */
  tell() {
    const plan = this.active;
    const {model} = plan;
    this.slider.max = Math.max(0, model.calls - 1);
    this.slider.value = this.call;
    this.spoken.textContent = model.calls ?
      this.mark(plan) + model.call(this.call) : '';
    this.instant.replaceChildren(...instantPanel(this, plan));
    this.tellBlock();
    this.listed.replaceChildren(blockTable(this, plan));
    this.choices.forEach(button => button.setAttribute('aria-pressed',
      String(button.textContent === this.split)));
    this.time.setAttribute('aria-pressed', String(this.timed));
    legendOf(this).forEach((list, k) =>
      this.legends[k].replaceChildren(...list));
  }

  tellBlock() {
    this.about.replaceChildren(...blockPanel(this, this.shown));
    this.redraw();
  }

  splitBy(name) {
    this.split = name;
    this.lit = -1;
    this.tell();
  }

  light(group) {
    this.lit = this.lit === group ? -1 : group;
    this.tell();
  }

  go(call) {
    this.call = within(call, 0, Math.max(0, this.active.model.calls - 1));
    this.tell();
  }

  point(plan, block) {
    if (this.pin) return;
    const same = this.shown ? this.shown.block === block &&
      this.shown.plan === plan : block < 0;
    if (same) return;
    this.shown = block < 0 ? null : {plan, block};
    this.tellBlock();
  }

  pinBlock(plan, block) {
    const again = this.pin && this.pin.block === block;
    this.shown = block < 0 ? null : {plan, block};
    this.pin = again ? null : this.shown;
    this.turnTo(plan);
    if (this.shown) {
      const {model} = plan;
      this.call = within(this.call, model.first[block], model.last[block]);
      this.said.textContent = `${model.label(block)}. ${factsOf(model, block)
        .map(fact => fact.join(': ')).join('. ')}`;
    }
    this.tell();
  }

  toPeak() { this.go(this.active.model.peakCall); }

  /** The view moved by a drag of so many CSS pixels. */
  pan(plan, from, dx, dy) {
    const {x, y} = plan.map.scale();
    const wide = from.t1 - from.t0;
    const tall = from.a1 - from.a0;
    const {ratio} = plan.map;
    this.view.t0 = within(from.t0 - dx * ratio / x, 0, this.span - wide);
    this.view.a0 = within(from.a0 + dy * ratio / y, 0, this.high - tall);
    this.view.t1 = this.view.t0 + wide;
    this.view.a1 = this.view.a0 + tall;
    this.redraw();
  }

  /** The call stays in sight. */
  follow({clock}) {
    const wide = this.view.t1 - this.view.t0;
    const [from, to] = [clock[this.call], clock[this.call + 1]];
    if (!(from < this.view.t0 || to > this.view.t1)) return;
    this.view.t0 = within((from + to - wide) / 2, 0, this.span - wide);
    this.view.t1 = this.view.t0 + wide;
  }

  press(plan, event) {
    const jump = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20,
      Home: -this.calls, End: this.calls}[event.key];
    const walk = {ArrowUp: 1, ArrowDown: -1}[event.key];
    this.turnTo(plan);
    if (jump) {
      this.go(this.call + jump);
      this.follow(plan.model);
    } else if (walk) {
      this.walk(plan, walk);
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (this.shown) this.pinBlock(plan, this.shown.block);
    } else if (event.key === 'Escape') {
      this.pinBlock(plan, -1);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** To the next block of the call by address. */
  walk(plan, by) {
    const list = plan.model.liveAt(this.call);
    if (!list.length) return;
    const at = this.shown ? list.indexOf(this.shown.block) : -1;
    const next = at < 0 ? (by > 0 ? 0 : list.length - 1) :
      (at + by + list.length) % list.length;
    this.pin = null;
    this.shown = {plan, block: list[next]};
    this.said.textContent = plan.model.label(list[next]) + ', ' +
      both(plan.model.bytes[list[next]]);
    this.tell();
  }

  reset() {
    this.whole();
    this.redraw();
  }

  /** To a theme; undefined: what the system has. */
  turn(theme) {
    this.chosen = theme;
    this.dress();
    this.tell();
    this.frame();
  }

  toggle() { this.turn(this.theme === 'dark' ? 'light' : 'dark'); }

  resize() {
    for (const picture of this.pictures) picture.resize();
    this.dress();
    this.frame();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.frame();
    });
  }

  frame() {
    for (const picture of this.pictures) {
      picture.draw();
      picture.drawHigh();
    }
  }
}

(async () => {
  const root = document.getElementById('app');
  try {
    const raws = [await readSnapshot('snapshot'), await readSnapshot('other')];
    if (!raws[0]) fail('This page has no data: write it again.');
    const app = new App(raws.filter(Boolean).map(raw => new Model(raw)));
    document.documentElement.classList.add('scripted');
    document.getElementById('tables').open = false;
    document.title = app.plans[0].model.title || document.title;
    app.dress();
    app.build(root);
    app.plans.forEach(plan => handle(app, plan));
    document.addEventListener('keydown', event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'p') app.toPeak();
      if (event.key === '0') app.reset();
      if (event.key === 'd') app.toggle();
    });
    app.resize();
    app.tell();
    new ResizeObserver(() => app.resize()).observe(app.plans[0].map.box);
    DARK.addEventListener('change', () => app.turn(app.chosen));
    for (const event of ['beforeprint', 'afterprint']) {
      addEventListener(event, () => {
        app.sheet = event === 'beforeprint';
        app.turn(app.chosen);
      });
    }
    window.neapPage = {app};
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    root.replaceChildren(make('p', {class: 'wrong', role: 'alert'},
                              error.message));
    window.neapPage = {error: error.message};
  }
})();
