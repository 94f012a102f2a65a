#!/usr/bin/env python3
"""Processor time to compile and link Neap from nothing, room by room.

usage: build_times.py [PRESET] [--record]

Builds a preset (release) in a folder of its own without a compiler cache, and
prints, in seconds of processor time: each room's sources and tests, the tool, the
other tests, examples and benchmarks, and the slowest sources. --record appends a
line to docs/build-times.md. ./dev bench build_times calls it.

As the compiler's launcher (build_times.py --launch LOG COMMAND...) it runs a
command and appends what it took.
"""

import collections
import datetime
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "build-times.md"
SLOWEST = 12


def launch(log, command):
    status = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else "?"
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.3f} {output}\n")
    return status


def part_of(output):
    """The line of the table that an output counts for."""
    if "precompiled" in output or "cmake_pch" in output:
        return "precompiled headers"
    room = re.match(r"neap/(\w+)/CMakeFiles/(\w+)\.dir/", output)
    if room:
        is_test = room[2].endswith(("_test", "_bench"))
        return f"neap/{room[1]}" + (" tests" if is_test else "")
    return output.split("/")[0] if "/" in output else "linking"


def build(preset):
    """RETURNS: seconds of each output, and the wall time."""
    folder = ROOT / "build" / "build_times"
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    log = folder / "times.txt"
    launcher = f"{sys.executable};{__file__};--launch;{log}"
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "--preset", preset, "-B", folder,
                    f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                    f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"], cwd=ROOT,
                   **quiet)
    start = time.monotonic()
    subprocess.run(["cmake", "--build", folder, "-j",
                    os.environ.get("NEAP_JOBS", str(os.cpu_count()))], **quiet)
    wall = time.monotonic() - start
    seconds = collections.defaultdict(float)
    for line in log.read_text().splitlines():
        used, output = line.split(" ", 1)
        seconds[output] += float(used)
    return seconds, wall


def report(seconds, wall):
    parts = collections.Counter()
    for output, used in seconds.items():
        parts[part_of(output)] += used
    total = sum(parts.values())
    for part, used in parts.most_common():
        print(f"  {part:<26}{used:8.1f} s  {100 * used / total:5.1f} %")
    print(f"  {'total':<26}{total:8.1f} s  in {wall:.0f} s with "
          f"{os.environ.get('NEAP_JOBS', os.cpu_count())} jobs")
    print("slowest")
    for output, used in sorted(seconds.items(), key=lambda row: -row[1])[:SLOWEST]:
        print(f"  {used:6.1f} s  {re.sub(r'CMakeFiles/[^/]*/', '', output)}")
    return total


def record(preset, total, wall, seconds):
    library = sum(used for output, used in seconds.items()
                  if re.fullmatch(r"neap/\w+", part_of(output)))
    line = (f"| {datetime.date.today()} | {preset} | {total:.0f} s | "
            f"{library:.0f} s | {wall:.0f} s |\n")
    PAGE.write_text(PAGE.read_text(encoding="utf-8") + line, encoding="utf-8")


def main(arguments):
    if arguments[:1] == ["--launch"]:
        return launch(arguments[1], arguments[2:])
    presets = [word for word in arguments if not word.startswith("-")]
    preset = presets[0] if presets else "release"
    print(f"compiling preset {preset} from nothing", flush=True)
    seconds, wall = build(preset)
    total = report(seconds, wall)
    if "--record" in arguments:
        record(preset, total, wall, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
