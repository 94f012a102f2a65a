# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Random calls of Neap's operations beside PyTorch's and NumPy's: the same
values, and the gradients of PyTorch's autograd.

    python random_ops.py --calls 100000 --seed 1
    python random_ops.py --seed 1 --only 4711      one call of that run again

A row of the table (ROWS, at the end) is an operation: how to draw arguments,
and what computes the same elsewhere. Call number i is of row i modulo their
number and draws from (seed, i), so that each can be made again alone. An
operand of f32 goes to the reference as f64, for results that are right to more
digits than are compared.
"""

import argparse
import collections
import itertools
import math
import sys
import time
import typing
import warnings

import numpy as np

import neap

try:
    import torch
except ImportError:
    torch = None

FLOATS = ("f32", "f64")
INTEGERS = ("i32", "i64")
NUMBERS = FLOATS + INTEGERS
EVERY = NUMBERS + ("u8", "bool")
NUMPY = {"f32": np.float32, "f64": np.float64, "i32": np.int32,
         "i64": np.int64, "u8": np.uint8, "bool": np.bool_}
NAMES = {np.dtype(kind): name for name, kind in NUMPY.items()}
EXTENTS = (0, 1, 1, 2, 2, 3, 3, 5, 8)
SPECIAL = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 3.0, -3.0, math.inf, -math.inf,
           math.nan, 1e4, -1e4, 1e30, -1e30, 1e-30, 1e-40, -1e-44, 89.0,
           -89.0, 104.0, 745.0)
SHARE = 10  # how much more error than a result a gradient may have
MOST = 3000  # elements of an operand


class Row(typing.NamedTuple):
    """An operation, and what is particular to it."""

    name: str  # Neap's, and after a space, which of its rows this is
    make: typing.Callable  # Draw -> (arguments, keywords)
    torch: typing.Callable | None = None
    numpy: typing.Callable | None = None
    neap: typing.Callable | None = None  # where it is not neap.<name>
    grad: bool = True
    dtypes: tuple = FLOATS
    tight: bool = False  # no sums: every element has its own error bound
    special: bool = False  # infinities, NaN and their like too
    coarse: bool = True  # multiples of 1/2 too, for ties and kinks
    own: bool = False  # the reference computes in the call's dtype
    loose: float = 1.0  # how much more error than others
    near: float = 0.0  # the error of f64 that is allowed beside a result
    result: str | None = None  # dtype of floating results, if not the call's

    @property
    def op(self):
        return self.name.split()[0]


class Type(str):
    """A dtype as an argument."""


class Operand:
    """Elements, and how Neap's tensor of them lies in memory."""

    def __init__(self, array, layout=("dense",), grad=False, index=False):
        self.array, self.layout = array, layout
        self.grad, self.index = grad, index

    def tensor(self):
        """Neap's, a leaf in the layout."""
        kind, *how = self.layout
        made = getattr(self, "_" + kind)(*how)
        return made.requires_grad_() if self.grad else made

    def _dense(self):
        return neap.tensor(np.array(self.array, order="C"))

    def _permuted(self, order):
        moved = np.array(self.array.transpose(order), order="C")
        back = [int(a) for a in np.argsort(order)]
        return neap.permute(neap.tensor(moved), back)

    def _sliced(self, axis, first, step):
        shape = [*self.array.shape]
        shape[axis] = first + shape[axis] * step
        base = np.ones(shape, self.array.dtype)
        at = (slice(None),) * axis + (slice(first, None, step),)
        base[at] = self.array
        return neap.slice(neap.tensor(base), axis, first, shape[axis], step)

    def _expanded(self, axis):
        one = np.take(self.array, [0], axis)
        return neap.expand(neap.tensor(one), [*self.array.shape])

    def __repr__(self):
        kind, *how = self.layout
        elements = np.array2string(self.array, separator=", ", threshold=16)
        return (f"{NAMES[self.array.dtype]}{[*self.array.shape]} "
                f"{kind}{how or ''}{' grad' if self.grad else ''} "
                f"{' '.join(elements.split())}")


class Draw:
    """The random choices of one call."""

    def __init__(self, seed, index, row):
        self.rng = np.random.default_rng((seed, index))
        self.dtype = self.of(row.dtypes)
        self.floating = self.dtype in FLOATS
        self.special = row.special and self.chance(0.3)
        self.coarse = row.coarse and self.chance(0.25)
        self.grad = row.grad and self.floating and not self.special

    def chance(self, share):
        return self.rng.random() < share

    def whole(self, low, high):
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def of(self, options):
        return options[self.whole(0, len(options) - 1)]

    def maybe(self, value, share=0.5):
        return value if self.chance(share) else None

    def some(self, **options):
        """Some of the options; the others have their defaults."""
        return {name: value for name, value in options.items()
                if self.chance(0.6)}

    def shape(self, low=0, high=5, extents=EXTENTS):
        shape = [self.of(extents) for _ in range(self.whole(low, high))]
        if shape and extents is EXTENTS and self.chance(0.06):
            shape[self.whole(0, len(shape) - 1)] = self.whole(9, 99)
        while math.prod(shape) > MOST:
            shape[int(np.argsort(shape)[-2])] = 1
        return shape

    def axis(self, rank):
        """Of either sign; one in fifty is none."""
        if self.chance(0.02):
            return self.of((rank, -rank - 1, rank + 3))
        return self.whole(-rank, rank - 1) if rank else self.of((0, -1))

    def axes(self, rank):
        count = self.whole(min(rank, 1), rank)
        chosen = self.rng.permutation(rank)[:count]
        return [int(a) - (rank if self.chance(0.5) else 0) for a in chosen]

    def narrower(self, shape):
        """A shape that broadcasts to this one."""
        shape = [1 if self.chance(0.2) else n for n in shape]
        return shape[self.whole(0, len(shape)):] if self.chance(0.3) else shape

    def floats(self, shape, low, high):
        if self.special:
            wide = self.rng.normal(size=shape) * 10.0 ** self.whole(-4, 4)
            some = np.array(SPECIAL)[self.rng.integers(len(SPECIAL),
                                                       size=shape)]
            return np.where(self.rng.random(shape) < 0.5, wide, some)
        if self.coarse:
            ends = math.ceil(low * 2), math.floor(high * 2)
            return self.rng.integers(ends[0], ends[1] + 1, size=shape) / 2
        return self.rng.uniform(low, high, shape)

    def integers(self, shape, dtype):
        if dtype == "bool":
            return self.rng.random(shape) < 0.5
        if dtype == "u8":
            return self.rng.integers(0, 256, size=shape)
        info = np.iinfo(NUMPY[dtype])
        if self.special:
            return self.rng.integers(info.min, info.max, size=shape)
        return self.rng.integers(-9, 10, size=shape)

    def tensor(self, shape, low=-2, high=2, dtype=None, grad=True):
        dtype = dtype or self.dtype
        values = (self.floats(shape, low, high) if dtype in FLOATS
                  else self.integers(shape, dtype))
        with np.errstate(over="ignore"):
            array = np.asarray(values).astype(NUMPY[dtype])
        grad = grad and self.grad and dtype in FLOATS and self.chance(0.8)
        return self.laid(array, grad)

    def laid(self, array, grad=False, index=False):
        """The array as an operand in some layout; one that is expanded has
        other elements."""
        rank, kind = array.ndim, self.of(("dense", "permuted", "sliced",
                                          "expanded"))
        layout = ("dense",)
        if rank and kind == "permuted":
            layout = kind, [int(a) for a in self.rng.permutation(rank)]
        elif rank and kind == "sliced":
            layout = (kind, self.whole(0, rank - 1), self.whole(0, 2),
                      self.whole(1, 3))
        elif kind == "expanded" and not index and 0 not in array.shape:
            array, layout = self.stretched(array)
        return Operand(array, layout, grad, index)

    def stretched(self, array):
        if not array.ndim or not self.chance(0.5):
            return array, ("dense",)
        axis = self.whole(0, array.ndim - 1)
        one = np.take(array, [0], axis)
        return np.broadcast_to(one, array.shape), ("expanded", axis)

    def solid(self, array, grad=True):
        """An operand with these very elements, in an order of axes."""
        order = [int(a) for a in self.rng.permutation(array.ndim)]
        layout = ("permuted", order) if self.chance(0.4) else ("dense",)
        return Operand(array, layout,
                       grad and self.grad and self.chance(0.8))

    def cotangent(self, result):
        kind = array_of(result).dtype
        return self.laid(self.rng.normal(size=result.shape).astype(kind))

    def index(self, shape, extent, signed=False):
        """Positions below the extent; one tensor in fifty has one that is
        none."""
        low = -extent if signed else 0
        array = self.rng.integers(low, max(extent, 1), size=shape)
        array = np.asarray(array)
        if self.chance(0.02) and array.size:
            array.flat[0] = self.of((extent, -extent - 1))
        return self.laid(array.astype(NUMPY[self.of(INTEGERS)]), index=True)

    def number(self):
        """Exact in f32."""
        if not self.floating:
            return self.whole(-5, 5)
        return self.whole(-16, 16) / 8

    def one_or_two(self, low, high):
        """An option of two axes."""
        if self.chance(0.5):
            return self.whole(low, high)
        return self.whole(low, high), self.whole(low, high)


# --- One call -------------------------------------------------------------


class Mismatch(Exception):
    """What Neap gave, and what was expected."""


def mapped(value, turn):
    if isinstance(value, (Operand, Type)):
        return turn(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(part, turn) for part in value)
    return value


def operands_of(value):
    """Those inside of arguments, each once."""
    found = {}
    mapped(value, lambda part: found.setdefault(id(part), part))
    return [part for part in found.values() if isinstance(part, Operand)]


