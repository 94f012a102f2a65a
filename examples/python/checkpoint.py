#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A run that is saved, and goes on from its file to the same bits; groups of
parameters, and averages of them.

    python checkpoint.py
"""

import os
import tempfile

import neap
from neap import nn


def train(path, steps):
    """Goes on from the file at `path`, if there is one, for so many steps, and
    saves. Returns a hash of all state."""
    neap.seed(7)
    net = nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.1), nn.ReLU(),
                        nn.Linear(32, 4))
    decayed = [(n, t) for n, t in net.named_parameters() if t.ndim > 1]
    others = [(n, t) for n, t in net.named_parameters() if t.ndim == 1]
    adam = neap.optim.AdamW([{"params": decayed, "weight_decay": 0.1},
                             {"params": others, "weight_decay": 0.0}], lr=1e-2)
    ema = neap.optim.Ema(net, decay=0.9)
    run = neap.train.Checkpoint(net, adam, average=ema, facts={"batch": 8})
    if os.path.exists(path):
        run.load(path)  # to the bits of a run without a break

    @neap.compile
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        ema.update()
        return loss

    for _ in range(steps):
        step(neap.randn((8, 16)), neap.randint(0, 4, (8,)))
    run.step += steps
    run.save(path)  # whole or not at all
    with ema.averaged():
        print(f"after {run.step} steps the averages have a norm of "
              f"{sum((w * w).sum().item() for w in net.parameters()):.4f}")
    return neap.optim.state_hash(net, adam)


def main():
    with tempfile.TemporaryDirectory() as folder:
        whole = train(os.path.join(folder, "whole.safetensors"), 6)
        parts = os.path.join(folder, "parts.safetensors")
        train(parts, 3)
        same = train(parts, 3) == whole
    print("the same bits" if same else "other bits")


if __name__ == "__main__":
    main()
