# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Operations of the user's own: a forward and its derivatives."""

import functools

from neap import _core
from neap._compile import flatten, unflatten
from neap._core import DType, Tensor
from neap._errors import GraphError, InvalidValue
from neap._guards import look_at

_FLOATING = (DType.f32, DType.f64, DType.bf16)
_MOST = 32  # operands: inputs, results and what is saved besides


def custom_op(forward, vjp, *, jvp=None, name=None):
    """An operation with derivatives of its own, as a function of tensors.

    forward(*inputs, **options) -> (result, saved). It is written in other
    operations, none of which is recorded, and gets tensors that need no
    gradient. `result` is a tensor or a tuple of them; `saved` is what the
    derivatives need: tensors, numbers, texts, tuples, lists and dicts of them.
    Save inputs and results where possible: they cost nothing more.
    vjp(saved, *cotangents) -> the cotangent of each input: a tensor of the
    input's shape, or None for zero; alone or as a tuple. A cotangent that is
    None is zero.
    jvp(saved, *tangents) -> the tangent of each result; None is zero.

    A tensor that is saved and is neither an input nor a result is a constant
    of the derivatives, so that second ones through it are refused.
    """
    for each in (forward, vjp, *([] if jvp is None else [jvp])):
        if not callable(each):
            raise TypeError("custom_op: forward, vjp and jvp are functions, not "
                            f"{type(each).__name__}")
    called = name or getattr(forward, "__name__", "custom")

    @functools.wraps(forward)
    def call(*inputs, **options):
        return _call(called, forward, vjp, jvp, inputs, options)

    return call


def _call(name, forward, vjp, jvp, inputs, options):
    for each in inputs:
        if not isinstance(each, Tensor):
            raise TypeError(f"{name}: inputs are tensors, not "
                            f"{type(each).__name__}; give others by keyword")
    apart = [each.detach() for each in inputs]
    result, saved = _forward(name, forward, apart, options)
    is_one = isinstance(result, Tensor)
    results = [result] if is_one else list(result)
    _check_results(name, results)
    places = _Places(name, apart, results, saved)
    dense = [each if each.is_contiguous() else _core.contiguous(each)
             for each in results]
    del result, results, saved  # so that the op may take memory over
    out = _core._custom_op(
        name, _Derivative(name, "vjp", vjp, places, len(inputs)),
        jvp and _Derivative(name, "jvp", jvp, places, len(dense)), list(inputs),
        dense, places.others(), places.inputs, places.results)
    return out[0] if is_one else out


def _forward(name, forward, inputs, options):
    look_at(forward)
    given = forward(*inputs, **options)
    if not isinstance(given, tuple) or len(given) != 2:
        raise TypeError(f"{name}: forward returns (result, saved)")
    return given


def _check_results(name, results):
    for each in results:
        if not isinstance(each, Tensor):
            raise TypeError(f"{name}: a result is a tensor, not "
                            f"{type(each).__name__}")
        if each.requires_grad:
            raise GraphError(
                f"{name}: forward uses a tensor that requires a gradient and "
                "is none of its inputs, whose gradient would be lost: make it "
                "an input")


class _Places:
    """Where the derivatives find what the forward saved: among the inputs or
    the results, or as an operand of its own. Holds no tensor once the op was
    called."""

    def __init__(self, name, inputs, results, saved):
        leaves, self._structure = flatten(saved)
        known = {id(t): ("input", i) for i, t in enumerate(inputs)}
        known.update((id(t), ("result", k)) for k, t in enumerate(results))
        self.inputs = self.results = 0  # masks
        self._others, self._leaves = [], []
        self.has_constants = False
        for leaf in leaves:
            self._leaves.append(self._place(name, leaf, known))
        if len(inputs) + len(results) + len(self._others) > _MOST:
            raise InvalidValue(f"{name}: inputs, results and other tensors that "
                               f"are saved are at most {_MOST} together")

    def _place(self, name, leaf, known):
        if not isinstance(leaf, Tensor):
            return ("number", leaf)
        kind, at = known.get(id(leaf), (None, None))
        if kind == "input":
            self.inputs |= 1 << at
        elif kind == "result":
            self.results |= 1 << at
        else:
            if leaf.requires_grad:
                raise GraphError(f"{name}: forward saves a tensor that requires "
                                 "a gradient and is none of its inputs: make it "
                                 "an input")
            self.has_constants |= leaf.dtype in _FLOATING
            kind, at = "other", len(self._others)
            self._others.append(leaf)
        return (kind, at)

    def others(self):
        """The operands of their own; afterwards they are the op's alone."""
        others, self._others = self._others, []
        return others

    def saved(self, inputs, results, others):
        tensors = {"input": inputs, "result": results, "other": others}
        return unflatten(self._structure, [
            at if kind == "number" else tensors[kind][at]
            for kind, at in self._leaves])


class _Derivative:
    """What the op calls: from what was saved and one tensor or None for each
    operand to one for each of the other side."""

    def __init__(self, name, kind, function, places, count):
        self._name, self._kind, self._function = name, kind, function
        self._places, self._count = places, count

    def __call__(self, saved, given, is_differentiated):
        if is_differentiated and self._places.has_constants:
            raise GraphError(
                f"{self._name}: second derivatives need what forward saved as a "
                "function of its inputs, and a tensor that is neither an input "
                "nor a result is a constant: save inputs and results, and "
                f"compute the rest in {self._kind}")
        look_at(self._function)
        out = self._function(self._places.saved(*saved), *given)
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(out) != self._count:
            raise InvalidValue(f"{self._name}: {self._kind} returns "
                               f"{self._count}, one for each, not {len(out)}")
        return out
