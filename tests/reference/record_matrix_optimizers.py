#!/usr/bin/python3
"""Records PyTorch's Adafactor and Muon, for neap/optim/matrix_optimizers_test.cpp.

    python3 tests/reference/record_matrix_optimizers.py \
        > neap/optim/matrix_optimizer_figures.inc

Every case starts from w_i = cos(1.7 i + 0.3) in f64; the gradient of step t
(from 0) at element i is 0.5 w_i + sin(0.7 t + i). The parameter after each step
is a row. Needs PyTorch 2.15. Its Muon computes the products in bf16; here that
name stands for f64, so that the formulas can be compared to their last digits.
"""

import math

import torch

from figures import page, text

STEPS = 6

Adafactor, Muon = torch.optim.Adafactor, torch.optim.Muon

CASES = [
    ("kAdafactorVector", (5,), Adafactor, dict()),
    ("kAdafactorMatrix", (3, 4), Adafactor, dict()),
    ("kAdafactorOwn", (3, 4), Adafactor,
     dict(lr=0.3, beta2_decay=-0.5, eps=(1e-4, 1e-2), d=1.2,
          weight_decay=0.05)),
    ("kAdafactorStack", (2, 3, 2), Adafactor, dict(lr=0.05, maximize=True)),
    ("kAdafactorVectorOwn", (5,), Adafactor,
     dict(lr=0.3, weight_decay=0.05, d=1.1)),
    ("kMuonWide", (3, 4), Muon, dict(lr=0.05)),
    ("kMuonTall", (5, 2), Muon, dict(lr=0.05, momentum=0.8)),
    ("kMuonPlain", (4, 4), Muon,
     dict(lr=0.05, nesterov=False, weight_decay=0.0, ns_steps=3)),
    ("kMuonAsAdamW", (2, 6), Muon,
     dict(lr=0.05, adjust_lr_fn="match_rms_adamw")),
]


def wave(shape, f):
    count = math.prod(shape)
    values = [f(i) for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def record(shape, make, options):
    w = wave(shape, lambda i: math.cos(1.7 * i + 0.3)).requires_grad_(True)
    optimizer = make([w], **options)
    rows = []
    for step in range(STEPS):
        w.grad = 0.5 * w.detach() + wave(
            shape, lambda i, step=step: math.sin(0.7 * step + i))
        optimizer.step()
        rows.append(w.detach().flatten().tolist())
    return rows


def main():
    torch.bfloat16 = torch.float64
    for name, shape, make, options in CASES:
        print("const Figures %s{{" % name)
        for row in record(shape, make, options):
            print("    {%s}," % text(row))
        print("}};")


page(main)
