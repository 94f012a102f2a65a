# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Compiled steps: traced once, laid out in one arena, run without Python."""

import collections
import functools
import os
import warnings
import weakref

from neap import _core
from neap._arrays import from_dlpack
from neap._core import DType, Spec, Tensor, _guards_hold
from neap._errors import TraceError
from neap._guards import MISSING, Guards, first_failing
from neap.memory import parse_bytes

_ONE = ("leaf",)  # the structure of a tensor alone
_TENSOR = frozenset((Tensor,))
_STATIC = (str, bytes, bool, type(None))
_MOST_PARTS = 1 << 20  # of an argument
_MANY_RETRACES = 5


def spec(shape, dtype=DType.f32):
    """Shape and dtype of an argument."""
    return Spec(shape, dtype)


def _is_leaf(value):
    return (isinstance(value, (Tensor, Spec, int, float)) and
            not isinstance(value, bool))


def flatten(value):
    """The tensors and numbers in nested tuples, lists, dicts and dataclasses,
    in order, and a hashable description of the rest. An explicit stack: users
    choose the depth."""
    leaves, described, stack = [], [], [value]
    while stack:
        at = stack.pop()
        if _is_leaf(at):
            described.append("leaf")
            leaves.append(at)
        elif isinstance(at, _STATIC):
            described.append(("static", at, type(at)))
        elif isinstance(at, (tuple, list)):
            described.append((type(at), len(at)))
            stack.extend(reversed(at))
        elif type(at) in (dict, collections.OrderedDict):
            described.append((type(at), tuple(at)))
            stack.extend(reversed(list(at.values())))
        elif hasattr(type(at), "__dataclass_fields__"):
            names = _fields_of(at)
            described.append((type(at), names))
            stack.extend(getattr(at, name) for name in reversed(names))
        elif hasattr(at, "__dlpack__"):
            described.append("leaf")
            leaves.append(from_dlpack(at))
        else:
            raise TypeError(
                "a compiled step takes tensors, arrays, numbers, str, bool and "
                f"None, and tuples, lists, dicts and dataclasses of them, not "
                f"{type(at).__name__}")
        if len(described) > _MOST_PARTS:
            raise ValueError(f"a compiled step's argument has more than "
                             f"{_MOST_PARTS} parts, or contains itself")
    return leaves, tuple(described)


def _fields_of(value):
    """The names of a dataclass's fields, which are all that it has."""
    from dataclasses import fields  # a slow import that few need
    names = tuple(field.name for field in fields(value))
    if others := set(getattr(value, "__dict__", ())) - set(names):
        raise TypeError(
            f"a compiled step takes dataclasses for their fields; this "
            f"{type(value).__name__} also has {', '.join(sorted(others))}")
    return names


def _build(kind, parts):
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*parts)
    return kind(parts)


def unflatten(described, leaves):
    """The inverse of flatten()."""
    leaves = list(leaves)
    built = []  # from the last description to the first
    for entry in reversed(described):
        if entry == "leaf":
            built.append(leaves.pop())
        elif entry[0] == "static":
            built.append(entry[1])
        else:
            kind, size = entry
            count = size if isinstance(size, int) else len(size)
            parts = [built.pop() for _ in range(count)]
            if kind in (dict, collections.OrderedDict):
                built.append(kind(zip(size, parts)))
            elif isinstance(size, tuple):  # __init__ has run for the caller's
                made = object.__new__(kind)
                for name, part in zip(size, parts):
                    object.__setattr__(made, name, part)
                built.append(made)
            else:
                built.append(_build(kind, parts))
    return built[0]


@functools.lru_cache
def _of_tensors(count):
    """The structure of a call with so many tensors: flatten() would say it."""
    return ((tuple, 2), (tuple, count), *["leaf"] * count, (dict, ()))


