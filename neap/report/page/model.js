// Model: a snapshot in typed arrays, and what follows from its blocks alone.

function sumOf(list) {
  return list.reduce((x, y) => x + y, 0);
}

/** The least k below `n` for which `holds`, as from there on; else `n`. */
function least(n, holds) {
  let from = 0;
  let to = n;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Groups of blocks; a colour is of a category, else of a rank. */
function splitOf(name, names, group) {
  const ink = name === 'change' ? CHANGE_COLOURS : names.map((text, k) =>
    (name === 'category' ? (CATEGORIES.indexOf(text) + 10) % 10 :
      Math.min(k, 9)));
  return {names, group, ink, colour: group.map(g => ink[g])};
}

class Model {
  constructor(raw) {
    this.raw = raw;
    this.title = raw.title;
    this.texts = raw.texts;
    this.sums = raw.sums;
    this.lent = Math.max(0, raw.sums.lent || 0);
    this.held = raw.sums.reserved - this.lent;
    this.most = Math.max(this.held, raw.sums.held_at_most || 0);
    this.eager = Boolean(raw.eager);
    this.unit = this.eager ? 'event' : 'call';
    this.calls = raw.calls.op.length;
    this.count = raw.blocks.first.length;
    const b = raw.blocks;
    this.first = Int32Array.from(b.first);
    this.last = Int32Array.from(b.last);
    this.bytes = Float64Array.from(b.bytes);
    this.kind = Uint8Array.from(b.kind);
    this.split = {};
    this.stackSpaces(b);
    this.sumCalls(b);
    this.setClock(false);
    this.joinParts(b);
  }

  /** Places of blocks on one axis: each space lies on top of the one before. */
  stackSpaces(b) {
    const ends = [];
    for (let i = 0; i < this.count; ++i) {
      const end = b.offset[i] + b.bytes[i];
      ends[b.space[i]] = Math.max(ends[b.space[i]] || 0, end);
    }
    this.bases = [];
    let base = 0;
    for (let space = 0; space < ends.length; ++space) {
      this.bases.push(base);
      base += ends[space] || 0;
    }
    this.arena = base;
    this.low = Float64Array.from(b.offset, (n, i) =>
      n + this.bases[b.space[i]]);
  }

  /** When each call begins: counted, or in microseconds. */
  setClock(timed) {
    const {ns} = this.raw.calls;
    this.timed = ns && ns.some(n => n > 0);
    this.clock = new Float64Array(this.calls + 1);
    for (let c = 0; c < this.calls; ++c) {
      this.clock[c + 1] = this.clock[c] +
        (timed && this.timed ? Math.max(1, ns[c]) / 1000 : 1);
    }
  }

  callAt(time) {
    return least(this.calls, c => this.clock[c + 1] > time);
  }

  /** A value may lie in pages apart: its first part stands for all. */
  joinParts({value}) {
    const seen = new Map();
    this.sizes = new Float64Array(this.count);
    this.head = this.first.map((call, i) => {
      // A call has at most one workspace; blocks of events are whole.
      const other = this.eager ? `${i}` : -1 - call;
      const key = value[i] < 0 ? other : value[i];
      if (!seen.has(key)) seen.set(key, i);
      this.sizes[seen.get(key)] += this.bytes[i];
      return seen.get(key);
    });
  }

  /** The blocks with which `holds`, in their order. */
  blocks(holds) {
    const list = [];
    for (let i = 0; i < this.count; ++i) if (holds(i)) list.push(i);
    return list;
  }

  /** All parts of the value of a block. */
  parts(i) { return this.blocks(k => this.head[k] === this.head[i]); }

  isHead(i) { return this.head[i] === i; }

  whole(i) { return this.sizes[this.head[i]]; }

  sumCalls(b) {
    this.live = this.between(i => this.bytes[i]);
    this.used = this.between(i => b.used[i]);
    this.peak = this.live.reduce((x, y) => Math.max(x, y), 0);
    this.peakCall = this.live.indexOf(this.peak);
  }

  /** For each call the sum of `amount` over the blocks that live there. */
  between(amount) {
    const sums = new Float64Array(this.calls + 1);
    for (let i = 0; i < this.count; ++i) {
      const n = amount(i);
      sums[this.first[i]] += n;
      sums[this.last[i] + 1] -= n;
    }
    for (let c = 1; c <= this.calls; ++c) sums[c] += sums[c - 1];
    return sums;
  }

  isLive(i, call) { return this.first[i] <= call && call <= this.last[i]; }

  liveAt(call) {
    return this.blocks(i => this.isLive(i, call))
      .sort((x, y) => this.low[x] - this.low[y]);
  }

  /** Rows that add up to what is reserved, at a call. */
  rows(call) {
    const live = this.live[call];
    const used = this.used[call];
    const s = this.sums;
    return [['blocks, their own bytes', used], ['rounding', live - used],
      ['gaps between blocks', s.arena - live], ['stays', s.stays],
      ['program and plan', s.program], ['idle', s.idle],
      ['overhead', s.overhead]];
  }

  /** What does not add up: sentences, none where all is well. */
  faults() {
    const s = this.sums;
    const out = [];
    const same = (what, here, said) => {
      if (here !== said) {
        out.push(`${what}: the rows give ${both(here)}, the sums say ${
          both(said)}.`);
      }
    };
    same('Peak of the blocks', this.peak, s.live_at_peak);
    if (this.calls) {
      same('Peak without rounding', this.used[this.peakCall], s.used_at_peak);
      if (this.peakCall !== s.peak_call) {
        out.push(`The peak is at call ${this.peakCall}, not ${s.peak_call}.`);
      }
    }
    if (this.peak > s.arena) out.push('More is live than the arena holds.');
    // An arena of pages ends at the end of its last one.
    const slack = s.arena - this.arena;
    if (!this.eager && slack !== 0 &&
        !(s.arena % 4096 === 0 && slack > 0 && slack < 4096)) {
      same('Arena', this.arena, s.arena);
    }
    same('Stays', sumOf(this.raw.stays.bytes), s.stays);
    same('Reserved', sumOf(this.rows(this.peakCall).map(row => row[1])),
         s.reserved);
    return out;
  }

  /** Groups by `name`, the largest at the peak first. */
  groups(name) {
    if (this.split[name]) return this.split[name];
    const b = this.raw.blocks;
    const {op} = this.raw.calls;
    const text = name === 'op' ? Array.from(this.first, c => op[c]) : b[name];
    const weights = new Map();
    for (let i = 0; i < this.count; ++i) {
      const w = weights.get(text[i]) || {peak: 0, sum: 0};
      weights.set(text[i], w);
      w.sum += this.bytes[i] * (1 + this.last[i] - this.first[i]);
      if (this.isLive(i, this.peakCall)) w.peak += this.bytes[i];
    }
    const ranked = [...weights].sort(([, x], [, y]) =>
      y.peak - x.peak || y.sum - x.sum);
    ranked.forEach(([, w], at) => w.rank = at);
    return this.split[name] = splitOf(name,
      ranked.map(([t]) => this.texts[t] || `(no ${name})`),
      Int32Array.from(text, t => weights.get(t).rank));
  }

  call(c) {
    const {layer, again} = this.raw.calls;
    const owner = this.texts[layer[c]];
    return this.short(c) + (again[c] ? ' (again)' : '') +
      (owner ? `, ${owner}` : '');
  }

  short(c) {
    const {op, phase} = this.raw.calls;
    return `${this.unit} ${c} ${this.texts[op[c]]}${
      phase[c] ? ` of the ${PHASES[phase[c]]}` : ''}`;
  }

  /** "25 M flops, 4.1 MiB moved, 0.8 ms": what is known of a call. */
  cost(c) {
    const {flops, moved, ns, share} = this.raw.calls;
    const some = (list, text) => (list && list[c] > 0 ? [text(list[c])] : []);
    return [...some(flops, work),
      ...some(moved, n => `${brief(n)} moved`),
      ...some(ns, n => `${(n / 1e6).toFixed(n < 1e6 ? 3 : 1)}\u00a0ms`),
      ...some(share, n => `${n / 10}\u00a0% of the machine's limit (${
        work(this.sums.flops_a_second)}/s, ${
        brief(this.sums.bytes_a_second)}/s)`)]
      .join(', ');
  }

  /** "matmul f32 [8, 128]". */
  label(i) {
    const {dtype, shape} = this.raw.blocks;
    const op = this.texts[this.raw.calls.op[this.first[i]]];
    const name = this.kind[i] === 1 ? `workspace of ${op}` : op;
    return [name, this.texts[dtype[i]], this.texts[shape[i]]]
      .filter(Boolean).join(' ');
  }

  /** Values that took over the memory of that of a block. */
  heirs(block) {
    const {over} = this.raw.blocks;
    return this.blocks(i => this.isHead(i) && over[i] >= 0 &&
      this.head[over[i]] === this.head[block]);
  }

  /** The calls that read the value of a block. */
  readers(block) {
    const {reads} = this.raw;
    const from = i => least(reads.block.length, k => reads.block[k] >= i);
    const calls = this.parts(block)
      .flatMap(i => reads.call.slice(from(i), from(i + 1)));
    return [...new Set(calls)].sort((x, y) => x - y);
  }

  /** The peak of the step were the value of `block` not there. */
  without(block) {
    const bytes = this.whole(block);
    let most = 0;
    for (let c = 0; c < this.calls; ++c) {
      most = Math.max(most,
        this.live[c] - (this.isLive(block, c) ? bytes : 0));
    }
    return most;
  }

  /** What a budget leaves to blocks, without idle pages; null: none is set. */
  room() {
    const s = this.sums;
    if (s.budget < 0 || this.lent) return null;
    return s.budget - s.external - (s.reserved - s.arena - s.idle);
  }

  /** Runs of one phase: [phase, whether again, first call, end]. */
  phases() {
    if (this.runs) return this.runs;
    const runs = this.runs = [];
    const {phase, again} = this.raw.calls;
    for (let c = 0; c < this.calls; ++c) {
      const run = runs[runs.length - 1];
      if (run && run[0] === phase[c] && run[1] === again[c]) run[3] = c + 1;
      else runs.push([phase[c], again[c], c, c + 1]);
    }
    return runs;
  }
}
