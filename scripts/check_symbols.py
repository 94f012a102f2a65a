#!/usr/bin/env python3
"""What the shared library exports: the names that docs/symbols.txt lists.

usage: check_symbols.py BUILD_DIR [--write]

A name that comes or goes is seen in the change that makes it so: programs that
were linked before depend on each. Functions and data alone: what headers define
inline, and what the compiler adds to a class, follow from them. --write makes
the list anew.
"""

import pathlib
import re
import subprocess
import sys

from sources import ROOT, finish, read

LIST = "docs/symbols.txt"
# Of a class: its table of virtual functions, its name, and thunks into it.
ADDED = re.compile(r"^(?:vtable|typeinfo|typeinfo name|VTT|guard variable|"
                   r"(?:non-)?virtual thunk|construction vtable) ")


def exported(library):
    """RETURNS: the names of strong symbols, in order."""
    output = subprocess.run(["nm", "-DC", "--defined-only", str(library)],
                            check=True, capture_output=True, text=True).stdout
    names = set()
    for line in output.splitlines():
        kind, name = line.split(" ", 2)[1:]
        if kind in "TDBR" and not ADDED.match(name):
            names.add(re.sub(r"\[abi:\w+\]|@@.*$", "", name))
    return sorted(names)


def main():
    libraries = sorted(pathlib.Path(sys.argv[1]).glob("libneap.so.*.*.*"))
    if not libraries:
        raise SystemExit(f"{sys.argv[1]}: no libneap.so; ./dev build shared")
    found = exported(libraries[-1])
    if "--write" in sys.argv[2:]:
        (ROOT / LIST).write_text("".join(f"{name}\n" for name in found))
    listed = read(LIST).splitlines()
    more = [f"{LIST}: lacks {name}" for name in sorted(set(found) - set(listed))]
    less = [f"{LIST}: no longer exported: {name}"
            for name in sorted(set(listed) - set(found))]
    foreign = [f"exported, and not Neap's: {name}" for name in found
               if not re.search(r"\bneap\w*\b", name)]
    advice = (["check_symbols.py BUILD_DIR --write makes the list anew"]
              if more or less else [])
    finish("symbols", more + less + foreign + advice, f"{len(found)} names")


if __name__ == "__main__":
    main()
