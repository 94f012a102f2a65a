#!/usr/bin/env python3
"""Which tests have to do with what differs from origin/main, or, where there is
none, from the commit that .ci/checked names.

usage: changed_tests.py BUILD_DIR

Prints the executables of tests on one line, "none", or "all" where that is not
known: without a commit to compare with, or after a change of how things are
built. A room's tests depend on the rooms that it links, as BUILD_DIR/links.txt
tells; scripts run programs that have all rooms.
"""

import pathlib
import re
import subprocess
import sys

from sources import ROOT

# Changes that concern every test, and those that concern none.
EVERYTHING = re.compile(r"^(cmake/|CMake|dev$|\.ci/(?!checked$)|scripts/(packages|changed)|"
                        r"neap/[^/]+$|tests/(CMakeLists|support/)|apps/support/)")
NOTHING = re.compile(r"^(docs/|scripts/|bench/|fuzz/|examples/|\.git)|\.md$|"
                     r"^LICENSE$|^\.ci/checked$|_bench\.cpp$")


def words_of(*command):
    return subprocess.run(command, cwd=ROOT, check=True, text=True,
                          capture_output=True).stdout.split()


def changed_files():
    """RETURNS: paths; None where there is nothing to compare with."""
    base = words_of("scripts/base_commit.sh", "--or-checked")
    if not base:
        return None
    return (words_of("git", "diff", "--name-only", *base)
            + words_of("git", "ls-files", "--others", "--exclude-standard"))


def read_links(build):
    """RETURNS: rooms: what each links; tests: rooms and sources of each; and the
    programs that scripts run."""
    rooms, tests, programs = {}, {}, []
    for line in (pathlib.Path(build) / "links.txt").read_text().splitlines():
        head, links, *sources = (part.strip()
                                 for part in (line + ":").split(":"))
        kind, name = head.split()
        if kind == "program":
            programs.append(name)
            continue
        linked = {link.removeprefix("neap_") for link in links.split(";")}
        if kind == "room":
            rooms[name] = linked & set(rooms)
        else:
            # A library of tests, or of all rooms, may have any of them.
            is_open = any(link.startswith("neap") for link in links.split(";")
                          if link.removeprefix("neap_") not in rooms)
            sources = set(filter(None, "".join(sources).split(";")))
            tests[name] = (set(rooms) if is_open else linked), sources
    return rooms, tests, programs


def reached(rooms, some):
    """All rooms that some link, directly or not, themselves among them."""
    found, left = set(), list(some)
    while left:
        room = left.pop()
        if room not in found:
            found.add(room)
            left += rooms.get(room, ())
    return found


def folders_of(sources):
    return {str(pathlib.PurePath(source).parent) for source in sources}


def choose(files, rooms, tests):
    touched = {path.split("/")[1] for path in files if path.startswith("neap/")
               and path.split("/")[1] in rooms}
    others = [path for path in files if not path.startswith("neap/")]
    chosen = []
    for name, (links, sources) in tests.items():
        is_touched = reached(rooms, links) & touched
        is_own = (set(files) & sources
                  or folders_of(others) & folders_of(sources))
        if is_touched or is_own:
            chosen.append(name)
    return sorted(chosen)


def main():
    files = changed_files()
    if files is None or any(EVERYTHING.search(path) for path in files):
        print("all")
        return
    rooms, tests, programs = read_links(sys.argv[1])
    files = [path for path in files if not NOTHING.search(path)]
    chosen = choose(files, rooms, tests)
    if chosen or any(path.startswith("apps/") for path in files):
        chosen += programs if "neap_tool" in programs else []
    print(" ".join(chosen) or "none")


if __name__ == "__main__":
    main()
