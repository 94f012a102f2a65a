#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A training loop that keeps more from step to step, and what the reports say
of it: what grew, and where that was made.

    python find_leak.py
"""

import neap
from neap import nn


def training():
    neap.seed(7)
    net = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    return net, neap.optim.SGD(net, lr=0.1)


def step(net, sgd):
    loss = net(neap.randn((64, 256))).square().mean()
    loss.backward(retain_graph=True)
    sgd.step()
    sgd.zero_grad()
    return loss


def run(keep):
    """Ten steps whose losses are kept as keep() gives them."""
    net, sgd = training()
    growth = neap.memory.Growth()
    history = []
    for _ in range(10):
        history.append(keep(step(net, sgd)))
        growth.step()
    return growth.format()


def leaks():
    """One step of the first loop, looked at closely."""
    net, sgd = training()
    step(net, sgd)  # makes all state
    with neap.memory.TrackHandles():
        before = neap.memory.Baseline()
        loss = step(net, sgd)
        text = before.leaks()
        del loss
    return text


def main():
    print("losses kept as tensors, each with its graph:")
    print(run(lambda loss: loss))
    print("losses kept as numbers:")
    print(run(lambda loss: loss.item()))
    print("one step of the first:")
    print(leaks())


if __name__ == "__main__":
    main()
