#!/usr/bin/env python3
"""Line coverage of each room against its floor: check_coverage.py GCOVR_JSON.

A room's headers are seen through a link for each room that uses them; their
lines are counted once.
"""

import collections
import json
import os
import re
import sys

from sources import ROOT, finish, read

FLOORS = "scripts/coverage_floors.txt"


def room_of(path):
    """The room of a source of ours, or None (tests, other people's code)."""
    real = os.path.relpath(os.path.realpath(ROOT / path), ROOT)
    match = re.match(r"neap/(\w+)/", real)
    if not match or real.endswith(("_test.cpp", "_bench.cpp")):
        return None, real
    return match.group(1), real


def covered_lines(report):
    """Returns {room: {(file, line): count}}."""
    rooms = collections.defaultdict(dict)
    for file in report["files"]:
        room, real = room_of(file["file"])
        if room is None:
            continue
        for line in file["lines"]:
            if line.get("gcovr/noncode"):
                continue
            key = real, line["line_number"]
            rooms[room][key] = max(rooms[room].get(key, 0), line["count"])
    return rooms


def floors():
    """Returns {room: percent}; the line "*" holds for rooms not named."""
    lines = (line.split("#")[0].split() for line in read(FLOORS).splitlines())
    return {words[0]: float(words[1]) for words in lines if words}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rooms = covered_lines(json.load(file))
    floor_of = floors()
    findings = []
    for room, lines in sorted(rooms.items()):
        hit = sum(count > 0 for count in lines.values())
        percent = 100.0 * hit / len(lines)
        floor = floor_of.get(room, floor_of["*"])
        print(f"{room:10} {percent:5.1f} % of {len(lines):5} lines "
              f"(floor {floor:.0f} %)")
        if percent < floor:
            findings.append(f"{room}: {percent:.1f} % is under its floor")
    finish("coverage", findings, f"{len(rooms)} rooms")


if __name__ == "__main__":
    main()
