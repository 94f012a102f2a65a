# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""The training loop."""

import io

import numpy as np
import pytest

import neap
from neap import data, nn, optim


def points(count=96, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 4)).astype(np.float32)
    return data.TensorSet(x, (x[:, 0] + x[:, 1] > 0).astype(np.int64))


def parts(**options):
    neap.seed(7)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1),
                        nn.Linear(16, 2))
    adam = optim.AdamW(net, lr=1e-2)
    return net, adam, data.Loader(points(), 16, shuffle=True, seed=3, **options)


def test_it_trains_and_tells():
    out = io.StringIO()
    net, adam, loader = parts()
    test = data.Loader(points(64, 1), 16)
    history = neap.fit(net, adam, loader, epochs=15, test=test, progress=out)
    assert [row["epoch"] for row in history] == list(range(1, 16))
    assert history[-1]["loss"] < history[0]["loss"] / 2
    assert history[-1]["test_accuracy"] > 0.85
    lines = out.getvalue().splitlines()
    assert len(lines) == 15 and "test accuracy" in lines[-1]
    assert adam.step_count == 15 * len(loader)


def test_it_has_the_bits_of_a_loop_by_hand():
    net, adam, loader = parts()
    neap.fit(net, adam, loader, epochs=2, progress=False)
    want = optim.state_hash(net, adam)
    net, adam, loader = parts()
    for epoch in range(2):
        for x, y in loader.epoch(epoch):
            neap.cross_entropy(net(x), y).backward()
            adam.step()
            adam.zero_grad()
    assert optim.state_hash(net, adam) == want


def test_a_run_that_was_interrupted_ends_in_the_same_bits(tmp_path):
    path = tmp_path / "run.safetensors"

    def run(epochs, checkpoint=None):
        net, adam, loader = parts()
        ema = optim.Ema(net, decay=0.9)
        history = neap.fit(net, adam, loader, epochs=epochs, average=ema,
                           checkpoint=checkpoint, progress=False)
        return optim.state_hash(net, adam), len(history)

    whole, _ = run(4)
    run(2, path)
    assert run(4, path) == (whole, 2)
    assert run(4, path) == (whole, 0)


def test_a_budget_is_met_with_the_same_bits_or_refused_beforehand():
    neap.seed(7)

    def run(budget):
        neap.seed(7)
        net = nn.Sequential(*[layer for _ in range(6) for layer in
                              (nn.Linear(64, 64), nn.Tanh())], nn.Linear(64, 2))
        sgd = optim.SGD(net, lr=1e-2)
        x = np.random.default_rng(0).normal(size=(2048, 64)).astype(np.float32)
        loader = data.Loader(data.TensorSet(x, np.zeros(2048, np.int64)), 1024,
                             reuse=True)
        neap.fit(net, sgd, loader, epochs=1, budget=budget, progress=False)
        return optim.state_hash(net, sgd)

    want = run(None)
    held = neap.memory.stats()
    neap.memory.trim()
    neap.memory.recount()
    base = neap.memory.stats()
    budget = base["external"] + base["held"] + (4 << 20)
    assert run(budget) == want
    with pytest.raises((neap.PlanError, neap.OutOfMemory)):
        run(base["external"] + base["held"] + (1 << 20))
    assert held["live"] >= 0


def test_a_loss_that_is_no_number_ends_the_run():
    net, _, loader = parts()
    sgd = optim.SGD(net, lr=float(1e30))
    with pytest.raises(neap.InvalidValue, match="the loss of step"):
        neap.fit(net, sgd, loader, epochs=3, progress=False)


def test_losses_and_loaders_of_ones_own():
    net = nn.Linear(4, 1)
    sgd = optim.SGD(net, lr=0.1)
    x = neap.randn((8, 4))
    y = x.sum(1, keepdim=True)
    history = neap.fit(net, sgd, [(x, y)] * 20, epochs=3,
                       loss=lambda a, b: (a - b).square().mean(),
                       clip_norm=1.0, progress=False)
    assert history[-1]["loss"] < history[0]["loss"]
    assert "test_loss" not in history[0]
    with pytest.raises(neap.InvalidValue, match="no batch"):
        neap.fit(net, sgd, [], progress=False)


def test_evaluation_leaves_the_mode_as_it_was():
    net, _, _ = parts()
    net.train()
    found = neap.evaluate(net, data.Loader(points(), 16))
    assert net.training and 0 <= found["test_accuracy"] <= 1


def test_parts_keep_the_modes_that_they_have():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2), nn.Dropout(0.5))
    loader = neap.data.Loader(neap.data.TensorSet(
        np.ones((4, 2), np.float32), np.zeros(4, np.int64)), 2)
    net[0].eval()
    before = net[0].running_mean.tolist()
    neap.evaluate(net, loader)
    assert net._modes() == [True, False, True, True]
    neap.fit(net, neap.optim.SGD(net, lr=0.1), loader, progress=False)
    assert net._modes() == [True, False, True, True]
    assert net[0].running_mean.tolist() == before
    net.eval()
    neap.fit(net, neap.optim.SGD(net, lr=0.1), loader, progress=False)
    assert net._modes() == [False] * 4
    assert net[0].running_mean.tolist() != before


def test_what_would_mean_nothing_is_refused():
    net = nn.Linear(2, 2)
    loader = neap.data.Loader(neap.data.TensorSet(
        np.ones((4, 2), np.float32), np.zeros(4, np.int64)), 2)
    sgd = neap.optim.SGD(net, lr=0.1)
    for options in (dict(clip_norm=-1.0), dict(clip_norm=float("nan")),
                    dict(epochs=-1)):
        with pytest.raises(neap.Error, match="from 0 on"):
            neap.fit(net, sgd, loader, progress=False, **options)
    for epoch in ((-1,), (0, -1), (0, 3)):
        with pytest.raises(neap.Error, match="from 0 on"):
            next(loader.epoch(*epoch))
    with pytest.raises(ValueError, match="from 0 on"):
        neap.Budget(-1)


def test_a_run_is_resumed_with_the_same_batches(tmp_path):
    def run(**options):
        neap.seed(7)
        net = nn.Linear(4, 2)
        loader = data.Loader(points(**({"count": options.pop("count")} if (
            "count" in options) else {})), **{"batch": 32, "seed": 1, **options})
        return neap.fit(net, optim.SGD(net, lr=0.1), loader, epochs=2,
                        checkpoint=tmp_path / "run.st", progress=False)

    run()
    assert run() == []
    for other in ({"batch": 16}, {"seed": 2}, {"shuffle": True}, {"count": 64}):
        with pytest.raises(neap.IoError, match="fit."):
            run(**other)
