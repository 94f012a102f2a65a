#!/usr/bin/env python3
"""What the pages show is compiled, and what they point to is there.

Every ```cpp or ```python block of a page follows a line "<!-- from PATH -->" and stands in
that file, line by line; only its indentation as a whole may differ. Links to
files of the project lead to files. Records in docs/adr are history: free.
"""

import re
import textwrap

from sources import ROOT, finish, read, tracked

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
SOURCE = re.compile(r"<!-- from (\S+) -->")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#\s]+)[^)]*\)")


def pages():
    return [name for name in tracked("*.md")
            if not name.startswith("docs/adr/")]


def lines_of(text):
    """Without indentation that all lines share, and without line ends."""
    return [line.rstrip() for line in textwrap.dedent(text).splitlines()]


def stands_in(block, source):
    wanted = lines_of(block)
    there = source.splitlines()
    count = len(wanted)
    return any(lines_of("\n".join(there[at:at + count])) == wanted
               for at in range(len(there) - count + 1))


def blocks(text):
    """Yields (line number, line before the fence, content) of blocks of code."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if lines[at].strip() in ("```cpp", "```python"):
            end = at + 1
            while end < len(lines) and lines[end].strip() != "```":
                end += 1
            before = lines[at - 1].strip() if at else ""
            yield at + 1, before, "\n".join(lines[at + 1:end])
            at = end
        at += 1


def check_blocks(page, text):
    for line, before, block in blocks(text):
        named = SOURCE.fullmatch(before)
        if not named:
            yield f"{page}:{line}: no line '<!-- from PATH -->' before it"
        elif not (ROOT / named.group(1)).is_file():
            yield f"{page}:{line}: there is no {named.group(1)}"
        elif not stands_in(block, read(named.group(1))):
            yield f"{page}:{line}: not a part of {named.group(1)}"


def check_links(page, text):
    folder = (ROOT / page).parent
    for target in LINK.findall(CODE.sub("", text)):
        if not (folder / target).exists():
            yield f"{page}: link to {target}, which is not there"


def main():
    names = pages()
    texts = {name: read(name) for name in names}
    findings = [finding for name, text in texts.items()
                for check in (check_blocks, check_links)
                for finding in check(name, text)]
    count = sum(len(list(blocks(text))) for text in texts.values())
    finish("docs", findings, f"{len(names)} pages, {count} pieces of code")


if __name__ == "__main__":
    main()
