#!/usr/bin/python3
"""Records what PyTorch's optimizers do, for neap/optim/optimizer_test.cpp.

    python3 tests/reference/record_optimizers.py > neap/optim/optimizer_figures.inc

Every case starts from the same four f64 numbers; the gradient of step t (from
0) at element i is 0.5 w_i + sin(0.7 t + i). The parameter after each step is a
row. Needs PyTorch (Debian: python3-torch).
"""

import math

import torch

from figures import page, text

START = [0.5, -1.25, 2.0, 0.1]
STEPS = 12


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. (2023), written from the paper."""

    def __init__(self, parameters, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(parameters, dict(lr=lr))
        self.betas, self.decay = betas, weight_decay

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                m = self.state[w].setdefault("exp_avg", torch.zeros_like(w))
                c = self.betas[0] * m + (1 - self.betas[0]) * w.grad
                w -= group["lr"] * (torch.sign(c) + self.decay * w)
                m.mul_(self.betas[1]).add_((1 - self.betas[1]) * w.grad)


CASES = [
    ("kSgd", torch.optim.SGD, dict(lr=0.1)),
    ("kSgdDecay", torch.optim.SGD, dict(lr=0.1, weight_decay=0.05)),
    ("kSgdMomentum", torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    ("kSgdDampening", torch.optim.SGD,
     dict(lr=0.1, momentum=0.8, dampening=0.3, weight_decay=0.05)),
    ("kSgdNesterov", torch.optim.SGD,
     dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.05)),
    ("kSgdMaximize", torch.optim.SGD,
     dict(lr=0.01, momentum=0.9, weight_decay=0.05, maximize=True)),
    ("kAdam", torch.optim.Adam, dict(lr=0.05)),
    ("kAdamDecay", torch.optim.Adam,
     dict(lr=0.05, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    ("kAdamMaximize", torch.optim.Adam,
     dict(lr=0.05, weight_decay=0.1, maximize=True)),
    ("kAdamW", torch.optim.AdamW, dict(lr=0.05)),
    ("kAdamWDecay", torch.optim.AdamW,
     dict(lr=0.05, betas=(0.8, 0.95), weight_decay=0.2)),
    ("kLion", Lion, dict(lr=0.05, weight_decay=0.1)),
    ("kLionOwn", Lion, dict(lr=0.02, betas=(0.95, 0.98))),
    ("kRMSprop", torch.optim.RMSprop, dict(lr=0.05)),
    ("kRMSpropMomentum", torch.optim.RMSprop,
     dict(lr=0.02, alpha=0.9, eps=1e-6, weight_decay=0.05, momentum=0.9)),
    ("kRMSpropMaximize", torch.optim.RMSprop,
     dict(lr=0.02, alpha=0.9, eps=1e-6, weight_decay=0.05, momentum=0.9,
          maximize=True)),
]


def gradient(w, step):
    wave = [math.sin(0.7 * step + i) for i in range(len(START))]
    return 0.5 * w + torch.tensor(wave, dtype=torch.float64)


def record(make, options):
    w = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimizer = make([w], **options)
    rows = []
    for step in range(STEPS):
        w.grad = gradient(w.detach(), step)
        optimizer.step()
        rows.append(w.detach().tolist())
    return rows


def main():
    for name, make, options in CASES:
        print("constexpr Figures %s{{" % name)
        for row in record(make, options):
            print("    {{%s}}," % text(row))
        print("}};")


page(main)
