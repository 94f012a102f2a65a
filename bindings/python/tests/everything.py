# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Uses a little of everything, for test_leaks.py."""

import sys

import neap

try:
    import numpy as np
except ImportError:
    np = None


def main():
    neap.seed(7)
    net = neap.nn.Sequential(neap.nn.Linear(4, 8), neap.nn.ReLU(),
                             neap.nn.Linear(8, 3))
    adam = neap.optim.AdamW(net.parameters(), lr=1e-2)

    @neap.compile
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    x = neap.from_dlpack(np.ones((8, 4), np.float32)) if np else (
        neap.ones((8, 4)))
    y = neap.randint(0, 3, (8,))
    print(str(step.plan(neap.spec((8, 4)), neap.spec((8,), neap.i64))))
    with neap.Budget("4GiB"), neap.Scope("run") as scope:
        for _ in range(4):
            loss = step(x, y)
        total = scope.keep(loss + 1)
    w = neap.ones((3,)).requires_grad_()
    hook = w.register_hook(lambda g: g * 2)
    (w * w).sum().backward()
    hook.remove()  # else: w, the hook, its function, its globals, w
    view = w.numpy() if np else None
    try:
        neap.ones((2,)) + neap.ones((3,))
    except neap.ShapeError as error:
        print(error)
    print(total, w.grad, neap.memory.table(), view)
    return step, net, w, view  # still there when the interpreter ends


kept = main()
sys.stdout.flush()
