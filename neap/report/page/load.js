'use strict';
// The data block of the page, checked; texts, elements, the hand on a map.

const COLOURS = ['#2f7fc1', '#e8a33d', '#2aa583', '#cf7fae', '#6cbcea',
  '#d9662b', '#d6c545', '#7a63b8', '#8c6d4f', '#8b949e'];
const PHASES = ['forward', 'backward', 'update'];
const KINDS = ['value', 'workspace', 'recomputed', 'fetched'];
// Each has the colour at its place, on every page.
const CATEGORIES = ['activations', 'gradients', 'workspace', 'parameters',
  'optimizer state', 'buffers', 'inputs', 'graph', 'data', 'other'];
const SPLITS = ['category', 'layer', 'op', 'line'];

class Damage extends Error {}

function fail(sentence) {
  throw new Damage(sentence);
}

async function inflate(text) {
  const bytes = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

/** The snapshot in the element `id`; null where there is no such element. */
async function readSnapshot(id) {
  const block = document.getElementById(id);
  if (!block) return null;
  let raw;
  try {
    let text = block.textContent;
    if (block.dataset.encoding === 'gzip-base64') text = await inflate(text);
    raw = JSON.parse(text);
  } catch (error) {
    fail('The data of this page is damaged or cut short: write it again.');
  }
  checkSnapshot(raw);
  return raw;
}

const COLUMNS = {
  calls: {op: 't', layer: 't', line: 't', phase: 3, again: 2, ns: 'o',
    flops: 'o', moved: 'o', share: 'o'},
  blocks: {first: 'c', last: 'c', space: 256, kind: 4, offset: 'n',
    bytes: 'n', used: 'n', category: 't', dtype: 't', shape: 't',
    layer: 't', line: 't', value: 'o', over: 'b'},
  reads: {block: 'r', call: 'c'},
  stays: {owner: 't', category: 't', bytes: 'n'},
};
const OPTIONAL = ['ns', 'flops', 'moved', 'share'];
const SUMS = ['reserved', 'predicted', 'arena', 'stays', 'program', 'idle',
  'overhead', 'arguments', 'external', 'budget', 'lower_bound', 'peak_call',
  'live_at_peak', 'used_at_peak'];

function checkSnapshot(raw) {
  const damaged = what =>
    fail(`The data of this page is damaged: ${what}. Write it again.`);
  if (raw === null || typeof raw !== 'object' || !('neapmem' in raw)) {
    damaged('it is not a snapshot');
  }
  if (raw.neapmem !== 1) {
    fail(`This page reads snapshots of version 1, and its data has version ${
      String(raw.neapmem).slice(0, 20)}: write the page anew.`);
  }
  const isTexts = list => Array.isArray(list) &&
    list.every(text => typeof text === 'string');
  if (typeof raw.title !== 'string') damaged('it has no title');
  if (!isTexts(raw.texts)) damaged('its table of texts is missing');
  for (const name of SUMS) {
    if (!Number.isSafeInteger((raw.sums || {})[name])) {
      damaged(`the sum '${name}' is missing`);
    }
  }
  for (const part of Object.keys(COLUMNS)) {
    let length = -1;
    for (const [name, rule] of Object.entries(COLUMNS[part])) {
      const column = (raw[part] || {})[name];
      if (column === undefined && OPTIONAL.includes(name)) continue;
      if (!Array.isArray(column)) damaged(`${part}.${name} is missing`);
      if (length >= 0 && column.length !== length) {
        damaged(`the columns of ${part} differ in length`);
      }
      length = column.length;
      checkColumn(raw, column, rule, () =>
        damaged(`${part}.${name} has an impossible number`));
    }
  }
  const {first, last} = raw.blocks;
  if (first.some((call, i) => call > last[i])) {
    damaged('a block ends before it begins');
  }
  for (const name of ['refusals', 'leaks']) {
    if (!isTexts(raw[name] || [])) damaged(`${name} are not texts`);
  }
}

function checkColumn(raw, column, rule, damaged) {
  const few = rule === 'o' || rule === 'b' ? -1 : 0;
  const blocks = raw.blocks.first.length;
  const limit = {t: raw.texts.length, c: raw.calls.op.length, b: blocks,
    r: blocks, o: 2 ** 53, n: 2 ** 53}[rule] ?? rule;
  for (const n of column) {
    if (!Number.isSafeInteger(n) || n < few || n >= limit) damaged();
  }
}

function within(n, low, high) { return Math.min(high, Math.max(low, n)); }

/** "14 051 328 B", with spaces that do not break. */
function exact(bytes) {
  return grouped(bytes) + '\u00a0B';
}

function grouped(number) {
  const digits = String(Math.abs(number));
  return (number < 0 ? '\u2212' : '') +
    digits.replace(/\B(?=(\d{3})+$)/g, '\u00a0');
}

/** A number in units that are `step` times one another. */
function inUnits(number, step, units) {
  let size = Math.abs(number);
  let at = 0;
  for (; size >= step && at + 1 < units.length; ++at) size /= step;
  return `${number < 0 ? '\u2212' : ''}${
    size.toFixed(at && size < 100 ? 1 : 0)}\u00a0${units[at]}`;
}

/** "13.4 MiB". */
function brief(bytes) {
  return inUnits(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
}

/** "25.0 M flops". */
function work(flops) {
  return inUnits(flops, 1000, ['', 'k ', 'M ', 'G ', 'T ', 'P ']) + 'flops';
}

/** "13.4 MiB (14 051 328 B)". */
function both(bytes) {
  if (Math.abs(bytes) < 1024) return exact(bytes);
  return `${brief(bytes)} (${exact(bytes)})`;
}

/** An element. Texts enter as text nodes alone, never as markup. */
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'style') Object.assign(node.style, value);
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== null) node.setAttribute(name, value);
  }
  for (const child of children) {
    if (child !== null) node.append(child);
  }
  return node;
}

function box(name, ...nodes) { return make('div', {class: name}, ...nodes); }

function plain(...nodes) { return make('section', {class: 'card'}, ...nodes); }

function card(title, ...nodes) {
  return plain(make('h2', {}, title), ...nodes);
}

function pen(canvas) { return canvas.getContext('2d'); }

/** A sentence in passing; nothing without a text. */
function calm(text) {
  return text ? make('p', {class: 'calm'}, text) : '';
}

function colourOf(name) {
  return getComputedStyle(document.documentElement)
    .getPropertyValue(name).trim();
}
