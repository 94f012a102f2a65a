#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Will a module of PyTorch's fit, with Adam? The answer in bytes, before a step
runs. Needs torch.

    python plan_torch_module.py [--batch N] [--budget SIZE]
"""

import argparse

import neap
import torch
from torch import nn


class Residual(nn.Module):
    """Two convolutions beside the identity, as in ResNets."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.short = nn.Identity() if inputs == outputs else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False),
            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.short(x))


def make_resnet():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--budget", default="4GiB")
    options = parser.parse_args()
    torch.manual_seed(7)
    module = make_resnet()
    example = torch.randn(options.batch, 3, 32, 32)
    net = neap.torch.import_module(module, (example,))
    adam = neap.optim.Adam(net, lr=1e-3)

    @neap.compile(budget=options.budget)
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    plan = step.plan(neap.spec(example.shape),
                     neap.spec((options.batch,), neap.i64))
    print(plan)
    print(f"in {options.budget}: it fits")
    x, y = example.numpy(), neap.randint(0, 10, (options.batch,))
    losses = [step(x, y).item() for _ in range(2)]
    print(f"losses of two steps: {losses[0]:.4f}, {losses[1]:.4f}")


if __name__ == "__main__":
    main()
