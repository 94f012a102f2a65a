# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import pickle

import pytest

import neap


@pytest.mark.parametrize("call,own,python", [
    (lambda: neap.ones((2,)) + neap.ones((3,)), neap.ShapeError, ValueError),
    (lambda: neap.ones((2,)) + neap.ones((2,), neap.f64), neap.DTypeError,
     TypeError),
    (lambda: neap.dropout(neap.ones((2,)), 2.0), neap.InvalidValue, ValueError),
    (lambda: neap.ones((2,)).backward(), neap.GraphError, RuntimeError),
    (lambda: neap.nn.Linear(2, 3).parameter("wait"), neap.NameNotFound,
     KeyError),
    (lambda: neap.nn.Linear(2, 3).load("/nowhere/x"), neap.IoError, OSError),
])
def test_errors_are_neaps_and_pythons(call, own, python):
    with pytest.raises(own) as caught:
        call()
    assert isinstance(caught.value, neap.Error)
    assert isinstance(caught.value, python)
    assert str(caught.value)


def test_errors_are_pickled_with_what_they_know():
    with neap.Budget(1), pytest.raises(neap.OutOfMemory) as caught:
        neap.zeros((1000,))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is neap.OutOfMemory and str(copy) == str(caught.value)
    assert copy.requested == caught.value.requested
    assert copy.holders == caught.value.holders


def test_a_budget_is_met_before_it_is_passed():
    held = neap.memory.stats()["held"] + neap.memory.recount()
    with neap.Budget(held + (64 << 20)):
        kept = []
        with pytest.raises(neap.OutOfMemory):
            while True:
                kept.append(neap.zeros((1 << 20,)))
                stats = neap.memory.stats()
                assert stats["held"] + stats["external"] <= held + (64 << 20)
    neap.zeros((1 << 20,))


def training():
    """A step, and what it may change."""
    neap.seed(7)
    net = neap.nn.Sequential(neap.nn.Linear(8, 8), neap.nn.ReLU(),
                             neap.nn.Linear(8, 3))
    adam = neap.optim.Adam(net, lr=1e-2)
    x, y = neap.randn((4, 8)), neap.randint(0, 3, (4,))

    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    return net, adam, step, (x, y)


def sweep(run, state):
    """Refuses each request of a run in its turn, until none is left to refuse;
    returns the errors."""
    errors = []
    for number in range(1, 10_000):
        before = state()
        with neap.testing.fail_allocation(number):
            try:
                run()
                return errors
            except neap.OutOfMemory as error:
                errors.append(error)
        assert state() == before, f"request {number} left a change"
    raise AssertionError("the sweep has no end")


def test_every_refused_request_of_a_step_names_its_line_and_changes_nothing():
    net, adam, step, given = training()
    step(*given)  # the optimizer's state

    def forward_and_backward():
        loss = neap.cross_entropy(net(given[0]), given[1])
        loss.backward()
        net.zero_grad()

    errors = sweep(forward_and_backward,
                   lambda: neap.optim.state_hash(net, adam))
    assert len(errors) > 10
    for error in errors:
        assert error.reason == "injected" and "test_errors.py" in error.site
    step(*given)


def test_a_compiled_step_survives_every_refused_request():
    net, adam, step, given = training()
    twin_net, twin_adam, twin, _ = training()
    compiled = neap.compile(step)
    errors = sweep(lambda: compiled(*given),
                   lambda: neap.optim.state_hash(net, adam))
    assert errors
    want = twin(*given).item()
    assert twin_adam.step_count == adam.step_count
    assert (neap.optim.state_hash(net, adam) ==
            neap.optim.state_hash(twin_net, twin_adam))
    assert compiled(*given).item() == twin(*given).item() != want
