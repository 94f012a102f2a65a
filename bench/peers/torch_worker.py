"""What the workers that run PyTorch share: which BLAS is loaded, steps that are
timed, the commands.

A worker is started with THREADS and what it is to run on, writes one line about
itself, then reads commands, a line each:
    model WORD...   makes what the words say; answers "ok"
    budget SHARE    torch.compile keeps that share of the activations from now
                    on (activation_memory_budget), 1: all; answers "ok"
    run N           does N steps; answers with the seconds of each
    faults N        the same; answers with minor page faults a step
    parts N         the same; answers with the medians of forward, backward
                    and update, seconds
    peak            does a step; answers with the most bytes that PyTorch's
                    allocator gave out in it above those from before
    kept            answers with the bytes that forward keeps for backward
    resident        answers with the bytes that the process has resident
What it runs on is "eager" or "compile" for a PyTorch that brings its BLAS along:
as it is written, or by torch.compile. For the distribution's it is the BLAS that
must be loaded (openblas-pthread, openblas-openmp, blis-openmp); anything else,
the reference BLAS above all, is refused.
"""

import bisect
import ctypes
import os
import resource
import statistics
import sys
import time

# PyTorch's profiler tells stderr of every start and stop below this.
os.environ.setdefault("KINETO_LOG_LEVEL", "6")

GOOD_BLAS = ("openblas-pthread", "openblas-openmp", "blis-openmp")
OWN_BLAS = ("eager", "compile")
UPDATES = ({"foreach": False}, {"foreach": True}, {"fused": True})


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


def forward_of(torch, model):
    """What a step calls in place of the model."""
    return torch.compile(model) if sys.argv[2] == "compile" else model


def optimizers(parameters, make):
    """One for each way to update parameters that this PyTorch has."""
    parameters = list(parameters)
    for how in UPDATES:
        try:
            yield make(parameters, **how)
        except (TypeError, RuntimeError):
            pass


class Steps:
    """A model and its optimizer. Of PyTorch's ways to update parameters (one by
    one, all together, in one kernel) the fastest is taken."""

    def __init__(self, torch, model, make_optimizer, loss):
        self.torch = torch
        self.model = model
        self.loss = loss
        choices = list(optimizers(model.parameters(), make_optimizer))
        self.optimizer = choices[0]
        self.run(1)
        count = max(1, min(15, int(0.5 / max(self.run(2)))))
        seconds = []
        for self.optimizer in choices:
            self.run(count // 3 + 1)
            seconds.append(statistics.median(self.run(count)))
        self.seconds = min(seconds)
        self.optimizer = choices[seconds.index(self.seconds)]

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.loss().backward()
        self.optimizer.step()

    def run(self, count):
        seconds = []
        for _ in range(count):
            begin = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - begin)
        return seconds

    def parts(self, count):
        parts = [[], [], []]
        for _ in range(count):
            self.optimizer.zero_grad(set_to_none=True)
            times = [time.perf_counter()]
            loss = self.loss()
            times.append(time.perf_counter())
            loss.backward()
            times.append(time.perf_counter())
            self.optimizer.step()
            times.append(time.perf_counter())
            for part, begin, end in zip(parts, times, times[1:]):
                part.append(end - begin)
        return [statistics.median(part) for part in parts]

    def kept(self):
        ours = {storage_of(p).data_ptr() for p in self.model.parameters()}
        kept = {}

        def note(x):
            kept[storage_of(x).data_ptr()] = storage_of(x).nbytes()
            return x

        with self.torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
            self.loss()
        return sum(n for at, n in kept.items() if at not in ours)

    def peak(self):
        self.optimizer.zero_grad(set_to_none=True)
        profiler = self.torch.autograd.profiler
        with profiler.profile(profile_memory=True) as profile:
            self.step()
        events = [e for e in profile.kineto_results.events()
                  if e.name() == "[memory]"]
        live = most = 0
        for event in sorted(events, key=start_of):
            live += event.nbytes()
            most = max(most, live)
        return most


def storage_of(tensor):
    newer = getattr(tensor, "untyped_storage", None)
    return newer() if newer else tensor.storage()


def start_of(event):
    newer = getattr(event, "start_ns", None)
    return newer() if newer else event.start_us()


def minor_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def answer(torch, make_steps, steps, words):
    """Returns the line to write and the Steps from now on."""
    if words[0] == "model":
        torch.manual_seed(1)
        return "ok", make_steps(torch, *words[1:])
    if words[0] == "budget":
        torch._dynamo.reset()
        from torch._functorch import config
        config.activation_memory_budget = float(words[1])
        return "ok", None
    if words[0] == "peak":
        return str(steps.peak()), steps
    if words[0] == "kept":
        return str(steps.kept()), steps
    if words[0] == "resident":
        return str(resident()), steps
    count = int(words[1])
    if words[0] == "run":
        steps.run(2)  # caches and threads have served others meanwhile
        return " ".join(f"{s:.9f}" for s in steps.run(count)), steps
    if words[0] == "faults":
        before = minor_faults()
        steps.run(count)
        return f"{(minor_faults() - before) / count:.1f}", steps
    if words[0] == "parts":
        steps.run(2)
        return " ".join(f"{s:.9f}" for s in steps.parts(count)), steps
    raise SystemExit(f"error unknown command {words[0]}")


def serve(make_steps):
    """make_steps(torch, *words): the Steps of a "model" command."""
    threads, wanted = int(sys.argv[1]), sys.argv[2]
    try:
        import torch
    except ImportError as error:
        raise SystemExit(print(f"error PyTorch: {error}", flush=True))
    torch.set_num_threads(threads)
    if wanted not in OWN_BLAS:
        blas = loaded_blas()
        if wanted not in GOOD_BLAS or not blas.startswith(wanted + "/"):
            raise SystemExit(print(
                f"error PyTorch runs on {blas}, not on {wanted}", flush=True))
    print(f"PyTorch {torch.__version__} on {wanted}", flush=True)
    steps = None
    for line in sys.stdin:
        text, steps = answer(torch, make_steps, steps, line.split())
        print(text, flush=True)
