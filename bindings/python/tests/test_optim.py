# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Optimizers, groups of parameters, averages, plateaus and checkpoints."""

import gc
import types

import numpy as np
import pytest

import neap
from neap import nn, optim

MAKERS = {
    "adam": lambda p: optim.Adam(p, lr=0.05),
    "adamw": lambda p: optim.AdamW(p, lr=0.05),
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "lion": lambda p: optim.Lion(p, lr=0.01),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.02),
    "adafactor": lambda p: optim.Adafactor(p, lr=0.1),
    "muon": lambda p: optim.Muon([
        {"params": [(n, t) for n, t in p.named_parameters() if t.ndim == 2]},
        {"params": [(n, t) for n, t in p.named_parameters() if t.ndim != 2],
         "by_adam": True}], lr=0.05),
}


def training(maker, average=False):
    """A net, its optimizer and averages, and a function that makes a step."""
    neap.seed(3)
    net = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.1), nn.Tanh(),
                        nn.Linear(16, 3))
    optimizer = maker(net)
    ema = optim.Ema(net, decay=0.8) if average else None

    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if ema:
            ema.update()
        return loss

    return net, optimizer, ema, step


def batch():
    points = np.random.default_rng(1).normal(size=(24, 4)).astype(np.float32)
    return neap.tensor(points), neap.tensor(points.argmax(1) % 3)


@pytest.mark.parametrize("name", MAKERS)
def test_every_optimizer_learns_with_the_same_bits_compiled(name):
    hashes = []
    for compiled in (False, True):
        net, optimizer, _, step = training(MAKERS[name])
        run = neap.compile(step) if compiled else step
        losses = [run(*batch()).item() for _ in range(30)]
        assert losses[-1] < 0.8 * losses[0]
        hashes.append(optim.state_hash(net, optimizer))
    assert hashes[0] == hashes[1]


def test_steps_are_the_formulas():
    g = np.array([3.0, -4.0], np.float32)

    def after(make):
        w = neap.tensor([1.0, 2.0], requires_grad=True)
        optimizer = make([w])
        (w * neap.tensor(g)).sum().backward()
        optimizer.step()
        return w.numpy().copy()

    w = np.array([1.0, 2.0], np.float32)
    lion = after(lambda p: optim.Lion(p, lr=0.1, weight_decay=0.5))
    np.testing.assert_allclose(lion, w * (1 - 0.05) - 0.1 * np.sign(g), 1e-6)
    rms = after(lambda p: optim.RMSprop(p, lr=0.1, alpha=0.75))
    np.testing.assert_allclose(rms, w - 0.1 * np.sign(g) / 0.5, 1e-5)
    up = after(lambda p: optim.SGD(p, lr=0.1, maximize=True))
    np.testing.assert_allclose(up, w + 0.1 * g, 1e-6)


def test_matrix_optimizers_agree_with_pytorch():
    torch = pytest.importorskip("torch")
    start = np.random.default_rng(2).normal(size=(6, 4)).astype(np.float32)
    slopes = np.random.default_rng(3).normal(size=(5, 6, 4)).astype(np.float32)
    for ours, theirs in (
            (lambda p: optim.Adafactor(p, lr=0.1),
             lambda p: torch.optim.Adafactor(p, lr=0.1)),
            (lambda p: optim.RMSprop(p, lr=0.1, momentum=0.5),
             lambda p: torch.optim.RMSprop(p, lr=0.1, momentum=0.5))):
        w = neap.tensor(start, requires_grad=True)
        v = torch.tensor(start, requires_grad=True)
        mine, others = ours([w]), theirs([v])
        for slope in slopes:
            (w * neap.tensor(slope)).sum().backward()
            mine.step()
            mine.zero_grad()
            v.grad = torch.tensor(slope)
            others.step()
        np.testing.assert_allclose(w.numpy(), v.detach().numpy(), 2e-4, 2e-5)


def test_groups_have_options_of_their_own():
    a, b, c = (neap.ones((2,)).requires_grad_() for _ in range(3))
    sgd = optim.SGD([{"params": [a], "lr": 0.5}, {"params": [("b", b)]}],
                    lr=0.1, weight_decay=1.0)
    sgd.add_group([c], weight_decay=0.0, lr=0.2)
    assert sgd.group_count == 3
    assert [sgd.group_lr(i) for i in range(3)] == [0.5, 0.1, 0.2]
    (a + b + c).sum().backward()
    sgd.step()
    for w, value in ((a, 1 - 0.5 * 2), (b, 1 - 0.1 * 2), (c, 1 - 0.2)):
        np.testing.assert_allclose(w.numpy(), value, 1e-6)
    sgd.set_group_lr(1, 0.0)
    assert sgd.group_lr(1) == 0.0
    sgd.lr = 0.3
    assert sgd.group_lr(2) == 0.3 and "weight_decay=0" in sgd.describe(2)


