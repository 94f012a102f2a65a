#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Programs as PyTorch's users write them: every piece of code on the page
docs/coming-from/pytorch-in-python.md.

    python coming_from_pytorch.py
"""

import neap
import numpy as np
from neap import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 32)
        self.norm = nn.LayerNorm(32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = neap.gelu(self.norm(self.fc1(x)))
        return self.fc2(neap.dropout(x, 0.1, self.training))


def batch():
    points = np.random.default_rng(7).normal(size=(64, 20)).astype(np.float32)
    return neap.tensor(points), neap.tensor(points[:, :3].argmax(1))


def train():
    """Losses of some steps, each operation when it is called."""
    neap.seed(7)
    net, (x, y) = Net(), batch()
    adam = neap.optim.AdamW(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(20):
        loss = neap.cross_entropy(net(x), y)
        adam.zero_grad()
        loss.backward()
        neap.optim.clip_grad_norm(net.parameters(), 1.0)
        adam.step()
        losses.append(loss.item())
    net.eval()
    with neap.NoGrad():
        right = net(x).numpy().argmax(1) == y.numpy()
    print(f"loss {losses[-1]:.3f}, {right.mean():.0%} right")
    return losses


def train_compiled():
    """The same losses, to the bit."""
    neap.seed(7)
    net, (x, y) = Net(), batch()
    adam = neap.optim.AdamW(net.parameters(), lr=1e-2)

    @neap.compile
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        adam.zero_grad()
        loss.backward()
        neap.optim.clip_grad_norm(net.parameters(), 1.0)
        adam.step()
        return loss

    return [step(x, y).item() for _ in range(20)]


def derivatives():
    x = neap.tensor([1.0, 2.0], requires_grad=True)
    first = neap.grad((x**3).sum(), x, create_graph=True)
    second = neap.grad(first.sum(), x)
    print(first.tolist(), second.tolist())
    return neap.hessian(lambda a: (a**3).sum(), x.detach())


def arrays():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = neap.from_numpy(array)         # borrowed: no copy
    view = (x * 2).numpy()             # no copy either
    mask = x > 2
    return view, x[0, 1:], x[mask], neap.where(mask, x, 0.0)


def main():
    assert train() == train_compiled()
    print(derivatives().tolist())
    print(*(each.tolist() for each in arrays()))


if __name__ == "__main__":
    main()