class _Function:
    """What a step traces for arguments of one structure, and what of that its
    program holds for. The step refers to it, and it not to the step, so that a
    program ends when nobody uses it, without the collector."""

    def __init__(self, function, structure):
        self.function = function
        self.structure = structure
        self.results = None  # their structure, once traced
        self.guards = None  # and their names
        self.tracing = None  # guards as a trace began, until the call ends

    def run(self, leaves):
        """What is traced: from a list of tensors to one."""
        arguments, keywords = unflatten(self.structure, leaves)
        guards = self.tracing = Guards(self.function)
        with guards:
            results = self.function(*arguments, **keywords)
        self._check_arguments(arguments, keywords, leaves)
        results, structure = flatten(results)
        for each in results:
            if not isinstance(each, Tensor):
                raise TraceError(
                    "a compiled step returns tensors: a number of the first "
                    "call would be that of every call")
        if self.results is not None and self.results != structure:
            raise TraceError("a compiled step returns results of one "
                             "structure; this trace has another than before")
        self._check_world(guards)
        self.results, self.guards = structure, guards.of_program()
        return results

    @staticmethod
    def _check_world(guards):
        """What the function did to Python's world, its runs will not do."""
        if names := guards.misplaced():
            raise TraceError(
                f"a compiled step assigns {', '.join(names)}, which its runs "
                "would not: return the tensor, or copy_() it into one that is "
                "there")
        if names := guards.changed():
            warnings.warn(
                f"the step changes {', '.join(names)}: its runs do not, and go "
                "on with the values of this trace", RuntimeWarning, stacklevel=2)
        if guards.is_full or guards.is_blind:
            why = ("a profiler is on" if guards.is_blind else
                   "the step reads very many")
            warnings.warn(
                f"not all values that the step reads of Python's world are "
                f"compared at each call, as {why}; verify=n finds changes",
                RuntimeWarning, stacklevel=2)

    def _check_arguments(self, arguments, keywords, leaves):
        """The step has lists, dicts and dataclasses of its own: what it changes
        in them its caller never sees."""
        if self.structure == _of_tensors(len(leaves)):
            return
        now, structure = flatten((arguments, keywords))
        if structure != self.structure or any(
                one is not other for one, other in zip(now, leaves)):
            raise TraceError(
                "a compiled step changes a list, dict or dataclass that is its "
                "argument; its caller would not see it: return the new value")

    def end_trace(self, failed=False):
        """After each call that may have traced. One that failed leaves tensors
        where they were."""
        tracing = self.tracing
        if tracing is not None and tracing.is_of_this_thread():
            if failed:
                tracing.put_back()
            self.tracing = None


class _Entry:
    """A step for arguments of one structure, and of guards that hold."""

    def __init__(self, function, structure, settings):
        self.traced = _Function(function, structure)
        self.step = _core._Step(self.traced.run, settings)

    def fits(self):
        guards = self.traced.guards
        return guards is None or _guards_hold(guards[0], MISSING)

    def trace(self, function, leaves):
        """Calls a function of the step that may trace."""
        try:
            return function(leaves)
        except BaseException:
            self.traced.end_trace(failed=True)
            raise
        finally:
            self.traced.end_trace()


def _specs(arguments, caller):
    leaves, structure = flatten(arguments)
    if not all(isinstance(leaf, Spec) for leaf in leaves):
        raise TypeError(f"{caller}: specs are expected: neap.spec(shape)")
    return leaves, structure


class Profile:
    """The time of each call of a step: the least of all runs. print() shows where
    it went, by op and by layer, beside what the machine could do at most.

    ns: nanoseconds of each call; -1: it needs no instruction;
    whole: of all calls together, in one run.
    """

    def __init__(self, times, step):
        self._times, self._table = times, step.profile_table(times)

    ns = property(lambda self: self._times.ns)
    whole = property(lambda self: self._times.whole)
    runs = property(lambda self: self._times.runs)

    def __str__(self):
        return self._table


