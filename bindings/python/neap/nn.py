# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Modules: parameters by attribute, names by path."""

import os as _os
import re

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


def _save(self, path):
    """Writes a safetensors file, whole or not at all."""
    self._save(_os.fspath(path))


def _load(self, path, *, strict=True):
    """Reads every parameter and buffer, or, after an error, none."""
    self._load(_os.fspath(path), strict)


_core._Module.save, _core._Module.load = _save, _load
_core._Module.state_dict = _state_dict
_core._Module.load_state_dict = _load_state_dict


def _set_attribute(self, name, value):
    if not _core._is_ready(self):
        if isinstance(value, (Parameter, _core._Module)):
            raise AttributeError(f"{type(self).__name__}.{name}: begin "
                                 "__init__ with super().__init__()")
        object.__setattr__(self, name, value)
        return
    if kind := self._kind_of(name):
        raise TypeError(
            f"{type(self).__name__}.{name} is a {kind}, and stays the one: "
            f"write into it ({name}.copy_(t), inside neap.NoGrad()), or share "
            f"another module's tensor with tie(\"{name}\", t)")
    if isinstance(value, (Parameter, _core._Module)) and not isinstance(
            self, _core._PythonModule):
        raise TypeError(
            f"{type(self).__name__} is a module of Neap's own, which takes no "
            f"further parameters or modules: write a Module that has both")
    if not isinstance(self, _core._PythonModule) and re.search(
            rf"\b{re.escape(name)}: ", type(self).__init__.__doc__ or ""):
        raise AttributeError(
            f"{type(self).__name__} has no {name} to be set: its options are "
            "those that it was made with")
    object.__setattr__(self, name, value)


def _delete_attribute(self, name):
    if self._kind_of(name) or isinstance(vars(self).get(name), _core._Module):
        raise AttributeError(f"{type(self).__name__}.{name} is registered: it "
                             "cannot be deleted")
    object.__delattr__(self, name)


def _no_subclass(cls, **keywords):
    if not issubclass(cls, _core._PythonModule):
        raise TypeError(
            f"{cls.__name__}: a layer of Neap's own has no subclasses, whose "
            "forward and parameters it would pass over: write a Module that has "
            "the layer")


_core._Module.__init_subclass__ = classmethod(_no_subclass)
_core._Module.__setattr__ = _set_attribute
_core._Module.__delattr__ = _delete_attribute


class Parameter:
    """Marks a tensor that an attribute of a module makes a parameter."""

    def __init__(self, tensor):
        self.tensor = tensor


class Buffer(Parameter):
    """Marks a tensor that is saved, but not trained."""


class Module(_core._PythonModule):
    """A module of Python's: attributes that are modules, Parameter or Buffer
    are registered under their names; forward() is what a call does. Another
    module under a name takes the place of the one that was there; a parameter
    or buffer is written, not replaced."""

    def __setattr__(self, name, value):
        is_new = _core._is_ready(self) and not self._kind_of(name)
        old = vars(self).get(name) if is_new else None
        if isinstance(old, _core._Module):
            if not isinstance(value, _core._Module):
                raise TypeError(f"{type(self).__name__}.{name} is a module; "
                                "only another one can take its place")
            if value is not old:
                old._replace_by(value)
        elif is_new and isinstance(value, _core._Module):
            self._register_module(name, value)
        elif is_new and isinstance(value, Parameter):
            register = (self._register_buffer if isinstance(value, Buffer)
                        else self._register_parameter)
            value = register(name, value.tensor)
            object.__setattr__(self, name, value)
            return
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

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name.isdigit() and int(name) < len(self._all):
            self._all[int(name)] = value

    def __setitem__(self, position, module):
        setattr(self, str(range(len(self._all))[position]), module)

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