def test_bad_groups_and_options_are_refused():
    w = neap.ones((2,)).requires_grad_()
    with pytest.raises(neap.InvalidValue, match="group 1 has no"):
        optim.SGD([{"params": [w]}, {"lr": 1.0}])
    with pytest.raises(TypeError):
        optim.SGD([{"params": [w], "learning": 1.0}])
    sgd = optim.SGD([w])
    with pytest.raises(neap.InvalidValue, match="twice"):
        sgd.add_group([w])
    with pytest.raises(neap.InvalidValue):
        optim.Lion([w], beta1=2.0)
    with pytest.raises(neap.ShapeError):
        optim.Muon([w])
    with pytest.raises(neap.InvalidValue):
        sgd.group_lr(7)
    assert sgd.group_count == 1


def test_schedules():
    assert optim.linear(1.0, 10)(5) == pytest.approx(0.5)
    assert optim.warmup_stable_decay(1.0, 10, 2, 4)(4) == 1.0
    assert optim.one_cycle(1.0, 10)(2) == pytest.approx(1.0)
    assert optim.cosine_restarts(1.0, 5)(5) == pytest.approx(1.0)
    assert optim.inverse_sqrt(1.0, 4)(15) == pytest.approx(0.5)


@pytest.mark.parametrize("compiled", [False, True])
def test_averages_follow_the_parameters(compiled):
    net, _, ema, step = training(MAKERS["adam"], average=True)
    run = neap.compile(step) if compiled else step
    expected = [w.numpy().copy() for w in net.parameters()]
    for _ in range(4):
        run(*batch())
        expected = [a + 0.2 * (w.numpy() - a)
                    for a, w in zip(expected, net.parameters())]
    assert ema.update_count == 4 and ema.bytes == net.parameter_bytes()
    for mean, average in zip(expected, ema.averages):
        np.testing.assert_allclose(average.numpy(), mean, 1e-4, 1e-6)
    trained = [w.tolist() for w in net.parameters()]
    with pytest.raises(KeyError), ema.averaged():
        assert ema.is_swapped
        for mean, w in zip(expected, net.parameters()):
            np.testing.assert_allclose(w.numpy(), mean, 1e-4, 1e-6)
        raise KeyError
    assert [w.tolist() for w in net.parameters()] == trained


def test_averages_are_in_place_once():
    w = neap.ones((1,)).requires_grad_()
    ema = optim.Ema([w], decay=0.5)
    with neap.NoGrad():
        w.fill_(3.0)
    ema.update()
    with ema.averaged():
        with pytest.raises(ValueError, match="already"):
            with ema.averaged():
                pass
        assert w.item() == 2.0
    assert w.item() == 3.0


def test_what_is_no_tensor_is_named():
    with pytest.raises(TypeError, match="parameter 0 is a Parameter"):
        optim.SGD([nn.Parameter(neap.ones((2,)))], lr=0.1)
    with pytest.raises(TypeError, match="parameter w is a float"):
        optim.SGD([("w", 1.0)], lr=0.1)


def test_an_option_that_would_do_nothing_is_refused():
    adam = optim.AdamW(nn.Linear(2, 2), lr=0.1)
    adam.lr = 0.2
    for name in ("weight_decay", "betas", "learning_rate"):
        with pytest.raises(AttributeError, match=f"no {name} to be set"):
            setattr(adam, name, 0.1)


def test_a_checkpoint_writes_no_position_that_it_would_refuse(tmp_path):
    net = nn.Linear(2, 2)
    run = neap.train.Checkpoint(net, optim.SGD(net, lr=0.1))
    run.save(tmp_path / "run.st")
    before = (tmp_path / "run.st").read_bytes()
    for name in ("step", "epoch", "batch"):
        run.step = run.epoch = run.batch = 0
        setattr(run, name, -1)
        with pytest.raises(neap.Error, match="from 0 on"):
            run.save(tmp_path / "run.st")
    assert (tmp_path / "run.st").read_bytes() == before


def test_a_step_keeps_the_averages_that_its_programs_refer_to():
    w = neap.ones((2,)).requires_grad_()
    holder = types.SimpleNamespace(ema=optim.Ema([w], decay=0.5))
    name = "ema"
    averages = holder.ema.averages

    @neap.compile
    def step(x):
        neap.copy_(w.detach(), x)
        getattr(holder, name).update()  # guards do not see it

    step(neap.ones((2,)) * 3)
    del holder.ema
    gc.collect()
    step(neap.ones((2,)) * 3)
    assert averages[0].tolist() == [2.5, 2.5]
    step.reset()