class Call:
    """A row with drawn arguments, on one of the sides."""

    def __init__(self, seed, index):
        self.row = ROWS[index % len(ROWS)]
        self.seed, self.index = seed, index
        self.draw = Draw(seed, index, self.row)
        self.arguments, self.keywords = self.row.make(self.draw)
        self.operands = operands_of([*self.arguments,
                                     *self.keywords.values()])
        self.leaves = [x for x in self.operands if x.grad]

    def run(self, function, turn):
        """The results as a list, and the side's tensor of each operand."""
        made = {id(x): turn(x) for x in self.operands}
        def of(x):
            return turn(x) if isinstance(x, Type) else made[id(x)]
        given = mapped(self.arguments, of)
        named = {k: mapped(v, of) for k, v in self.keywords.items()}
        return listed(function(*given, **named)), made

    def __str__(self):
        parts = [repr(x) for x in self.arguments]
        parts += [f"{k}={v!r}" for k, v in self.keywords.items()]
        return (f"--seed {self.seed} --only {self.index}: {self.row.name}"
                f"({', '.join(parts)})")


def listed(results):
    if not isinstance(results, (list, tuple)):
        return [results]
    return [one for part in results for one in listed(part)]


def neap_side(x):
    return getattr(neap, "bool_" if x == "bool" else x) if isinstance(
        x, Type) else x.tensor()


def reference_array(x, own):
    array = x.array
    if array.dtype == np.float32 and not own:
        return array.astype(np.float64)
    return array.astype(np.int64) if x.index else array.copy()


def numpy_side(own):
    def turn(x):
        if isinstance(x, Type):
            return np.float64 if x == "f32" and not own else NUMPY[x]
        return reference_array(x, own)
    return turn


def torch_side(own):
    def turn(x):
        if isinstance(x, Type):
            kind = np.dtype(numpy_side(own)(x)).name
            return getattr(torch, kind)
        made = torch.from_numpy(np.array(reference_array(x, own), order="C"))
        return made.requires_grad_() if x.grad else made
    return turn


def array_of(tensor):
    return tensor.detach().numpy()


def difference(got, want, bound):
    """Where and how two arrays differ, or None. Both may be infinite."""
    same = (got == want) | ((got != got) & (want != want))
    with np.errstate(invalid="ignore", over="ignore"):
        bad = ~(same | (np.abs(got - want) <= bound))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return (f"{got[at]!r} at {at}, not {want[at]!r} "
            f"({int(bad.sum())} of {bad.size} differ)")


def bound_of(row, dtype, want, share):
    """How far each element may be off."""
    size = np.abs(want)
    finite = size[np.isfinite(size)]
    least = 4e-45 if dtype == "f32" else 3e-308  # torch's have no subnormals
    if not row.tight or share > 1:
        size = np.maximum(size, max(1.0, finite.max(initial=0.0)))
    unit = 1e-6 if dtype == "f32" else 1e-12
    more = share * row.loose * (1 if row.tight else 10)
    return np.where(np.isfinite(size), size, 0) * unit * more + least + (
        row.near * (6e8 if dtype == "f32" else 1) if share > 1 else row.near)


def compare(call, what, got, want, share=1):
    """Neap's array with the reference's."""
    row, dtype = call.row, call.draw.dtype
    if want.dtype.kind == "f" and not row.own:
        kind = NUMPY[dtype if share > 1 or not row.result else row.result]
        with np.errstate(over="ignore"):
            want = want.astype(kind)
    if got.dtype != want.dtype or got.shape != want.shape:
        raise Mismatch(f"{what}: {got.dtype}{[*got.shape]}, not "
                       f"{want.dtype}{[*want.shape]}")
    bound = (bound_of(row, dtype, want, share) if want.dtype.kind == "f"
             else 0)
    if want.dtype.kind == "b":
        got, want = got.astype(np.uint8), want.astype(np.uint8)
    found = difference(got, want, bound)
    if found:
        raise Mismatch(f"{what}: {found}")


def compare_all(call, got, want):
    if len(got) != len(want):
        raise Mismatch(f"{len(got)} results, not {len(want)}")
    for i, (a, b) in enumerate(zip(got, want)):
        compare(call, f"result {i}", a, b)


def compare_gradients(call, ours, made, theirs, twins):
    """For a random cotangent of every result that has a derivative."""
    pairs = [(a, b) for a, b in zip(ours, theirs) if b.requires_grad]
    if not call.leaves or not pairs:
        return False
    along = [call.draw.cotangent(a) for a, _ in pairs]
    turn = torch_side(call.row.own)
    want = torch.autograd.grad(
        [b for _, b in pairs], [twins[id(x)] for x in call.leaves],
        [turn(y) for y in along], allow_unused=True)
    got = neap.grad([a for a, _ in pairs], [made[id(x)] for x in call.leaves],
                    cotangents=[y.tensor() for y in along], allow_unused=True)
    for x, a, b in zip(call.leaves, got, want):
        b = np.zeros(x.array.shape) if b is None else array_of(b)
        place = call.operands.index(x)
        compare(call, f"gradient of operand {place}", array_of(a),
                b.astype(NUMPY[call.draw.dtype] if call.row.own
                         else np.float64), SHARE)
    return True


def refused(reason):
    """A typed error: its class and the first words."""
    text = f"{type(reason).__name__}: {reason}".split("\n")[0]
    return text[:100]


class Tally:
    """What came of the calls."""

    def __init__(self):
        self.calls, self.gradients = collections.Counter(), 0
        self.refused = collections.Counter()
        self.both = self.skipped = 0
        self.examples = {}  # of refusals by one side, by op
        self.beyond = collections.Counter()
        self.mismatches = []

    def note(self, kind, counter, call, reason):
        counter[call.row.op] += 1
        key = kind, call.row.op, refused(reason)[:40]
        self.examples.setdefault(key, f"{refused(reason)} {call}")

    def summary(self):
        yield (f"{sum(self.calls.values())} calls of {len(self.calls)} "
               f"operations, {self.gradients} with gradients; "
               f"{sum(self.refused.values())} refused by Neap alone, "
               f"{sum(self.beyond.values())} by the reference alone, "
               f"{self.both} by both; {self.skipped} skipped; "
               f"{len(self.mismatches)} mismatches")
        for title, counter in (("calls", self.calls),
                               ("refused by Neap alone", self.refused),
                               ("refused by the reference alone",
                                self.beyond)):
            if counter:
                yield f"{title}: " + ", ".join(
                    f"{op} {n}" for op, n in sorted(counter.items()))
        yield from self.mismatches


def attempt(function, errors):
    """What it gives, and the refusal."""
    try:
        return function(), None
    except errors as reason:
        return None, reason


def against(call, tally, function, turn, ours):
    """One reference: its results with its tensors, or None where a side
    refused."""
    theirs, no = attempt(lambda: call.run(function, turn), Exception)
    (mine, ours_no) = ours
    if no and ours_no:
        tally.both += 1
    elif no:
        tally.note("beyond", tally.beyond, call, no)
    elif ours_no:
        tally.note("refused", tally.refused, call, ours_no)
    else:
        got = [array_of(x) for x in mine[0]]
        want = [np.asarray(array_of(x) if torch and isinstance(
            x, torch.Tensor) else x) for x in theirs[0]]
        compare_all(call, got, want)
        return theirs
    return None


def check(seed, index, tally):
    """One call; raises Mismatch."""
    row = ROWS[index % len(ROWS)]
    if not (row.numpy or (torch and row.torch)):
        tally.skipped += 1
        return
    call = Call(seed, index)
    tally.calls[row.op] += 1
    function = row.neap or getattr(neap, row.op)
    try:
        ours = attempt(lambda: call.run(function, neap_side), neap.Error)
        if row.numpy:
            with np.errstate(all="ignore"):
                against(call, tally, row.numpy, numpy_side(row.own), ours)
        if not (torch and row.torch):
            return
        theirs = against(call, tally, row.torch, torch_side(row.own), ours)
        if theirs and row.grad and call.draw.grad:
            tally.gradients += compare_gradients(call, *ours[0], *theirs)
    except Exception as reason:  # of any kind: a test that goes on
        raise Mismatch(f"{call}: {type(reason).__name__} {reason}") from reason


def run(calls, seed, tally=None, op=None):
    """So many calls; what came of them."""
    tally = tally or Tally()
    for index in range(calls):
        if op and ROWS[index % len(ROWS)].op != op:
            continue
        try:
            check(seed, index, tally)
        except Mismatch as reason:
            tally.mismatches.append(str(reason))
    return tally


# --- How arguments are drawn ----------------------------------------------


def one(low=-3, high=3):
    return lambda d: ((d.tensor(d.shape(), low, high),), {})


def pair(low=-3, high=3, low2=None, high2=None, numbers=True):
    """Two that broadcast, one twice, or one and a number."""
    def make(d):
        shape = d.shape()
        a = d.tensor(d.narrower(shape), low, high)
        if d.chance(0.05):
            return (a, a), {}
        if numbers and d.chance(0.2) and d.dtype not in ("bool", "u8"):
            number = d.number() if low < 0 else abs(d.number()) + 0.5
            return ((a, number) if d.chance(0.5) else (number, a)), {}
        other = d.shape() if d.chance(0.03) else d.narrower(shape)
        return (a, d.tensor(other, low if low2 is None else low2,
                            high if high2 is None else high2)), {}
    return make


def with_options(**options):
    """One operand, and some of the options, drawn by functions."""
    def make(d):
        return ((d.tensor(d.shape(), -4, 4),),
                d.some(**{k: draw(d) for k, draw in options.items()}))
    return make


def reduced(low=-2, high=2, options=(), all_of=True):
    """An operand, and perhaps axes and their options."""
    def make(d):
        x = d.tensor(d.shape(), low, high)
        if all_of and d.chance(0.25):
            return (x,), {}
        rank = x.array.ndim
        axes = d.axes(rank) if d.chance(0.5) else d.axis(rank)
        more = {name: d.of(values) for name, values in options}
        return (x, axes), d.some(keepdim=d.chance(0.5), **more)
    return make


def along(low=-2, high=2, rank=0, always=False, **options):
    """An operand and one axis."""
    def make(d):
        x = d.tensor(d.shape(rank), low, high)
        some = d.some(**{k: draw(d) for k, draw in options.items()})
        if always or d.chance(0.7):
            return (x, d.axis(x.array.ndim)), some
        return (x,), {} if "keepdim" in some else some
    return make


def yes(d):
    return d.chance(0.5)


def option(*values):
    return lambda d: d.of(values)


def from_front(rank, axis):
    """The axis from the front; one that is refused stands for some."""
    return min(max(axis % rank if rank else 0, 0), max(rank - 1, 0))


