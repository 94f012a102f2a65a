# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""The programs in examples/python run, and print what they promise."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import neap

FOLDER = pathlib.Path(__file__).parents[3] / "examples" / "python"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
# Arguments that make a program short, and a line that it prints.
PROGRAMS = {
    "first.py": ((), r"^2\.\d+$"),
    "train_fashion.py": (("--epochs", "1"), r"test accuracy 0\.8\d+"),
    "transformer.py": (("--steps", "20"), r"^step 20: loss [23]\."),
    "pde_residual.py": (("--steps", "200"), r"largest error 0\.0"),
    "budget.py": ((), r"^the same bits$"),
    "checkpoint.py": ((), r"^the same bits$"),
    "custom_op.py": ((), r"^the gradients differ by [0-9.]+e-0[6-9]$"),
    "find_leak.py": ((), r"^leak: 65 536 B in 1 block .*find_leak\.py:\d+"),
    "coming_from_pytorch.py": ((), r"100% right"),
    "plan_torch_module.py": (("--batch", "4"), r"^in 4GiB: it fits$"),
}


def test_every_program_is_run():
    assert {path.name for path in FOLDER.glob("*.py")} == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name):
    if name == "train_fashion.py" and not FASHION.exists():
        pytest.skip("dataset-fashion-mnist is not installed")
    if name == "plan_torch_module.py":
        pytest.importorskip("torch")
    arguments, expected = PROGRAMS[name]
    package = str(pathlib.Path(neap.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, FOLDER / name, *arguments], text=True, timeout=300,
        capture_output=True, env={**os.environ, "PYTHONPATH": ":".join(paths)})
    assert done.returncode == 0, done.stderr
    assert re.search(expected, done.stdout, re.MULTILINE), done.stdout
