#!/usr/bin/env python3
"""usage: record_bench.py SECTION

Puts what a section of ./dev bench printed (build/bench/SECTION.txt) into the
block of docs/benchmarks.md that follows the line <!-- recorded SECTION -->.
"""

import re
import sys

from sources import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"


def main():
    section = sys.argv[1]
    text = (ROOT / "build" / "bench" / f"{section}.txt").read_text("utf-8")
    if not text.startswith(f"{section}: "):
        sys.exit(f"record_bench: {section} printed no tables")
    block = re.compile(rf"(<!-- recorded {section} -->\n```text\n).*?(```\n)",
                       re.DOTALL)
    page, count = block.subn(lambda m: m[1] + text + m[2],
                             PAGE.read_text("utf-8"))
    if count != 1:
        sys.exit(f"record_bench: {PAGE.name} has no one place for {section}")
    PAGE.write_text(page, "utf-8")
    print(f"recorded {section} in {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