def same_shapes(count, low=-2, high=2, **options):
    def make(d):
        shape = d.shape()
        parts = tuple(d.tensor(shape, low, high) for _ in range(count))
        return parts, d.some(**{k: draw(d) for k, draw in options.items()})
    return make


# --- Elementwise ----------------------------------------------------------


def functional(name):
    """torch.nn.functional's, which is there only with torch."""
    return lambda *a, **k: getattr(torch.nn.functional, name)(*a, **k)


def torchs(name):
    return lambda *a, **k: getattr(torch, name)(*a, **k)


def both_tensors(function):
    """Numbers as tensors of the others' dtype."""
    def call(*parts):
        kind = next(p.dtype for p in parts if isinstance(p, torch.Tensor))
        return function(*(p if isinstance(p, torch.Tensor)
                          else torch.tensor(p, dtype=kind) for p in parts))
    return call


def hyperbolic(name):
    """PyTorch's of f64 are infinite a little too soon."""
    def call(x):
        y = getattr(torch, name)(x)
        return torch.where(y.isinf(), y.sign() * torch.exp(
            x.abs() - math.log(2)), y)
    return call


def unary_rows():
    """Name, torch's unless it has that name, NumPy's, and a range for
    gradients."""
    table = [
        ("sigmoid", "", "", -6, 6), ("tanh", "", "tanh", -4, 4),
        ("sqrt", "", "sqrt", 0.1, 4), ("rsqrt", "", "", 0.1, 4),
        ("reciprocal", "", "reciprocal", 0.2, 4), ("exp", "", "exp", -4, 4),
        ("expm1", "", "expm1", -4, 4), ("log", "", "log", 0.1, 4),
        ("log1p", "", "log1p", -0.8, 4), ("log2", "", "log2", 0.1, 4),
        ("log10", "", "log10", 0.1, 4), ("erf", "", "", -3, 3),
        ("erfc", "", "", -3, 3), ("ceil", "", "ceil", -4, 4),
        ("floor", "", "floor", -4, 4), ("round", "", "round", -4, 4),
        ("trunc", "", "trunc", -4, 4), ("sin", "", "sin", -7, 7),
        ("cos", "", "cos", -7, 7), ("tan", "", "tan", -1.3, 1.3),
        ("asin", "", "arcsin", -0.9, 0.9), ("acos", "", "arccos", -0.9, 0.9),
        ("atan", "", "arctan", -4, 4), ("asinh", "", "arcsinh", -4, 4),
        ("sinh", hyperbolic("sinh"), "sinh", -4, 4),
        ("cosh", hyperbolic("cosh"), "cosh", -4, 4),
        ("acosh", "", "arccosh", 1.2, 6), ("atanh", "", "arctanh", -0.9, 0.9)]
    for name, other, numpys, low, high in table:
        yield Row(name, one(low, high), other or torchs(name),
                  getattr(np, numpys) if numpys else None, tight=True,
                  special=True)


def activation_rows():
    def leaky_relu(x, negative_slope=0.01):
        """A slope of 0 is relu, which has no NaN at minus infinity."""
        functions = torch.nn.functional
        return (functions.leaky_relu(x, negative_slope) if negative_slope
                else functions.relu(x))

    def tail(name):
        """0 at minus infinity, where PyTorch's has NaN."""
        return lambda x: torch.where(x == -math.inf, 0.0,
                                     functional(name)(x))
    table = {
        "log_sigmoid": functional("logsigmoid"), "relu": torchs("relu"),
        "softsign": lambda x: x / (1 + x.abs()), "silu": tail("silu"),
        "hard_swish": tail("hardswish"), "mish": tail("mish"),
        "gaussian": lambda x: torch.exp(-x * x)}
    for name, function in table.items():
        yield Row(name, one(-5, 5), function, tight=True, special=True,
                  near=1e-38)
    def gelu(x, form="exact"):
        kind = "none" if form == "exact" else form
        y = torch.nn.functional.gelu(x, approximate=kind)
        return torch.where(x.abs() == math.inf, x.clamp(min=0), y)
    yield Row("gelu", with_options(form=option("exact", "tanh")), gelu,
              near=1e-13, special=True)
    yield Row("elu", with_options(alpha=option(0.0, 0.5, 1.5)),
              functional("elu"), tight=True, special=True)
    yield Row("softplus", with_options(beta=option(0.5, 1.0, 3.0),
                                       threshold=option(2.0, 20.0)),
              functional("softplus"), tight=True, special=True, loose=5)
    yield Row("leaky_relu", with_options(negative_slope=option(0.0, 0.25)),
              leaky_relu, tight=True, special=True)
    yield Row("dropout off", lambda d: (
        (d.tensor(d.shape()), 0.5, False) if d.chance(0.5)
        else (d.tensor(d.shape()), 0.0), {}),
        lambda x, p, training=True: x.clone())


def any_number_rows():
    """Of integers too."""
    table = {"neg": np.negative, "abs": np.abs, "square": np.square}
    for name, function in table.items():
        yield Row(name, one(), torchs(name), function, dtypes=NUMBERS,
                  tight=True, special=True)
    yield Row("sign", one(), lambda x: torch.where(x == x, x.sign(), x),
              np.sign, dtypes=NUMBERS, tight=True, special=True)
    for name in ("isnan", "isinf", "isfinite"):
        yield Row(name, one(), torchs(name), getattr(np, name), grad=False,
                  special=True)
    yield Row("logical_not", one(), torchs("logical_not"), np.logical_not,
              dtypes=("bool",), grad=False)


def power(function, root):
    """The exponent 0.5 is sqrt in Neap: NaN for minus infinity."""
    def call(a, b):
        return root(a) if isinstance(b, float) and b == 0.5 else function(a, b)
    return call


def binary_rows():
    for name, other in (("add", "add"), ("sub", "subtract"),
                        ("mul", "multiply"), ("maximum", "maximum"),
                        ("minimum", "minimum")):
        yield Row(name, pair(), both_tensors(torchs(name)),
                  getattr(np, other), dtypes=NUMBERS, tight=True,
                  special=True)
    yield Row("div", pair(0.3, 3), both_tensors(torchs("div")), np.divide,
              tight=True, special=True)
    yield Row("atan2", pair(0.2, 2), both_tensors(torchs("atan2")),
              np.arctan2, tight=True, special=True)
    yield Row("pow", pair(0.2, 3, -2, 2), power(both_tensors(torchs("pow")),
                                                 torchs("sqrt")),
              power(np.power, np.sqrt), tight=True, special=True)
    yield Row("pow kinks", pair(-2, 2, -2, 3), both_tensors(torchs("pow")),
              tight=True)
    for name in ("fmod", "remainder"):
        yield Row(name, pair(-8, 8, 0.5, 3), both_tensors(torchs(name)),
                  getattr(np, name), tight=True, special=True)
    yield Row("swiglu", pair(-4, 4), both_tensors(
        lambda a, b: torch.nn.functional.silu(a) * b), tight=True)


