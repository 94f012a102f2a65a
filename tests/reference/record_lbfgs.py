#!/usr/bin/python3
"""Records PyTorch's LBFGS, for neap/optim/lbfgs_test.cpp.

    python3 tests/reference/record_lbfgs.py > neap/optim/lbfgs_figures.inc

All in f64. `rosenbrock` is the sum of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2;
`logistic` the mean of log(1 + exp(-y z)) with z = x w + b, plus 0.005 |w|^2, of 12
samples with x[i, j] = sin(1.3 i + 0.7 j), y = sign(cos(0.9 i)); `bowl` the sum of
0.5 (1 + i) (x[i] - sin(i))^2. Every case starts from cos(1.7 i + 0.3), b from 0.
A row: the loss that step() returns, then the parameters after it.
"""

import math

import torch

from figures import page, text, wave

STEPS = 5


def start(count):
    return wave((count,), lambda i: math.cos(1.7 * i + 0.3)).requires_grad_()


def rosenbrock(count):
    x = start(count)

    def loss():
        a, b = x[:-1], x[1:]
        return (100 * (b - a * a) ** 2 + (1 - a) ** 2).sum()

    return [x], loss


def logistic():
    x = wave((12, 3), lambda i: math.sin(1.3 * (i // 3) + 0.7 * (i % 3)))
    y = wave((12,), lambda i: 1.0 if math.cos(0.9 * i) > 0 else -1.0)
    w, b = start(3), torch.zeros(1, dtype=torch.float64, requires_grad=True)

    def loss():
        z = x @ w + b
        return torch.log(1 + torch.exp(-y * z)).mean() + 0.005 * (w * w).sum()

    return [w, b], loss


def bowl():
    x = start(6)
    weights = wave((6,), lambda i: 0.5 * (1 + i))
    middle = wave((6,), lambda i: math.sin(i))
    return [x], lambda: (weights * (x - middle) ** 2).sum()


WOLFE = dict(line_search_fn="strong_wolfe")
CASES = [
    ("kRosenbrock", lambda: rosenbrock(2),
     dict(max_iter=4, history_size=10, **WOLFE)),
    ("kRosenbrockShort", lambda: rosenbrock(5),
     dict(max_iter=3, history_size=2, lr=0.5, **WOLFE)),
    ("kRosenbrockFew", lambda: rosenbrock(3),
     dict(max_iter=6, max_eval=4, history_size=3, **WOLFE)),
    ("kLogistic", logistic, dict(max_iter=3, history_size=5, **WOLFE)),
    ("kLogisticFixed", logistic, dict(max_iter=4, history_size=5)),
    ("kBowlFixed", bowl, dict(max_iter=2, history_size=4, lr=0.5)),
    ("kBowlLong", bowl, dict(max_iter=50, history_size=4, **WOLFE)),
]


def record(make, options):
    parameters, loss = make()
    optimizer = torch.optim.LBFGS(parameters, **{"lr": 1, **options})

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    rows = []
    for _ in range(STEPS):
        before = optimizer.step(closure).item()
        rows.append([before] + [x for p in parameters
                                for x in p.detach().flatten().tolist()])
    return rows


def main():
    for name, make, options in CASES:
        print("const Figures %s{{" % name)
        for row in record(make, options):
            print("    {%s}," % text(row))
        print("}};")


page(main)
