#!/usr/bin/env python3
"""Makes every call of malloc and mmap in runs of the neap tool fail, one by one
("once") and from each one on ("on"), and looks at what becomes of the run.

A run with such a failure ends in one of two ways: as if nothing had happened,
with the same output, or with status 4 and one line on standard error. A file it
writes is the old one or the new one, and no other file is left.

usage: sweep.py TOOL PRELOAD [--sample N] [--only CASE[@N]] [--mode once|on]
                [--commands] [--jobs N] [--trace] [--list]
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fault_cases  # noqa: E402

MEMORY = 4
TALLY = struct.Struct("6q")
SECONDS = 60  # a run takes 20 ms
MODES = {"once": "1", "on": "0"}


@dataclasses.dataclass
class Tally:
    """What the preloaded library counted."""
    calls: int
    failed: int
    before_main: int
    first_size: int
    first_kind: int
    by_loader: int


@dataclasses.dataclass
class Outcome:
    status: int
    output: str
    errors: str
    files: dict  # name -> content
    tally: Tally


def masked(text):
    """A text without its figures: times and sizes differ from run to run."""
    return re.sub(r"[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?|\bnull\b", "N", text)


class Case:
    """A command line, with the files that stand before it and after it."""

    def __init__(self, name, tool, preload, fixture, description):
        self.name = name
        self.tool = tool
        self.preload = preload
        self.fixture = fixture
        self.arguments = description.arguments
        self.writes = description.writes  # name -> how it is compared
        self.old = {file: content for file, content in description.old.items()}
        self.exact = description.exact
        self.between = description.between
        self.says = description.says
        self.good = None

    def run(self, at=0, count="1", trace=False):
        with tempfile.TemporaryDirectory(dir=self.fixture.scratch) as name:
            folder = pathlib.Path(name)
            tally = folder.with_suffix(".tally")
            tally.write_bytes(bytes(TALLY.size))
            for file, content in self.old.items():
                (folder / file).write_bytes(content)
            variables = {**os.environ, "LD_PRELOAD": self.preload,
                         "NEAP_FAULT_FILE": str(tally),
                         "NEAP_FAULT_AT": str(at), "NEAP_FAULT_COUNT": count,
                         "NEAP_FAULT_TRACE": "1" if trace else "0"}
            try:
                done = subprocess.run(
                    [self.tool, *self.arguments], cwd=folder, env=variables,
                    stdin=subprocess.DEVNULL, capture_output=True,
                    timeout=SECONDS)
                status = done.returncode
                output = done.stdout.decode(errors="replace")
                errors = done.stderr.decode(errors="replace")
            except subprocess.TimeoutExpired:
                status, output, errors = "hangs", "", ""
            files = {str(path.relative_to(folder)): path.read_bytes()
                     for path in sorted(folder.rglob("*")) if path.is_file()}
            counted = Tally(*TALLY.unpack(tally.read_bytes()))
            tally.unlink()
        return Outcome(status, output, errors, files, counted)

    def measure(self):
        """One good run: what the others are compared with."""
        self.good = self.run()
        expected = set(self.old) | set(self.writes)
        found = {self.known_name(file) for file in self.good.files}
        if found != expected:
            raise SystemExit(f"{self.name}: wrote {sorted(found)}, "
                             f"not {sorted(expected)}: {self.good.errors}")
        if self.says not in self.good.output:
            raise SystemExit(f"{self.name}: does not say '{self.says}': "
                             f"{self.good.output}{self.good.errors}")
        if self.good.tally.calls == 0:
            raise SystemExit(f"{self.name}: no call was counted; is the tool "
                             "built with its counting malloc?")

    def known_name(self, file):
        """Names of event files hold the time."""
        return "events" if file.startswith("events/") else file

    def fault_of(self, outcome):
        """None, or what is wrong with the outcome of a run."""
        if outcome.tally.failed == 0 and outcome.status == self.good.status:
            return None
        if outcome.status == self.good.status:
            return self.fault_of_success(outcome)
        if outcome.status != MEMORY:
            return f"status {outcome.status}: {first_line(outcome.errors)}"
        if not re.fullmatch(r"neap: [^\n]+\n", outcome.errors):
            return f"status 4, but on stderr: {outcome.errors[:200]!r}"
        return self.fault_of_files(outcome)

    def fault_of_success(self, outcome):
        same = (lambda text: text) if self.exact else masked
        if same(outcome.output) != same(self.good.output):
            return (f"status {outcome.status} with another output, "
                    f"{first_difference(outcome.output, self.good.output)}")
        if masked(outcome.errors) != masked(self.good.errors):
            return (f"status {outcome.status} with other errors: "
                    f"{first_line(outcome.errors)}")
        for file in self.writes:
            if not self.is_new(file, self.file(outcome, file)):
                return f"status {outcome.status}, but {file} is not the new one"
        return self.fault_of_files(outcome)

    def is_new(self, file, content):
        """Whether a file is as a whole what a good run leaves."""
        how = self.writes[file]
        if content is None or how == fault_cases.GROWS:
            return content is not None
        good = self.file(self.good, file)
        if how == fault_cases.BUT_FIGURES:
            return masked(content.decode(errors="replace")) == masked(
                good.decode())
        return content == good

    def file(self, outcome, file):
        for name, content in outcome.files.items():
            if self.known_name(name) == file:
                return content
        return None

    def fault_of_files(self, outcome):
        for name, content in outcome.files.items():
            file = self.known_name(name)
            if file not in self.old and file not in self.writes:
                return f"status {outcome.status}, and leaves {masked(name)}"
            if file not in self.writes:
                if content != self.old[file]:
                    return f"{file} was written"
            elif content not in (self.old.get(file), self.between) and (
                    not self.is_new(file, content)):
                return (f"status {outcome.status}: {file} is neither the old "
                        "file nor the new one")
        for file in self.old:
            if file not in outcome.files:
                return f"status {outcome.status}: {file} is gone"
        return None


def first_line(text):
    return (text.splitlines() or ["(nothing)"])[0][:160]


def first_difference(found, good):
    for a, b in zip(masked(found).splitlines(), masked(good).splitlines()):
        if a != b:
            return f"{a!r} for {b!r}"
    return f"{len(found)} characters for {len(good)}"


def spread(first, last, sample, seed):
    """All of first ... last, or `sample` of them, evenly. Which ones depends on
    the seed alone."""
    calls = last - first + 1
    if sample == 0 or sample >= calls:
        return range(first, last + 1)
    return [first + (calls * index + seed % calls) // sample
            for index in range(sample)]


def ordinals_of(calls, startup, sample, seed):
    """Start and command line are much the same in every run: of a sample, three
    of four come from what follows."""
    startup = min(startup, calls)
    early = 0 if sample == 0 else max(1, sample // 4)
    return [*spread(1, startup, early, seed),
            *spread(startup + 1, calls, sample and sample - early, seed)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tool")
    parser.add_argument("preload")
    parser.add_argument("--sample", type=int, default=0,
                        help="calls of each case and mode; 0: all of them")
    parser.add_argument("--only", action="append", default=[],
                        metavar="CASE[@N]")
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--commands", action="store_true",
                        help="leave out start and command line")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--trace", action="store_true",
                        help="print the output and stack of each run (--only)")
    parser.add_argument("--list", action="store_true",
                        help="count the calls of each case, and end")
    return parser.parse_args()


class Sweep:
    def __init__(self, arguments, cases):
        self.arguments = arguments
        self.cases = cases
        self.faults = collections.defaultdict(list)  # what -> where
        self.runs = 0
        self.ends = collections.Counter()

    def jobs(self):
        seed = zlib.crc32(pathlib.Path(self.arguments.tool).read_bytes())
        wanted = dict(entry.partition("@")[::2]
                      for entry in self.arguments.only)
        modes = [self.arguments.mode] if self.arguments.mode else list(MODES)
        startup = self.cases[0].good.tally.calls  # of --version
        for case in self.cases:
            if wanted and case.name not in wanted:
                continue
            number = wanted.get(case.name)
            for mode in modes:
                for at in [int(number)] if number else ordinals_of(
                        case.good.tally.calls, startup, self.arguments.sample,
                        seed):
                    if number or at > startup or not self.arguments.commands:
                        yield case, mode, at

    def one(self, job):
        case, mode, at = job
        outcome = case.run(at, MODES[mode], self.arguments.trace)
        if self.arguments.trace:
            print(f"---- {case.name} {mode} {at}: {outcome.status}\n"
                  f"{outcome.errors}", flush=True)
        return job, outcome.status, case.fault_of(outcome)

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            for (case, mode, at), status, fault in pool.map(
                    self.one, self.jobs()):
                self.runs += 1
                self.ends[case.name, status] += 1
                if fault:
                    self.faults[case.name, mode, fault].append(at)

    def report(self):
        for (name, mode, fault), places in sorted(self.faults.items()):
            shown = " ".join(map(str, places[:8]))
            print(f"{name}, {mode}: {fault}\n"
                  f"    {len(places)} times, at {shown}")
        count = sum(map(len, self.faults.values()))
        ends = collections.Counter()
        for (_, status), times in self.ends.items():
            ends[status] += times
        print(f"{self.runs} runs with a failed allocation: {count} ended badly; "
              + ", ".join(f"status {status}: {times}"
                          for status, times in sorted(
                              ends.items(), key=lambda end: str(end[0]))))
        return 1 if count else 0


def main():
    arguments = parse_arguments()
    tool = os.path.abspath(arguments.tool)
    preload = os.path.abspath(arguments.preload)
    shared = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(
            dir=shared if shared.is_dir() else None) as name:
        fixture = fault_cases.Fixture(tool, preload, pathlib.Path(name))
        cases = [Case(case, tool, preload, fixture, description)
                 for case, description in fixture.cases().items()]
        for case in cases:
            case.measure()
            tally = case.good.tally
            print(f"{case.name}: {tally.calls} calls, {tally.before_main} of "
                  f"them before main (and {tally.by_loader} by the loader, out "
                  "of reach)", flush=True)
        if arguments.list:
            return 0
        sweep = Sweep(arguments, cases)
        sweep.run()
        return sweep.report()


if __name__ == "__main__":
    sys.exit(main())