def comparison_rows():
    table = {"eq": "equal", "ne": "not_equal", "lt": "less",
             "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
    for name, other in table.items():
        yield Row(name, pair(-1, 1), both_tensors(torchs(name)),
                  getattr(np, other), dtypes=EVERY, grad=False, special=True)
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield Row(name, pair(numbers=False), torchs(name),
                  getattr(np, name), dtypes=("bool",), grad=False)


def bounds(d):
    low, high = sorted((d.number(), d.number()))
    return d.of(((low, high), (low, high), (high, low), (-math.inf, high)) if
                d.floating else ((low, high),))


def clip_rows():
    def numbers(d):
        return (d.tensor(d.shape()), *bounds(d)), {}

    def tensors(d):
        shape = d.shape()
        ends = [d.tensor(d.narrower(shape), low, 3) for low in (-2, -1)]
        return (d.tensor(d.narrower(shape)), *ends), {}

    def number(d):
        return (d.tensor(d.shape()), d.number()), {}

    def clamp(x, low=None, high=None):
        return torch.clamp(x, low, high)
    yield Row("clip", numbers, clamp, np.clip, dtypes=NUMBERS, tight=True,
              special=True)
    yield Row("clip tensors", tensors, clamp, dtypes=NUMBERS, tight=True,
              coarse=False, special=True)
    yield Row("clip_min", number, clamp, np.maximum, dtypes=NUMBERS,
              tight=True, special=True)
    yield Row("clip_max", number, lambda x, high: clamp(x, None, high),
              np.minimum, dtypes=NUMBERS, tight=True, special=True)


def where_rows():
    def choice(d):
        shape = d.shape()
        a, b = (d.tensor(d.narrower(shape)) for _ in range(2))
        if d.chance(0.2) and d.dtype not in ("u8", "bool"):
            a, b = (a, d.number()) if d.chance(0.5) else (d.number(), b)
        return (d.tensor(d.narrower(shape), dtype="bool"), a, b), {}

    def fill(d):
        shape = d.shape()
        value = d.tensor([]) if d.chance(0.4) else (
            d.number() if d.dtype not in ("u8", "bool") else 1)
        return (d.tensor(shape), d.tensor(d.narrower(shape), dtype="bool"),
                value), {}
    yield Row("where", choice, lambda c, a, b: both_tensors(
        lambda x, y: torch.where(c, x, y))(a, b),
        lambda c, a, b: np.where(c, a, b), dtypes=EVERY, tight=True,
        special=True)
    yield Row("masked_fill", fill, lambda x, mask, value: x.masked_fill(
        mask, value), lambda x, mask, value: np.where(
            mask, np.asarray(value, x.dtype), x), dtypes=EVERY, tight=True,
        special=True)


def cast_rows():
    def to(d):
        low = -9 if d.chance(0.7) else 0
        kinds = EVERY if low == 0 or not d.floating else (
            *NUMBERS, "bool")  # below 0 there is no u8
        return (d.tensor(d.shape(), low, 9), Type(d.of(kinds))), {}

    def around(x):
        return neap.cast(neap.cast(x, neap.bf16), neap.f32)
    yield Row("cast", to, lambda x, kind: x.to(kind),
              lambda x, kind: x.astype(kind), dtypes=FLOATS, own=True)
    yield Row("cast integers", to, lambda x, kind: x.to(kind),
              lambda x, kind: x.astype(kind), dtypes=EVERY[2:], own=True)
    yield Row("cast bf16", one(), lambda x: x.to(torch.bfloat16).float(),
              neap=around, dtypes=("f32",), own=True, special=True)
    yield Row("normal_pdf", lambda d: (
        (d.tensor([2, 3], -3, 3), *d.of(((), (0.5,), (0.25, 2.0), (
            d.tensor([3]), d.tensor([2, 1], 0.5, 2))))), {}),
        lambda x, m=0.0, s=1.0: torch.exp(-((x - m) / s) ** 2 / 2) / (
            s * math.sqrt(2 * math.pi)))


# --- Reductions -----------------------------------------------------------


def all_axes(x, axes):
    return tuple(range(x.ndim)) if axes is None else axes


def over(function):
    """Of torch's that take dim; all axes unless some are named."""
    def call(x, axes=None, keepdim=False, **more):
        return function(x, dim=all_axes(x, axes), keepdim=keepdim, **more)
    return call


def numpy_over(function):
    def call(x, axes=None, keepdim=False):
        axes = tuple(axes) if isinstance(axes, list) else axes
        y = function(x, axis=axes, keepdims=keepdim)
        return y.astype(np.int64) if y.dtype == np.uint64 else y
    return call


def torch_prod(x, axes=None, keepdim=False):
    if axes is None:
        return torch.prod(x)
    axes = [axes] if isinstance(axes, int) else axes
    if not axes:
        return torch.prod(x[None], 0)
    rank = max(x.ndim, 1)
    if not all(-rank <= a < rank for a in axes):
        raise IndexError("axis")
    for axis in sorted((a % rank for a in axes), reverse=True):
        x = torch.prod(x, axis, keepdim)
    return x


def reduction_rows():
    yield Row("sum", reduced(), over(torchs("sum")), numpy_over(np.sum),
              dtypes=EVERY)
    yield Row("mean", reduced(), over(torchs("mean")), numpy_over(np.mean))
    yield Row("prod", reduced(), torch_prod, numpy_over(np.prod),
              dtypes=EVERY)
    for name, other in (("amax", np.amax), ("amin", np.amin)):
        yield Row(name, reduced(), over(torchs(name)), numpy_over(other),
                  dtypes=EVERY, special=True)
    for name in ("any", "all"):
        yield Row(name, reduced(-1, 1), over(
            lambda *a, f=torchs(name), **k: f(*a, **k).bool()),
                  numpy_over(getattr(np, name)), dtypes=EVERY, grad=False,
                  special=True)
    yield Row("count_nonzero", reduced(-1, 1), over(
        lambda x, dim, keepdim: (x != 0).sum(dim, keepdim)), numpy_over(
            np.count_nonzero), dtypes=EVERY, grad=False, special=True)
    yield Row("logsumexp", reduced(), over(torchs("logsumexp")),
              special=True)
    yield Row("sum_of_squares", one(), lambda x: (x * x).sum().double(),
              result="f64")


def norm_rows():
    def drawn(d):
        powers = (0.0, 1.0, 2.0, math.inf, -math.inf)
        p = d.of(powers if d.special else (*powers, 0.5, 3.0))
        low = 0.2 if p == 0.5 else -2  # its derivative at 0 is infinite
        (x, *axes), options = reduced(low, 2)(d)
        return (x, p, *axes), options if axes else {}

    def vector_norm(x, p, axes=None, keepdim=False):
        return torch.linalg.vector_norm(x, p, all_axes(x, axes), keepdim)
    corrections = (("correction", (0.0, 0.5, 1.0)),)
    yield Row("norm", drawn, vector_norm, loose=3, special=True)
    yield Row("norm of all", one(0.2, 2), lambda x: vector_norm(x, 2.0))
    def uneven(d):
        """No elements that are nearly equal: of those std is rounding."""
        (x, *axes), options = reduced(options=corrections)(d)
        n = x.array.size
        x.array = (d.rng.permutation(n).reshape(x.array.shape) * 4 / max(
            n, 1) - 2).astype(x.array.dtype)
        x.layout = d.solid(x.array).layout
        return (x, *axes), options
    yield Row("var", reduced(options=corrections), over(torchs("var")),
              loose=3)
    yield Row("std", uneven, over(torchs("std")), loose=3, coarse=False)
    yield Row("var_mean", reduced(options=corrections, all_of=False),
              over(torchs("var_mean")), loose=3)


def torch_reversed(function):
    """A running one, from the end where `reverse`."""
    def call(x, axis, reverse=False):
        y = function(x.flip(axis) if reverse else x, axis)
        return y.flip(axis) if reverse else y
    return call


def linear_scan(a, b, axis, reverse=False):
    if reverse:
        return linear_scan(a.flip(axis), b.flip(axis), axis).flip(axis)
    parts, last = [], 0
    for x, y in zip(a.unbind(axis), b.unbind(axis)):
        last = x * last + y
        parts.append(last)
    return torch.stack(parts, axis) if parts else b + 0 * a


def running_rows():
    def two(d):
        shape = d.shape(1)
        return ((d.tensor(shape), d.tensor(shape), d.axis(len(shape))),
                d.some(reverse=yes(d)))
    yield Row("cumsum", along(always=True, reverse=yes),
              torch_reversed(torchs("cumsum")), dtypes=EVERY)
    yield Row("cumprod", along(always=True, reverse=yes),
              torch_reversed(torchs("cumprod")), dtypes=EVERY, special=True)
    yield Row("linear_scan", two, linear_scan)


def order_rows():
    def best(d):
        x = d.tensor(d.shape(1))
        axis = d.axis(x.array.ndim)
        n = x.array.shape[from_front(x.array.ndim, axis)]
        return (x, d.whole(0, n), axis), d.some(largest=yes(d))

    def topk(x, k, axis=-1, largest=True):
        return [part.narrow(axis, 0, k) for part in torch.sort(
            x, dim=axis, descending=largest, stable=True)]

    def sort(x, axis=-1, descending=False):
        return torch.sort(x, dim=axis, descending=descending, stable=True)
    for name in ("max", "min"):
        yield Row(name, along(always=True, keepdim=yes), torchs(name),
                  dtypes=NUMBERS, special=True)
    for name in ("argmax", "argmin"):
        yield Row(name, along(keepdim=yes), torchs(name), dtypes=EVERY,
                  grad=False, special=True)
    yield Row("sort", along(descending=yes), sort, dtypes=NUMBERS,
              special=True)
    yield Row("argsort", along(descending=yes),
              lambda *a, **k: sort(*a, **k)[1], dtypes=NUMBERS, grad=False,
              special=True)
    yield Row("topk", best, topk, dtypes=NUMBERS, special=True)
    yield Row("searchsorted", sorted_and_values, torchs("searchsorted"),
              dtypes=NUMBERS, grad=False)
    yield Row("searchsorted special", sorted_and_values, None, places,
              dtypes=NUMBERS, grad=False, special=True)
    yield Row("multinomial certain", certain, lambda w, n: w.argmax(
        -1, keepdim=True), grad=False, coarse=False)


def sorted_and_values(d):
    shape = d.shape(1, 3)
    row = d.tensor([shape[-1]] if d.chance(0.3) else shape)
    row.array = np.sort(row.array, -1)
    row.layout = ("dense",)
    return ((row, d.tensor([*shape[:-1], d.of(EXTENTS)])),
            d.some(right=yes(d)))


def places(row, values, right=False):
    """searchsorted() in NumPy, for which NaN is the greatest too."""
    rows = np.broadcast_to(row, (*values.shape[:-1], row.shape[-1]))
    found = np.zeros(values.shape, np.int64)
    for at in np.ndindex(*values.shape[:-1]):
        found[at] = np.searchsorted(rows[at], values[at],
                                    "right" if right else "left")
    return found


def certain(d):
    """Weights of which one alone is above 0."""
    rows, n = d.whole(1, 4), d.whole(1, 5)
    array = np.zeros((rows, n), NUMPY[d.dtype])
    array[range(rows), d.rng.integers(0, n, rows)] = 0.5
    return (Operand(array), 1), {}


def softmax_rows():
    yield Row("softmax", along(-6, 6), lambda x, axis=-1: torch.softmax(
        x, axis), special=True)
    yield Row("log_softmax", along(-6, 6),
              lambda x, axis=-1: torch.log_softmax(x, axis), special=True)

    def causal(x, scale=1.0, diagonal=0):
        seen = torch.ones(x.shape, dtype=torch.bool).tril(diagonal)
        low = (x * scale).masked_fill(~seen, -math.inf)
        low = low.masked_fill(~seen.any(-1, keepdim=True), 0)
        return low.softmax(-1).masked_fill(~seen, 0)
    yield Row("causal_softmax", lambda d: (
        (d.tensor(d.shape(2), -4, 4),), d.some(
            scale=d.of((0.5, 2.0)), diagonal=d.whole(-3, 3))), causal,
        special=True)


# --- Shapes ---------------------------------------------------------------


def joined(d):
    shape = d.shape(1, 4, (0, 1, 2, 3, 5))
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.whole(1, 4)):
        mine = [*shape]
        mine[from_front(len(shape), axis)] = d.of((0, 1, 2, 3))
        parts.append(d.tensor(mine))
    return (parts, axis), {}


def stacked(d):
    shape = d.shape(0, 4, (0, 1, 2, 3))
    parts = [d.tensor(shape) for _ in range(d.whole(1, 4))]
    return (parts, d.axis(len(shape) + 1)), {}


def joining_rows():
    yield Row("concat", joined, torchs("cat"), np.concatenate, dtypes=EVERY,
              special=True)
    yield Row("stack", stacked, torchs("stack"), np.stack, dtypes=EVERY,
              special=True)

    def sized(d):
        (x, axis), _ = along(rank=1, always=True)(d)
        return (x, d.whole(1, 4), axis), {}

    def parted(d):
        (x, axis), _ = along(rank=1, always=True)(d)
        n = x.array.shape[from_front(x.array.ndim, axis)]
        cuts = sorted(d.whole(0, n) for _ in range(d.whole(0, 3)))
        ends = [0, *cuts, n]
        return (x, [b - a for a, b in itertools.pairwise(ends)], axis), {}
    yield Row("split", sized, torchs("split"), dtypes=EVERY)
    yield Row("split into", parted, torchs("split"), dtypes=EVERY)
    yield Row("chunk", sized, torchs("chunk"), dtypes=EVERY)
    yield Row("unbind", along(rank=1), torchs("unbind"), dtypes=EVERY)


