#!/usr/bin/env python3
"""The headers that are installed: what cmake/public_headers.txt lists.

usage: check_public_headers.py [--write]

A program includes neap/neap.hpp, or one of the entries below beside it; public
is what these lead to. The check fails when the list has another header or lacks
one; when the package for Python, which is built over an installed library too,
includes one that is not public; when a public header (but neap/fmt.hpp)
includes Highway or fmt, which a program need not have; and when an entry
declares nothing that the shared library exports. --write makes the list anew.
"""

import re
import sys

from headers import reached
from sources import ROOT, finish, read

LIST = "cmake/public_headers.txt"
# What a program names, and neap/neap.hpp does not lead to since few need it.
ENTRIES = ["neap/base/external.hpp", "neap/fmt.hpp",
           "neap/formats/csv.hpp", "neap/formats/gzip.hpp",
           "neap/formats/idx.hpp", "neap/formats/source.hpp",
           "neap/formats/tensorboard.hpp", "neap/graph/replay.hpp",
           "neap/kernels/engine/plugin.hpp", "neap/neap.hpp",
           "neap/planner/exact.hpp", "neap/planner/lower_bound.hpp",
           "neap/program/interpret.hpp", "neap/program/verify.hpp",
           "neap/report/folded.hpp", "neap/report/page.hpp",
           "neap/report/pickle.hpp", "neap/report/picture.hpp",
           "neap/report/profile_table.hpp", "neap/report/snapshot_diff.hpp",
           "neap/report/snapshot_domain.hpp", "neap/report/snapshot_file.hpp",
           "neap/report/snapshot_profile.hpp", "neap/report/snapshot_step.hpp",
           "neap/report/snapshot_text.hpp", "neap/report/trace.hpp",
           "neap/tensor/host_access.hpp", "neap/text/tokenizer.hpp",
           "neap/text/trainer.hpp"]
UMBRELLAS = ["neap/fmt.hpp", "neap/neap.hpp"]
OURS = re.compile(r'^#include "(neap/[^"]+)"', re.MULTILINE)
HIDDEN = re.compile(r"^#include <((?:fmt|hwy)/[^>]+)>", re.MULTILINE)


def public_headers():
    return sorted({name for entry in ENTRIES for name in reached(entry)})


def faults(public):
    listed = read(LIST).split("\n")[:-1]
    for name in sorted(set(public) - set(listed)):
        yield f"{LIST}: lacks {name}; check_public_headers.py --write"
    for name in sorted(set(listed) - set(public)):
        yield f"{LIST}: {name} is not public; check_public_headers.py --write"
    for name in sorted(set(public) - {"neap/fmt.hpp"}):
        for library in HIDDEN.findall(read(name)):
            yield f"{name}: includes <{library}>, which programs need not have"
    for path in sorted((ROOT / "bindings").rglob("*.[ch]pp")):
        for name in OURS.findall(path.read_text()):
            if name not in public and "tests" not in path.parts:
                yield f"{path.relative_to(ROOT)}: {name} is not public"
    for name in ENTRIES:
        if name not in UMBRELLAS and "NEAP_API" not in read(name):
            yield f"{name}: exports nothing (NEAP_API)"


def main():
    public = public_headers()
    if sys.argv[1:] == ["--write"]:
        (ROOT / LIST).write_text("".join(f"{name}\n" for name in public))
    finish("public headers", list(faults(public)), f"{len(public)} headers")


if __name__ == "__main__":
    main()