def test_a_plateau_lowers_the_rates_and_keeps_its_optimizer():
    w = neap.ones((2,)).requires_grad_()
    sgd = optim.SGD([w], lr=1.0)
    plateau = optim.ReduceOnPlateau(sgd, factor=0.5, patience=1)
    assert [plateau.step(m) for m in (3.0, 3.0, float("nan"), 2.0)] == [
        False, False, True, False]
    assert sgd.lr == 0.5 and plateau.best == 2.0
    del sgd
    gc.collect()
    plateau.step(9.0)
    with pytest.raises(neap.InvalidValue):
        optim.ReduceOnPlateau(optim.SGD([w]), factor=2.0)


@pytest.mark.parametrize("name", MAKERS)
def test_a_run_goes_on_from_its_checkpoint_with_the_same_bits(name, tmp_path):
    path = tmp_path / "run.safetensors"

    def start():
        net, optimizer, ema, step = training(MAKERS[name], average=True)
        plateau = optim.ReduceOnPlateau(optimizer, patience=0)
        run = neap.train.Checkpoint(net, optimizer, average=ema,
                                    plateau=plateau, facts={"batch": 24})
        return run, neap.compile(step)

    def go_on(run, step):
        for _ in range(3):
            run.plateau.step(step(*batch()).item())
        averages = [a.tolist() for a in run.average.averages]
        return optim.state_hash(run.model, run.optimizer), averages

    run, step = start()
    go_on(run, step)
    run.step, run.epoch, run.batch = 3, 1, 2
    run.save(path)
    best = run.plateau.best
    expected = go_on(run, step)
    again, step = start()
    again.load(path)
    assert (again.step, again.epoch, again.batch) == (3, 1, 2)
    assert again.plateau.best == best
    assert go_on(again, step) == expected


def test_checkpoints_of_another_run_change_nothing(tmp_path):
    path = tmp_path / "run.safetensors"
    net, adam, _, step = training(MAKERS["adam"])
    step(*batch())
    neap.train.Checkpoint(net, adam, facts={"batch": 24}).save(path)
    other, sgd, _, step = training(MAKERS["sgd"])
    before = optim.state_hash(other, sgd)
    with pytest.raises(neap.IoError, match="optimizer"):
        neap.train.Checkpoint(other, sgd, facts={"batch": 24}).load(path)
    with pytest.raises(neap.IoError, match="batch"):
        neap.train.Checkpoint(net, adam, facts={"batch": 12}).load(path)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(neap.IoError):
        neap.train.Checkpoint(net, adam, facts={"batch": 24}).load(path)
    with pytest.raises(neap.IoError):
        neap.train.Checkpoint(net, adam).save(tmp_path / "no" / "run")
    assert optim.state_hash(other, sgd) == before


def rosenbrock():
    w = neap.tensor([-1.2, 1.0], requires_grad=True)
    lbfgs = optim.LBFGS([("w", w)])

    def closure():
        lbfgs.zero_grad()
        loss = (100 * (w[1] - w[0] ** 2) ** 2 + (1 - w[0]) ** 2).sum()
        loss.backward()
        return loss

    return w, lbfgs, closure


def test_lbfgs_finds_the_minimum_of_rosenbrock():
    w, lbfgs, closure = rosenbrock()
    losses = [lbfgs.step(closure) for _ in range(5)]
    assert losses[0] == pytest.approx(24.2, rel=1e-5)
    np.testing.assert_allclose(w.numpy(), [1, 1], atol=1e-2)
    assert lbfgs.step_count == 5
    assert lbfgs.state_bytes() == 2 * 11 * 2 * 4


def test_lbfgs_says_what_it_cannot_do():
    w, lbfgs, closure = rosenbrock()
    with pytest.raises(TypeError):
        lbfgs.step()
    with pytest.raises(TypeError, match="loss"):
        lbfgs.step(lambda: None)
    with pytest.raises(ZeroDivisionError):
        lbfgs.step(lambda: 1 / 0)
    before = w.numpy().copy()
    with pytest.raises(neap.TraceError, match="LBFGS.step"):
        neap.compile(lambda: lbfgs.step(closure))()
    np.testing.assert_array_equal(w.numpy(), before)
    with pytest.raises(neap.InvalidValue, match="history_size"):
        optim.LBFGS([w], history_size=0)


def test_a_checkpoint_continues_lbfgs_in_the_same_bits(tmp_path):
    def run():
        neap.seed(5)
        net = nn.Linear(4, 3)
        lbfgs = optim.LBFGS(net, max_iter=3, history_size=4)
        x, y = batch()

        def closure():
            lbfgs.zero_grad()
            loss = neap.cross_entropy(net(x), y)
            loss.backward()
            return loss

        return net, lbfgs, closure

    net, lbfgs, closure = run()
    for _ in range(3):
        lbfgs.step(closure)
    neap.train.Checkpoint(net, lbfgs).save(tmp_path / "x.safetensors")
    other, second, again = run()
    neap.train.Checkpoint(other, second).load(tmp_path / "x.safetensors")
    for _ in range(3):
        assert lbfgs.step(closure) == second.step(again)
    assert optim.state_hash(net, lbfgs) == optim.state_hash(other, second)