def diagonal_rows():
    def of_two(d):
        x = d.tensor(d.shape(2, 4))
        if d.chance(0.3):
            return (x,), d.some(offset=d.whole(-3, 3))
        rank = x.array.ndim
        return (x, d.whole(-3, 3), d.axis(rank), d.axis(rank)), {}

    def matrix(d):
        return (d.tensor(d.shape(1, 2)), d.whole(-3, 3)), {}

    def triangle(d):
        return (d.tensor(d.shape(2)),), d.some(diagonal=d.whole(-4, 4))

    def diagonal(x, offset=0, axis1=0, axis2=1):
        return torch.diagonal(x, offset, axis1, axis2)
    yield Row("diagonal", of_two, diagonal, np.diagonal, dtypes=EVERY)
    yield Row("diag", matrix, torchs("diag"), np.diag, dtypes=EVERY)
    for name in ("tril", "triu"):
        yield Row(name, triangle, torchs(name),
                  lambda x, diagonal=0, f=getattr(np, name): f(x, diagonal),
                  dtypes=EVERY)


def moving_rows():
    def flipped(d):
        x = d.tensor(d.shape())
        return (x, d.axes(x.array.ndim) if d.chance(0.7)
                else d.axis(x.array.ndim)), {}

    def rolled(d):
        x = d.tensor(d.shape(1))
        if d.chance(0.2):
            return (x, d.whole(-9, 9)), {}
        return (x, d.whole(-9, 9), d.axis(x.array.ndim)), {}
    yield Row("flip", flipped, lambda x, axes: torch.flip(
        x, [axes] if isinstance(axes, int) else axes), lambda x, axes: np.flip(
            x, axes if isinstance(axes, int) else tuple(axes)), dtypes=EVERY)
    yield Row("roll", rolled, torchs("roll"), np.roll, dtypes=EVERY)
    yield Row("pad constant", padded_constant, pad_constant, dtypes=EVERY)
    yield Row("pad", padded, pad_by_positions, dtypes=NUMBERS, special=True)


def padded_constant(d):
    x = d.tensor(d.shape(1, 4))
    pads = [d.whole(-1, 3) for _ in range(2 * d.whole(1, x.array.ndim))]
    if d.dtype in ("u8", "bool"):
        return (x, pads), {}
    return (x, pads), d.some(value=d.number())


def pad_constant(x, pads, value=0):
    return torch.nn.functional.pad(x, pads, value=value)


def padded(d):
    x = d.tensor(d.shape(1, 4, (1, 2, 3, 5, 8)))
    count = d.whole(1, x.array.ndim)
    pads = [d.whole(0, min(2, n)) for n in x.array.shape[::-1][:count]
            for _ in range(2)]
    return (x, pads), {"mode": d.of(("reflect", "replicate", "circular"))}


def pad_by_positions(x, pads, mode):
    """By NumPy's pad() of positions: torch's takes some ranks alone."""
    kind = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    for i, (low, high) in enumerate(zip(pads[::2], pads[1::2])):
        n = x.shape[-1 - i]
        if mode == "reflect" and max(low, high) >= n:
            raise ValueError("pads beyond the axis")
        at = np.pad(np.arange(n), (low, high), kind[mode])
        x = x.index_select(-1 - i, torch.from_numpy(at))
    return x


def slice_rows():
    def sliced(d):
        x = d.tensor(d.shape(1))
        axis = d.axis(x.array.ndim)
        return (x, axis, d.whole(-9, 9)), d.some(stop=d.whole(-9, 9),
                                                 step=d.whole(1, 3))

    def narrowed(d):
        x = d.tensor(d.shape(1))
        axis = d.axis(x.array.ndim)
        n = x.array.shape[from_front(x.array.ndim, axis)]
        start = d.whole(0, n)
        length = d.whole(0, n - start) + d.chance(0.03)
        return (x, axis, start - n if d.chance(0.3) and start < n else start,
                length), {}

    def selected(d):
        x = d.tensor(d.shape(1))
        axis = d.axis(x.array.ndim)
        n = x.array.shape[from_front(x.array.ndim, axis)]
        return (x, axis, d.whole(-n, max(n - 1, 0))), {}

    def cut(x, axis, start, stop=sys.maxsize, step=1):
        if not -x.ndim <= axis < x.ndim:
            raise IndexError("axis")
        at = [slice(None)] * x.ndim
        at[axis] = slice(start, stop, step)
        return x[tuple(at)]
    yield Row("slice", sliced, cut, cut, dtypes=EVERY)
    yield Row("narrow", narrowed, torchs("narrow"), dtypes=EVERY)
    yield Row("select", selected, torchs("select"), dtypes=EVERY)


def repeat_rows():
    def times(d):
        x = d.tensor(d.shape(0, 3, (0, 1, 2, 3)))
        count = max(x.array.ndim + d.whole(-1, 1), 1)
        return (x, [d.whole(0, 3) for _ in range(count)]), {}

    def interleaved(d):
        (x, axis), _ = along(rank=1, always=True)(d)
        return (x, d.whole(0, 3), axis), {}
    yield Row("repeat", times, lambda x, t: x.repeat(t), dtypes=EVERY)
    yield Row("tile", times, torchs("tile"), np.tile, dtypes=EVERY)
    yield Row("repeat_interleave", interleaved, torchs("repeat_interleave"),
              np.repeat, dtypes=EVERY)


def factors(d, count):
    """A shape of so many elements, perhaps with one extent as -1."""
    shape = []
    while count > 1 and len(shape) < 5:
        part = d.of([n for n in range(1, count + 1) if count % n == 0])
        shape.append(part)
        count //= part
    shape.append(count)
    if d.chance(0.3):
        shape[d.whole(0, len(shape) - 1)] = -1
    return shape


def reshape_rows():
    def reshaped(d):
        x = d.tensor(d.shape())
        return (x, factors(d, x.array.size)), {}

    def squeezable(d):
        x = d.tensor(d.shape(0, 5, (1, 1, 2, 3)))
        ones = [i for i, n in enumerate(x.array.shape) if n == 1]
        if not ones or d.chance(0.3):
            return (x,), {}
        return (x, d.of(ones)), {}

    def flattened(d):
        x = d.tensor(d.shape())
        ends = sorted(d.whole(0, max(x.array.ndim - 1, 0)) for _ in "ab")
        return (x, *ends[:d.whole(0, 2)]), {}

    def expanded(d):
        shape = d.shape()
        return (d.tensor(d.narrower(shape)), shape), {}
    yield Row("reshape", reshaped, torchs("reshape"), np.reshape,
              dtypes=EVERY)
    yield Row("unsqueeze", lambda d: expand_one(d), torchs("unsqueeze"),
              np.expand_dims, dtypes=EVERY)
    yield Row("squeeze", squeezable, torchs("squeeze"), np.squeeze,
              dtypes=EVERY)
    yield Row("flatten", flattened, torchs("flatten"), dtypes=EVERY)
    yield Row("expand", expanded, lambda x, shape: x.expand(shape),
              np.broadcast_to, dtypes=EVERY)


def expand_one(d):
    x = d.tensor(d.shape(0, 4))
    return (x, d.axis(x.array.ndim + 1)), {}


def order_of_axes_rows():
    def permuted(d):
        x = d.tensor(d.shape())
        order = d.rng.permutation(x.array.ndim)
        return (x, [int(a) for a in order]), {}

    def exchanged(d):
        x = d.tensor(d.shape(2))
        rank = x.array.ndim
        axes = (d.axis(rank), d.axis(rank)) if d.chance(0.7) else ()
        return (x, *axes), {}
    yield Row("permute", permuted, torchs("permute"), np.transpose,
              dtypes=EVERY)
    yield Row("transpose", exchanged,
              lambda x, a=-2, b=-1: x.transpose(a, b),
              lambda x, a=-2, b=-1: np.swapaxes(x, a, b), dtypes=EVERY)
    for name in ("contiguous", "copy"):
        yield Row(name, one(), lambda x: x.clone(), np.copy, dtypes=EVERY)


# --- Indices --------------------------------------------------------------


def distinct(d, shape, axis, n):
    """Positions of which none repeats along the axis."""
    whole = [*shape]
    whole[axis] = n
    order = np.argsort(d.rng.random(whole), axis)
    return d.laid(np.take(order, range(shape[axis]), axis).astype(
        NUMPY[d.of(INTEGERS)]), index=True)


def indexed(d, unique=False):
    """An operand, an axis, and an index of its rank."""
    x = d.tensor(d.shape(1, 4))
    shape = x.array.shape
    axis = d.axis(len(shape))
    at = from_front(len(shape), axis)
    size = [d.whole(0 if d.chance(0.1) else min(1, n), n) for n in shape]
    if not unique:
        size[at] = d.of(EXTENTS)
        return x, axis, d.index(size, shape[at])
    return x, axis, distinct(d, size, at, shape[at])


def scattered(unique, number=True):
    def make(d):
        x, axis, index = indexed(d, unique)
        if number and d.chance(0.15) and d.dtype not in ("u8", "bool"):
            return (x, axis, index, d.number()), {}
        more = 1 if d.chance(0.3) else 0
        shape = [n + more for n in index.array.shape]
        return (x, axis, index, d.tensor(shape)), {}
    return make


def source_of(x, index, src):
    """What of it is used: torch has no derivative where there is more."""
    if isinstance(src, torch.Tensor):
        return src[tuple(slice(n) for n in index.shape)]
    return torch.full(index.shape, src, dtype=x.dtype)


def scatter_reduced(kind):
    def call(x, axis, index, src):
        return x.scatter_reduce(axis, index, source_of(x, index, src), kind)
    return call


def in_place(name):
    """On a tensor of its own, in its layout."""
    def call(x, *rest, **more):
        getattr(neap, name)(x, *rest, **more)
        return x
    return call


def scatter(x, axis, index, src):
    return x.scatter(axis, index, source_of(x, index, src))


