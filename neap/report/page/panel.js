// Panels: the head, what lives at an instant, the block pointed at, and the
// tables below the pictures.

/** A table of texts, numbers of bytes at the right of each row. */
function byteTable(caption, heads, rows, last, print = both) {
  const cell = (value, at) => {
    const number = typeof value === 'number';
    return make(at ? 'td' : 'th', {class: number ? 'n' : null,
      scope: at ? null : 'row',
      title: number && print === brief ? exact(value) : null},
      number ? print(value, at) : value);
  };
  const line = (row, kind) => make('tr', {class: kind}, ...row.map(cell));
  const body = rows.map(row => line(row, null));
  if (last) body.push(line(last, 'sum'));
  return make('table', {}, caption ? make('caption', {}, caption) : null,
    make('thead', {}, make('tr', {}, ...heads.map((head, at) =>
      make('th', {scope: 'col', class: rows.length &&
        typeof rows[0][at] === 'number' ? 'n' : null}, head)))),
    make('tbody', {}, ...body));
}

/** The one sentence of the head; `wrong` where something does not add up. */
function truth(model) {
  const s = model.sums;
  const faults = model.faults();
  if (faults.length) {
    return [`This does not add up. ${faults.join(' ')}`, true];
  }
  const spare = s.budget - s.external - model.most;
  // Nobody knows how many pages were idle when most was held.
  const short = -spare - (s.held_at_most >= 0 ? 0 : s.idle);
  const out = [s.budget < 0 ?
    'All that is reserved is accounted for, to the byte.' : spare >= 0 ?
      `It fits, with ${both(spare)} of the budget to spare.` : short <= 0 ?
        `It fits: of the idle pages, ${both(-spare)} are given back.` :
        `It does not fit: it needs ${both(short)} more than the budget.`];
  if (s.predicted >= 0 && s.predicted !== s.reserved) {
    const off = s.reserved - s.predicted;
    out.push(`${both(Math.abs(off))} ${off > 0 ? 'more' : 'less'} ` +
      'than was predicted.');
  }
  return [out.join(' '), s.budget >= 0 && spare < 0 && short > 0];
}

function headOf(model, buttons, letter) {
  const s = model.sums;
  const [sentence, wrong] = truth(model);
  const sum = (name, bytes, note) => make('div', {},
    make('dt', {}, name),
    make('dd', {}, brief(bytes), make('small', {}, exact(bytes)),
      note ? make('small', {}, note) : ''));
  const rare = (name, bytes, note) => (bytes > 0 ? sum(name, bytes, note) : '');
  let bound = s.lower_bound ? `lower bound ${brief(s.lower_bound)}` : '';
  if (bound && s.lower_bound === s.arena) {
    bound = s.proven ? 'the least there is (proven)' : 'equals its lower bound';
  }
  const list = make('dl', {class: 'sums'},
    sum('Reserved', s.reserved,
      s.predicted === s.reserved ? 'as predicted' : ''),
    sum('Arena', s.arena, bound),
    sum('Live at the peak', s.live_at_peak,
      model.calls ? model.short(model.peakCall) : ''),
    sum('Stays', s.stays),
    sum('Program, idle, overhead', s.program + s.idle + s.overhead),
    rare('Held at most', model.most > model.held ? model.most : 0,
      'in the whole run'), rare('Lent by the caller, of it', model.lent),
    rare('Budget', s.budget), rare('Arguments, beside', s.arguments),
    rare('External, beside', s.external));
  return [make('header', {class: 'top'},
    make('div', {}, make('h1', {}, letter + (model.title || 'Memory of a step')),
      make('p', {class: wrong ? 'truth wrong' : 'truth', role: 'status'},
        sentence)), buttons), list];
}

