# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Promises about memory, as context managers of tests."""

import contextlib

from neap import memory
from neap._core import _memory


def limit_memory(size):
    """Nothing inside may need more: OutOfMemory where it does."""
    return memory.Budget(size)


@contextlib.contextmanager
def no_leaks():
    """What is made inside is freed at the end, or AssertionError says who holds
    it."""
    with memory.TrackHandles():
        baseline = memory.Baseline()
        yield
        found = baseline.leaks()
    assert not found, found


@contextlib.contextmanager
def no_allocations():
    """Inside, the library asks for no memory."""
    before = memory.stats()["allocations"]
    yield
    count = memory.stats()["allocations"] - before
    assert count == 0, f"{count} allocations inside no_allocations()"


@contextlib.contextmanager
def fail_allocation(number):
    """The number-th request for memory inside (1: the first) is refused with an
    OutOfMemory whose reason is "injected": after it everything has to be as
    before. The value of `with` is a function that says how many there were."""
    _memory._fail_at(number)
    try:
        yield _memory._requests
    finally:
        _memory._fail_at(0)
