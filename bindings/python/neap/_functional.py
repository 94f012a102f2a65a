# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Derivatives of functions of tensors, or of tuples, lists and dicts of them."""

import collections

from neap import _core
from neap._compile import flatten, unflatten
from neap._core import Tensor


def _tensors(name, what, value):
    """The tensors of a structure, and the structure."""
    leaves, structure = flatten(value)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{name}: {what} are tensors, or tuples, lists and "
                            f"dicts of them, not {type(leaf).__name__}")
    return leaves, structure


class _Flat:
    """A function over a list of tensors instead of its own arguments."""

    def __init__(self, name, function, arguments):
        self.name, self.function = name, function
        self.leaves, self.structure = _tensors(name, "inputs", arguments)
        self.results = None  # their structure, once the function has run

    def __call__(self, leaves):
        value = self.function(*unflatten(self.structure, leaves))
        results, self.results = _tensors(self.name, "results", value)
        return results

    def one(self, leaves):
        """The same, of a function whose result is a tensor."""
        results = self(leaves)
        if self.results != ("leaf",):
            raise TypeError(f"{self.name}: the function must give one tensor, "
                            f"not a tuple, list or dict")
        return results

    def like_inputs(self, what, value):
        """The tensors of `value`, which has the structure of the inputs."""
        leaves, structure = _tensors(self.name, what, value)
        if structure != self.structure:
            raise TypeError(f"{self.name}: {what} must have the structure of "
                            f"the inputs")
        return leaves


def _arguments(inputs):
    """Inputs as arguments (a tensor is the only one), and how a result with
    one part for each argument is given back."""
    if isinstance(inputs, (tuple, list)):
        return tuple(inputs), lambda parts: parts
    return (inputs,), lambda parts: parts[0]


def _like(inputs, value):
    """Tangents as _arguments() has their inputs."""
    if isinstance(inputs, (tuple, list)):
        return tuple(value) if isinstance(value, list) else value
    return (value,)


class Pullback:
    """Gives cotangents of the inputs for a cotangent of the results, as often as
    wanted: a tuple with one part for each input. It holds the tape of the
    function, which is freed with it."""

    def __init__(self, core, inputs, results):
        self._core, self._inputs, self._results = core, inputs, results

    def __call__(self, cotangent):
        leaves, structure = _tensors("vjp", "cotangents", cotangent)
        if structure != self._results:
            raise TypeError("vjp: cotangents must have the structure of the "
                            "function's results")
        return unflatten(self._inputs, self._core(leaves))


def vjp(f, *inputs, create_graph=False):
    """f(*inputs), and its pullback: the product of a cotangent with the
    Jacobian, for any number of cotangents. f runs once. With create_graph the
    gradients can be differentiated again by reverse mode."""
    flat = _Flat("vjp", f, inputs)
    values, pullback = _core._vjp(flat, flat.leaves, create_graph)
    return (unflatten(flat.results, values),
            Pullback(pullback, flat.structure, flat.results))


def jvp(f, inputs, tangents, *, create_graph=True):
    """f(*inputs), and its derivative in the direction of `tangents`, which have
    the structure of `inputs`: a tuple of arguments, or the only one. Forward
    mode: f runs once and no tape is kept. Without create_graph the tangent is
    a constant to reverse mode."""
    arguments, _ = _arguments(inputs)
    flat = _Flat("jvp", f, arguments)
    along = flat.like_inputs("tangents", _like(inputs, tangents))
    values, moved = _core._jvp(flat, flat.leaves, along, create_graph)
    return unflatten(flat.results, values), unflatten(flat.results, moved)


def directional_derivative(f, inputs, directions, *, create_graph=True):
    """The derivative of order k of f (which gives one tensor) along a list of k
    directions, each with the structure of `inputs`. Costs about 2^k
    evaluations."""
    arguments, _ = _arguments(inputs)
    flat = _Flat("directional_derivative", f, arguments)
    along = [flat.like_inputs("directions", _like(inputs, each))
             for each in directions]
    return _core._directional_derivative(flat.one, flat.leaves, along,
                                         create_graph)


HvpResult = collections.namedtuple("HvpResult", "value gradient product")
HvpResult.__doc__ = """value: f's, of one element; gradient and product (the
Hessian times the direction): of the structure of the inputs."""


def hvp(f, inputs, directions, *, create_graph=False):
    """The value of f (one tensor of one element), its gradient, and the product
    of its Hessian with a direction, by forward over reverse mode. f runs
    once."""
    arguments, give = _arguments(inputs)
    flat = _Flat("hvp", f, arguments)
    along = flat.like_inputs("directions", _like(inputs, directions))
    value, gradients, products = _core._hvp(flat.one, flat.leaves, along,
                                            create_graph)
    return HvpResult(value, give(unflatten(flat.structure, gradients)),
                     give(unflatten(flat.structure, products)))


def jacobian(f, inputs, *, mode="auto", create_graph=False):
    """All derivatives of f's results by its inputs, each of shape
    result.shape + input.shape. A tuple of inputs gives a tuple of Jacobians, a
    tuple of results a tuple of those.

    mode: "forward" runs f once for each element of the inputs, "reverse" its
    pullback once for each element of the result, "auto" takes the cheaper. The
    Jacobians of several results are computed one after the other.
    """
    arguments, give = _arguments(inputs)
    flat = _Flat("jacobian", f, arguments)
    count, found = 1, []

    def one(leaves):
        results = flat(leaves)
        if not results:
            raise TypeError("jacobian: the function gives no tensor")
        return [results[len(found)]]

    while len(found) < count:
        parts = _core._jacobian(one, flat.leaves, mode, create_graph)
        count = flat.results.count("leaf")
        found.append(give(unflatten(flat.structure, parts)))
    return unflatten(flat.results, found)


def hessian(f, inputs, *, create_graph=False):
    """All second derivatives of f (one tensor of one element). By one tensor x:
    shape x.shape + x.shape; by a tuple: a tuple of tuples, [i][j] of shape
    inputs[i].shape + inputs[j].shape. Costs one hvp for each element."""
    arguments, give = _arguments(inputs)
    flat = _Flat("hessian", f, arguments)
    rows = _core._hessian(flat.one, flat.leaves, create_graph)
    return give(unflatten(flat.structure,
                          [give(unflatten(flat.structure, row))
                           for row in rows]))
