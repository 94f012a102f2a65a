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