def scatter_add(x, axis, index, src):
    return x.scatter_add(axis, index, source_of(x, index, src))


def put(x, axis, index, src):
    """scatter() in NumPy, where an index may repeat: the last one stays."""
    y, rank = x.copy(), x.ndim
    if not -rank <= axis < rank:
        raise IndexError("axis")
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = index[at]
        if not 0 <= index[at] < x.shape[axis]:
            raise IndexError("index")
        y[tuple(to)] = src[at] if isinstance(src, np.ndarray) else src
    return y


def scatter_rows():
    yield Row("gather", lambda d: (indexed(d), {}), torchs("gather"),
              dtypes=EVERY, special=True)
    yield Row("scatter", scattered(True), scatter, dtypes=EVERY)
    yield Row("scatter repeated", scattered(False), None, put, dtypes=EVERY,
              grad=False)
    yield Row("scatter_add", scattered(False, False), scatter_add,
              dtypes=NUMBERS)
    for name in ("amax", "amin"):
        yield Row("scatter_" + name, scattered(False, False),
                  scatter_reduced(name), dtypes=NUMBERS, special=True)
    yield Row("scatter_", scattered(True, False), scatter, dtypes=EVERY,
              neap=in_place("scatter_"), grad=False)
    yield Row("scatter_add_", scattered(False, False), scatter_add,
              neap=in_place("scatter_add_"), dtypes=NUMBERS, grad=False)


def index_select_rows():
    def selected(d):
        x = d.tensor(d.shape(1, 4))
        axis = d.axis(x.array.ndim)
        n = x.array.shape[from_front(x.array.ndim, axis)]
        return (x, axis, d.index([d.of(EXTENTS)], n)), {}

    def added(d):
        (x, axis, index), _ = selected(d)
        shape = [*x.array.shape]
        shape[from_front(len(shape), axis)] = index.array.size
        return (x, axis, index, d.tensor(shape)), d.some(alpha=d.number())

    def add(x, axis, index, src, alpha=1):
        return torch.index_add(x, axis, index, src, alpha=alpha)
    yield Row("index_select", selected, torchs("index_select"),
              lambda x, axis, i: np.take(x, i, axis), dtypes=EVERY)
    yield Row("index_add", added, add, dtypes=NUMBERS)
    yield Row("index_add_", added, add, neap=in_place("index_add_"),
              dtypes=NUMBERS, grad=False)


def advanced_rows():
    def many(d):
        x = d.tensor(d.shape(1, 4))
        shape = d.shape(0, 3, (0, 1, 2, 3))
        count = d.whole(1, x.array.ndim)
        return (x, [d.index(d.narrower(shape), n, True)
                    for n in x.array.shape[:count]]), {}

    def flat(d):
        x = d.tensor(d.shape(0, 4))
        return (x, d.index(d.shape(0, 3, (0, 1, 2, 3)), x.array.size,
                           True)), {}
    yield Row("index", many, lambda x, i: x[tuple(i)],
              lambda x, i: x[tuple(i)], dtypes=EVERY)
    yield Row("take", flat, torchs("take"), np.take, dtypes=EVERY)


def mask_rows():
    def packed(d):
        shape = d.shape()
        return (d.tensor(d.narrower(shape)),
                d.tensor(d.narrower(shape), dtype="bool")), {}

    def unpacked(d):
        mask = d.tensor(d.shape(), dtype="bool")
        count = int(mask.array.sum())
        fill = () if d.chance(0.4) else (
            d.tensor(d.narrower([*mask.array.shape])) if d.chance(0.5)
            else 1,)
        return (d.tensor([count]), mask, *fill), {}

    def unpack(values, mask, fill=0):
        base = both_tensors(lambda v, f: f)(values, fill)
        return base.expand(mask.shape).clone().masked_scatter(mask, values)
    yield Row("pack", packed, torchs("masked_select"), dtypes=EVERY)
    yield Row("unpack", unpacked, unpack, dtypes=EVERY)


def embedding_rows():
    def rows(d):
        n = d.of((1, 2, 5, 8))
        padding = d.whole(-n, n - 1)
        return (d.tensor([n, d.of(EXTENTS)]), d.index(d.shape(0, 3), n)), (
            d.some(padding=padding))

    def embedding(weight, ids, padding=None):
        return torch.nn.functional.embedding(ids, weight,
                                             padding_idx=padding)

    def hot(d):
        n = d.whole(1, 6)
        ids = d.index(d.shape(0, 3), n)
        ids.array = ids.array.astype(np.int64)
        return (ids, n, Type(d.of(NUMBERS))), {}

    def one_hot(ids, n, kind):
        return torch.nn.functional.one_hot(ids, n).to(kind)
    yield Row("embedding", rows, embedding)
    yield Row("one_hot", hot, one_hot, grad=False, own=True)


# --- Linear algebra -------------------------------------------------------


SMALL = (0, 1, 1, 2, 2, 3, 3, 5, 5, 8, 8, 17, 40, 70)


def factors_of_product(d):
    """Operands of matmul(), vectors among them."""
    m, k, n = (d.of(SMALL) for _ in "mkn")
    batch = d.shape(0, 2, (1, 2, 3))
    a = [k] if d.chance(0.15) else [*d.narrower(batch), m, k]
    b = [k] if d.chance(0.15) else [*d.narrower(batch), k, n]
    if d.chance(0.02):
        b[-1] += 1
    return (d.tensor(a), d.tensor(b)), {}


def linear_arguments(d):
    inputs, outputs = d.of(SMALL), d.of(SMALL)
    x = d.tensor([*d.shape(0, 3, (0, 1, 2, 5)), inputs])
    bias = (d.tensor([outputs]),) if d.chance(0.6) else ()
    return (x, d.tensor([outputs, inputs]), *bias), {}


def product_rows():
    def vectors(same):
        def make(d):
            n = d.of(SMALL)
            return (d.tensor([n]), d.tensor([n if same else
                                             d.of(SMALL)])), {}
        return make

    def gelu_linear(x, w, bias=None, form="exact"):
        kind = "none" if form == "exact" else form
        gelu = torch.nn.functional.gelu(x, approximate=kind)
        return torch.nn.functional.linear(gelu, w, bias)

    def gelu_arguments(d):
        arguments, _ = linear_arguments(d)
        return arguments, d.some(form=d.of(("exact", "tanh")))
    yield Row("matmul", factors_of_product, torchs("matmul"), np.matmul,
              loose=3)
    yield Row("dot", vectors(True), torchs("dot"), np.dot)
    yield Row("outer", vectors(False), torchs("outer"), np.outer,
              dtypes=NUMBERS)
    yield Row("linear", linear_arguments, functional("linear"), loose=3)
    yield Row("gelu_linear", gelu_arguments, gelu_linear, loose=5)
    yield Row("einsum", einsum_arguments, lambda e, parts: torch.einsum(
        e, *parts), lambda e, parts: np.einsum(e, *parts), loose=5)


EQUATIONS = (
    "ij,jk->ik", "ij,kj", "ij->ji", "ii->i", "ii", "ij->", "i,i->", "i,j->ij",
    "bij,bjk->bik", "bhtd,bhsd->bhts", "ij,jk,kl->il", "ijk,jk->i", "iij->j",
    "ijj,j->i", "abc,cd,bd->a", "...ij,...jk->...ik", "...i->...",
    "b...,b->b...", "ij,ij->ij", "ij,i->ij", "ij,kl->ijkl", "i->i", "ba",
    "abcd->dbca",
    "ij,j,k->ik", "...i,i...", "i...i->...", ",i->i")


def einsum_arguments(d):
    equation = d.of(EQUATIONS)
    extents = {label: d.of((1, 2, 3, 5)) for label in equation}
    wide = d.shape(0, 2, (2, 3))
    parts = []
    for term in equation.split("->")[0].split(","):
        head, dots, tail = term.partition("...")
        more = d.narrower(wide) if dots else []
        parts.append(d.tensor([*(extents[c] for c in head), *more,
                               *(extents[c] for c in tail)]))
    return (equation, parts), {}


def square_matrix(d, batch=(), symmetric=False):
    """Far from singular."""
    n = d.of((0, 1, 2, 3, 5, 8))
    array = d.rng.uniform(-1, 1, (*batch, n, n))
    if symmetric:
        array = (array + array.swapaxes(-1, -2)) / 2
    signs = 1 if symmetric else np.sign(d.rng.random(n) - 0.3)
    array = (array + signs * (n + 1) * np.eye(n)).astype(NUMPY[d.dtype])
    return d.solid(array)


def system(d):
    """A square matrix, and right sides."""
    batch = d.shape(0, 2, (1, 2, 3))
    a = square_matrix(d, d.narrower(batch))
    n = a.array.shape[-1]
    if d.chance(0.2):
        b = [n]
    else:
        b = [*d.narrower(batch), n, d.of((0, 1, 3, 5))]
    return a, d.tensor(b)


def triangular(a, b, upper=False, transpose=False, unit=False):
    a = a.triu() if upper else a.tril()
    if transpose:
        a, upper = a.transpose(-1, -2), not upper
    return torch.linalg.solve_triangular(a, b, upper=upper,
                                         unitriangular=unit)


def triangular_arguments(d):
    batch = d.shape(0, 2, (1, 2, 3))
    a = square_matrix(d, d.narrower(batch))
    a.array = a.array / (a.array.shape[-1] + 1)  # unit: near 1 on both
    b = d.tensor([*d.narrower(batch), a.array.shape[-1], d.of((0, 1, 3))])
    return (a, b), d.some(upper=yes(d), transpose=yes(d), unit=yes(d))


def matrix_rows():
    def matrices(symmetric=False):
        return lambda d: ((square_matrix(
            d, d.shape(0, 2, (0, 1, 2, 3)), symmetric),), {})

    def cholesky(a):
        return torch.linalg.cholesky((a + a.mT) / 2)

    def solve(a, b):
        if b.ndim == 1:
            return torch.linalg.solve(a, b.expand(a.shape[:-1]))
        return torch.linalg.solve(a, b)
    yield Row("solve", lambda d: (system(d), {}), solve, loose=30)
    yield Row("triangular_solve", triangular_arguments, triangular,
              loose=100)
    yield Row("inverse", matrices(), lambda a: torch.linalg.inv(a),
              lambda a: np.linalg.inv(a), loose=30)
    yield Row("det", matrices(), lambda a: torch.linalg.det(a),
              lambda a: np.linalg.det(a), loose=30)
    def slogdet(a):
        sign, log = torch.linalg.slogdet(a)
        return sign.detach(), log
    yield Row("slogdet", matrices(), slogdet,
              lambda a: tuple(np.linalg.slogdet(a)), loose=30)
    yield Row("logdet", matrices(), torchs("logdet"), loose=30)
    yield Row("cholesky", matrices(True), cholesky, loose=30)