class Compiled:
    """A function that runs as a plan. See neap.compile()."""

    def __init__(self, function, settings):
        functools.update_wrapper(self, function)
        self._function = function
        self._settings = settings
        self._entries = collections.OrderedDict()  # structure -> entries
        self._latest = None
        self._retraces = collections.Counter()  # by the guard that failed

    def _entry(self, structure):
        entries = self._entries.setdefault(structure, [])
        for entry in entries:
            if entry.fits():
                if entry is not entries[0]:
                    entries.remove(entry)
                    entries.insert(0, entry)
                return entry
        if entries:
            self._tell_of_retrace(entries[0].traced.guards)
        entries.insert(0, _Entry(self._function, structure, self._settings))
        del entries[self._settings.programs:]
        self._entries.move_to_end(structure)
        while len(self._entries) > self._settings.programs:
            self._entries.popitem(last=False)
        return entries[0]

    def _tell_of_retrace(self, guards):
        name = first_failing(*guards)
        self._retraces[name] += 1
        if self._retraces[name] == _MANY_RETRACES:
            warnings.warn(
                f"the step was traced anew {_MANY_RETRACES} times, since {name} "
                "changed: give what changes at each call as an argument",
                RuntimeWarning, stacklevel=4)

    def __call__(self, *arguments, **keywords):
        if not keywords and _TENSOR.issuperset(map(type, arguments)):
            leaves, structure = list(arguments), _of_tensors(len(arguments))
        else:
            leaves, structure = flatten((arguments, keywords))
        entry = self._latest = self._entry(structure)
        traced = entry.traced
        try:
            results = entry.step.call(leaves)
        except BaseException:
            traced.end_trace(failed=True)
            raise
        if traced.tracing is not None:
            traced.end_trace()
        structure = traced.results
        if structure == _ONE:
            return results[0]
        return unflatten(structure, results)

    def prepare(self, *specs, **keywords):
        """Traces and plans for arguments of these specs, without a run."""
        leaves, structure = _specs((specs, keywords), "prepare")
        entry = self._latest = self._entry(structure)
        entry.trace(entry.step.prepare, leaves)
        return self

    def plan(self, *specs, **keywords):
        """The memory that the step will need for arguments of these specs (or,
        with none, needs as it was traced last), known before it runs."""
        if specs or keywords:
            self.prepare(*specs, **keywords)
        step = self._core_step()
        prediction = step.prediction()
        prediction._step = weakref.ref(step)  # for its picture
        return prediction

    def fit_curve(self, *specs, **keywords):
        """Every arena that the step can be made to fit for arguments of these
        specs, and what each costs in time: a list of points, from all values
        kept to the least arena that was found. Nothing runs; the step is
        traced, and what was traced is not kept."""
        leaves, structure = _specs((specs, keywords), "fit_curve")
        entry = _Entry(self._function, structure, self._settings)
        return entry.trace(entry.step.fit, leaves)

    def profile(self, *arguments, runs=5, **keywords):
        """Runs the step once, and then `runs` times more, each a step like any
        other, and takes the time of each of its calls: a Profile."""
        _core._check_runs(runs)
        profile = _core._Profile()
        profile.measure_limits()
        self(*arguments, **keywords)  # traced, and warm
        entry = self._latest
        entry.step.set_profile(profile)
        try:
            for _ in range(runs):
                self(*arguments, **keywords)
        finally:
            entry.step.set_profile(None)
        profile.check(runs)
        return Profile(profile, entry.step)

    def page(self, path, *, profile=None):
        """Writes one HTML file that shows where every byte of the step is, and
        when. Nothing needs to have run: prepare() suffices.
        profile: of this step; the page then has the times of its calls, too.
        """
        self._write(path, "page", profile)

    def snapshot(self, path, *, profile=None):
        """The same as a file, which `neap report` shows and compares."""
        self._write(path, "snapshot", profile)

    def picture(self, path):
        """The arena as a drawing (SVG): calls to the right, addresses upward."""
        self._write(path, "svg", None)

    def trace(self, path, *, profile=None):
        """The calls, and the bytes that are live, as a trace for
        chrome://tracing and ui.perfetto.dev."""
        self._write(path, "trace", profile)

    def _write(self, path, kind, profile):
        self._core_step().write(os.fspath(path), kind,
                                profile and profile._times)

    def _core_step(self):
        if self._latest is None:
            raise ValueError("the step was not traced yet: call it, prepare() "
                             "it, or give plan() specs")
        return self._latest.step

    @property
    def traces(self):
        """The number of times that the step was traced."""
        return sum(entry.step.traces() for entries in self._entries.values()
                   for entry in entries)

    @property
    def why(self):
        """The reason of the latest trace, in one line."""
        return self._core_step().why()

    @property
    def arena_bytes(self):
        return self._core_step().arena_bytes()

    def reset(self):
        """Frees everything; the next call traces again."""
        self._entries.clear()
        self._latest = None

    def __reduce__(self):
        raise TypeError("a compiled step cannot be pickled: pickle what it "
                        "captures, and compile again")

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise TypeError("neap.compile on a method would share one step among "
                        "all objects: compile a bound method in __init__")


def compile(function=None, *, max_batch=0, budget=None, arena_limit=None,
            shards=1, paged=False, recompute=True, keep=(), programs=8,
            verify=0, plan_file="", spill="", most_written=None,
            costs="table"):
    """Turns a step, any function over tensors with the modules and optimizers
    that it captures, into one that is traced once and runs as a plan.

    keep: numbers of results (or True: all) that stay valid after the next call.
    budget, arena_limit: sizes ("24MiB") that the step is made to fit.
    shards: parts that the batch is cut into, which run one after another; the
    bits of the step depend on their number (accumulation of gradients).
    spill: a folder on a disk, for values that the step does not need for a
    while; most_written: the most bytes that a run may write there.
    costs: what calls take, to choose a plan by: "table", the same everywhere,
    "measure", on this machine, or a file, which keeps what was measured.
    verify: every n-th call traces again and compares.
    """
    if function is None:
        return functools.partial(
            compile, max_batch=max_batch, budget=budget,
            arena_limit=arena_limit, shards=shards, paged=paged,
            recompute=recompute, keep=keep, programs=programs, verify=verify,
            plan_file=plan_file, spill=spill, most_written=most_written,
            costs=costs)
    settings = _core._Settings()
    settings.max_batch, settings.paged = max_batch, paged
    settings.shards = shards
    settings.recompute, settings.programs = recompute, programs
    settings.verify, settings.plan_file = verify, os.fspath(plan_file)
    settings.spill = os.fspath(spill)
    settings.set_costs(os.fspath(costs))
    if most_written is not None:
        settings.most_written = parse_bytes(most_written)
    settings.keep_all = keep is True
    settings.keep = [] if keep is True else list(keep)
    if budget is not None:
        settings.budget = parse_bytes(budget)
    if arena_limit is not None:
        settings.arena_limit = parse_bytes(arena_limit)
    return Compiled(function, settings)
