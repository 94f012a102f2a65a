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

/** What the first part of each value has, for all parts of it. */
function spread({head}, list) { return list.map((_, i) => list[head[i]]); }

/** For each block of A its own in B, or -1: the same one made by the call. */
function matchBlocks(a, b, calls) {
  const made = (model, callOf) => {
    const {value} = model.raw.blocks;
    const list = model.blocks(i => model.isHead(i)).sort((x, y) =>
      model.first[x] - model.first[y] || value[x] - value[y] || x - y);
    const keys = numbered(list.map(i =>
      `${callOf(model.first[i])},${model.kind[i]}`));
    return keys.map((key, at) => [key, list[at]]);
  };
  const ofB = new Map(made(b, call => call));
  const out = new Int32Array(a.count).fill(-1);
  for (const [key, i] of made(a, call => calls[call])) {
    if (ofB.has(key)) out[i] = ofB.get(key);
  }
  return spread(a, out);
}

/** Rows [name, in A, in B, difference] of what is added, largest first. */
function changes(each) {
  const rows = new Map();
  each((name, k, bytes) => {
    const row = rows.get(name) || [name, 0, 0, 0];
    row[k + 1] += bytes;
    row[3] += k ? bytes : -bytes;
    rows.set(name, row);
  });
  return [...rows.values()].sort((x, y) =>
    Math.abs(y[3]) - Math.abs(x[3]) || y[1] - x[1]);
}

class Diff {
  constructor(a, b) {
    this.a = a;
    this.b = b;
    this.calls = matchCalls(a, b);
    this.back = new Int32Array(b.calls).fill(-1);
    this.calls.forEach((other, c) => {
      if (other >= 0) this.back[other] = c;
    });
    this.toB = matchBlocks(a, b, this.calls);
    const toA = new Int32Array(b.count).fill(-1);
    const stateA = new Int32Array(a.count).fill(4);
    const stateB = new Int32Array(b.count).fill(5);
    this.toB.forEach((other, i) => {
      if (other < 0 || !a.isHead(i)) return;
      let state = 0;
      if (a.whole(i) !== b.whole(other)) state = 2;
      else if (this.calls[a.last[i]] !== b.last[other]) state = 3;
      else if (a.low[i] !== b.low[other]) state = 1;
      stateA[i] = stateB[other] = state;
      toA[other] = i;
    });
    this.toA = spread(b, toA);
    this.stateA = spread(a, stateA);
    this.stateB = spread(b, stateB);
    for (const name of SPLITS) this.join(name);
    a.split.change = splitOf('change', CHANGES, this.stateA);
    b.split.change = splitOf('change', CHANGES, this.stateB);
  }

  /** The call of `to` that is beside call `c` of the other, and why. */
  beside(to, c) {
    const [from, calls] = to === this.b ? [this.calls, this.a.calls] :
      [this.back, this.b.calls];
    let k = c;
    while (k >= 0 && from[k] < 0) --k;
    if (k < 0) return [Math.floor(c / calls * to.calls) || 0,
      'at the same share of all'];
    return [from[k], k === c ? 'the same op and layer' :
      `beside ${k}, the last before that both have`];
  }

  /** What is compared with call `c` of a plan. */
  compared({model}, c) {
    const [name, to] = model === this.a ? ['B', this.b] : ['A', this.a];
    const [call, why] = this.beside(to, c);
    return to.calls ? `${name}: ${to.call(call)} (${why})` : '';
  }

  /** The same group and colour for the same name in both plans. */
  join(name) {
    const one = this.a.groups(name);
    const two = this.b.groups(name);
    const names = [...new Set([...one.names, ...two.names])];
    const place = new Map(names.map((text, at) => [text, at]));
    for (const [model, own] of [[this.a, one], [this.b, two]]) {
      model.split[name] = splitOf(name, names,
        own.group.map(g => place.get(own.names[g])));
    }
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

  /** Changes from A's peak to B's, by group: they add up to the peaks. */
  change(name) {
    return changes(add => [this.a, this.b].forEach((model, k) => {
      const {names, group} = model.groups(name);
      for (const i of model.liveAt(model.peakCall)) {
        add(names[group[i]], k, model.bytes[i]);
      }
    }));
  }

  /** The like for what stays, by layer. */
  stays() {
    return changes(add => [this.a, this.b].forEach((model, k) => {
      for (const [name, row] of staysOf(model).rows) add(name, k, sumOf(row));
    }));
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
      return card(title, byteTable(null, [name, 'A', 'B', 'change'], shown,
        [last, ...this.total(rows)], (n, at) =>
          (n ? (at > 2 && n > 0 ? '+' : '') + exact(n) : '\u2013')));
    };
    return [sum.addsUp ? '' : make('p', {class: 'wrong'},
      'The changes do not add up to the difference of the peaks.'),
      table('Change of the peak by category', [...sum.parts, ...this.rest()],
            'category', 'reserved'),
      table('Change of the peak by layer', sum.layers, 'layer',
            'live at the peak'),
      table('Change of what stays by layer', this.stays(), 'layer', 'stays'),
      card('Blocks of A and of B', byteTable(null,
        ['blocks', 'in A', 'bytes', 'in B', 'bytes'], sum.states, null,
        (n, at) => (n ? (at % 2 ? grouped : exact)(n) : '\u2013')))];
  }
}
