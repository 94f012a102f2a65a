# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""The same training in Python and in C++ leaves the same bits."""

import pathlib
import subprocess

import pytest

import neap
import zoo
from neap import optim

PROGRAM = pathlib.Path(neap.__file__).parents[1] / "neap_python_zoo_hash"


def loss_of(scores, targets):
    if scores.ndim == 3:
        return neap.cross_entropy(scores.reshape((-1, scores.shape[2])),
                                  targets.reshape((-1,)))
    return neap.cross_entropy(scores, targets)


def hash_of_run(name, compiled):
    make, make_input, shape, classes = zoo.NETWORKS[name]
    neap.seed(7)
    net = make()
    adam = optim.AdamW(net.parameters(), lr=1e-2)

    def step(x, y):
        loss = loss_of(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    if compiled:
        step = neap.compile(step)
    for _ in range(10):
        x = make_input()
        y = neap.randint(0, classes, shape)
        step(x, y)
    return f"{optim.state_hash(net, adam):016x}"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the program is not built")
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", zoo.NETWORKS)
def test_a_network_has_the_state_hash_of_cpps(name, compiled):
    want = subprocess.run([PROGRAM, name], check=True, capture_output=True,
                          text=True).stdout.strip()
    assert hash_of_run(name, compiled) == want
