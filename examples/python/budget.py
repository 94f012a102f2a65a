#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A step that is made to fit: the plan says what a budget costs before anything
runs, and the bits are those of the step without one.

    python budget.py
"""

import neap
from neap import nn
from neap.memory import format_bytes

ROWS, WIDTH, LAYERS = 256, 256, 12


def training(budget=None):
    """A compiled step of a deep network, with everything that it trains."""
    neap.seed(7)
    layers = [part for _ in range(LAYERS)
              for part in (nn.Linear(WIDTH, WIDTH), nn.GELU())]
    net = nn.Sequential(*layers, nn.Linear(WIDTH, 10))
    sgd = neap.optim.SGD(net, lr=1e-2)

    @neap.compile(budget=budget)
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        sgd.step()
        sgd.zero_grad()
        return loss

    return net, sgd, step


def main():
    specs = neap.spec((ROWS, WIDTH)), neap.spec((ROWS,), neap.i64)
    x, y = neap.randn((ROWS, WIDTH)), neap.randint(0, 10, (ROWS,))
    net, sgd, step = training()
    whole = step.plan(*specs)
    print(f"without a budget: {format_bytes(whole.peak)}, "
          f"of it the arena {format_bytes(whole.arena)}")
    for _ in range(3):
        step(x, y)
    expected = neap.optim.state_hash(net, sgd)
    del net, sgd, step

    # A budget is of the whole process: Python and its modules are "external".
    budget = whole.external + whole.peak - whole.arena // 2
    net, sgd, step = training(budget)
    fitted = step.plan(*specs)
    print(f"within {format_bytes(budget)}: {format_bytes(fitted.peak)}, "
          f"of it the arena {format_bytes(fitted.arena)}")
    for _ in range(3):
        step(x, y)
    same = neap.optim.state_hash(net, sgd) == expected
    print("the same bits" if same else "other bits")

    try:
        training(budget=whole.persistent // 2)[2].plan(*specs)
    except neap.OutOfMemory as error:
        print(f"too little: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
