# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Programs of torch.export, read into steps that need nothing of PyTorch's."""

import functools

from neap import _aten
from neap._core import DType, Tensor


class Ref:
    """A value of the program, by its number."""

    def __init__(self, number):
        self.number = number


def mapped(function, value):
    """The same nested tuples, lists and dicts with other leaves."""
    if isinstance(value, (tuple, list)):
        parts = [mapped(function, each) for each in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    return function(value)


def _references(value):
    """Numbers of the values that an argument refers to."""
    found = set()
    mapped(lambda leaf: found.add(leaf.number) if isinstance(leaf, Ref)
           else None, value)
    return found


class Step:
    """One operation: values[out] = function(*arguments, **keywords)."""

    def __init__(self, out, function, arguments, keywords):
        self.out, self.function = out, function
        self.arguments, self.keywords = arguments, keywords
        self.last_uses = ()  # values that nothing needs afterwards

    def run(self, values):
        look = functools.partial(read, values)
        values[self.out] = self.function(*mapped(look, self.arguments),
                                         **mapped(look, self.keywords))
        for number in self.last_uses:
            del values[number]


def read(values, leaf):
    return values[leaf.number] if isinstance(leaf, Ref) else leaf


class Program:
    """One mode of a module: segments of steps with the layer that they are
    from."""

    def __init__(self):
        self.segments = []  # (path of the layer, steps)
        self.states = []  # (number, name): parameters, buffers, constants
        self.inputs = []  # (number or None, shape with None, dtype or value)
        self.mutations = []  # (name of the buffer, reference)
        self.results = None  # the structure, with references

    def add(self, path, step):
        if not self.segments or self.segments[-1][0] != path:
            self.segments.append((path, []))
        self.segments[-1][1].append(step)

    def note_last_uses(self):
        """Each value goes with the last step that reads it."""
        needed = _references(self.results)
        needed.update(*(_references(ref) for _, ref in self.mutations))
        for _, steps in reversed(self.segments):
            for step in reversed(steps):
                used = _references((step.arguments, step.keywords))
                step.last_uses = tuple((used | {step.out}) - needed)
                needed |= used


def _dtype_of(torch_dtype):
    """Neap's dtype; None: there is none."""
    name = str(torch_dtype).rpartition(".")[2]
    name = {"float32": "f32", "float64": "f64", "bfloat16": "bf16",
            "int32": "i32", "int64": "i64", "uint8": "u8"}.get(name, name)
    return getattr(DType, name, None) if name in DType.__members__ else None


def _name_of(target):
    """The name of an operation in the table."""
    if isinstance(target, str) or hasattr(target, "_schema"):
        return str(target)
    return f"{target.__module__}.{target.__name__}"


_DROPPED = ("device", "layout", "pin_memory", "memory_format", "generator")


class Reader:
    """Reads an exported program, and collects what is missing."""

    def __init__(self, exported, mode, missing):
        self.exported, self.mode, self.missing = exported, mode, missing
        self.numbers = {}  # node -> number
        self.program = Program()

    def number(self, node):
        return self.numbers.setdefault(node, len(self.numbers))

    def leaf(self, value):
        """An argument as the program has it."""
        kind = type(value).__name__
        if kind == "Node":
            return Ref(self.number(value))
        if kind == "dtype":
            found = _dtype_of(value)
            if found is None:
                self.missing.add(f"the dtype {value}")
            return found
        return value

    def arguments(self, value):
        if isinstance(value, (tuple, list)):  # torch's own lists, too
            return [self.arguments(each) for each in value]
        return self.leaf(value)

    def read(self):
        graph = self.exported.graph_module.graph
        nodes = [node for node in graph.nodes if node.op == "placeholder"]
        for node, spec in zip(nodes, self.exported.graph_signature.input_specs):
            self.placeholder(node, spec)
        for node in graph.nodes:
            if node.op == "output":
                self.output(node)
            elif node.op != "placeholder":
                self.operation(node)
        self.program.note_last_uses()
        return self.program

    def placeholder(self, node, spec):
        kind = spec.kind.name
        if kind in ("PARAMETER", "BUFFER"):
            self.program.states.append((self.number(node), spec.target))
        elif kind == "CONSTANT_TENSOR":  # each mode has its own
            self.program.states.append((self.number(node),
                                        (self.mode, spec.target)))
        elif kind != "USER_INPUT":
            self.missing.add(f"inputs of kind {kind}")
        elif hasattr(spec.arg, "value"):  # a number, text or None
            self.program.inputs.append((None, None, spec.arg.value))
        elif not hasattr(node.meta["val"], "shape"):
            self.missing.add("inputs that are numbers and may change")
        else:
            value = node.meta["val"]
            shape = tuple(extent if isinstance(extent, int) else None
                          for extent in value.shape)
            self.program.inputs.append((self.number(node), shape,
                                        self.dtype(value)))

    def dtype(self, value):
        found = _dtype_of(value.dtype)
        if found is None:
            self.missing.add(f"the dtype {value.dtype}")
        return found

    def operation(self, node):
        name = _name_of(node.target)
        if node.op == "call_module" or name in _aten.IGNORED:
            if node.users:
                self.missing.add(name)
            return
        row = _aten.ROWS.get(name)
        refused = _aten.REFUSED.get(name)
        why = refused and refused(*mapped(_meta, node.args),
                                  **mapped(_meta, dict(node.kwargs)))
        if row is None or why:
            self.missing.add(f"{name} (it takes {why} alone)" if why else name)
            return
        if name.rpartition(".")[0] in _aten.PROMOTED:
            row = self.promoted(name.rpartition(".")[0], node, row)
        keywords = {key: self.arguments(value)
                    for key, value in node.kwargs.items()
                    if key not in _DROPPED}
        self.program.add(_path_of(node), Step(
            self.number(node), row, self.arguments(node.args), keywords))

    def promoted(self, name, node, row):
        """The row, over operands that are cast where PyTorch would."""
        value = node.meta["val"]
        if not hasattr(value, "dtype"):
            return row
        first = 1 if name == "aten.where" else 0  # the condition stays
        others = []
        mapped(lambda leaf: others.append(_is_unlike(leaf, value)),
               node.args[first:])
        if not any(others):
            return row
        dtype = self.dtype(value)
        return lambda *a, **o: row(
            *a[:first], *mapped(lambda x: _to(x, dtype), a[first:]), **o)

    def output(self, node):
        from torch.utils import _pytree
        values = [self.arguments(each) for each in node.args[0]]
        given = []
        for value, spec in zip(values,
                               self.exported.graph_signature.output_specs):
            kind = spec.kind.name
            if kind == "BUFFER_MUTATION":
                self.program.mutations.append((spec.target, value))
            elif kind in ("USER_OUTPUT", "LOSS_OUTPUT"):
                given.append(value)
            else:
                self.missing.add(f"outputs of kind {kind}")
        self.program.results = _plain_structure(_pytree.tree_unflatten(
            given, self.exported.call_spec.out_spec))


def _plain_structure(value):
    """Tuples, lists and dicts, also of classes that only PyTorch knows."""
    if isinstance(value, dict):
        return {key: _plain_structure(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_plain_structure(each) for each in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return value


def _meta(leaf):
    """What a node stands for, without elements."""
    return leaf.meta["val"] if type(leaf).__name__ == "Node" else leaf


def _is_unlike(leaf, value):
    """A node of another dtype than the result."""
    meta = _meta(leaf)
    return (type(leaf).__name__ == "Node" and hasattr(meta, "dtype") and
            meta.dtype != value.dtype)


def _to(value, dtype):
    return value.to(dtype) if isinstance(value, Tensor) else value


def _path_of(node):
    """The path of the layer that an operation is from."""
    stack = node.meta.get("nn_module_stack") or {}
    paths = [path for path, _ in stack.values()
             if not path.startswith("_empty")]
    return paths[-1] if paths else ""
