#!/usr/bin/python3
"""Records PyTorch's interpolate, for neap/ops/conv/interpolate_figures_test.cpp.

    python3 tests/reference/record_interpolate.py \\
        > neap/ops/conv/interpolate_figures.inc

f64. x (1, 2, 3, 4) with element i = 2 sin(1.3 i + 0.4), and a cotangent with
element i = cos(0.9 i). Rows: y, then the cotangent of x. Needs PyTorch (Debian:
python3-torch).
"""

import math

import torch
import torch.nn.functional as F

from figures import page, show_result, wave


CASES = {
    "Nearest": dict(scale_factor=2.0),
    "NearestSize": dict(size=(5, 3)),
    "Bilinear": dict(scale_factor=2.0, mode="bilinear"),
    "BilinearScale": dict(scale_factor=1.7, mode="bilinear"),
    "BilinearSize": dict(size=(2, 7), mode="bilinear"),
    "Corners": dict(size=(5, 6), mode="bilinear", align_corners=True),
}


def main():
    for name, options in CASES.items():
        x = wave((1, 2, 3, 4), lambda i: 2.0 * math.sin(1.3 * i + 0.4))
        x.requires_grad_()
        y = F.interpolate(x, **options)
        y.backward(wave(y.shape, lambda i: math.cos(0.9 * i)))
        show_result(name, y, {"Dx": x})


page(main)
