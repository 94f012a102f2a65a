"""Makes snapshots: a chain of layers, forward, backward and update, whose blocks
a first-fit allocator places; by a seed, so that each is made again alike."""

import bisect
import random

PARTS = ("norm", "attn.qkv", "attn.out", "mlp.fc", "mlp.proj")
OPS = ("layer_norm", "matmul", "softmax", "matmul", "gelu")
HOSTILE = "</script><img src=x onerror=\"window.hurt=1\">"
UNIT = 64


class Texts:
    def __init__(self):
        self.list, self.places = [""], {"": 0}

    def __call__(self, text):
        if text not in self.places:
            self.places[text] = len(self.list)
            self.list.append(text)
        return self.places[text]


class Arena:
    """Free ranges by address; the lowest that fits is taken."""

    def __init__(self):
        self.taken = []  # (offset, end), sorted

    def take(self, size):
        at, low = 0, 0
        for at, (offset, end) in enumerate(self.taken):
            if offset - low >= size:
                break
            low = end
        bisect.insort(self.taken, (low, low + size))
        return low

    def free(self, offset, size):
        self.taken.remove((offset, offset + size))


def lifetimes(layers, random_, recompute):
    """Calls as (op, layer, phase, again), blocks as lists of fields."""
    calls, blocks = [], []
    for layer in range(layers):
        for part, op in zip(PARTS, OPS):
            calls.append((op, f"h.{layer}.{part}", 0, 0))
    forward = len(calls)
    for layer in reversed(range(layers)):
        for part, op in zip(reversed(PARTS), reversed(OPS)):
            again = int(recompute and op == "gelu")
            calls.append((op, f"h.{layer}.{part}", 1, again))
    for layer in range(layers):
        calls.append(("adamw", f"h.{layer}", 2, 0))
    for call, (op, layer, phase, again) in enumerate(calls):
        size = random_.choice((2, 3, 4, 8)) * 8192 + random_.choice((0, 0, 20))
        if phase == 0:
            kept = random_.random() < 0.62
            mirror = 2 * forward - 1 - call
            last = mirror if kept else min(call + 2, len(calls) - 1)
            reads = [call + 1] + ([mirror] if kept else [])
            blocks.append([call, last, 0, size, "activations", layer, reads])
        elif phase == 1:
            last = min(call + random_.choice((1, 2, 3)), len(calls) - 1)
            blocks.append([call, last, 2 * again, size, "gradients", layer,
                           [min(call + 1, last)]])
        if op == "softmax" or (op == "matmul" and random_.random() < 0.4):
            blocks.append([call, call, 1, size // 2, "workspace", layer, []])
    return calls, [b for b in blocks if b[0] <= b[1]]


def place(blocks, calls):
    arena, order = Arena(), sorted(range(len(blocks)), key=lambda i: blocks[i][0])
    ends = [[] for _ in range(calls + 1)]
    offsets = [0] * len(blocks)
    now = 0
    for i in order:
        first, last, size = blocks[i][0], blocks[i][1], blocks[i][3]
        while now < first:
            for j in ends[now]:
                arena.free(offsets[j], -(-blocks[j][3] // UNIT) * UNIT)
            now += 1
        offsets[i] = arena.take(-(-size // UNIT) * UNIT)
        ends[last].append(i)
    return offsets


def snapshot(layers=6, seed=1, title="gpt, batch 8, adamw", hostile=False,
             recompute=True, budget=None):
    random_, text = random.Random(seed), Texts()
    calls, blocks = lifetimes(layers, random_, recompute)
    offsets = place(blocks, len(calls))
    order = sorted(range(len(blocks)), key=lambda i: (blocks[i][0], offsets[i]))
    place_of = {block: at for at, block in enumerate(order)}
    rounded = [-(-b[3] // UNIT) * UNIT for b in blocks]
    live, used = [0] * len(calls), [0] * len(calls)
    for block, size in zip(blocks, rounded):
        for call in range(block[0], block[1] + 1):
            live[call] += size
            used[call] += block[3]
    peak = max(range(len(calls)), key=lambda c: (live[c], -c))
    arena = max(offset + size for offset, size in zip(offsets, rounded))
    name = (lambda layer: HOSTILE if layer == "h.1.attn.qkv" else layer
            ) if hostile else lambda layer: layer
    rows = [blocks[i] for i in order]
    weights = [(f"h.{k}.{part}", category, 49152 * (1 + (category != "parameters")))
               for k in range(layers) for part in PARTS[1:]
               for category in ("parameters", "optimizer state")]
    stays = sum(size for _, _, size in weights)
    reserved = arena + stays + 40960 + 16384 + 1024
    reads = sorted((place_of[i], call) for i, b in enumerate(blocks)
                   for call in set(b[6]) if b[0] <= call <= b[1])
    return {
        "neapmem": 1, "title": title, "eager": False, "texts": text.list,
        "sums": {"reserved": reserved, "predicted": reserved, "arena": arena,
                 "stays": stays, "program": 40960, "idle": 16384, "overhead": 1024,
                 "arguments": 65536, "external": 0,
                 "budget": -1 if budget is None else reserved + budget,
                 "lower_bound": live[peak], "proven": live[peak] == arena,
                 "peak_call": peak, "live_at_peak": live[peak],
                 "used_at_peak": used[peak]},
        "calls": {"op": [text(c[0]) for c in calls],
                  "layer": [text(name(c[1])) for c in calls],
                  "line": [text(f"train.cpp:{10 + k % 37} (step)")
                           for k in range(len(calls))],
                  "phase": [c[2] for c in calls], "again": [c[3] for c in calls]},
        "blocks": {"first": [b[0] for b in rows], "last": [b[1] for b in rows],
                   "space": [0] * len(rows), "kind": [b[2] for b in rows],
                   "offset": [offsets[i] for i in order],
                   "bytes": [rounded[i] for i in order],
                   "used": [b[3] for b in rows],
                   "category": [text(b[4]) for b in rows],
                   "dtype": [text("f32")] * len(rows),
                   "shape": [text(f"[8, {b[3] // 32}]") for b in rows],
                   "layer": [text(name(b[5])) for b in rows],
                   "line": [text(f"train.cpp:{10 + b[0] % 37} (step)")
                            for b in rows],
                   "value": list(range(len(rows))), "over": [-1] * len(rows)},
        "reads": {"block": [r[0] for r in reads], "call": [r[1] for r in reads]},
        "stays": {"owner": [text(w[0]) for w in weights],
                  "category": [text(w[1]) for w in weights],
                  "bytes": [w[2] for w in weights]},
        "steps": {"live": [reserved - 5000 * (k % 3) for k in range(24)],
                  "held": [reserved] * 24, "ns": [-1] * 24},
        "refusals": ["matmul of h.3 asked for 4.0 MiB; 1.2 MiB were free."],
        "leaks": []}


def varied():
    """A small snapshot with all that a block can be, placed by hand: a value that
    another takes over, one in three parts, scratch, one made again and one
    fetched, in two spaces; calls with costs; the arena ends with a page."""
    text = Texts()
    ops = (("linear", 0), ("gelu", 0), ("gelu", 0), ("loss", 0), ("gelu", 1),
           ("fetch", 1), ("linear", 1), ("adam", 2))
    # first, last, space, kind, offset, bytes, value, over
    rows = ((0, 1, 0, 0, 0, 4096, 1, -1), (0, 0, 0, 1, 4096, 64, -1, -1),
            (1, 6, 0, 0, 4096, 1024, 2, -1), (1, 6, 0, 0, 6144, 1024, 2, -1),
            (1, 6, 0, 0, 8192, 512, 2, -1), (2, 3, 0, 0, 0, 4096, 3, 0),
            (3, 7, 1, 0, 0, 4096, 4, -1), (4, 6, 0, 2, 0, 2048, 5, -1),
            (5, 6, 0, 3, 2048, 2048, 6, -1))
    names = ("first", "last", "space", "kind", "offset", "bytes", "value", "over")
    blocks = dict(zip(names, map(list, zip(*rows))))
    n = len(rows)
    live = [sum(b[5] for b in rows if b[0] <= call <= b[1])
            for call in range(len(ops))]
    blocks.update(used=blocks["bytes"], category=[text("activations")] * n,
                  dtype=[text("f32")] * n, shape=[text("[8, 32]")] * n,
                  layer=[text("h.0")] * n, line=[text("train.cpp:1 (step)")] * n)
    stays = (("h.0.fc.weight", "parameters", 100), ("h.0.fc.bias", "parameters", 10),
             ("h.0.fc.weight", "optimizer state", 200), ("h.0.fc", "graph", 7),
             ("", "data", 5))
    arena = 12288 + 4096
    peak = live.index(max(live))
    reserved = arena + 322 + 50 + 8192 + 1
    return {
        "neapmem": 1, "title": "varied", "eager": False, "texts": text.list,
        "sums": {"reserved": reserved, "predicted": -1, "arena": arena,
                 "stays": 322, "program": 50, "idle": 8192, "overhead": 1,
                 "arguments": 0, "external": 100, "budget": reserved - 4000,
                 "lower_bound": 0, "proven": False, "peak_call": peak,
                 "live_at_peak": live[peak], "used_at_peak": live[peak],
                 "flops_a_second": 231_500_000_000,
                 "bytes_a_second": 10_000_000_000},
        "calls": {"op": [text(op) for op, _ in ops], "layer": [text("h.0")] * 8,
                  "line": [0] * 8, "phase": [phase for _, phase in ops],
                  "again": [int(c == 4) for c in range(8)],
                  "ns": [250000, 1000, 1000, 1000, 1000, 1000, 1000, 744000],
                  "flops": [25_000_000, 0, 5, 0, 0, 0, 0, 0],
                  "moved": [4096, 1, 0, 0, 0, 0, 0, 0],
                  "share": [432, 0, 0, 0, -1, 0, 0, 0]},
        "blocks": blocks,
        "reads": {"block": [0, 2, 2, 5, 6, 7, 8], "call": [1, 2, 6, 3, 7, 6, 6]},
        "stays": dict(zip(("owner", "category", "bytes"), (
            [text(s[0]) for s in stays], [text(s[1]) for s in stays],
            [s[2] for s in stays]))),
        "refusals": ["gelu of h.0 asked for 4.0 KiB; 1.0 KiB were free."],
        "leaks": ["leak: 512 B in 1 block of activations\n  f32 [8, 16]\n"
                  "    held by residual 'input 0' of 'tanh'\n"
                  "      <- needed by 'sum'"]}


def wide(count, seed=3):
    """A snapshot of about `count` blocks, 8 live at once and more."""
    random_ = random.Random(seed)
    base = snapshot(2, seed)
    calls = count // 2
    lanes = [0] * 64  # the first call at which each lane of memory is free
    first, last, offset, size = [], [], [], []
    for call in range(calls):
        free = [k for k, end in enumerate(lanes) if end <= call][:2]
        for lane in free:
            long = random_.choice((3, 8, 20, 40))
            end = min(calls - 1, call + random_.randint(1, long))
            lanes[lane] = end + 1
            first.append(call)
            last.append(end)
            offset.append(lane * 4096)
            size.append(random_.choice((1024, 2048, 4096)))
    change = [0] * (calls + 1)
    for begin, end, n in zip(first, last, size):
        change[begin] += n
        change[end + 1] -= n
    live, total = [], 0
    for n in change[:-1]:
        total += n
        live.append(total)
    peak, n = live.index(max(live)), len(first)
    sums = base["sums"]
    arena = max(o + s for o, s in zip(offset, size))
    sums.update(reserved=sums["reserved"] - sums["arena"] + arena, arena=arena,
                predicted=-1, peak_call=peak, live_at_peak=live[peak],
                used_at_peak=live[peak], lower_bound=live[peak], proven=False)
    words = len(base["texts"])
    base["calls"] = {name: [random_.randrange(1, words) if name == "layer" else
                            (1 if name == "op" else 0) for _ in range(calls)]
                     for name in ("op", "layer", "line", "phase", "again")}
    base["blocks"] = {"first": first, "last": last, "space": [0] * n,
                      "kind": [0] * n, "offset": offset, "bytes": size,
                      "used": size, "value": list(range(n)), "over": [-1] * n}
    for name in ("category", "dtype", "shape", "layer", "line"):
        base["blocks"][name] = [random_.randrange(1, min(9, words))
                                for _ in range(n)]
    base["reads"] = {"block": list(range(n)), "call": last}
    return base