# --- Convolutions and pools -----------------------------------------------


def spatial(axes, function, transposed=False):
    """Images, weights and options of a convolution over so many axes."""
    def pairs(d, low, high):
        return d.whole(low, high) if axes == 1 else d.one_or_two(low, high)

    def make(d):
        groups = d.of((1, 1, 2, 3))
        c, o = (groups * d.whole(1, 3 if d.chance(0.9) else 20)
                for _ in "co")
        size = [d.whole(1, 9 if d.chance(0.9) else 30) for _ in range(axes)]
        kernel = [d.whole(1, 3 if d.chance(0.9) else 7) for _ in range(axes)]
        ends = (c, o // groups) if transposed else (o, c // groups)
        x = d.tensor([*([d.of((0, 1, 2, 3))] if d.chance(0.85) else []), c,
                      *size])
        bias = (d.tensor([o]),) if d.chance(0.5) else ()
        more = {"output_padding": pairs(d, 0, 1)} if transposed else {}
        options = d.some(stride=pairs(d, 1, 3), padding=pairs(d, 0, 2),
                         dilation=pairs(d, 1, 2), **more)
        return (x, d.tensor([*ends, *kernel]), *bias), {
            **options, **({"groups": groups} if groups > 1 else {})}
    return make


def convolution_rows():
    for axes in (1, 2):
        yield Row(f"conv{axes}d", spatial(axes, "conv"),
                  functional(f"conv{axes}d"), loose=5)
        yield Row(f"conv_transpose{axes}d", spatial(axes, "conv", True),
                  functional(f"conv_transpose{axes}d"), loose=5)


def pooled(axes, average):
    def pairs(d, low, high):
        return d.whole(low, high) if axes == 1 else d.one_or_two(low, high)

    def make(d):
        batch = [d.of((0, 1, 2, 3))] if d.chance(0.85) else []
        x = d.tensor([*batch, d.whole(1, 3),
                      *(d.whole(1, 9) for _ in range(axes))])
        more = ({"count_include_pad": yes(d)} if average
                else {"dilation": pairs(d, 1, 2)})
        if average and axes == 2:
            more["divisor_override"] = d.whole(1, 5)
        return (x, pairs(d, 1, 3)), d.some(
            stride=pairs(d, 1, 3), padding=pairs(d, 0, 1), ceil_mode=yes(d),
            **more)
    return make


def adaptive(axes):
    def make(d):
        batch = [d.of((1, 2, 3))] if d.chance(0.85) else []
        x = d.tensor([*batch, d.whole(1, 3),
                      *(d.whole(1, 9) for _ in range(axes))])
        return (x, d.whole(1, 5) if axes == 1 else d.one_or_two(1, 5)), {}
    return make


def pool_rows():
    for axes in (1, 2):
        yield Row(f"avg_pool{axes}d", pooled(axes, True),
                  functional(f"avg_pool{axes}d"))
        yield Row(f"max_pool{axes}d", pooled(axes, False),
                  functional(f"max_pool{axes}d"), special=True)
        yield Row(f"adaptive_avg_pool{axes}d", adaptive(axes),
                  functional(f"adaptive_avg_pool{axes}d"))
    yield Row("adaptive_max_pool2d", adaptive(2),
              functional("adaptive_max_pool2d"), special=True)
    yield Row("interpolate", resized, interpolate)


def resized(d):
    x = d.tensor([d.whole(1, 2), d.whole(1, 3), d.whole(1, 7),
                  d.whole(1, 7)])
    size = ({"size": d.one_or_two(1, 9)} if d.chance(0.5)
            else {"scale": d.of((0.5, 1.5, 2.0, 0.7, 3.0))})
    mode = d.of(("nearest", "bilinear"))
    more = d.some(align_corners=yes(d)) if mode == "bilinear" else {}
    return (x,), {**size, "mode": mode, **more}


def interpolate(x, size=None, scale=None, mode="nearest",
                align_corners=False):
    return torch.nn.functional.interpolate(
        x, size, scale, mode, align_corners if mode == "bilinear" else None)


# --- Losses and norms -----------------------------------------------------


def reduction(d):
    return d.of(("mean", "sum", "none"))


def loss_rows():
    def probable(d):
        shape = d.shape()
        return (d.tensor(shape, 0.05, 0.95), d.tensor(shape, 0.05, 0.95)), (
            d.some(reduction=reduction(d)))

    def logits(d):
        shape = d.shape(1)
        return (d.tensor(shape, -6, 6), d.tensor(shape, 0, 1)), d.some(
            reduction=reduction(d),
            pos_weight=d.tensor(d.narrower(shape), 0.5, 3, grad=False))
    for name, more in (("mse_loss", {}), ("l1_loss", {}),
                       ("huber_loss", {"delta": option(0.5, 1.0, 2.0)}),
                       ("smooth_l1_loss", {"beta": option(0.0, 0.5, 2.0)})):
        yield Row(name, same_shapes(2, reduction=reduction, **more),
                  functional(name))
    yield Row("binary_cross_entropy", probable,
              functional("binary_cross_entropy"))
    yield Row("binary_cross_entropy_with_logits", logits,
              functional("binary_cross_entropy_with_logits"))
    yield Row("kl_div", divergence, functional("kl_div"))


def divergence(d):
    shape = d.shape()
    of_logs = d.chance(0.4)
    target = d.tensor(shape, *((-3, 0) if of_logs else (0.1, 1)))
    options = d.some(reduction=reduction(d))
    return (d.tensor(shape, -3, 0), target), (
        {**options, "log_target": True} if of_logs else options)


def labelled(d):
    """Logits and labels, with pixels or without."""
    n, c = d.whole(0, 4), d.whole(1, 6)
    pixels = d.shape(0, 2, (1, 2, 3)) if d.chance(0.3) else []
    labels = d.index([n, *pixels], c)
    labels.array = labels.array.astype(np.int64)
    return d.tensor([n, c, *pixels], -4, 4), labels, c


def class_arguments(d):
    logits, labels, c = labelled(d)
    options = d.some(reduction=reduction(d), label_smoothing=d.of((0.1, 0.5)))
    if d.chance(0.3):
        options["weight"] = d.tensor([c], 0.5, 2, grad=False)
    if d.chance(0.3):
        options["ignore_index"] = d.whole(0, c - 1)
    elif d.chance(0.3):
        return (logits, d.tensor([*logits.array.shape], 0.1, 1)), options
    return (logits, labels), options


def cross_entropy(logits, labels, **options):
    """The mean of no samples is 0 in Neap, NaN in PyTorch."""
    loss = torch.nn.functional.cross_entropy(logits, labels, **options)
    return torch.where(loss.isnan(), 0.0, loss)


def log_probable(d):
    logits, labels, _ = labelled(d)
    return (logits, labels), d.some(reduction=reduction(d))


def nll_loss(logits, labels, **options):
    loss = torch.nn.functional.nll_loss(logits, labels, **options)
    return torch.where(loss.isnan(), 0.0, loss)


def head_arguments(d):
    """Features, the last layer and labels."""
    n, c, width = d.whole(0, 4), d.whole(1, 6), d.whole(1, 5)
    labels = d.index([n], c)
    labels.array = labels.array.astype(np.int64)
    bias = d.tensor([c]) if d.chance(0.5) else None
    options = d.some(reduction=reduction(d), label_smoothing=d.of((0.1, 0.5)))
    if d.chance(0.3):
        options["weight"] = d.tensor([c], 0.5, 2, grad=False)
    return (d.tensor([n, width]), d.tensor([c, width]), bias, labels), options


def linear_cross_entropy(x, w, bias, labels, **options):
    return cross_entropy(torch.nn.functional.linear(x, w, bias), labels,
                         **options)


def class_rows():
    yield Row("cross_entropy", class_arguments, cross_entropy, loose=3)
    yield Row("linear_cross_entropy", head_arguments, linear_cross_entropy,
              loose=5)
    yield Row("nll_loss", log_probable, nll_loss)


def affine(d, shape, bias=True):
    """A weight, and perhaps a bias, or neither."""
    if d.chance(0.3):
        return {}
    made = {"weight": d.tensor(shape, 0.5, 2)}
    if bias and d.chance(0.8):
        made["bias"] = d.tensor(shape)
    return made


def eps(d):
    return d.of((1e-5, 1e-3, 0.1))


def normalized(bias):
    def make(d):
        shape = d.shape(1, 4, (1, 2, 3, 5, 8))
        inner = shape[-d.whole(1, len(shape)):]
        options = {} if d.chance(0.3) and d.dtype == "f64" else {
            "eps": eps(d)}
        return (d.tensor(shape), inner), {**affine(d, inner, bias),
                                          **options}
    return make


def channels(d, low):
    shape = [d.whole(1, 3), d.whole(1, 6), *d.shape(low, 2, (1, 2, 3, 5))]
    return shape, d.tensor(shape)


def norm_layer_rows():
    def grouped(d):
        shape, x = channels(d, 0)
        groups = d.of([n for n in range(1, 7) if shape[1] % n == 0])
        return (x, groups), {**affine(d, [shape[1]]), "eps": eps(d)}

    def by_instance(d):
        shape, x = channels(d, 1)
        return (x,), {**affine(d, [shape[1]]), "eps": eps(d)}

    def batched(d):
        shape, x = channels(d, 0)
        running = [d.solid(d.rng.uniform(0.5, 2, shape[1]).astype(
            NUMPY[d.dtype]), grad=False) for _ in "mv"]
        options = d.some(training=yes(d), momentum=d.of((0.1, 0.5)),
                         eps=eps(d))
        return (x, *running), {**affine(d, [shape[1]]), **options}
    yield Row("layer_norm", normalized(True), functional("layer_norm"),
              loose=20)
    yield Row("rms_norm", normalized(False), functional("rms_norm"),
              loose=20)
    yield Row("group_norm", grouped, functional("group_norm"), loose=20)
    yield Row("instance_norm", by_instance, lambda x, **k: (
        torch.nn.functional.instance_norm(x, None, None, **k)), loose=20)
    yield Row("batch_norm", batched, with_running(functional("batch_norm")),
              neap=with_running(neap.batch_norm), loose=20)


def with_running(function):
    """The result, and the running values, which it changes."""
    def call(x, mean, var, **options):
        return function(x, mean, var, **options), mean, var
    return call


# --- Sequences ------------------------------------------------------------


def attention_arguments(d):
    heads = d.of((1, 2, 4))
    shared = d.of([n for n in (1, 2, 4) if heads % n == 0])
    batch = d.shape(0, 1, (1, 2, 3))
    t, s = (d.whole(1, 7 if d.chance(0.8) else 150) for _ in "ts")
    size, e = (d.whole(1, 7 if d.chance(0.9) else 40) for _ in "de")
    options = d.some(scale=d.of((0.3, 1.0)))
    if heads != shared:
        options["enable_gqa"] = True
    if d.chance(0.3):
        options["is_causal"] = True
    elif d.chance(0.5):
        shape = d.narrower([*batch, heads, t, s])
        options["mask"] = d.tensor(shape, -2, 2, grad=False, dtype=(
            "bool" if d.chance(0.5) else None))
    return (d.tensor([*batch, heads, t, size]),
            d.tensor([*batch, shared, s, size]),
            d.tensor([*batch, shared, s, e])), options


def attention(q, k, v, mask=None, is_causal=False, scale=None,
              enable_gqa=False):
    """By its formula. A row that sees no key gives zeros."""
    if enable_gqa:
        times = q.shape[-3] // k.shape[-3]
        k, v = (x.repeat_interleave(times, -3) for x in (k, v))
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is None or mask.dtype != torch.bool:
        return (scores + (0 if mask is None else mask)).softmax(-1) @ v
    seen = mask.expand(scores.shape)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen & ~none, -math.inf).softmax(-1)
    return weights.masked_fill(none, 0) @ v


