#!/usr/bin/env python3
"""Changes one token of a source at a time, and sees whether the tests notice.

usage: mutants.py [--only PATH[:LINE]]... [--count N] [--seed N] [--jobs N]
                  [--preset NAME] [--list]

A mutant is killed when a test fails, crashes or runs out of time; one that does
not build says nothing of the tests and is counted apart. The survivors that
scripts/mutants_known.txt lists, with the reason why no test can tell them, do
not count. The exit status is 1 when less than 95 % of the others are killed.

Works on copies of the repository in build/mutants/, one a job, so that the
working tree stays as it is. --preset release shares the objects of build/release
where there is ccache; the preset "mutants" is cheaper to build from nothing.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import queue
import random
import resource
import signal
import subprocess
import sys
import time

import mutators
from sources import ROOT, tracked

KNOWN = "scripts/mutants_known.txt"
ENOUGH = 0.95
BUILD_SECONDS = 900
SLOWER = 6  # a mutant's tests may take so many times longer, and
SPARE_SECONDS = 20  # so much longer
MOST_HEAP = 8 << 30

# The sources that are mutated, and the executables that must notice: those of
# the room first, then those of the rooms above that lean on it.
AREAS = {
    # All that includes a header is compiled again for each of its mutants.
    "neap/memory/*.hpp": ("neap_memory_test", "neap_tensor_test"),
    "neap/memory/*.cpp": ("neap_memory_test", "neap_tensor_test",
                          "neap_lifetimes_test",
                          "neap_regressions_life_test",
                          "neap_regressions_budget_test"),
    "neap/planner/*.cpp": ("neap_planner_test",),
    "neap/files/*.cpp": ("neap_files_test",),
    "neap/formats/*.cpp": ("neap_formats_test", "neap_regressions_files_test"),
    "neap/train/checkpoint*.cpp": ("neap_train_test", "neap_save_faults_test",
                                   "neap_regressions_files_test"),
    "neap/graph/lifetime.cpp": ("neap_graph_test", "neap_autograd_test",
                                "neap_lifetimes_test"),
    "neap/compile/lifetimes.cpp": ("neap_compiled_test",),
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    before: str  # the line
    after: str

    @property
    def keys(self):
        """As the list of known ones may name it."""
        line = f"{self.path} | {self.before.strip()}"
        return f"{line} | {self.after.strip()}", f"{line} | *"

    def __str__(self):
        return (f"{self.path}:{self.line}\n    - {self.before.strip()}\n"
                f"    + {self.after.strip()}")


def area_of(path):
    if path.endswith(("_test.cpp", "_bench.cpp", "_test.hpp")):
        return None
    return next((area for area in AREAS if fnmatch.fnmatch(path, area)), None)


def mutants_of(path):
    text = (ROOT / path).read_text()
    lines = text.splitlines()
    return [Mutant(path, number + 1, lines[number], after)
            for number, after in mutators.mutate(lines)]


def known_reasons():
    """key -> reason, from lines "PATH | BEFORE | AFTER | REASON", where AFTER
    may be *, any change."""
    reasons = {}
    for line in (ROOT / KNOWN).read_text().splitlines():
        if line and not line.startswith("#"):
            key, _, reason = line.rpartition(" | ")
            expect_line(key)
            reasons[key] = reason
    return reasons


def expect_line(key):
    """Ends where the source has no such line any more."""
    path, _, rest = key.partition(" | ")
    lines = {line.strip() for line in (ROOT / path).read_text().splitlines()}
    if not any(rest.startswith(f"{line} | ") for line in lines if line):
        raise SystemExit(f"{KNOWN}: {path} has no such line: {rest}")


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_HEAP, MOST_HEAP))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, seconds, **options):
    """RETURNS: exit status (None: out of time), and what was printed."""
    process = subprocess.Popen(
        ["nice", "-n", "10", *command], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True, **options)
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


class Copy:
    """The repository in a folder of its own, and its build."""

    def __init__(self, number, preset):
        self.folder = ROOT / "build" / "mutants" / str(number)
        self.build = self.folder / "build" / preset
        self.preset = preset
        self.seconds = {}  # of an executable, when nothing is changed
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(self.folder)}

    def refresh(self):
        """Copies what differs; only that is compiled again."""
        names = set(tracked())
        for name in names:
            source, target = ROOT / name, self.folder / name
            content = source.read_bytes()
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
                target.chmod(source.stat().st_mode)
        options = []
        if subprocess.run(["which", "ccache"], capture_output=True).returncode == 0:
            options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        status, output = run(["cmake", "--preset", self.preset, *options],
                             BUILD_SECONDS, cwd=self.folder,
                             env=self.environment)
        if status != 0:
            raise SystemExit(f"configuring {self.folder} failed:\n{output}")

    def make(self, targets, jobs=1, seconds=BUILD_SECONDS):
        return run(["ninja", "-C", str(self.build), f"-j{jobs}", *targets],
                   seconds, env=self.environment)

    def prepare(self, areas):
        """Builds and times what will be run."""
        self.refresh()
        targets = sorted({name for area in areas for name in AREAS[area]})
        status, output = self.make(targets, jobs=os.cpu_count(), seconds=None)
        if status != 0:
            raise SystemExit(f"the build failed:\n{output[-3000:]}")
        for name in targets:
            start = time.monotonic()
            status, output = self.test(name, None)
            if status != 0:
                raise SystemExit(f"{name} fails unchanged:\n{output[-3000:]}")
            self.seconds[name] = time.monotonic() - start

    def program(self, name):
        status, output = run(["ninja", "-C", str(self.build), "-t", "query",
                              name], 60)
        if status != 0:
            raise SystemExit(f"there is no target {name}:\n{output}")
        return next(self.build / line.strip() for line in output.splitlines()
                    if line.strip().endswith("/" + name))

    def test(self, name, seconds):
        return run([str(self.program(name)), "--gtest_brief=1",
                    "--gtest_fail_fast"], seconds, cwd=self.build,
                   preexec_fn=limit_memory)

    def judge(self, mutant):
        """RETURNS: "unbuildable", "SURVIVED" or what killed it."""
        path = self.folder / mutant.path
        text = path.read_text()
        lines = text.splitlines()
        lines[mutant.line - 1] = mutant.after
        path.write_text("\n".join(lines) + "\n")
        try:
            return self.first_killer(AREAS[area_of(mutant.path)])
        finally:
            path.write_text(text)

    def first_killer(self, names):
        for name in names:
            status, _ = self.make([name])
            if status is None:
                return "unbuildable"
            if status != 0:
                return "unbuildable"
            limit = SLOWER * self.seconds[name] + SPARE_SECONDS
            status, output = self.test(name, limit)
            if status is None:
                return f"{name}, which took over {limit:.0f} s"
            if status != 0:
                return f"{name} {failed_test(output)}"
        return "SURVIVED"


def failed_test(output):
    for line in output.splitlines():
        if "[  FAILED  ]" in line:
            return line.split("]", 1)[1].split("(")[0].strip(" ,")
    return "(ended without a word)"


def choose(arguments):
    """The mutants to try, in a fixed order."""
    wanted = [entry.partition(":")[::2] for entry in arguments.only or ["*"]]

    def is_wanted(mutant):
        return any((fnmatch.fnmatch(mutant.path, pattern)
                    or mutant.path.startswith(pattern))
                   and line in ("", str(mutant.line))
                   for pattern, line in wanted)

    mutants = [mutant for path in sorted(tracked()) if area_of(path)
               for mutant in mutants_of(path) if is_wanted(mutant)]
    chooser = random.Random(arguments.seed)
    if 0 < arguments.count < len(mutants):
        mutants = chooser.sample(mutants, arguments.count)
    return sorted(mutants, key=lambda mutant: (mutant.path, mutant.line,
                                               mutant.after))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", action="append", metavar="PATH[:LINE]",
                        help="a source, a folder or a pattern")
    parser.add_argument("--count", type=int, default=200,
                        help="how many, drawn by the seed; 0: all (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1,
                        help="copies that are built and tested at once (1)")
    parser.add_argument("--preset", default="mutants")
    parser.add_argument("--list", action="store_true",
                        help="print the mutants, and end")
    return parser.parse_args()


def judge_all(mutants, arguments):
    """Yields each mutant with its verdict, in their order."""
    areas = {area_of(mutant.path) for mutant in mutants}
    free = queue.Queue()
    for number in range(min(arguments.jobs, len(mutants))):
        copy = Copy(number, arguments.preset)
        copy.prepare(areas)
        free.put(copy)

    def judge(mutant):
        copy = free.get()
        try:
            return mutant, copy.judge(mutant)
        finally:
            free.put(copy)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        yield from pool.map(judge, mutants)


def main():
    arguments = parse_arguments()
    mutants = choose(arguments)
    if arguments.list:
        print(*mutants, sep="\n")
        return 0
    known = known_reasons()
    counts = {"killed": 0, "survived": 0, "known": 0, "unbuildable": 0}
    for mutant, verdict in judge_all(mutants, arguments):
        reason = next((known[key] for key in mutant.keys if key in known), None)
        if verdict == "SURVIVED" and reason:
            counts["known"] += 1
            verdict = f"survives: {reason}"
        else:
            counts[{"SURVIVED": "survived", "unbuildable": "unbuildable"}.get(
                verdict, "killed")] += 1
        print(f"{mutant}\n    {verdict}", flush=True)
    tried = counts["killed"] + counts["survived"]
    share = counts["killed"] / tried if tried else 1.0
    print(f"{len(mutants)} mutants: {counts['killed']} killed, "
          f"{counts['survived']} survived, {counts['known']} known to make no "
          f"difference, {counts['unbuildable']} do not build; "
          f"{100 * share:.1f} % killed")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
