# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import sys

import pytest

import neap
from neap import _core


def line():
    return sys._getframe(1).f_lineno


def test_an_operation_notes_the_python_line():
    file, at, function = _core.call_site()
    assert file == __file__ and at == line() - 1
    assert function.split(".")[-1] == (
        "test_an_operation_notes_the_python_line")


def test_errors_name_the_lines_of_user_code():
    x = neap.tensor([1.0]).requires_grad_()
    y = (x * x).sum()
    x.numpy(writable=True)
    wrote = line() - 1
    with pytest.raises(neap.GraphError) as caught:
        y.backward()
    assert f"test_sites.py:{wrote}" in str(caught.value)


def test_frames_of_the_package_are_passed_over():
    class Net(neap.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = neap.nn.Sequential(neap.nn.ReLU(), neap.nn.ReLU())

        def forward(self, x):
            return self.parts(x)

    x = neap.ones((10,)).requires_grad_()
    baseline = neap.memory.Baseline()
    y = Net()(x)
    at = line() - 1
    assert f"test_sites.py:{at}" in baseline.leaks()
    assert "nn.py" not in baseline.leaks()
    del y


def test_out_of_memory_names_the_line_and_the_largest_owners():
    keep = neap.zeros((100_000,))
    neap.memory.trim()
    stats = neap.memory.stats()
    bound = stats["held"] + neap.memory.recount() + (1 << 20)
    with neap.Budget(bound):
        with pytest.raises(neap.OutOfMemory) as caught:
            neap.zeros((10_000_000,))
    error = caught.value
    assert f"test_sites.py:{line() - 2}" in error.site
    assert error.requested >= 40_000_000 and error.budget == bound
    assert error.holders[0][2] >= keep.nbytes
    assert error.remedies and isinstance(error, MemoryError)


def test_code_objects_are_bounded():
    scope = {"neap": neap}
    before = _core.known_code_objects()
    for number in range(50):
        exec(compile(f"x = neap.ones((1,)) + {number}", f"cell{number}", "exec"),
             scope)
    assert 50 <= _core.known_code_objects() - before <= 60
    assert _core.known_code_objects() <= 4096
