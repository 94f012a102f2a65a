// Below: the tables under the pictures, the strip of steps, and the legend.

/** The values of the call as a table, each with a button that pins it. */
function blockTable(app, plan) {
  const m = plan.model;
  const list = m.liveAt(app.call).filter(i => m.isHead(i))
    .map(i => [i, m.whole(i)]).sort((x, y) => y[1] - x[1]);
  const b = m.raw.blocks;
  const rows = list.slice(0, 100).map(([i, bytes]) => [
    make('button', {onclick: () => app.pinBlock(plan, i)}, m.label(i)),
    m.texts[b.layer[i]], m.texts[b.category[i]], bytes]);
  return byteTable(app.mark(plan) + (list.length > 100 ?
    `the 100 largest of ${list.length}` : `${list.length} values`),
    ['block', 'layer', 'category', 'bytes'], rows);
}

/** What stays: names of categories, and a row of their sums for each layer. */
function staysOf(model) {
  const {owner, category, bytes} = model.raw.stays;
  const texts = list => list.map(t => model.texts[t]);
  // Owners of these are parameters of a layer, named by their last part.
  const owned = ['parameters', 'buffers', 'optimizer state'];
  const below = new Set(texts(owner.filter((_, k) =>
    owned.includes(model.texts[category[k]]))));
  const layers = texts(owner).map(name => (below.has(name) &&
    name.slice(0, Math.max(0, name.lastIndexOf('.')))) || name || '(no layer)');
  const sums = new Map();
  texts(category).forEach((name, k) =>
    sums.set(name, (sums.get(name) || 0) + bytes[k]));
  const names = [...sums.keys()].sort((x, y) => sums.get(y) - sums.get(x));
  const rows = new Map();
  bytes.forEach((n, k) => {
    const row = rows.get(layers[k]) || names.map(() => 0);
    row[names.indexOf(model.texts[category[k]])] += n;
    rows.set(layers[k], row);
  });
  return {names, rows, last: names.map(name => sums.get(name))};
}

function staysTable(model) {
  const {names, rows, last} = staysOf(model);
  const line = (name, row) => [name, sumOf(row), ...row];
  return byteTable(null, ['layer', 'in all', ...names],
    [...rows].map(row => line(...row)).sort((x, y) => y[1] - x[1]),
    line('in all', last), n => (n ? brief(n) : '\u2013'));
}

/** A chain of holders: its first line, the others under it, set in. */
function chainOf(text) {
  const [head, ...rest] = text.split('\n').filter(Boolean);
  return make('details', {open: ''}, make('summary', {}, head),
    ...rest.map(line => make('p', {style: {
      paddingLeft: `${4 + line.search(/\S|$/)}ch`}}, line.trim())));
}

/** A strip of steps: bars for what was live, a line for what was held. */
function stepsStrip(app, {raw: {steps: {live, held, peak}}, sums}) {
  const mostOf = list => list.reduce((x, y) => Math.max(x, y), 1);
  const bars = live.map((n, k) => Math.max(n, peak ? peak[k] : 0));
  const most = mostOf(held.concat(bars));
  const budget = sums.budget - sums.external;
  const near = budget > 0 && budget < 2 * most;
  const y = bytes => 148 - 146 * bytes / (near ? Math.max(most, budget) : most);
  const canvas = make('canvas', {role: 'img', width: 900, height: 150,
    'aria-label': `${bars.length} steps, at most ${both(mostOf(bars))} live.`});
  const draw = () => {
    const context = pen(canvas);
    const rect = (ink, ...where) => {
      context.fillStyle = ink;
      context.fillRect(...where);
    };
    const wide = canvas.width / bars.length;
    context.clearRect(0, 0, 900, 150);
    bars.forEach((n, k) => {
      rect(COLOURS[0], k * wide, y(n) + 2, Math.max(1, wide - 1), 150);
      rect(app.inks.ink, k * wide, y(held[k]), wide, 2);
    });
    for (let x = 0; near && x < 900; x += 18) {
      rect(app.inks.budget, x, y(budget), 10, 2);
    }
  };
  return {draw, node: make('div', {}, canvas, calm(`Bars: ${
    peak ? 'most live bytes of a step' : 'live bytes after a step'
  }. Line: bytes held.${near ? ' Dashes: what the budget leaves.' : ''}`))};
}

/** The cards under the pictures. */
function below(app) {
  const under = box('under');
  if (app.diff) under.append(...app.diff.nodes());
  app.listed = make('div', {});
  for (const plan of app.plans) {
    const {stays, refusals, leaks, steps} = plan.model.raw;
    const more = (list, title, ...nodes) => {
      if (list && list.length) {
        under.append(card(app.mark(plan) + title, ...nodes));
      }
    };
    more(refusals, 'Refusals',
         ...(refusals || []).map(text => make('p', {}, text)));
    more(leaks, 'Leaks', ...(leaks || []).map(chainOf));
    if (plan === app.plans[0]) {
      if (!app.diff) {
        more(stays.bytes, 'What stays, by layer', staysTable(plan.model));
      }
      under.append(card(`Blocks at this ${app.unit}`, app.listed));
    }
    if (steps && steps.live && steps.live.length) {
      const strip = stepsStrip(app, plan.model);
      app.strips.push(strip);
      more(steps.live, 'Steps', strip.node);
    }
  }
  return under;
}

/** A small piece of what a paint looks like. */
function swatch(paint, kind) {
  const canvas = make('canvas', {class: 'swatch', width: 12, height: 12});
  const raster = new Raster(canvas);
  raster.rect(0, 0, 12, 12, paint, kind);
  raster.show();
  return canvas;
}

/** The legend: colours of blocks, signs of hatching, the strip of calls. */
function legendOf(app) {
  const item = (name, paint, kind = 0) =>
    make('li', {}, swatch(paint, kind), name);
  const {names, ink} = app.colours(app.plans[0]);
  const few = names.length > 10 ? 9 : 10;
  const list = names.slice(0, few).map((n, k) => item(n, app.paints[ink[k]]));
  if (names.length > few) {
    list.push(item(`${names.length - few} others`, app.paints[9]));
  }
  const has = (part, name, k) =>
    app.plans.some(({model}) => model.raw[part][name].includes(k));
  const signs = [1, 2, 3].flatMap(k =>
    (has('blocks', 'kind', k) ? [item(KINDS[k], app.paints[9], k)] : []));
  const strip = PHASES.flatMap((name, k) =>
    (has('calls', 'phase', k) ? [item(name, app.tones[k])] : []));
  if (has('calls', 'again', 1)) strip.push(item('again', app.tones[1], 2));
  const rows = [['Hatched:', signs]];
  if (app.unit === 'call') rows.push(['Calls:', strip]);
  return [list, rows.flatMap(([name, items]) =>
    (items.length ? [make('li', {}, name), ...items] : []))];
}
