# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Modules: parameters by attribute, names by path."""

from neap import _core
from neap._arrays import asarray
from neap._core import _init as init  # noqa: F401
from neap._core._layers import *  # noqa: F401,F403
from neap._errors import DTypeError, NameNotFound, ShapeError


def _state_dict(self):
    """Parameters and buffers by their paths: the tensors themselves."""
    return dict(self.parameters().items() + self.buffers().items())


def _load_state_dict(self, state, *, strict=True):
    """Copies tensors (or arrays) into the parameters and buffers of their
    names; returns the names that only one side has. All is checked before the
    first copy."""
    own = _state_dict(self)
    missing = [name for name in own if name not in state]
    unexpected = [name for name in state if name not in own]
    if strict and (missing or unexpected):
        raise NameNotFound(f"load_state_dict: missing {missing}, unexpected "
                           f"{unexpected}; strict=False passes over them")
    given = {name: asarray(value) for name, value in state.items()
             if name in own}
    for name, value in given.items():
        want = own[name]
        if value.shape != want.shape:
            raise ShapeError(f"load_state_dict: {name} has shape "
                             f"{value.shape}, expected {want.shape}")
        if value.dtype != want.dtype:
            raise DTypeError(f"load_state_dict: {name} is {value.dtype}, "
                             f"expected {want.dtype}")
    with _core.NoGrad():
        for name, value in given.items():
            own[name].copy_(value)
    return missing, unexpected


_core._Module.state_dict = _state_dict
_core._Module.load_state_dict = _load_state_dict


class Parameter:
    """Marks a tensor that an attribute of a module makes a parameter."""

    def __init__(self, tensor):
        self.tensor = tensor


class Buffer(Parameter):
    """Marks a tensor that is saved, but not trained."""


class Module(_core._PythonModule):
    """A module of Python's: attributes that are modules, Parameter or Buffer
    are registered under their names; forward() is what a call does."""

    def __setattr__(self, name, value):
        if isinstance(value, Buffer):
            value = self._register_buffer(name, value.tensor)
        elif isinstance(value, Parameter):
            value = self._register_parameter(name, value.tensor)
        elif isinstance(value, _core._Module):
            self._register_module(name, value)
        super().__setattr__(name, value)

    def forward(self, *arguments, **keywords):
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def children(self):
        """Pairs of name and module of the attributes."""
        return [(name, value) for name, value in vars(self).items()
                if isinstance(value, _core._Module)]


class ModuleList(Module):
    """Modules in a list, named by their positions."""

    def __init__(self, modules=()):
        super().__init__()
        self._all = []
        for module in modules:
            self.append(module)

    def append(self, module):
        setattr(self, str(len(self._all)), module)
        self._all.append(module)

    def __len__(self):
        return len(self._all)

    def __iter__(self):
        return iter(self._all)

    def __getitem__(self, position):
        return self._all[position]


class Sequential(ModuleList):
    """Modules one after the other, named by their positions."""

    def __init__(self, *modules):
        super().__init__(modules)

    def forward(self, x):
        for module in self._all:
            x = module(x)
        return x
