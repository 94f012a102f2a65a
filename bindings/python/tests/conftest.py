# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import gc
import os

os.environ["NEAP_PYTHON_LEAKS"] = "1"

import pytest  # noqa: E402

import neap  # noqa: E402

if os.environ.get("NEAP_PYTHON_COLLECT"):  # as often as that many objects
    gc.set_threshold(int(os.environ["NEAP_PYTHON_COLLECT"]))


@pytest.fixture(autouse=True)
def fresh():
    """The same draws in every test, and nothing left of the one before."""
    neap.seed(7)
    yield
    gc.collect()


@pytest.fixture
def no_leak():
    """The test leaves as many live bytes as it found, but for bookkeeping."""
    gc.collect()
    before = neap.memory.stats()["live"]
    yield
    gc.collect()
    assert neap.memory.stats()["live"] == before
