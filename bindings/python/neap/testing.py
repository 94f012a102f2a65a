# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Promises about memory, as context managers of tests."""

import contextlib

from neap import memory


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
