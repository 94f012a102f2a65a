// Diff: two plans; which calls and blocks of one are those of the other, and
// how the peak differs. An ordinal makes each call's key the only one of its
// kind in its plan, so that the longest common subsequence is a longest
// increasing one: n log n time, linear memory.

const CHANGES = ['in both', 'moved', 'resized', 'there for longer or shorter',
  'only A', 'only B'];
const CHANGE_COLOURS = [9, 4, 1, 7, 5, 2];

/** The k-th of equal keys gets a k at its end, so that all differ. */
function numbered(keys) {
  const seen = new Map();
  return keys.map(key => {
    seen.set(key, (seen.get(key) || 0) + 1);
    return `${key} ${seen.get(key)}`;
  });
}

/** Pairs of calls that are each other's, for A: a call of B, or -1. */
function matchCalls(a, b) {
  const keys = ({texts, raw: {calls: {op, layer, phase, again}}}) =>
    numbered(Array.from(op, (_, c) => JSON.stringify(
      [texts[op[c]], texts[layer[c]], phase[c], again[c]])));
  const places = new Map(keys(b).map((key, c) => [key, c]));
  const partner = keys(a).map(key =>
    (places.has(key) ? places.get(key) : -1));
  // Calls of A that end the runs of each length.
  const tails = [];
  const before = new Int32Array(partner.length).fill(-1);
  partner.forEach((other, c) => {
    if (other < 0) return;
    const at = least(tails.length, k => partner[tails[k]] >= other);
    if (at > 0) before[c] = tails[at - 1];
    tails[at] = c;
  });
  const matched = new Int32Array(partner.length).fill(-1);
  for (let c = tails.length ? tails[tails.length - 1] : -1; c >= 0;
    c = before[c]) {
    matched[c] = partner[c];
  }
  return matched;
}

/** For each block of A its own in B, or -1: the same one made by the call. */
function matchBlocks(a, b, calls) {
  const made = (model, callOf) => {
    const {value} = model.raw.blocks;
    const list = model.heads(Array.from(model.first.keys())).sort((x, y) =>
      model.first[x] - model.first[y] || value[x] - value[y] || x - y);
    const keys = numbered(list.map(i =>
      `${callOf(model.first[i])},${model.kind[i]}`));
    return keys.map((key, at) => [key, list[at]]);
  };
  const ofB = new Map(made(b, call => call));
  const out = new Int32Array(a.count).fill(-1);
  for (const [key, i] of made(a, call => calls[call])) {
    const other = ofB.get(key);
    if (other === undefined) continue;
    for (const part of a.parts(i)) out[part] = other;
  }
  return out;
}

class Diff {
  constructor(a, b) {
    this.a = a;
    this.b = b;
    this.calls = matchCalls(a, b);
    this.toB = matchBlocks(a, b, this.calls);
    this.toA = new Int32Array(b.count).fill(-1);
    this.stateA = new Int32Array(a.count).fill(4);
    this.stateB = new Int32Array(b.count).fill(5);
    this.toB.forEach((other, i) => {
      if (other < 0) return;
      let state = 0;
      if (a.whole(i) !== b.whole(other)) state = 2;
      else if (this.calls[a.last[i]] !== b.last[other]) state = 3;
      else if (a.low[a.parts(i)[0]] !== b.low[other]) state = 1;
      this.stateA[i] = state;
      for (const part of b.parts(other)) {
        this.toA[part] = i;
        this.stateB[part] = state;
      }
    });
    for (const name of SPLITS) this.join(name);
    this.paint(a, this.stateA);
    this.paint(b, this.stateB);
  }

  /** The same group and colour for the same name in both plans. */
  join(name) {
    const one = this.a.groups(name);
    const two = this.b.groups(name);
    const names = [...new Set([...one.names, ...two.names])];
    const place = new Map(names.map((text, at) => [text, at]));
    const few = names.length <= 10 ? 10 : 9;
    for (const [model, own] of [[this.a, one], [this.b, two]]) {
      const group = own.group.map(g => place.get(own.names[g]));
      const colour = group.map(g => (g < few ? g : 9));
      model.split[name] = {names, group, colour, few};
    }
  }

  paint(model, state) {
    model.split.change = {names: CHANGES, group: state, few: 6,
      colour: state.map(s => CHANGE_COLOURS[s])};
  }