/** What lives at the call of `app`, by group, and the rows that add up. */
function instantPanel(app, plan) {
  const m = plan.model;
  const {names, group, colour} = app.colours(plan);
  const sums = new Map();
  const blocks = m.liveAt(app.call);
  for (const i of blocks) {
    const sum = sums.get(group[i]) || {bytes: 0, count: 0, colour: colour[i]};
    sum.bytes += m.bytes[i];
    ++sum.count;
    sums.set(group[i], sum);
  }
  const rows = [...sums].sort((x, y) => y[1].bytes - x[1].bytes);
  const most = rows.length ? rows[0][1].bytes : 1;
  const body = make('tbody', {}, ...rows.slice(0, 400).map(([id, sum]) =>
    groupRow(app, names[id], id, sum, most)));
  const left = rows.slice(400).map(row => row[1].bytes);
  if (left.length) {
    body.append(make('tr', {}, make('th', {}, `and ${left.length} more`),
      make('td', {class: 'n'}, brief(sumOf(left)))));
  }
  const parts = m.rows(app.call);
  const peak = app.call === m.peakCall ? ' \u2014 the peak' : '';
  return [
    box('name', app.mark(plan) + (m.calls ?
      m.call(app.call) + peak : `no ${m.unit}`)),
    calm(m.cost(app.call)), calm(app.diff && app.diff.compared(plan, app.call)),
    calm(`${blocks.length} blocks, ${both(m.live[app.call])}`),
    make('div', {class: 'groups', tabindex: 0, role: 'region',
      'aria-label': `Groups at this ${m.unit}`}, make('table', {}, body)),
    byteTable(null, ['What is reserved', ''], parts,
              ['reserved', sumOf(parts.map(row => row[1]))])];
}

function groupRow(app, name, id, sum, most) {
  const background = COLOURS[sum.colour];
  const width = `${Math.max(2, 100 * sum.bytes / most)}%`;
  return make('tr', {class: app.lit === id ? 'lit' : null,
    onclick: () => app.light(id), title: `${sum.count} blocks, ${exact(sum.bytes)}`},
    make('th', {scope: 'row'}, make('span', {class: 'swatch', style: {background}}),
      make('button', {'aria-pressed': String(app.lit === id)}, name)),
    make('td', {class: 'share'}, make('i', {style: {background, width}})),
    make('td', {class: 'n'}, brief(sum.bytes)));
}

/** Pairs of a name and a text about the value of a block. */
function factsOf(model, i) {
  const b = model.raw.blocks;
  const t = id => model.texts[id] || '\u2013';
  const parts = model.parts(i);
  const bytes = model.whole(i);
  const used = sumOf(parts.map(k => b.used[k]));
  const readers = model.readers(i);
  const {phase} = model.raw.calls;
  const some = (list, text, mark) => list.slice(0, 12).map(text).join(mark) +
    (list.length > 12 ? ` and ${list.length - 12} more` : '');
  const named = calls => some(calls, c => model.short(c), ', ');
  const first = model.first[i];
  const end = readers[readers.length - 1];
  const cost = model.cost(first);
  const facts = [['bytes', both(bytes) +
    (parts.length > 1 ? `, in ${parts.length} parts` : '')]];
  if (used !== bytes) {
    facts.push(['its own', `${exact(used)}, the rest is rounding`]);
  }
  facts.push([model.kind[i] === 3 ? 'fetched for' : 'made by',
    model.short(first) + (cost && `: ${cost}`)],
    end === undefined ? ['there until', model.short(model.last[i])] :
      ['last read by', model.short(end)]);
  if (readers.length > 1) facts.push(['read by', named(readers)]);
  const kept = readers.filter(c => phase[c] === 1);
  if (kept.length && phase[first] === 0) {
    facts.push(['kept for', named(kept)]);
  }
  facts.push(['category', t(b.category[i])], ['layer', t(b.layer[i])],
    ['line', t(b.line[i])], ['kind', KINDS[model.kind[i]]],
    ['offset', some(parts, k => exact(b.offset[k]), ', ') +
      (model.bases.length > 1 ? ` in space ${b.space[i]}` : '')]);
  if (b.value[i] >= 0) facts.push(['value', String(b.value[i])]);
  if (b.over[i] >= 0) {
    facts.push(['took over', `the memory of ${model.label(b.over[i])}`]);
  }
  const heirs = model.heirs(i);
  if (heirs.length) {
    facts.push(['handed to', heirs.map(h => model.label(h)).join(', ')]);
  }
  const without = model.without(i);
  facts.push(['without it', without === model.peak ?
    'the peak stays as it is' :
    `the peak would be ${both(without)}, ${brief(model.peak - without)} less`]);
  return facts;
}

function blockPanel(app, shown) {
  if (!shown) {
    return [calm('Point at a block of the map, or walk to one with the arrow ' +
      'keys, to see what it is.')];
  }
  const {model} = shown.plan;
  const list = make('dl', {class: 'facts'});
  if (app.diff) {
    list.append(make('dt', {}, 'between A and B'),
      make('dd', {}, app.diff.story(shown.plan, shown.block)));
  }
  for (const [name, text] of factsOf(model, shown.block)) {
    list.append(make('dt', {}, name), make('dd', {}, text));
  }
  return [box('name', app.mark(shown.plan) +
    model.label(shown.block)), list];
}
