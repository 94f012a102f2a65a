# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A share of random_sequences.py."""

import os

import random_sequences

CALLS = int(os.environ.get("NEAP_RANDOM_SEQUENCES", 4000))


def test_random_sequences_leave_nothing():
    refused, left = random_sequences.run(CALLS, 1)
    assert 0 < refused < CALLS / 2
    assert set(left) == {0}
