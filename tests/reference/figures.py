"""What the scripts that record PyTorch's figures share: waves to compute with,
and arrays of C++ to print."""

import math
import pathlib
import sys

import torch


def wave(shape, f):
    """RETURNS: an f64 tensor; element i, row by row, is f(i)."""
    values = [f(i) for i in range(math.prod(shape))]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def fill(model, is_norm=lambda name, parameter: False):
    """RETURNS: the model in f64; element i of its p-th parameter is 0.3
    sin(1.7 i + 0.9 p), plus 1 where is_norm(name, parameter)."""
    model.double()
    for p, (name, parameter) in enumerate(model.named_parameters()):
        base = 1.0 if is_norm(name, parameter) else 0.0
        parameter.data = wave(
            parameter.shape, lambda i: base + 0.3 * math.sin(1.7 * i + 0.9 * p))
    return model


def projection(x):
    """RETURNS: the sum of element i times cos(0.3 i)."""
    return (x * wave(x.shape, lambda i: math.cos(0.3 * i))).sum().item()


def text(values):
    """RETURNS: numbers that read back as they are, with commas between."""
    return ", ".join("%.17g" % value for value in values)


def show(name, values, columns=1):
    """Prints an array of doubles: of a list, or of a tensor's elements."""
    if isinstance(values, torch.Tensor):
        values = values.detach().flatten().tolist()
    lines = [text(values[i:i + columns])
             for i in range(0, len(values), columns)]
    print("constexpr double %s[] = {\n    %s};" % (name, ",\n    ".join(lines)))


def show_result(name, y, inputs):
    """Prints a result, and the cotangents of what has them: `inputs` by what
    the array's name ends in."""
    show("k%sY" % name, y, 3)
    for what, x in inputs.items():
        show("k%s%s" % (name, what), x.grad, 3)


def show_projections(name, pairs):
    """Prints an array of numbers with names."""
    print("constexpr Projection k%s[] = {" % name)
    for what, value in pairs:
        print('    {"%s", %.17g},' % (what, value))
    print("};")


def gradients_of(model):
    """RETURNS: for each parameter its name and its gradient's projection."""
    return [(name, projection(p.grad)) for name, p in model.named_parameters()]


def page(main):
    """Prints the file that main() prints the figures of."""
    print("// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0")
    print("// Recorded from PyTorch %s by tests/reference/%s."
          % (torch.__version__, pathlib.Path(sys.argv[0]).name))
    print("// clang-format off")
    main()
    print("// clang-format on")
