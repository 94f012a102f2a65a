#!/usr/bin/python3
"""Records PyTorch's layer_norm, for neap/ops/norm/norm_figures_test.cpp.

    python3 tests/reference/record_norms.py > neap/ops/norm/norm_figures.inc

f64. x (3, 2, 4), w and b (2, 4), normalised over the last two axes; element i of
each is 2 sin(1.3 i + 0.4), 1 + 0.1 i and 0.5 - 0.2 i, and that of the cotangent
is cos(0.9 i). Rows: y, then the cotangents of x, w and b. Needs PyTorch
(Debian: python3-torch).
"""

import math

import torch

from figures import page, show, wave


def main():
    x = wave((3, 2, 4), lambda i: 2.0 * math.sin(1.3 * i + 0.4))
    w = wave((2, 4), lambda i: 1.0 + 0.1 * i)
    b = wave((2, 4), lambda i: 0.5 - 0.2 * i)
    g = wave((3, 2, 4), lambda i: math.cos(0.9 * i))
    for t in (x, w, b):
        t.requires_grad_()
    y = torch.nn.functional.layer_norm(x, (2, 4), w, b)
    y.backward(g)
    for name, t in (("kY", y), ("kDx", x.grad), ("kDw", w.grad),
                    ("kDb", b.grad)):
        show(name, t)


page(main)
