#!/usr/bin/env python3
"""Files and functions stay short, and sources say nothing unfinished.

Source files: median at most 120 lines, nine of ten at most 300, none over 500.
Functions: at most 60 lines, kernels 100. What may be longer, and why, is listed
in scripts/size_exceptions.txt.
"""

import json
import re
import statistics
import subprocess

from sources import ROOT, finish, read, tracked

MEDIAN_LINES, P90_LINES, MOST_LINES = 120, 300, 500
FUNCTION_LINES, KERNEL_LINES = 60, 100
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def is_test(name):
    return name.endswith("_test.cpp") or name.startswith("tests/")


def exceptions():
    """Lines "path" or "path:function", each followed by "# reason"."""
    lines = read("scripts/size_exceptions.txt").splitlines()
    names = (line.split("#")[0].strip() for line in lines)
    return set(filter(None, names))


def check_text(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            yield f"{name}:{number}: a note of unfinished work"
        if not line.isascii():
            yield f"{name}:{number}: not ASCII"


def check_files(lengths, excepted):
    for name, length in lengths.items():
        if length > MOST_LINES and name not in excepted:
            yield f"{name}: {length} lines, at most {MOST_LINES}"
    sources = sorted(n for name, n in lengths.items() if not is_test(name))
    if not sources:
        return
    median = statistics.median(sources)
    if median > MEDIAN_LINES:
        yield f"median source file: {median} lines, at most {MEDIAN_LINES}"
    ninth = sources[int(0.9 * (len(sources) - 1))]
    if ninth > P90_LINES:
        yield f"nine of ten source files: {ninth} lines, at most {P90_LINES}"


def functions(names):
    """Yields (file, function, line, length) as ctags sees them."""
    command = ["ctags", "--output-format=json", "--fields=+ne",
               "--c++-kinds=f", "--language-force=C++", "-f", "-", "-L", "-"]
    lines = subprocess.run(command, cwd=ROOT, input="\n".join(names),
                           check=True, capture_output=True, text=True).stdout
    for tag in map(json.loads, lines.splitlines()):
        if "end" in tag:
            length = tag["end"] - tag["line"] + 1
            yield tag["path"], tag["name"], tag["line"], length


def check_functions(names, excepted):
    for name, function, line, length in functions(names):
        is_kernel = name.startswith("neap/kernels/")
        most = KERNEL_LINES if is_kernel else FUNCTION_LINES
        if length > most and f"{name}:{function}" not in excepted:
            yield (f"{name}:{line}: {function} has {length} lines, "
                   f"at most {most}")


def main():
    names = tracked("*.hpp", "*.cpp")
    texts = {name: read(name) for name in names}
    lengths = {name: text.count("\n") for name, text in texts.items()}
    excepted = exceptions()
    findings = [finding for name, text in texts.items()
                for finding in check_text(name, text)]
    findings += check_files(lengths, excepted)
    findings += check_functions(names, excepted)
    tests = sum(n for name, n in lengths.items() if is_test(name))
    sources = sum(lengths.values()) - tests
    finish("sizes", findings,
           f"{len(names)} files, {sources} lines of source, {tests} of tests, "
           f"test:source {tests / max(sources, 1):.2f}")


if __name__ == "__main__":
    main()
