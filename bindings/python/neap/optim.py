# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Optimizers and learning rates."""

import contextlib

from neap import _core
from neap._core import _optim
from neap._core._optim import (Optimizer, ReduceOnPlateau,  # noqa: F401
                              Schedule, constant, cosine, cosine_restarts,
                              exponential, inverse_sqrt, linear, one_cycle,
                              step_decay, warm_up, warmup_stable_decay)
from neap._errors import InvalidValue


def _parameters(parameters):
    """A module, its parameters(), pairs of name and tensor, or tensors."""
    if isinstance(parameters, _core._Module):
        return parameters.parameters()
    if isinstance(parameters, _core.ParameterList):
        return parameters
    pairs = [each if isinstance(each, tuple) else (str(number), each)
             for number, each in enumerate(parameters)]
    for name, tensor in pairs:
        if not isinstance(tensor, _core.Tensor):
            raise TypeError(f"optim: parameter {name} is a "
                            f"{type(tensor).__name__}, expected a tensor (a "
                            "module's attribute)")
    return _core._parameter_list([tensor for _, tensor in pairs],
                                 [name for name, _ in pairs])


def _in_groups(cls):
    """Gives an optimizer its __init__ and add_group. Its parameters are one
    group, or a list of dicts as PyTorch's, each with "params" and options of
    its own."""

    def start(self, parameters, **options):
        self._options = options
        first, *others = _groups(parameters)
        cls.__base__.__init__(self, _parameters(first.pop("params")),
                              **{**options, **first})
        for group in others:
            self.add_group(**group)

    def set_attribute(self, name, value):
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(
                f"{cls.__name__} has no {name} to be set: lr can be, other "
                "options are those that it was made with")
        object.__setattr__(self, name, value)

    def add_group(self, params, **options):
        """Adds parameters, with options that are the optimizer's where they
        are not given."""
        self._add_group(_parameters(params), **{**self._options, **options})

    cls.__init__, cls.add_group = start, add_group
    cls.__setattr__ = set_attribute
    return cls


def _groups(parameters):
    if not isinstance(parameters, (list, tuple)) or not parameters or not all(
            isinstance(each, dict) for each in parameters):
        return [{"params": parameters}]
    for number, group in enumerate(parameters):
        if "params" not in group:
            raise InvalidValue(f"optim: group {number} has no \"params\"")
    return [dict(group) for group in parameters]


@_in_groups
class Adam(_optim._Adam):
    """Adam, by the formulas of torch.optim.Adam."""


@_in_groups
class AdamW(_optim._AdamW):
    """Adam with the weight decay apart from the gradient."""


@_in_groups
class SGD(_optim._SGD):
    """Gradient descent with momentum, as torch.optim.SGD."""


@_in_groups
class Lion(_optim._Lion):
    """Steps by the sign of a moving average (Chen et al., 2023)."""


@_in_groups
class RMSprop(_optim._RMSprop):
    """Steps by the root of the mean square, as torch.optim.RMSprop."""


@_in_groups
class Adafactor(_optim._Adafactor):
    """Adam's second moments of a matrix by their rows and columns: O(R + C)
    bytes of state (Shazeer and Stern, 2018)."""


@_in_groups
class Muon(_optim._Muon):
    """Momentum that is made orthogonal, for matrices (Jordan et al., 2024). A
    group with by_adam=True takes AdamW: embeddings, heads, vectors."""


class LBFGS(_optim._LBFGS):
    """The limited-memory quasi-Newton method, as torch.optim.LBFGS, with its
    strong-Wolfe line search unless line_search=False: step(closure). All
    parameters are one group."""

    def __init__(self, parameters, **options):
        super().__init__(_parameters(parameters), **options)


class Ema(_optim._Ema):
    """Exponential moving averages of parameters, which often evaluate better:
    update() after each step of the optimizer."""

    def __init__(self, parameters, **options):
        super().__init__(_parameters(parameters), **options)

    @contextlib.contextmanager
    def averaged(self):
        """The averages in the places of the parameters, for a block of code,
        inside which there is no second one."""
        if self.is_swapped:
            raise ValueError("ema.averaged: the averages are in the places of "
                             "the parameters already")
        self.swap()
        try:
            yield self
        finally:
            self.swap()


def clip_grad_norm(parameters, max_norm):
    """The norm of all gradients, which are scaled down to `max_norm`."""
    return _optim._clip_grad_norm(_parameters(parameters), max_norm)


def clip_grad_value(parameters, limit):
    """Brings every element of every gradient into [-limit, limit]."""
    _optim._clip_grad_value(_parameters(parameters), limit)


def state_hash(model, optimizer):
    """64 bits of everything that a training step changes: the same as C++'s."""
    return _optim._state_hash(model, optimizer)
