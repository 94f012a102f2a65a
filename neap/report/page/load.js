'use strict';
// The data block of the page, checked; texts, elements, the hand on a map.

const COLOURS = ['#2f7fc1', '#e8a33d', '#2aa583', '#cf7fae', '#6cbcea',
  '#d9662b', '#d6c545', '#7a63b8', '#8c6d4f', '#8b949e'];
const PHASES = ['forward', 'backward', 'update'];
const KINDS = ['value', 'workspace', 'recomputed', 'fetched'];
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
    flops: 'o', moved: 'o'},
  blocks: {first: 'c', last: 'c', space: 256, kind: 4, offset: 'n',
    bytes: 'n', used: 'n', category: 't', dtype: 't', shape: 't',
    layer: 't', line: 't', value: 'o', over: 'b'},
  reads: {block: 'r', call: 'c'},
  stays: {owner: 't', category: 't', bytes: 'n'},
};
const OPTIONAL = ['ns', 'flops', 'moved'];
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
  let limit = Number.MAX_SAFE_INTEGER;
  if (typeof rule === 'number') limit = rule;
  if (rule === 't') limit = raw.texts.length;
  if (rule === 'c') limit = raw.calls.op.length;
  if (rule === 'b' || rule === 'r') limit = raw.blocks.first.length;
  for (const n of column) {
    if (!Number.isSafeInteger(n) || n < few || n >= limit) damaged();
  }
}

/** "14 051 328 B", with spaces that do not break. */
function exact(bytes) {
  return grouped(bytes) + '\u00a0B';
}

function grouped(number) {
  const digits = String(Math.abs(number));
  return (number < 0 ? '\u2212' : '') +
    digits.replace(/\B(?=(\d{3})+$)/g, '\u00a0');
}

/** "13.4 MiB". */
function brief(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Math.abs(bytes);
  let unit = 0;
  while (size >= 1024 && unit < 4) {
    size /= 1024;
    ++unit;
  }
  const text = unit === 0 ? String(size) : size.toFixed(size < 100 ? 1 : 0);
  return `${bytes < 0 ? '\u2212' : ''}${text}\u00a0${units[unit]}`;
}

/** "25 M", "1.2 G": before a name. */
function thousands(number) {
  const at = number < 1000 ? 0 : Math.floor(Math.log10(number) / 3);
  const size = number / 1000 ** at;
  return `${at && size < 10 ? size.toFixed(1) : Math.round(size)}\u00a0${
    ['', 'k ', 'M ', 'G ', 'T ', 'P '][at]}`;
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

function colourOf(name) {
  return getComputedStyle(document.documentElement)
    .getPropertyValue(name).trim();
}
