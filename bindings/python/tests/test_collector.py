# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Cycles through C++: a hook's function that can reach its own tensor."""

import gc
import threading
import weakref

import pytest

import neap


class Witness:
    """Its end shows that a function's closure has ended."""


@pytest.fixture
def by_hand():
    """The collector runs when a test asks for it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def hooked(make):
    """A tensor whose hook refers to it, and a witness of the hook."""
    witness = Witness()
    y = make()
    y.register_hook(lambda g: (witness, g * y)[1])
    return y, weakref.ref(witness)


def result():
    return neap.ones((256,)).requires_grad_().exp()


def leaf():
    return neap.ones((256,)).requires_grad_()


@pytest.mark.parametrize("make", [result, leaf])
def test_a_cycle_through_a_hook_is_collected(make, by_hand):
    before = neap.memory.stats()["live"]
    y, seen = hooked(make)
    del y
    assert seen() is not None
    gc.collect()
    assert seen() is None
    assert neap.memory.stats()["live"] == before


@pytest.mark.parametrize("make", [result, leaf])
def test_a_loss_keeps_what_its_backward_needs(make, by_hand):
    y, seen = hooked(make)
    loss = y.sum()
    del y
    gc.collect()
    assert seen() is not None
    loss.backward()
    del loss
    gc.collect()
    assert seen() is None


def test_a_second_object_of_the_same_tensor_keeps_the_hook(by_hand):
    y, seen = hooked(leaf)
    module = neap.nn.Module()
    module.y = neap.nn.Parameter(y)
    del y
    gc.collect()
    assert seen() is not None
    module.parameter("y").sum().backward()
    del module
    gc.collect()
    assert seen() is None


def test_a_cycle_through_two_tensors_is_collected(by_hand):
    witness = Witness()
    a, b = leaf(), leaf()
    a.register_hook(lambda g: (witness, b)[0] and None)
    b.register_hook(lambda g: (witness, a)[0] and None)
    seen = weakref.ref(witness)
    del a, b, witness
    gc.collect()
    assert seen() is None


def test_a_removed_hook_leaves_no_cycle(by_hand):
    witness = Witness()
    y = leaf()
    y.register_hook(lambda g: (witness, y)[0] and None).remove()
    seen = weakref.ref(witness)
    del witness
    assert seen() is None  # without the collector


def test_tensors_cost_the_collector_nothing_without_hooks():
    x = neap.ones((2,))
    y = x + 1
    assert not gc.is_tracked(x) and not gc.is_tracked(y)
    y = x.requires_grad_() * 2
    y.register_hook(lambda g: None)
    assert gc.is_tracked(y)
    with neap.memory.TrackHandles():
        assert gc.is_tracked(x + 1)


def test_a_collection_beside_a_backward_clears_nothing_of_it():
    """Threads build, hook and differentiate while others collect at every
    allocation: a hook that is cleared too early would not be called."""
    stop = threading.Event()
    failures = []

    def train():
        calls = []
        for _ in range(200):
            x = neap.randn((32, 32)).requires_grad_()
            y = x.exp()
            y.register_hook(lambda g, y=y: calls.append(1) or g * 1.0)
            loss = (y * 2).sum()
            del y
            loss.backward()
            if x.grad is None:
                failures.append("no gradient")
        if len(calls) != 200:
            failures.append(f"{len(calls)} calls")

    def collect():
        while not stop.is_set():
            gc.collect()

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        threads = [threading.Thread(target=train) for _ in range(3)]
        collector = threading.Thread(target=collect)
        for thread in [*threads, collector]:
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        collector.join()
    finally:
        gc.set_threshold(*threshold)
    assert failures == []
