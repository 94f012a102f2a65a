#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""What Python costs: an operation on four floats and a call of a compiled step
beside NumPy's and PyTorch's, in turns; and what `import neap` takes.

    ./dev bench python
"""

import statistics
import subprocess
import sys
import timeit

TURNS = 15
CALLS = 20_000
PROBE = "import time; start = time.perf_counter(); {}; " \
    "print(time.perf_counter() - start, *[line.split()[1] " \
    "for line in open('/proc/self/status') if line.startswith('VmHWM')])"


def in_turns(cases):
    """The median of each case's nanoseconds a call, taken in turns."""
    taken = {name: [] for name in cases}
    for _ in range(TURNS):
        for name, call in cases.items():
            seconds = timeit.timeit(call, number=CALLS)
            taken[name].append(seconds / CALLS * 1e9)
    return {name: statistics.median(times) for name, times in taken.items()}


def show(title, times):
    """Each time, and its ratio to the first's."""
    print(title)
    first = next(iter(times.values()))
    for name, ns in times.items():
        print(f"  {name:<12} {ns:8.0f} ns   {first / ns:5.2f}")


def additions():
    import numpy
    import neap
    ours, theirs = neap.ones((4,)), numpy.ones(4, numpy.float32)
    cases = {"neap": lambda: ours + ours, "numpy": lambda: theirs + theirs}
    torch = import_torch()
    if torch is not None:
        other = torch.ones(4)
        cases["torch"] = lambda: other + other
    return cases


def steps():
    import neap
    x = neap.ones((4,))
    compiled = neap.compile(lambda x: x * 2 + 1)
    compiled(x)
    return {"compiled": lambda: compiled(x), "eager": lambda: x * 2 + 1}


def import_torch():
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def probe(statement):
    """Seconds that a statement takes in a new process, and its KiB at most."""
    done = subprocess.run([sys.executable, "-c", PROBE.format(statement)],
                          check=True, capture_output=True, text=True)
    seconds, kib = done.stdout.split()
    return float(seconds), int(kib)


def imports():
    modules = ["pass", "import neap", "import numpy"]
    if import_torch() is not None:
        modules.append("import torch")
    taken = {module: [] for module in modules}
    for _ in range(TURNS):
        for module in modules:
            taken[module].append(probe(module))
    print("in a new process: time, and memory beyond Python's own")
    bare = statistics.median(kib for _, kib in taken["pass"])
    for module in modules[1:]:
        seconds = statistics.median(s for s, _ in taken[module])
        kib = statistics.median(k for _, k in taken[module]) - bare
        print(f"  {module:<12} {seconds * 1e3:8.1f} ms   {kib / 1024:6.1f} MiB")


def main():
    show("a + a of 4 floats, and how many of neap's it is", in_turns(additions()))
    show("a call of a step of two operations on 4 floats", in_turns(steps()))
    imports()


if __name__ == "__main__":
    main()
