# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch's as modules of Neap's, through torch.export: a program of
ATen operations, each of which a row of _aten.py computes. Nothing of PyTorch's
is kept."""

import functools

from neap import _aten, _core, nn
from neap._arrays import from_dlpack
from neap._core import Tensor
from neap._errors import NameNotFound, ShapeError
from neap._exported import Reader, mapped, read


def _run(steps, values):
    for step in steps:
        step.run(values)


class _Part(nn.Module):
    """A layer of the imported module: what it holds, and whose memory its
    operations are counted as."""

    def forward(self, steps, values):
        _run(steps, values)


def _attach(parent, name, child):
    """Registers a child, as an attribute where the name is free."""
    if hasattr(type(parent), name) or name.startswith("_"):
        parent._register_module(name, child)
    else:
        setattr(parent, name, child)


class Imported(nn.Module):
    """A module of PyTorch's. See import_module()."""

    def __init__(self, programs, states, module, keywords):
        super().__init__()
        self._programs = programs  # by mode
        self._keywords = keywords  # names, in the order of the example
        self._parts = {}  # by path
        self._tensors = {}  # constants, and buffers that are not saved
        self._buffers = {}
        self._adopt(states, module)
        self.train(module.training)
        for program in programs.values():
            for path, _ in program.segments:
                self._part(path)

    def _part(self, path):
        """The layer of a path, made with those above it."""
        if not path:
            return self
        if path not in self._parts:
            above, _, name = path.rpartition(".")
            self._parts[path] = part = _Part()
            _attach(self._part(above), name, part)
        return self._parts[path]

    def _adopt(self, states, module):
        """Copies parameters and buffers, a tensor at a time."""
        parameters = dict(module.named_parameters(remove_duplicate=False))
        saved = module.state_dict(keep_vars=True)
        homes = {}
        for name, value in {**parameters, **saved, **states}.items():
            copied = from_dlpack(value.detach().cpu(), copy=True)
            if name in parameters:
                self._adopt_parameter(name, copied, value, homes)
            elif name in saved:
                above, _, own = name.rpartition(".")
                self._buffers[name] = self._part(above)._register_buffer(
                    own, copied)
            else:
                self._tensors[name] = copied

    def _adopt_parameter(self, name, copied, value, homes):
        above, _, own = name.rpartition(".")
        tensor = self._part(above)._register_parameter(own, copied)
        home = homes.setdefault(id(value), name)
        if home != name:
            self.tie(name, self.parameter(home))
        elif not value.requires_grad:
            tensor.requires_grad_(False)

    def _check(self, program, arguments, keywords):
        if set(keywords) != set(self._keywords):
            raise TypeError("the imported module takes the keywords of its "
                            f"example, {self._keywords}, not {[*keywords]}")
        leaves = []
        mapped(leaves.append, (list(arguments),
                               [keywords[name] for name in self._keywords]))
        leaves = [from_dlpack(leaf) if hasattr(leaf, "__dlpack__") else leaf
                  for leaf in leaves]
        if len(leaves) != len(program.inputs):
            raise TypeError(f"the imported module takes {len(program.inputs)} "
                            f"inputs, as its example, not {len(leaves)}")
        for (number, shape, kind), leaf in zip(program.inputs, leaves):
            if number is None:
                if leaf != kind:
                    raise ValueError(
                        f"the imported module was made for the argument {kind!r}"
                        f", not {leaf!r}: import it again for that")
            elif not isinstance(leaf, Tensor):
                raise TypeError("the imported module takes a tensor where its "
                                f"example has one, not {leaf!r}")
            elif len(shape) != leaf.ndim or any(
                    want not in (None, got)
                    for want, got in zip(shape, leaf.shape)):
                free = ["any" if extent is None else extent for extent in shape]
                raise ShapeError(
                    f"the imported module was made for an input of {free}, not "
                    f"{list(leaf.shape)}: give import_module() dynamic_shapes "
                    "for extents that may change")
        return leaves

    def forward(self, *arguments, **keywords):
        program = self._programs[self.training]
        values = {}
        leaves = self._check(program, arguments, keywords)
        for (number, _, _), leaf in zip(program.inputs, leaves):
            if number is not None:
                values[number] = leaf
        parameters = dict(self.named_parameters())
        for number, name in program.states:
            found = parameters.get(name)
            values[number] = (found if found is not None else
                              self._buffers.get(name, self._tensors.get(name)))
        del leaves, arguments, keywords
        for path, steps in program.segments:
            if path:
                self._parts[path](steps, values)
            else:
                _run(steps, values)
        self._write(program, values)
        return mapped(functools.partial(read, values), program.results)

    def _write(self, program, values):
        """Buffers that the module changes, such as counts of batches."""
        with _core.NoGrad():
            for name, ref in program.mutations:
                home = self._buffers.get(name, self._tensors.get(name))
                value = read(values, ref)
                if value is not home:
                    home.copy_(value.detach())


def _export(torch, module, example, keywords, dynamic_shapes):
    """The module in the mode that it has, over rows of the table."""
    exported = torch.export.export(module, example, keywords,
                                   dynamic_shapes=dynamic_shapes)
    table = torch.export.default_decompositions()
    for target in list(table):
        if str(target) in _aten.ROWS:
            table.pop(target)
    return exported.run_decompositions(table)


def _in_both_modes(module, run):
    """run() for the module's mode as it is, and for the other one; what each
    layer's mode was is restored."""
    modes = [(each, each.training) for each in module.modules()]
    found = {module.training: run()}
    try:
        module.train(not module.training)
        found[module.training] = run()
    finally:
        for each, mode in modes:
            each.training = mode
    return found


def imported(module, example, dynamic_shapes):
    """See neap.torch.import_module()."""
    import torch
    keywords = dict(example) if isinstance(example, dict) else {}
    if isinstance(example, dict):
        example = ()
    elif isinstance(example, torch.Tensor):
        example = (example,)
    both = _in_both_modes(module, lambda: _export(
        torch, module, tuple(example), keywords, dynamic_shapes))
    missing, states, programs = set(), {}, {}
    for mode, exported in both.items():
        programs[mode] = Reader(exported, mode, missing).read()
        states.update({name: _state(exported, name)
                       for _, name in programs[mode].states})
    if missing:
        raise NameNotFound(
            f"import_module: {type(module).__name__} needs what Neap lacks: "
            + ", ".join(sorted(missing)))
    return Imported(programs, states, module, list(keywords))


def _state(exported, name):
    """A tensor of the program; the name of a constant has the mode."""
    if isinstance(name, tuple):
        return exported.constants[name[1]]
    found = exported.state_dict.get(name)
    return exported.constants[name] if found is None else found
