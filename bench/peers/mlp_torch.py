#!/usr/bin/env python3
"""PyTorch's training step of a multi-layer perceptron, as a worker.

usage: mlp_torch.py THREADS BLAS

Writes one line about itself, then reads commands, a line each:
    model BATCH OPTIMIZER   makes the 784-512-256-10 network; answers "ok"
    run N                   does N steps; answers with the seconds of each
    faults N                the same; answers with minor page faults a step
BLAS is what must be loaded (openblas-pthread, openblas-openmp, blis-openmp);
anything else, the reference BLAS above all, is refused. Of PyTorch's two ways
to update parameters (one by one, all together) the faster is taken.
"""

import bisect
import ctypes
import os
import resource
import statistics
import sys
import time

GOOD_BLAS = ("openblas-pthread", "openblas-openmp", "blis-openmp")


def loaded_blas():
    """The library whose sgemm_ PyTorch calls, without the folder of all."""
    folder = "/usr/lib/" + os.uname().machine + "-linux-gnu/"
    library = next(p for p in mapped_files() if "/libtorch_cpu.so" in p)
    function = ctypes.CDLL(library).sgemm_
    address = ctypes.cast(function, ctypes.c_void_p).value
    return file_at(address).removeprefix(folder)


def maps():
    with open("/proc/self/maps", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if len(words) > 5:
                yield int(words[0].split("-")[0], 16), words[5]


def mapped_files():
    return {path for _, path in maps()}


def file_at(address):
    ranges = sorted(maps())
    at = bisect.bisect([begin for begin, _ in ranges], address) - 1
    return os.path.realpath(ranges[at][1])


class Steps:
    """A network, its optimizer and one batch."""

    def __init__(self, torch, batch, optimizer):
        self.torch = torch
        torch.manual_seed(1)
        nn = torch.nn
        self.model = nn.Sequential(
            nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
            nn.Linear(256, 10))
        self.x = torch.rand(batch, 784)
        self.labels = torch.randint(0, 10, (batch,))
        choices = [self.make_optimizer(optimizer, each)
                   for each in (False, True)]
        seconds = []
        for self.optimizer in choices:
            self.run(5)
            seconds.append(statistics.median(self.run(15)))
        self.optimizer = choices[seconds.index(min(seconds))]

    def make_optimizer(self, name, foreach):
        parameters = self.model.parameters()
        optim = self.torch.optim
        if name == "sgd":
            return optim.SGD(parameters, lr=0.01, foreach=foreach)
        return optim.Adam(parameters, lr=0.001, foreach=foreach)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.torch.nn.functional.cross_entropy(
            self.model(self.x), self.labels)
        loss.backward()
        self.optimizer.step()

    def run(self, count):
        seconds = []
        for _ in range(count):
            begin = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - begin)
        return seconds


def minor_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def answer(torch, steps, words):
    """Returns the line to write and the Steps from now on."""
    if words[0] == "model":
        return "ok", Steps(torch, int(words[1]), words[2])
    count = int(words[1])
    if words[0] == "run":
        steps.run(2)  # caches and threads have served others meanwhile
        return " ".join(f"{s:.9f}" for s in steps.run(count)), steps
    if words[0] == "faults":
        before = minor_faults()
        steps.run(count)
        return f"{(minor_faults() - before) / count:.1f}", steps
    raise SystemExit(f"error unknown command {words[0]}")


def main():
    threads, wanted = int(sys.argv[1]), sys.argv[2]
    try:
        import torch
    except ImportError as error:
        raise SystemExit(print(f"error PyTorch: {error}", flush=True))
    torch.set_num_threads(threads)
    blas = loaded_blas()
    if wanted not in GOOD_BLAS or not blas.startswith(wanted + "/"):
        raise SystemExit(print(f"error PyTorch runs on {blas}, not on {wanted}",
                               flush=True))
    print(f"PyTorch {torch.__version__} on {wanted}", flush=True)
    steps = None
    for line in sys.stdin:
        text, steps = answer(torch, steps, line.split())
        print(text, flush=True)


if __name__ == "__main__":
    main()
