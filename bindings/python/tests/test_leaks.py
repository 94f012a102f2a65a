# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import sys

import neap

PROGRAM = pathlib.Path(__file__).parent / "everything.py"


def run(code_or_file, **environment):
    where = pathlib.Path(neap.__file__).parents[1]
    path = f"{where}:{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, *code_or_file], capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": path,
                          "NEAP_PYTHON_LEAKS": "1", **environment})


def test_a_program_leaves_nothing_at_its_end():
    done = run([PROGRAM])
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr and done.stderr == ""


def test_a_program_runs_under_pythons_own_checks():
    done = run(["-X", "dev", PROGRAM], PYTHONMALLOC="debug")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_the_check_finds_a_reference_that_is_lost():
    done = run(["-c", "import ctypes, neap\nx = neap.ones((2,))\n"
                      "ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))"])
    assert "leaked" in done.stderr


def test_fork_computes_in_the_child():
    done = run(["-c", """
import os, sys, neap
x = neap.ones((64, 64))
want = (x @ x)[0, 0].item()
child = os.fork()
if child == 0:
    os._exit(0 if (x @ x)[0, 0].item() == want else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""])
    assert done.returncode == 0, done.stderr


def test_what_a_holder_raises_goes_to_the_unraisable_hook():
    done = run(["-c", """
import gc, numpy as np, neap

class Loud(np.ndarray):
    def __del__(self):
        raise KeyError("holder")

x = neap.from_dlpack(np.zeros(4, np.float32).view(Loud))
del x
gc.collect()
print("goes on")
"""])
    assert done.returncode == 0 and "goes on" in done.stdout
    assert "holder" in done.stderr