def rotary_arguments(d):
    shape = [*d.shape(0, 2, (1, 2, 3)), d.whole(1, 6), 2 * d.whole(1, 4)]
    options = d.some(base=d.of((100.0, 5e5)), first=d.whole(0, 50),
                     pairs=d.of(("halves", "interleaved")))
    return (d.tensor(shape),), options


def rotary(x, base=10000.0, pairs="halves", first=0):
    t, size = x.shape[-2:]
    rates = base ** (-2 * torch.arange(size // 2, dtype=x.dtype) / size)
    angles = (torch.arange(t, dtype=x.dtype) + first)[:, None] * rates
    cos, sin = angles.cos(), angles.sin()
    if pairs == "halves":
        a, b = x[..., :size // 2], x[..., size // 2:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def layer_arguments(gates, states, cell=False):
    """A sequence, or a step of it, with weights, biases and states."""
    def make(d):
        b, inputs, h = d.whole(1, 3), d.whole(1, 4), d.whole(1, 5)
        x = d.tensor([b, inputs] if cell else [d.whole(1, 5), b, inputs])
        weights = [d.tensor([gates * h, inputs], -1, 1),
                   d.tensor([gates * h, h], -1, 1)]
        biases = [d.tensor([gates * h]) for _ in "ih"] if d.chance(0.6) else (
            [None, None])
        state = [d.tensor([b, h], -1, 1) for _ in range(states)]
        if cell:
            return (x, *state, *weights, *biases), {}
        state = state if d.chance(0.6) else [None] * states
        return (x, *weights, *biases, *state), d.some(is_reverse=yes(d))
    return make


def steps(cell, states):
    """A layer by PyTorch's cell."""
    def call(x, w, u, b, c, *state, is_reverse=False, **more):
        zeros = torch.zeros(x.shape[1], u.shape[1], dtype=x.dtype)
        state = tuple(zeros if s is None else s for s in state)
        outputs, order = [None] * len(x), range(len(x))
        for t in reversed(order) if is_reverse else order:
            state = cell(x[t], *state, w, u, b, c, **more)
            state = state if isinstance(state, tuple) else (state,)
            outputs[t] = state[0]
        return torch.stack(outputs), *state
    return call


def rnn_cell(x, h, w, u, b=None, c=None, nonlinearity="tanh"):
    return getattr(torch, f"rnn_{nonlinearity}_cell")(x, h, w, u, b, c)


def lstm_cell(x, h, c, *weights):
    return torch.lstm_cell(x, (h, c), *weights)


def kinds(make):
    def more(d):
        arguments, options = make(d)
        return arguments, {**options, **d.some(nonlinearity=d.of(
            ("tanh", "relu")))}
    return more


def sequence_rows():
    yield Row("scaled_dot_product_attention", attention_arguments, attention,
              loose=5)
    yield Row("rotary_embedding", rotary_arguments, rotary, loose=3)
    yield Row("rnn", kinds(layer_arguments(1, 1)), steps(rnn_cell, 1),
              loose=5)
    yield Row("rnn_cell", kinds(layer_arguments(1, 1, True)), rnn_cell,
              loose=5)
    yield Row("gru", layer_arguments(3, 1), steps(
        lambda *a: torch.gru_cell(*a), 1), loose=5)
    yield Row("gru_cell", layer_arguments(3, 1, True), torchs("gru_cell"),
              loose=5)
    yield Row("lstm", layer_arguments(4, 2), steps(lstm_cell, 2), loose=5)
    yield Row("lstm_cell", layer_arguments(4, 2, True), lstm_cell, loose=5)


# --- Creation, and writing in place ---------------------------------------


def creation_rows():
    def shaped(d):
        return (d.shape(), Type(d.of(EVERY))), {}

    def filled(d):
        return (d.shape(), d.number(), Type(d.dtype)), {}

    def square(d):
        return (d.whole(0, 6), Type(d.of(EVERY))), {}

    def from_to(d):
        begin, step = d.number(), abs(d.number()) + 1
        return (begin, begin + d.whole(0, 9), step, Type(d.dtype)), {}

    def spaced(d):
        return (d.number(), d.number(), d.whole(0, 9), Type(d.dtype)), {}
    for name in ("zeros", "ones"):
        yield Row(name, shaped, lambda s, t, f=torchs(name): f(s, dtype=t),
                  getattr(np, name), grad=False, own=True)
        yield Row(name + "_like", one(), torchs(name + "_like"),
                  getattr(np, name + "_like"), grad=False, dtypes=EVERY)
    yield Row("full", filled, lambda s, v, t: torch.full(s, v, dtype=t),
              lambda s, v, t: np.full(s, v, t), grad=False, dtypes=NUMBERS)
    yield Row("scalar", lambda d: ((d.number(), Type(d.dtype)), {}),
              lambda v, t: torch.tensor(v, dtype=t),
              lambda v, t: np.asarray(v, t), grad=False, dtypes=NUMBERS)
    yield Row("eye", square, lambda n, t: torch.eye(n, dtype=t),
              lambda n, t: np.eye(n, dtype=t), grad=False, own=True)
    yield Row("arange", from_to, lambda a, b, c, t: torch.arange(
        a, b, c, dtype=t), lambda a, b, c, t: np.arange(a, b, c, t),
        grad=False, dtypes=NUMBERS)
    yield Row("linspace", spaced, lambda a, b, n, t: torch.linspace(
        a, b, n, dtype=t), lambda a, b, n, t: np.linspace(a, b, n, dtype=t),
        grad=False)


def writing_rows():
    def onto(d):
        shape = d.shape()
        return (d.tensor(shape), d.tensor(d.narrower(shape))), {}

    def onto_numbers(d):
        x, y = onto(d)[0]
        return (x, d.number() or 1 if d.chance(0.2) else y), {}
    for name in ("add_", "sub_", "mul_"):
        yield Row(name, onto_numbers, both_tensors(torchs(name[:-1])),
                  neap=in_place(name), dtypes=NUMBERS, grad=False)
    yield Row("div_", onto_numbers, both_tensors(torchs("div")),
              neap=in_place("div_"), grad=False)
    yield Row("copy_", onto, lambda x, y: y.expand(x.shape),
              lambda x, y: np.broadcast_to(y, x.shape),
              neap=in_place("copy_"), dtypes=EVERY, grad=False)
    yield Row("fill_", lambda d: ((d.tensor(d.shape()), d.number()), {}),
              torchs("full_like"), np.full_like, neap=in_place("fill_"),
              dtypes=NUMBERS, grad=False)


FAMILIES = (
    unary_rows, activation_rows, any_number_rows, binary_rows,
    comparison_rows, clip_rows, where_rows, cast_rows, reduction_rows,
    norm_rows, running_rows, order_rows, softmax_rows, joining_rows,
    diagonal_rows, moving_rows, slice_rows, repeat_rows, reshape_rows,
    order_of_axes_rows, scatter_rows, index_select_rows, advanced_rows,
    mask_rows, embedding_rows, product_rows, matrix_rows, convolution_rows,
    pool_rows, loss_rows, class_rows, norm_layer_rows, sequence_rows,
    creation_rows, writing_rows)
ROWS = [row for family in FAMILIES for row in family()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one call")
    parser.add_argument("--op", help="calls of this operation alone")
    parser.add_argument("--examples", action="store_true",
                        help="print a call of each kind of refusal")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the references', of odd operands
    if torch:
        torch.set_num_threads(1)
    began, tally = time.monotonic(), Tally()
    if options.only is not None:
        try:
            check(options.seed, options.only, tally)
        except Mismatch as reason:
            tally.mismatches.append(str(reason))
    else:
        run(options.calls, options.seed, tally, options.op)
    print("\n".join(tally.summary()))
    if options.examples:
        for (kind, op, _), text in sorted(tally.examples.items()):
            print(f"{kind} {op}: {text}")
    print(f"{time.monotonic() - began:.1f} s")
    return bool(tally.mismatches)


if __name__ == "__main__":
    sys.exit(main())
