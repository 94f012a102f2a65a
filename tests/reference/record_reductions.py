#!/usr/bin/python3
"""Records what PyTorch's reductions do, for neap/ops/reduction/reduction_figures_test.cpp.

    python3 tests/reference/record_reductions.py > neap/ops/reduction/reduction_figures.inc

x is (2, 3, 4) in f64, element i being 2 sin(1.3 i + 0.4), but 0 at 5, 6 and 14;
the cotangent of a result at element i is cos(0.9 i). Each case is a row of the
result followed by the gradient of x. Needs PyTorch (Debian: python3-torch).
"""

import math

import torch

from figures import page, wave

INF = float("inf")
CASES = [
    ("kVar", lambda x: x.var(dim=(0, 2))),
    ("kVarUncorrected", lambda x: torch.var(x, dim=1, correction=0)),
    ("kStd", lambda x: torch.std(x, dim=(1, 2), correction=2)),
    ("kProd", lambda x: x.prod(dim=1)),
    ("kLogsumexp", lambda x: torch.logsumexp(x, dim=(0, 1))),
    ("kNorm1", lambda x: torch.linalg.vector_norm(x, 1, dim=(0,))),
    ("kNorm2", lambda x: torch.linalg.vector_norm(x, 2, dim=(0, 2))),
    ("kNormInf", lambda x: torch.linalg.vector_norm(x, INF, dim=(1,))),
    ("kNorm3", lambda x: torch.linalg.vector_norm(x, 3, dim=(1, 2))),
    ("kCumsum", lambda x: x.cumsum(1)),
    ("kSort", lambda x: x.sort(dim=1, descending=True, stable=True)[0]),
    ("kTopk", lambda x: x.topk(2, dim=2, largest=False)[0]),
    ("kMax", lambda x: x.max(dim=0)[0]),
]


def main():
    for name, function in CASES:
        values = [2 * math.sin(1.3 * i + 0.4) for i in range(24)]
        values[5] = values[6] = values[14] = 0.0
        x = torch.tensor(values, dtype=torch.float64).reshape(2, 3, 4)
        x.requires_grad_(True)
        y = function(x)
        y.backward(wave(y.shape, lambda i: math.cos(0.9 * i)))
        print("constexpr double %s[] = {" % name)
        for number in y.flatten().tolist() + x.grad.flatten().tolist():
            print("    %.17g," % number)
        print("};")


page(main)
