# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""What a step was traced for: where it differs, the step is what the plain
function is."""

import functools
import sys
import types

import numpy as np
import pytest

import neap
from neap import nn, optim

X = neap.ones((2,))
scale = 0.0
act = neap.relu
pair = (2.0, 1)
rates = [2.0, 1]
table = {"rate": 2.0}
config = types.SimpleNamespace(rate=2.0, inner=types.SimpleNamespace(bias=1.0))
weight = neap.ones((2,))


def helper(x):
    return x * scale


class Plain:
    rate = 2.0

    def __init__(self):
        self.own = 1.0

    @property
    def both(self):
        return self.own * scale

    def times(self, x):
        return x * self.rate + self.own


class Slots:
    __slots__ = ("rate",)


class Scaled(nn.Module):
    scale = 1.0

    def forward(self, x):
        return x * self.scale


def same(step, plain):
    """The step's result, which is the plain function's, to the bit."""
    ours, theirs = step(X).numpy(), plain(X).numpy()
    assert ours.tobytes() == theirs.tobytes(), (ours, theirs)


def check(plain, change):
    """A change is noticed; without one nothing is traced again."""
    step = neap.compile(plain)
    same(step, plain)
    same(step, plain)
    assert step.traces == 1
    change()
    same(step, plain)
    same(step, plain)
    assert step.traces == 2


@pytest.fixture(autouse=True)
def undone(monkeypatch):
    for name in ("scale", "act", "pair", "weight"):
        monkeypatch.setitem(globals(), name, globals()[name])
    yield
    rates[:], table["rate"] = [2.0, 1], 2.0
    config.rate, config.inner.bias = 2.0, 1.0


def assign(name, value):
    return lambda: globals().__setitem__(name, value)


def test_a_zero_of_the_other_sign():
    check(lambda x: 1.0 / (x * scale), assign("scale", -0.0))


def test_nan_is_nan():
    globals()["scale"] = float("nan")
    step = neap.compile(lambda x: x * scale)
    step(X)
    globals()["scale"] = float("nan")
    step(X)
    assert step.traces == 1


def test_true_is_not_one():
    globals()["scale"] = 1
    check(lambda x: x * 3 if scale is True else x, assign("scale", True))


@pytest.mark.parametrize("name, value", [
    ("act", neap.exp), ("pair", (3.0, 1)), ("weight", neap.zeros((2,)))])
def test_a_global_that_is_assigned(name, value):
    check(lambda x: act(x) * pair[0] + weight, assign(name, value))


def test_elements_of_lists_and_dicts():
    check(lambda x: x * rates[0], lambda: rates.__setitem__(0, 3.0))
    check(lambda x: x * sum(rates), lambda: rates.append(1.5))
    check(lambda x: x * table["rate"], lambda: table.__setitem__("rate", 3.0))


def test_attributes_of_objects():
    check(lambda x: x * config.rate, lambda: setattr(config, "rate", 3.0))
    check(lambda x: x + config.inner.bias,
          lambda: setattr(config.inner, "bias", 3.0))
    check(lambda x: x + config.inner.bias, lambda: setattr(
        config, "inner", types.SimpleNamespace(bias=4.0)))
    plain, slots = Plain(), Slots()
    slots.rate = 1.0
    check(lambda x: x * plain.own, lambda: setattr(plain, "own", 3.0))
    check(lambda x: plain.times(x), lambda: setattr(plain, "own", 4.0))
    check(plain.times, lambda: setattr(plain, "rate", 5.0))
    check(lambda x: x * plain.both, assign("scale", 5.0))
    check(lambda x: x * slots.rate, lambda: setattr(slots, "rate", 3.0))


def test_attributes_of_classes(monkeypatch):
    plain, module = Plain(), Scaled()
    check(lambda x: x * Plain.rate, lambda: monkeypatch.setattr(
        Plain, "rate", 3.0))
    check(lambda x: x * plain.rate, lambda: monkeypatch.setattr(
        Plain, "rate", 4.0))
    check(lambda x: module(x), lambda: setattr(module, "scale", 5.0))
    del module.scale
    check(lambda x: module(x), lambda: monkeypatch.setattr(
        Scaled, "scale", 7.0))


def test_defaults_and_partials():
    def f(x, a=2.0, *, b=3.0):
        return x * a + b

    check(f, lambda: f.__kwdefaults__.__setitem__("b", 4.0))
    check(f, lambda: setattr(f, "__defaults__", (5.0,)))
    globals()["scale"] = 2.0
    check(functools.partial(lambda a, x: x * a * scale, 1.0),
          assign("scale", 3.0))


def test_what_a_function_that_is_called_reads():
    check(lambda x: helper(x), assign("scale", 3.0))
    cached = functools.lru_cache(maxsize=None)(lambda: scale)
    check(lambda x: x * cached.__wrapped__(), assign("scale", 4.0))


def test_a_list_of_modules_that_grows():
    layers = nn.ModuleList([nn.Linear(2, 2)])
    items = [nn.Linear(2, 2)]

    def f(x):
        for layer in [*layers, *items]:
            x = layer(x)
        return x

    check(f, lambda: layers.append(nn.Linear(2, 2)))
    check(f, lambda: items.append(nn.Linear(2, 2)))


@pytest.mark.parametrize("make", [
    lambda net, lr: optim.SGD(net, lr=lr),
    lambda net, lr: optim.SGD(net, lr=lr, momentum=0.9),
    lambda net, lr: optim.AdamW(net, lr=lr)])
def test_another_optimizer(make):
    def run(compiled):
        neap.seed(0)
        net = nn.Linear(2, 1, bias=False)
        optimizer = make(net, 0.5)

        def plain(x):
            loss = net(x).square().sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        step = neap.compile(plain) if compiled else plain
        step(neap.ones((1, 2)))
        optimizer = make(net, 0.0)
        for _ in range(3):
            step(neap.ones((1, 2)))
        return net.weight.tolist(), optimizer.step_count

    assert run(True) == run(False)


def test_a_refused_trace_leaves_tensors_in_their_places():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = neap.ones((2,)) * 42
            self.all = [neap.ones((2,))]

        def forward(self, x):
            self.h = self.h * 0.5 + x
            self.all[0] = self.h
            return self.h * 1

    module = Recurrent()
    step = neap.compile(lambda x: module(x))
    for call in (step, step.prepare, step.fit_curve):
        argument = X if call is step else neap.spec((2,))
        with pytest.raises(neap.TraceError):
            call(argument)
        assert module.h.tolist() == [42, 42]
        assert module.all[0].tolist() == [1, 1]
    assert module(X).tolist() == [22, 22]


def test_many_values_are_compared_quickly():
    layers = nn.Sequential(*[nn.Linear(2, 2) for _ in range(50)])
    step = neap.compile(lambda x: layers(x))
    step(neap.ones((1, 2)))
    assert 5 < len(step._latest.traced.guards[0]) < 500
    assert step._latest.fits()


def test_numbers_of_numpy_keep_the_graph():
    for number in (np.float64(0.5), np.float32(0.5)):
        w = neap.tensor([1.0, 2.0]).requires_grad_()
        for loss in ((number * w).sum(), (w * number).sum(),
                     (number + w).sum() * number):
            w.grad = None
            loss.backward()
            assert w.grad.tolist() == [0.5, 0.5]
    w = neap.tensor([1.0, 2.0]).requires_grad_()
    for call in (lambda: np.ones(2, "f4") * w, lambda: np.exp(w),
                 lambda: w * np.ones(2, "f4")):
        with pytest.raises(TypeError):
            call()


SCALE = 1.0


class Base(nn.Module):
    def forward(self, x):
        return x * SCALE


class Derived(Base):
    def forward(self, x):
        return super().forward(x)


class Special:
    def __init__(self, value):
        self.value = value

    def __getitem__(self, key):
        return self.value

    def __iter__(self):
        return iter([self.value])

    def __float__(self):
        return self.value

    def __bool__(self):
        return self.value == 1.0

    @staticmethod
    def fixed():
        return 1.0


def test_functions_that_run_without_being_named(monkeypatch):
    derived = Derived()
    check(lambda x: derived(x), lambda: monkeypatch.setitem(
        globals(), "SCALE", 2.0))
    for read in (lambda s, x: x * s["any"], lambda s, x: x * float(s),
                 lambda s, x: x * sum(s), lambda s, x: x if s else x * 3):
        special = Special(1.0)
        check(lambda x: read(special, x),
              lambda: setattr(special, "value", 4.0))
    check(lambda x: x * Special.fixed(), lambda: monkeypatch.setattr(
        Special, "fixed", staticmethod(lambda: 5.0)))


def test_what_is_missing_and_comes_later():
    special, module = Special(1.0), types.ModuleType("some_module")

    def f(x):
        bias = getattr(special, "bias", 0.0)
        return x + bias + (module.scale if hasattr(module, "scale") else 0.0)

    check(f, lambda: setattr(special, "bias", 2.0))
    check(f, lambda: setattr(module, "scale", 3.0))


def test_a_hooks_function():
    w = neap.ones((2,)).requires_grad_()
    factor = 1.0
    w.register_hook(lambda g: g * factor)

    def f(x):
        (w * x).sum().backward()
        return x.sum()

    step = neap.compile(f)
    step(X)
    factor = 4.0
    w.grad = None
    step(X)
    assert w.grad.tolist() == [4.0, 4.0]


def test_a_hook_that_the_step_itself_sets():
    w = neap.ones((2,)).requires_grad_()

    def f(x):
        y = w * x
        y.register_hook(lambda g: g * x)
        y.sum().backward()
        return y

    step = neap.compile(f)
    for _ in range(3):
        w.grad = None
        step(X * 3)
        assert w.grad.tolist() == [9.0, 9.0]


def test_what_a_step_does_not_read_does_not_trace_it_anew():
    class Trainer:
        def __init__(self):
            self.net, self.step, self.history = nn.Linear(2, 2), 0, []
            self.shape, self.rate = (1, 2), np.float64(2)
            self.seen = 0

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.seen = nn.Linear(2, 2), 0

        def forward(self, x):
            return self.layer(x)

    trainer, net = Trainer(), Net()
    adam = optim.AdamW(trainer.net.parameters(), lr=0.1)
    net.freeze()

    def f(x):
        loss = trainer.net(net(x).reshape(trainer.shape)).sum()
        (loss * float(trainer.rate)).backward()
        adam.step()
        adam.zero_grad()
        return loss

    step = neap.compile(f)
    for _ in range(5):
        step(neap.ones((1, 2)))
        trainer.step += 1
        trainer.history.append(1)
        net.seen += 1
        trainer.shape, trainer.rate = tuple([1, 2]), np.float64(2)
    assert step.traces == 1


def test_a_profiler_that_is_on_is_told():
    sys.setprofile(lambda *_: None)
    try:
        with pytest.warns(RuntimeWarning, match="a profiler is on"):
            neap.compile(lambda x: x * 2)(X)
    finally:
        sys.setprofile(None)


def test_endless_retracing_is_told():
    step = neap.compile(lambda x: x * config.rate)
    with pytest.warns(RuntimeWarning, match="config.rate changed"):
        for i in range(8):
            config.rate = float(i)
            step(X)


def test_a_step_that_moves_tensors_about_is_refused():
    config.a, config.b = neap.ones((2,)), neap.zeros((2,))

    def f(x):
        config.a, config.b = config.b, config.a
        return config.a * x

    with pytest.raises(neap.TraceError, match="config.a, config.b"):
        neap.compile(f)(X)


def test_objects_that_do_not_want_to_be_looked_at():
    class Padded(list):
        def __len__(self):
            return list.__len__(self) + 1

        def __iter__(self):
            raise RuntimeError

    class Shy:
        @property
        def __class__(self):
            raise RuntimeError

        def __getattr__(self, name):
            raise RuntimeError

    class Odd(dict):
        def __getitem__(self, key):
            raise RuntimeError

    for odd in (Padded([1]), Shy(), Odd(a=1)):
        step = neap.compile(lambda x: x * 2 if odd is not None else x)
        assert step(X).tolist() == step(X).tolist() == [2, 2]
        assert step.traces == 1


def test_many_places_get_their_tensors_back():
    class Slot:
        __slots__ = ("h",)

    @functools.lru_cache(maxsize=None)
    def cached(n):
        return neap.ones((n,)) * 2

    slot, masks = Slot(), {}
    slot.h, config.only, config.pair = X, X, (X, X)
    config.none = None

    def f(x):
        slot.h = x * 3
        config.only = x * 3
        config.pair = (x, x * 2)
        if config.none is None:
            config.none = x
        masks[2] = cached(2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        neap.compile(f)(X)
    assert slot.h is X and config.only is X and config.pair == (X, X)
    assert config.none is None and masks == {}
    assert cached(2).tolist() == [2, 2]