  story(plan, i) {
    const isA = plan.model === this.a;
    const state = (isA ? this.stateA : this.stateB)[i];
    const other = (isA ? this.toB : this.toA)[i];
    if (other < 0) return CHANGES[state];
    const [model, name] = isA ? [this.b, 'B'] : [this.a, 'A'];
    return `${CHANGES[state]}; in ${name} ${both(model.bytes[other])} at ${
      exact(model.raw.blocks.offset[other])}`;
  }

  /** How many blocks have each state, and their bytes in A and in B. */
  states() {
    const rows = CHANGES.map(name => [name, 0, 0, 0, 0]);
    const count = (model, state, at) => state.forEach((s, i) => {
      ++rows[s][at];
      rows[s][at + 1] += model.bytes[i];
    });
    count(this.a, this.stateA, 1);
    count(this.b, this.stateB, 3);
    return rows;
  }

  /** [name, at A's peak, at B's, difference]: these add up to the peaks. */
  change(name) {
    const rows = new Map();
    const add = (model, at) => {
      const {names, group} = model.groups(name);
      for (const i of model.calls ? model.liveAt(model.peakCall) : []) {
        const row = rows.get(group[i]) || [names[group[i]], 0, 0, 0];
        row[at] += model.bytes[i];
        row[3] += at === 1 ? -model.bytes[i] : model.bytes[i];
        rows.set(group[i], row);
      }
    };
    add(this.a, 1);
    add(this.b, 2);
    return [...rows.values()].sort((x, y) => Math.abs(y[3]) - Math.abs(x[3]) ||
                                   y[1] - x[1]);
  }

  /** The like for what stays, by layer. */
  stays() {
    const sums = new Map();
    [this.a, this.b].forEach((model, k) => {
      for (const [name, row] of staysOf(model).rows) {
        const both = sums.get(name) || [0, 0];
        both[k] += sumOf(row);
        sums.set(name, both);
      }
    });
    return [...sums].map(([name, [a, b]]) => [name, a, b, b - a])
      .sort((x, y) => Math.abs(y[3]) - Math.abs(x[3]) || y[1] - x[1]);
  }

  /** What else differs between what is reserved at the two peaks. */
  rest() {
    const one = this.a.rows(this.a.peakCall).slice(2);
    const two = this.b.rows(this.b.peakCall).slice(2);
    return one.map(([name, n], k) => [name, n, two[k][1], two[k][1] - n]);
  }

  total(rows) {
    return [1, 2, 3].map(at => sumOf(rows.map(row => row[at])));
  }

  summary() {
    const parts = this.change('category');
    const layers = this.change('layer');
    const rows = [...parts, ...this.rest()];
    const difference = this.b.peak - this.a.peak;
    const reserved = this.b.sums.reserved - this.a.sums.reserved;
    return {states: this.states(), parts, layers, difference, reserved,
      addsUp: this.total(parts)[2] === difference &&
        this.total(layers)[2] === difference &&
        this.total(rows)[2] === reserved,
      empty: this.states().slice(1).every(row => row[1] + row[3] === 0) &&
        rows.every(row => row[3] === 0)};
  }

  nodes() {
    const sum = this.summary();
    const table = (title, rows, name, last) => {
      const shown = rows.slice(0, 60);
      const more = rows.slice(60);
      if (more.length) shown.push([`${more.length} more`, ...this.total(more)]);
      return make('section', {class: 'card'}, make('h2', {}, title),
        byteTable(null, [name, 'A', 'B', 'change'], shown,
                  [last, ...this.total(rows)], (n, at) =>
                    (n ? (at > 2 && n > 0 ? '+' : '') + exact(n) : '\u2013')));
    };
    const states = byteTable(null, ['blocks', 'in A', 'bytes', 'in B', 'bytes'],
      sum.states, null, (n, at) =>
        (n ? (at % 2 ? grouped : exact)(n) : '\u2013'));
    const nodes = [];
    if (!sum.addsUp) {
      nodes.push(make('p', {class: 'wrong'},
        'The changes do not add up to the difference of the peaks.'));
    }
    return [...nodes,
      table('Change of the peak by category', [...sum.parts, ...this.rest()],
            'category', 'reserved'),
      table('Change of the peak by layer', sum.layers, 'layer',
            'live at the peak'),
      table('Change of what stays by layer', this.stays(), 'layer', 'stays'),
      make('section', {class: 'card'}, make('h2', {}, 'Blocks of A and of B'),
        states)];
  }
}
