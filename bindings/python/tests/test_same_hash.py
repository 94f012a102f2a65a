# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""The same training in Python and in C++ leaves the same bits."""

import pathlib
import subprocess

import pytest

import neap
from neap import nn, optim

PROGRAM = pathlib.Path(neap.__file__).parents[1] / "neap_python_mlp_hash"


class Mlp(nn.Module):
    def __init__(self, widths, dropout):
        super().__init__()
        self.count = len(widths) - 1
        self.dropout = dropout
        for i in range(self.count):
            setattr(self, f"fc{i + 1}", nn.Linear(widths[i], widths[i + 1]))

    def forward(self, x):
        for i in range(self.count):
            x = getattr(self, f"fc{i + 1}")(x)
            if i + 1 < self.count:
                x = neap.dropout(x.relu(), self.dropout, self.training)
        return x


def hash_of_run(compiled):
    neap.seed(7)
    net = Mlp([20, 32, 16, 5], 0.25)
    adam = optim.AdamW(net.parameters(), lr=1e-2)

    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    if compiled:
        step = neap.compile(step)
    for _ in range(10):
        x = neap.randn((12, 20))
        y = neap.randint(0, 5, (12,))
        step(x, y)
    return f"{optim.state_hash(net, adam):016x}"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the program is not built")
@pytest.mark.parametrize("compiled", [False, True])
def test_an_mlp_has_the_state_hash_of_cpps(compiled):
    want = subprocess.run([PROGRAM], check=True, capture_output=True,
                          text=True).stdout.strip()
    assert hash_of_run(compiled) == want
