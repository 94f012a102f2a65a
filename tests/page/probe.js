// What the tests ask a page, evaluated in it.
'use strict';

/** Pairs of blocks that would share memory: a sweep over the calls. */
function overlaps(m) {
  const starts = Int32Array.from(m.first.keys())
    .sort((x, y) => m.first[x] - m.first[y]);
  const ends = Int32Array.from(m.last.keys())
    .sort((x, y) => m.last[x] - m.last[y]);
  // What lives at a call of the sweep, by address.
  const there = [];
  const seat = low =>
    least(there.length, k => m.low[there[k]] >= low);
  const pairs = [];
  let gone = 0;
  for (const i of starts) {
    if (m.bytes[i] === 0) continue;
    for (; m.last[ends[gone]] < m.first[i]; ++gone) {
      const at = seat(m.low[ends[gone]]);
      if (there[at] === ends[gone]) there.splice(at, 1);
    }
    const at = seat(m.low[i]);
    const under = there[at - 1];
    const above = there[at];
    if (at > 0 && m.low[under] + m.bytes[under] > m.low[i]) {
      pairs.push([under, i]);
    } else if (at < there.length &&
               m.low[i] + m.bytes[i] > m.low[above]) {
      pairs.push([i, above]);
    } else {
      there.splice(at, 0, i);
    }
  }
  return pairs;
}

/** Milliseconds of frames, and of their scripts, in a gesture of `n` frames. */
async function frameTimes(app, n) {
  const out = {frame: [], script: []};
  let before = await new Promise(requestAnimationFrame);
  for (let k = 0; k < n; ++k) {
    const wide = app.span * (0.5 + 0.3 * Math.sin(k / 20));
    app.view.t0 = (app.span - wide) * (k / n);
    app.view.t1 = app.view.t0 + wide;
    const start = performance.now();
    app.frame();
    out.script.push(performance.now() - start);
    const now = await new Promise(requestAnimationFrame);
    out.frame.push(now - before);
    before = now;
  }
  app.reset();
  return out;
}

function probeOf(app) {
  const {model, map} = app.plans[0];
  return {
    app, peak: () => model.peak, peakCall: () => model.peakCall,
    arena: () => model.arena, liveAt: c => model.liveAt(c),
    overlaps: () => overlaps(model).length, faults: () => model.faults(),
    blockAt: (x, y) => map.blockAt(x, y), centre: i => map.centre(i),
    diff: () => app.diff && app.diff.summary(),
    state: () => ({call: app.call, pin: app.pin && app.pin.block,
      shown: app.shown && app.shown.block}),
    frameTimes: n => frameTimes(app, n),
  };
}
