#!/usr/bin/python3
"""Records PyTorch's convolutions, for neap/ops/conv/conv_figures_test.cpp.

    python3 tests/reference/record_convs.py > neap/ops/conv/conv_figures.inc

f64. Element i of x is sin(1.3 i + 0.4), of the weight cos(0.7 i), of the bias
0.5 - 0.2 i, of the cotangent cos(0.9 i). Each case is a row of the result
followed by the cotangents of x, weight and bias. Needs PyTorch (Debian:
python3-torch).
"""

import math

import torch
import torch.nn.functional as F

from figures import page, show, wave

CASES = [
    ("kConv2d", (1, 4, 4, 3), (4, 2, 3, 2), 4,
     lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2),
                              dilation=(1, 2), groups=2)),
    ("kConv1d", (2, 3, 7), (4, 3, 3), 4,
     lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1)),
    ("kConvTranspose2d", (1, 4, 3, 2), (4, 1, 3, 2), 2,
     lambda x, w, b: F.conv_transpose2d(
         x, w, b, stride=(2, 3), padding=(1, 0), output_padding=(1, 2),
         dilation=(1, 2), groups=2)),
    ("kConvTranspose1d", (2, 3, 4), (3, 2, 3), 2,
     lambda x, w, b: F.conv_transpose1d(x, w, b, stride=2, padding=1,
                                        output_padding=1)),
]


def main():
    for name, x_shape, w_shape, channels, function in CASES:
        x = wave(x_shape, lambda i: math.sin(1.3 * i + 0.4))
        w = wave(w_shape, lambda i: math.cos(0.7 * i))
        b = wave((channels,), lambda i: 0.5 - 0.2 * i)
        for t in (x, w, b):
            t.requires_grad_()
        y = function(x, w, b)
        y.backward(wave(y.shape, lambda i: math.cos(0.9 * i)))
        row = torch.cat([t.flatten()
                         for t in (y.detach(), x.grad, w.grad, b.grad)])
        show(name, row, 3)


page(main)
