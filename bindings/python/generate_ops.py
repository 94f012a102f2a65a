#!/usr/bin/env python3
"""The bindings of all operations, made from the public headers of neap/ops.

    generate_ops.py FOLDER             a source a family, and ops.hpp
    generate_ops.py FOLDER --list      the names of the operations alone

An option struct becomes keyword arguments, an enumeration the names of its
values, a result of several tensors a tuple. A parameter of a type that is not
known here ends the program with its name, so that a new operation is in Python
or says why it is not.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from headers import INNER, reached, split  # noqa: E402
from sources import read  # noqa: E402

FUNCTION = re.compile(r"((?:^ *///.*\n)*)^NEAP_API ([^;{}()]*?)\b(\w+)"
                      r"\(([^;]*?)\)(?: noexcept)?;", re.MULTILINE)
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^ +([\w:<> ,]+?) (\w+)(?: = ([^;]+)|(\{\}))?;",
                   re.MULTILINE)
FAMILIES = ("activation", "conv", "elementwise", "indexing", "linalg", "loss",
            "norm", "reduction", "sequence", "shape")
# Made by hand, or of no use to Python: what takes descriptors or keys.
LEFT_OUT = {"compute_into", "drawn", "filled", "to", "frozen_row",
            "current_precision"}
NO_METHODS = {"where", "embedding", "concat", "stack", "einsum", "linear",
              "gelu_linear", "linear_cross_entropy", "one_hot",
              "normal_pdf"}
METHOD_FAMILIES = {"activation", "elementwise", "indexing", "linalg",
                   "reduction", "shape"}
METHODS = {"softmax", "log_softmax", "causal_softmax"}
# C++ type -> type of the lambda's parameter, how it is passed on.
SIMPLE = {
    "const Operand&": ("const Value&", "{0}.operand(site)"),
    "const TensorOperand&": ("const Tensor&", "TensorOperand({0}, site)"),
    "const Tensor&": ("const Tensor&", "{0}"),
    "Number": ("const Value&", "{0}.number(site)"),
    "double": ("double", "{0}"),
    "bool": ("bool", "{0}"),
    "std::int64_t": ("std::int64_t", "{0}"),
    "DType": ("DType", "{0}"),
    "const Shape&": ("const Shape&", "{0}"),
    "std::string_view": ("std::string_view", "{0}"),
    "std::span<const Tensor>": ("const std::vector<Tensor>&", "{0}"),
    "std::span<const std::int64_t>":
        ("const std::vector<std::int64_t>&", "{0}"),
    "std::optional<std::int64_t>": ("std::optional<std::int64_t>", "{0}"),
    "std::optional<double>": ("std::optional<double>", "{0}"),
}
MAYBE = ("const MaybeTensor&", "{0}.get()")
# Tensors in front of others that must be given: None where there is none.
MAY_BE_NONE = {("linear_cross_entropy", "bias")}
CHOICES = {"GeluForm", "Reduction", "Interpolation", "Nonlinearity", "PadMode",
           "RotaryPairs", "RotaryScaling"}
OPERANDS = {"const Value&", "const Tensor&", "const MaybeTensor&",
            "const std::vector<Tensor>&"}


def fail(text):
    raise SystemExit(f"generate_ops.py: {text}")


def structs_of(headers):
    return {name: FIELD.findall(re.sub(r"//.*", "", body))
            for header in headers for name, body in STRUCT.findall(read(header))}


class Parameter:
    """One parameter of a lambda, and so of the function in Python."""

    def __init__(self, name, kind, text, default=None):
        self.name, self.kind, self.text = name, kind, text
        self.default = default  # C++ text; None: it must be given

    @staticmethod
    def of(function, kind, name, default):
        if kind in CHOICES:
            value = default and re.search(r"::k(\w+)$", default).group(1)
            return Parameter(name, kind, name,
                             default and f'"{value.lower()}"')
        if kind in ("const Tensor&", "Tensor") and default == "{}":
            return Parameter(name, MAYBE[0], MAYBE[1].format(name),
                             "nb::none()")
        if (function, name) in MAY_BE_NONE:
            return Parameter(name, MAYBE[0], MAYBE[1].format(name))
        if kind == "Tensor":
            return Parameter(name, "const Tensor&", name)
        if re.fullmatch(r"(const )?PerAxis<\d>&?", kind):
            number = re.search(r"\d", kind).group()
            return Parameter(name, f"const PerAxis<{number}>&", name, default)
        if kind not in SIMPLE:
            fail(f"{function}: the type '{kind}' of '{name}' is not known")
        into, passed = SIMPLE[kind]
        if default in ("std::nullopt", "{}"):
            default = "nb::none()"
        return Parameter(name, into, passed.format(name), default)


class Operation:
    def __init__(self, name, result, parameters, comment, structs):
        self.name, self.result, self.comment = name, result, comment
        self.parameters = []  # of the lambda
        self.given = []  # texts of what the C++ function is called with
        self.keywords_from = None  # parameters from there on by name alone
        for part in filter(None, parameters):
            self.add(part, structs)
        self.drop_early_defaults()

    def add(self, part, structs):
        declared, _, default = part.partition(" = ")
        kind, _, name = declared.rpartition(" ")
        if "CallSite" in kind:
            self.given.append("site")
            return
        plain = kind.removeprefix("const ").rstrip("&")
        base, _, axes = plain.partition("<")
        if base in structs and base not in CHOICES:
            self.add_struct(plain, structs[base], axes.rstrip(">"))
            return
        one = Parameter.of(self.name, kind, name, default or None)
        self.parameters.append(one)
        self.given.append(one.text)

    def add_struct(self, kind, fields, axes):
        is_options = kind.split("<")[0].endswith("Options")
        inits = []
        for field, name, value, braces in fields:
            field = field.replace("kAxes", axes) if axes else field
            if field == "PerAxis<kAxes>":
                fail(f"{self.name}: axes of {kind}")
            one = Parameter.of(self.name, field, name,
                               (value or braces).strip() or None)
            if is_options and one.default and self.keywords_from is None:
                self.keywords_from = len(self.parameters)
            self.parameters.append(one)
            inits.append(f".{name} = {one.text}")
        self.given.append(f"{kind}{{{', '.join(inits)}}}")

    def drop_early_defaults(self):
        """Before a parameter that must be given, all must be."""
        end = self.keywords_from
        end = len(self.parameters) if end is None else end
        positional = self.parameters[:end]
        must = [i for i, p in enumerate(positional) if p.default is None]
        for p in positional[:must[-1] if must else 0]:
            p.default = None

    def takes(self):
        return [p.name for p in self.parameters]

    def body(self):
        operands = [p.name for p in self.parameters if p.kind in OPERANDS]
        call = f"neap::{self.name}({', '.join(self.given)})"
        run = f"run_op([&] {{ return {call}; }}"
        run += "".join(f", {name}" for name in operands) + ")"
        if self.result == "void":
            return f"{run};"
        return f"return to_python({run});"

    def function(self):
        kinds = ", ".join(f"{p.kind} {p.name}" for p in self.parameters)
        return (f"[]({kinds}) {{\n    const CallSite site = here();\n"
                f"    static_cast<void>(site);\n    {self.body()}\n  }}")

    def arguments(self):
        for i, p in enumerate(self.parameters):
            if i == self.keywords_from:
                yield "nb::kw_only()"
            text = f'nb::arg("{p.name}")'
            if p.kind == MAYBE[0]:
                text += ".none()"
            if p.default is not None:
                text += f" = {p.default}"
            yield text


def with_bias(operations):
    """An operation with and one without a bias become one, with None."""
    found = []
    for one in operations:
        before = found[-1] if found else None
        if (before and before.name == one.name and "bias" in one.takes()
                and "bias" not in before.takes()):
            bias = next(p for p in one.parameters if p.name == "bias")
            at = one.parameters.index(bias)
            bias.kind, bias.default = MAYBE[0], "nb::none()"
            one.given[at] = "TensorOperand(bias.get(), site)"
            one.without = before
            found.pop()
        found.append(one)
    return found


def body_of(one):
    without = getattr(one, "without", None)
    if without is None:
        return one.function()
    text = one.function()
    head, _, tail = text.rpartition("    return to_python(")
    return (f"{head}    if (!bias.get().is_given()) {{\n      "
            f"{without.body()}\n    }}\n    return to_python({tail}")


def doc_of(comment):
    text = " ".join(line.strip().removeprefix("///").strip()
                    for line in comment.splitlines())
    text = re.sub(r"\bTHROWS?( also)?:", r"Raises\1:", text)
    return text.replace("\\", "\\\\").replace('"', '\\"')


def is_method(one, family):
    first = one.parameters[0].kind if one.parameters else ""
    return (first in ("const Value&", "const Tensor&") and
            one.name not in NO_METHODS and
            (family in METHOD_FAMILIES or one.name in METHODS))


def operations_of(header, structs):
    text, found, end, comment = read(header), [], None, ""
    inner = [match.span() for match in INNER.finditer(text)]
    for match in FUNCTION.finditer(text):
        own, result, name, parameters = match.groups()
        if own or match.start() != (end or 0) + 1:
            comment = own
        end = match.end()
        if (any(a < match.start() < b for a, b in inner) or name in LEFT_OUT
                or "initializer_list" in parameters):
            continue
        found.append(Operation(name, " ".join(result.split()),
                               split(parameters), comment, structs))
    return found


def source(family, operations, headers):
    lines = ["// Made by generate_ops.py."]
    lines += ['#include "ops.hpp"', '#include "values.hpp"']
    lines += [f'#include "{header}"' for header in headers]
    lines += ["", "namespace neap::python {", "",
              f"void bind_{family}(nb::module_& m, nb::class_<Tensor>& t) {{",
              "  static_cast<void>(t);"]
    for one in operations:
        doc = f'"{doc_of(one.comment)}"'
        arguments = [*one.arguments()]
        lines.append(f"  const auto f{len(lines)} = {body_of(one)};")
        name = f"f{len(lines) - 1}"
        lines.append(f'  m.def("{one.name}", {name}, '
                     f"{', '.join([*arguments, doc])});")
        if is_method(one, family):
            lines.append(f'  t.def("{one.name}", {name}, '
                         f"{', '.join([*arguments[1:], doc])});")
    return "\n".join([*lines, "}", "", "}  // namespace neap::python", ""])


def write(path, text):
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def main():
    folder = pathlib.Path(sys.argv[1])
    headers = [h for h in reached("neap/ops/ops.hpp")
               if h.startswith("neap/ops/")]
    structs = structs_of(headers)
    names = []
    for family in FAMILIES:
        own = [h for h in headers if h.split("/")[2] == family]
        operations = [one for header in own
                      for one in with_bias(operations_of(header, structs))]
        names += [one.name for one in operations]
        if "--list" not in sys.argv:
            write(folder / f"ops_{family}.cpp",
                  source(family, operations, own))
    if "--list" in sys.argv:
        print("\n".join(dict.fromkeys(names)))
        return
    declared = "\n".join(f"void bind_{family}(nb::module_&, nb::class_<Tensor>&);"
                         for family in FAMILIES)
    calls = "\n".join(f"  bind_{family}(m, t);" for family in FAMILIES)
    write(folder / "ops.hpp", f"""// Made by generate_ops.py.
#pragma once

#include "collect.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::python {{

namespace nb = nanobind;

{declared}

inline void bind_ops(nb::module_& m, nb::class_<Tensor>& t) {{
{calls}
}}

}}  // namespace neap::python
""")


if __name__ == "__main__":
    main()
