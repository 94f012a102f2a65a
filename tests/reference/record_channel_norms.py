#!/usr/bin/python3
"""Records PyTorch's norms by channel, for neap/ops/norm/channel_norm_figures_test.cpp.

    python3 tests/reference/record_channel_norms.py \\
        > neap/ops/norm/channel_norm_figures.inc

f64. x (2, 4, 2, 3), w and b (4); element i of each is 2 sin(1.3 i + 0.4 + k),
1 + 0.1 i and 0.5 - 0.2 i, and that of the cotangent is cos(0.9 i). A batch_norm
is trained for three batches, k = 0, 1, 2; of each the running values are
recorded, of the last also y and the cotangents of x, w and b; then y of the
first batch by the running values. Needs PyTorch (Debian: python3-torch).
"""

import math

import torch
import torch.nn.functional as F

from figures import page, show, show_result, wave


def batch(k):
    return wave((2, 4, 2, 3), lambda i: 2.0 * math.sin(1.3 * i + 0.4 + k))


def main():
    w = wave((4,), lambda i: 1.0 + 0.1 * i).requires_grad_()
    b = wave((4,), lambda i: 0.5 - 0.2 * i).requires_grad_()
    g = wave((2, 4, 2, 3), lambda i: math.cos(0.9 * i))
    mean = torch.zeros(4, dtype=torch.float64)
    var = torch.ones(4, dtype=torch.float64)
    for k in range(3):
        x = batch(k).requires_grad_()
        y = F.batch_norm(x, mean, var, w, b, training=True)
        show("kMean%d" % k, mean, 3)
        show("kVar%d" % k, var, 3)
    y.backward(g)
    show_result("", y, {"Dx": x, "Dw": w, "Db": b})
    show("kEvalY", F.batch_norm(batch(0), mean, var, w, b), 3)
    x = batch(0).requires_grad_()
    w.grad = b.grad = None
    y = F.group_norm(x, 2, w, b)
    y.backward(g)
    show_result("Group", y, {"Dx": x, "Dw": w, "Db": b})
    show("kInstanceY", F.instance_norm(batch(0), weight=w, bias=b), 3)


page(main)
