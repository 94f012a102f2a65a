#!/usr/bin/python3
"""Records PyTorch's layer_norm, for neap/ops/norm_figures_test.cpp.

    python3 tests/reference/record_norms.py > neap/ops/norm_figures.inc

f64. x (3, 2, 4), w and b (2, 4), normalised over the last two axes; element i of
each is 2 sin(1.3 i + 0.4), 1 + 0.1 i and 0.5 - 0.2 i, and that of the cotangent
is cos(0.9 i). Rows: y, then the cotangents of x, w and b. Needs PyTorch
(Debian: python3-torch).
"""

import math

import torch


def array(shape, f):
    count = math.prod(shape)
    values = [f(i) for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def main():
    x = array((3, 2, 4), lambda i: 2.0 * math.sin(1.3 * i + 0.4))
    w = array((2, 4), lambda i: 1.0 + 0.1 * i)
    b = array((2, 4), lambda i: 0.5 - 0.2 * i)
    g = array((3, 2, 4), lambda i: math.cos(0.9 * i))
    for t in (x, w, b):
        t.requires_grad_()
    y = torch.nn.functional.layer_norm(x, (2, 4), w, b)
    y.backward(g)
    print("// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0")
    print("// Recorded from PyTorch %s by tests/reference/record_norms.py."
          % torch.__version__)
    print("// clang-format off")
    for name, t in (("kY", y.detach()), ("kDx", x.grad), ("kDw", w.grad),
                    ("kDb", b.grad)):
        values = ",\n    ".join("%.17g" % v for v in t.flatten().tolist())
        print("constexpr double %s[] = {\n    %s};" % (name, values))
    print("// clang-format on")


main()
