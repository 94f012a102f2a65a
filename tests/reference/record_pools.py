#!/usr/bin/python3
"""Records PyTorch's pooling, for neap/ops/conv/pool_figures_test.cpp.

    python3 tests/reference/record_pools.py > neap/ops/conv/pool_figures.inc

f64. x (1, 2, 7, 6) with element i = 2 sin(1.3 i + 0.4), and a cotangent with
element i = cos(0.9 i). Rows: y, then the cotangent of x. Needs PyTorch (Debian:
python3-torch).
"""

import math

import torch
import torch.nn.functional as F

from figures import page, show_result, wave


CASES = {
    "Max": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "MaxDilated": lambda x: F.max_pool2d(x, (2, 3), (2, 1), (1, 0), (3, 2)),
    "Average": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "AverageInside": lambda x: F.avg_pool2d(
        x, (3, 2), 2, (1, 1), ceil_mode=True, count_include_pad=False),
    "AverageDivided": lambda x: F.avg_pool2d(
        x, 2, 2, 1, ceil_mode=True, divisor_override=3),
    "AdaptiveAverage": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "AdaptiveMax": lambda x: F.adaptive_max_pool2d(x, (4, 5)),
}


def main():
    for name, f in CASES.items():
        x = wave((1, 2, 7, 6), lambda i: 2.0 * math.sin(1.3 * i + 0.4))
        x.requires_grad_()
        y = f(x)
        y.backward(wave(y.shape, lambda i: math.cos(0.9 * i)))
        show_result(name, y, {"Dx": x})


page(main)
