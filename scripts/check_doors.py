#!/usr/bin/env python3
"""One door for memory, one for files.

Outside neap/memory nothing calls new (but in place), delete or malloc; outside
neap/files nothing opens, maps or streams a file. What must, and why, is listed
in scripts/door_exceptions.txt. Tests and benchmarks are free.
"""

import re

from sources import finish, read, tracked

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# Door: (room that may, what only it may say, what it is called).
DOORS = [
    ("memory", re.compile(r"(?<!operator )\bnew\s+[A-Za-z_:]"
                          r"|(?<!operator )(?<!= )\bdelete\b(?!;)"
                          r"|\b(?:malloc|calloc|realloc|free|aligned_alloc|"
                          r"posix_memalign)\s*\("
                          r"|\bmake_(?:unique|shared)\b"
                          r"|\bmmap\s*\("), "the allocation door"),
    ("files", re.compile(r"\bstd::[io]?fstream\b|\bfopen\s*\("
                         r"|(?<![\w:.>])::open(?:at)?\s*\("
                         r"|\bgzopen\s*\("), "the file door"),
]


def blank(match):
    """Keeps the line count of what it takes away."""
    return "\n" * match.group(0).count("\n")


def exceptions():
    lines = read("scripts/door_exceptions.txt").splitlines()
    return set(filter(None, (line.split("#")[0].strip() for line in lines)))


def check(name, text):
    room = name.split("/")[1]
    for owner, pattern, door in DOORS:
        if room == owner:
            continue
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{name}:{line}: '{match.group(0)}' goes past {door}"


def main():
    names = [name for name in tracked("neap/*/*.hpp", "neap/*/*.cpp")
             if not name.endswith(("_test.cpp", "_for_test.hpp", "_bench.cpp"))]
    excepted = exceptions()
    findings = [finding for name in names if name not in excepted
                for finding in check(name, COMMENT.sub(blank, read(name)))]
    finish("doors", findings, f"{len(names)} files, {len(excepted)} exceptions")


if __name__ == "__main__":
    main()
