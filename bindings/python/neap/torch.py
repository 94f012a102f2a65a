# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""PyTorch's models in Neap: their weights, and whole modules. PyTorch itself is
needed by import_module() alone."""

from neap import _core
from neap._arrays import from_dlpack
from neap._errors import DTypeError, NameNotFound, ShapeError


def _dtype(value):
    """The name of an element type: torch.float32 is "f32"."""
    name = str(value.dtype).rpartition(".")[2]
    return {"float32": "f32", "float64": "f64", "bfloat16": "bf16",
            "int32": "i32", "int64": "i64", "uint8": "u8"}.get(name, name)


def _place(value):
    """Equal for two tensors on the same elements; None: unknown."""
    if not hasattr(value, "data_ptr"):
        return None
    return value.data_ptr(), tuple(value.shape), tuple(value.stride())


def _homes(module):
    """Tensors by their names, and the names that are tied to others."""
    own = dict(module.parameters().items() + module.buffers().items())
    tied = {}
    for name, tensor in module.named_parameters():
        if name not in own:
            tied[name] = next(home for home, other in own.items()
                              if other.is_alias_of(tensor))
    return own, tied


class _Problems:
    """All that is wrong with a state, for one error."""

    def __init__(self):
        self.texts, self.kinds = [], []

    def add(self, kind, text):
        self.texts.append(text)
        self.kinds.append(kind)

    def check(self, name, value, want):
        shape = tuple(value.shape)
        if shape != want.shape:
            self.add(ShapeError, f"{name} has shape {shape}, expected "
                                 f"{want.shape}")
        elif _dtype(value) != want.dtype.name:
            self.add(DTypeError, f"{name} is {_dtype(value)}, expected "
                                 f"{want.dtype.name}")

    def names(self, what, names):
        if names:
            self.add(NameNotFound, f"{what}: {', '.join(names)}")

    def throw(self):
        for kind in (NameNotFound, ShapeError, DTypeError):
            if kind in self.kinds:
                raise kind("load_torch: " + "; ".join(self.texts) +
                           ". Nothing was loaded.")


def _matched(own, tied, state, problems):
    """What each tensor is loaded from, and names that the module has not."""
    given, unexpected, known = {}, [], set()
    for name, value in state.items():
        home = name if name in own else tied.get(name)
        if home is None:
            unexpected.append(name)
            continue
        known.add(_place(value))
        problems.check(name, value, own[home])
        first = given.setdefault(home, value)
        if first is not value and (
                _place(first) is None or _place(first) != _place(value)) and not (
                tuple(first.shape) == tuple(value.shape) and
                bool((first == value).all())):
            problems.add(NameNotFound, f"{name} and {home} are tied here, and "
                                       f"have different elements there")
    known.discard(None)
    return given, [name for name in unexpected
                   if _place(state[name]) not in known]


def load_torch(module, state_dict):
    """Copies the tensors of a torch module's state_dict() into the parameters
    and buffers of the same names. Tensors that lie dense in the host's memory
    are read where they are, others are copied first, all of them. A name that
    is tied in one of the two may be missing in the other.

    Everything is checked before the first copy. Raises NameNotFound for names
    that only one side has, ShapeError or DTypeError for other shapes or
    dtypes; the message names all of them, and nothing has changed then.
    """
    own, tied = _homes(module)
    problems = _Problems()
    given, unexpected = _matched(own, tied, state_dict, problems)
    problems.names("missing", [name for name in own if name not in given])
    problems.names("unexpected", unexpected)
    problems.throw()
    ready = {name: from_dlpack(value.detach().cpu() if hasattr(
        value, "detach") else value) for name, value in given.items()}
    with _core.NoGrad():
        for name, value in ready.items():
            own[name].copy_(value)


def import_module(module, example, *, dynamic_shapes=None):
    """A module of PyTorch's as one of Neap's, which computes the same with the
    same parameters and buffers, under the same names, in both modes.

    example: what a call gets, a tensor, a tuple of arguments, or a dict of
    keywords. The module takes inputs of these shapes, and of others where
    `dynamic_shapes` of torch.export says so. Its elements are copied; random
    draws (dropout) are Neap's.

    torch.export makes the program: what it refuses (branches on values) is its
    error. Raises NameNotFound with all operations that Neap lacks for it.
    """
    from neap._import import imported  # only who imports modules pays for it
    return imported(module, example, dynamic_shapes)
