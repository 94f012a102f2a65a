# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Loaders that their own data set, other threads, the collector or the end of
Python get at while a sample is loaded."""

import gc
import threading
import time

import numpy as np
import pytest

import neap
from test_data import run_program


class Rows:
    """60 rows; before sample `at`, `act` runs."""

    def __init__(self, at=None, act=None, wait=0.0):
        self.at, self.act, self.wait = at, act, wait

    def __len__(self):
        return 60

    def __getitem__(self, i):
        time.sleep(self.wait)
        if i == self.at:
            self.act()
        return np.full(2, i, np.float32), np.int64(i)


def first_targets(batches):
    return [int(y.numpy()[0]) for _, y in batches]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_data_set_that_asks_its_own_loader_is_refused(prefetch):
    rows = Rows(at=4)
    loader = neap.data.Loader(rows, 3, prefetch=prefetch)
    for ask in (lambda: next(iter(loader)), lambda: loader.position):
        rows.act = ask
        with pytest.raises(neap.Error, match="its own data set uses it"):
            list(loader)
    rows.act = lambda: None
    assert first_targets(loader) == list(range(0, 60, 3))


@pytest.mark.parametrize("prefetch", [0, 2])
def test_closed_within_its_data_set_it_ends_after_the_batch(prefetch):
    loader = neap.data.Loader(Rows(), 3, prefetch=prefetch)
    loader.dataset.at, loader.dataset.act = 4, loader.close
    seen = []
    with pytest.raises(neap.Error, match="closed"):
        for _, y in loader:
            seen.append(int(y.numpy()[0]))
    assert len(seen) <= 2 and seen == [0, 3][:len(seen)]
    with pytest.raises(neap.Error, match="closed"):
        len(loader)


@pytest.mark.parametrize("prefetch", [0, 2])
def test_of_many_threads_no_loop_ends_short_without_an_error(prefetch):
    loader = neap.data.Loader(Rows(wait=1e-4), 3, prefetch=prefetch)
    ends = []

    def loop():
        try:
            ends.append(first_targets(loader))
        except neap.Error as error:
            ends.append(str(error))

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for end in ends:
        assert (end == list(range(0, 60, 3)) or "another thread" in end
                or "another was begun" in end), end
    assert first_targets(loader) == list(range(0, 60, 3))


def test_closed_by_another_thread():
    loader = neap.data.Loader(Rows(wait=1e-3), 3, prefetch=2)
    timer = threading.Timer(0.01, loader.close)
    timer.start()
    with pytest.raises(neap.Error, match="closed"):
        for _ in range(100):
            list(loader)
    timer.join()


def threads_of_the_process():
    with open("/proc/self/status") as status:
        return int(status.read().split("Threads:")[1].split()[0])


def test_a_data_set_that_holds_its_loader_is_collected():
    gc.collect()
    live, threads = neap.memory.stats()["live"], threads_of_the_process()
    for prefetch in (0, 1, 2):
        rows = Rows()
        rows.loader = neap.data.Loader(rows, 3, prefetch=prefetch)
        next(iter(rows.loader))
        del rows
    for _ in range(1000):  # a sample that is being loaded holds its data set
        gc.collect()
        if threads_of_the_process() == threads:
            break
        time.sleep(1e-3)
    assert neap.memory.stats()["live"] == live
    assert threads_of_the_process() == threads


def test_a_reader_that_collects_its_own_loader_goes_on():
    done = run_program('''
import gc, time, numpy as np, neap
class Rows:
    def __len__(self): return 60
    def __getitem__(self, i):
        gc.collect(); time.sleep(1e-3)
        return np.zeros(2, np.float32), np.int64(i)
for k in range(20):
    class Holder: pass
    holder = Holder()
    holder.loader, holder.itself = neap.data.Loader(Rows(), 3, prefetch=2), holder
    next(iter(holder.loader))
    gc.disable(); del holder; time.sleep(5e-3)
gc.enable(); time.sleep(.1); gc.collect()
print("end")
''')
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_python_ends_while_threads_are_in_the_library():
    done = run_program('''
import threading, time, numpy as np, neap
@neap.compile
def step(x): return (x @ x).sum()
class Rows:
    def __len__(self): return 10**6
    def __getitem__(self, i): return np.zeros(2, np.float32), np.int64(i)
loader = neap.data.Loader(Rows(), 3, prefetch=2)
ones = neap.ones((100, 100))
def run():
    while True: step(ones)
def load():
    while True:
        for batch in loader: pass
def refuse():
    while True:
        try: neap.ones((2,)) + neap.ones((3,))
        except neap.Error: pass
for work in (run, load, refuse):
    threading.Thread(target=work, daemon=True).start()
time.sleep(.3)
print("end")
''')
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_a_second_import_is_refused():
    done = run_program('''
import sys, neap
x = neap.ones((3,))
for name in [n for n in sys.modules if n.startswith("neap")]: del sys.modules[name]
try: import neap
except ImportError as error: print(error)
print((x * 2).tolist())
''')
    assert "once in a process" in done.stdout, done.stderr
    assert done.stdout.endswith("[2.0, 2.0, 2.0]\n") and done.returncode == 0


@pytest.mark.parametrize("work", [
    "for batch in neap.data.Loader(Rows(), 4, prefetch=2): pass",
    "for batch in neap.data.Loader(Rows(), 4): pass",
    "module(x)",
    "w.sum().backward()",
    "neap.vjp(slow, x)",
    "neap.compile(lambda x: slow(x))(x)"])
def test_python_ends_while_the_library_calls_its_code(work):
    done = run_program(f'''
import threading, time, numpy as np, neap
def slow(x):
    time.sleep(1e-3)
    return x
class Rows:
    def __len__(self): return 10**6
    def __getitem__(self, i): return slow(np.zeros(2, np.float32)), i
class Slow(neap.nn.Module):
    def forward(self, x): return slow(x)
module, x = Slow(), neap.ones((2,))
w = neap.ones((2,)).requires_grad_()
w.register_hook(slow)
def run():
    while True:
        {work}
threading.Thread(target=run, daemon=True).start()
time.sleep(.2)
print("end")
''')
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_a_loader_that_begins_as_python_ends():
    done = run_program('''
import numpy as np, neap
class Late:
    def __del__(self):
        for prefetch in (0, 2):
            try:
                loader = neap.data.Loader([(np.zeros(2, "f4"), 1)] * 8, 2,
                                          prefetch=prefetch)
                print(next(iter(loader))[0].shape, flush=True)
            except neap.Error as error:
                print(type(error).__name__, flush=True)
late = Late()
''')
    assert done.stdout == "(2, 2)\nThreadError\n", done.stderr


def test_what_a_loader_was_made_with_stays():
    loader = neap.data.Loader(Rows(), 3)
    for name in ("batch", "dataset", "shuffle"):
        with pytest.raises(AttributeError):
            setattr(loader, name, 8)
    assert loader.batch == 3
