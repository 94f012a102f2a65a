# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A share of the random calls of random_ops.py, beside PyTorch and NumPy, or
NumPy alone where there is no torch. More of them:

    NEAP_RANDOM_OPS=100000 NEAP_RANDOM_SEED=3 pytest test_random_ops.py
"""

import os
import pathlib
import subprocess
import sys

import pytest

import neap

pytest.importorskip("numpy")
random_ops = pytest.importorskip("random_ops")
FOLDER = pathlib.Path(__file__).resolve().parents[1]
CALLS = int(os.environ.get("NEAP_RANDOM_OPS", 1500))
SEED = int(os.environ.get("NEAP_RANDOM_SEED", 1))
ignore_their_warnings = pytest.mark.filterwarnings("ignore")


@ignore_their_warnings
def test_random_calls_equal_numpys_and_torchs():
    if random_ops.torch:
        random_ops.torch.set_num_threads(1)
    tally = random_ops.run(CALLS, SEED)
    print("\n".join(tally.summary()))
    assert not tally.mismatches, "\n".join(tally.mismatches[:20])
    done = sum(tally.calls.values())
    assert done + tally.skipped == CALLS
    assert sum(tally.refused.values()) + tally.both < done / 5
    if random_ops.torch:
        assert tally.gradients > CALLS / 3


def only_row(monkeypatch, **changes):
    """The table with one row, of `sin` but for what is changed."""
    row = random_ops.Row("sin", random_ops.one(0.5, 1), random_ops.torchs(
        "sin"), random_ops.np.sin)
    monkeypatch.setattr(random_ops, "ROWS", [row._replace(**changes)])


@ignore_their_warnings
def test_a_wrong_value_is_found(monkeypatch):
    only_row(monkeypatch)
    assert not random_ops.run(40, SEED).mismatches
    only_row(monkeypatch, neap=neap.cos)
    assert len(random_ops.run(40, SEED).mismatches) > 20
    only_row(monkeypatch, neap=lambda x: neap.reshape(neap.sin(x), -1))
    assert random_ops.run(40, SEED).mismatches
    only_row(monkeypatch, neap=lambda x: neap.sin(x).to(neap.f64))
    assert random_ops.run(40, SEED).mismatches


@ignore_their_warnings
def test_a_wrong_gradient_is_found(monkeypatch):
    pytest.importorskip("torch")
    only_row(monkeypatch, neap=lambda x: neap.sin(x) * 2 - neap.sin(
        x).detach())
    found = random_ops.run(40, SEED).mismatches
    assert found and all("gradient of operand 0" in text for text in found)


def test_a_refusal_counts(monkeypatch):
    def refuse(x):
        raise neap.ShapeError("no")
    only_row(monkeypatch, neap=refuse)
    tally = random_ops.run(10, SEED)
    assert not tally.mismatches and tally.refused["sin"] >= 10


@ignore_their_warnings
def test_a_call_is_made_again_by_its_number():
    a, b = (str(random_ops.Call(SEED, 77)) for _ in "ab")
    assert a == b and f"--seed {SEED} --only 77: " in a


def test_every_operation_has_a_row():
    names = subprocess.run(
        [sys.executable, FOLDER / "generate_ops.py", "/nowhere", "--list"],
        check=True, capture_output=True, text=True).stdout.split()
    assert set(names) <= {row.op for row in random_ops.ROWS}
