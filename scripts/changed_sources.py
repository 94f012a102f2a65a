#!/usr/bin/env python3
"""Prints the C++ sources that differ from a commit, the most changed first.

usage: changed_sources.py COMMIT

A file that was moved counts by what else changed in it, and lines that name
headers do not count: what is not printed then reads as it did.
"""

import subprocess
import sys

from sources import ROOT

IGNORED = ["-I^#include ", "-I^#define HWY_TARGET_INCLUDE "]


def changes(commit):
    """Yields (path, changed lines)."""
    out = subprocess.run(
        ["git", "diff", "-M", "-z", "--numstat", "--diff-filter=d", *IGNORED,
         commit, "--", "*.hpp", "*.cpp"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    fields = iter(out.split("\0"))
    for field in fields:
        if not field:
            continue
        added, deleted, path = field.split("\t")
        if not path:  # moved: the former name and the present one follow
            next(fields)
            path = next(fields)
        yield path, int(added) + int(deleted)


def main():
    found = sorted(changes(sys.argv[1]), key=lambda change: -change[1])
    for path, lines in found:
        if lines > 0:
            print(path)


if __name__ == "__main__":
    main()
