#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A network, a compiled step, the bytes that it needs, and a budget.

    python first.py
"""

import neap
import numpy as np

random = np.random.default_rng(7)
batches = [(random.normal(size=(128, 784)).astype(np.float32),
            random.integers(0, 10, 128)) for _ in range(3)]

net = neap.nn.Sequential(neap.nn.Linear(784, 512), neap.nn.ReLU(), neap.nn.Linear(512, 10))
adam = neap.optim.AdamW(net.parameters(), lr=1e-3)

@neap.compile
def step(x, y):
    loss = neap.cross_entropy(net(x), y)
    loss.backward()
    adam.step()
    adam.zero_grad()
    return loss

print(step.plan(neap.spec((128, 784)), neap.spec((128,), neap.i64)))
with neap.Budget("256MiB"):
    for x, y in batches:              # arrays of NumPy or torch: borrowed, not copied
        print(step(x, y).item())
