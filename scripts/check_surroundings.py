#!/usr/bin/env python3
"""What a traced step could read of the world outside, and what becomes of it.

A compiled step must not go on with old values of what it read while it was
traced. So every thread-local, every field of the two contexts, every mutable global
and every setting of an optimizer stands in scripts/surroundings.txt with what
tracing does about it: a guard compares it at each call, a refusal throws, or it
is none of a step's business, with the reason. A new one that the table does not
name is a finding, and so is a row that names nothing.
"""

import re

from sources import finish, read, tracked

TABLE = "scripts/surroundings.txt"
WAYS = ("guard", "refused", "live", "none")
COMMENT = re.compile(r"//[^\n]*")
THREAD_LOCAL = re.compile(r"\bthread_local\s+(?:const\s+)?([\w:<>*\s]+?)[\s*&]"
                          r"(\w+)\s*(?:[=;({])")
GLOBAL = re.compile(r"^(?:static\s+|inline\s+)?constinit\s+(?!const\b)"
                    r"(?:std::atomic<[^;=]*>|std::array<[^;=]*>|[\w:]+)\s*"
                    r"\*?\s*(\w+)\s*[;={(]", re.MULTILINE)
FIELD = re.compile(r"^  [\w:]+(?:\s*\*)?\s+(\w+)\s*(?:=[^;]*|\{\})?;",
                   re.MULTILINE)
GETTER = re.compile(r"^\s+(?:virtual\s+)?[\w:&<> ]+[ &](\w+)\([^;{]*\)\s*const\b",
                    re.MULTILINE)


def plain(name):
    return COMMENT.sub("", read(name))


def block(text, head):
    start = text.index(head)
    return text[start:text.index("\n};", start)]


def found():
    """(kind, file, name) of everything that the table must name."""
    for name in tracked("neap/*.cpp", "neap/*.hpp"):
        if re.search(r"_(test|bench)\.|_for_test|/test_|neap/testing/", name):
            continue
        text = plain(name)
        for match in THREAD_LOCAL.finditer(text):
            yield "thread-local", name, match.group(2)
        for match in GLOBAL.finditer(text):
            if "thread_local" not in match.group(0):
                yield "global", name, match.group(1)
    for kind, name in (("context", "neap/memory/context.hpp"),
                       ("execution", "neap/tensor/execution.hpp")):
        head = f"struct {kind.capitalize()} {{"
        for match in FIELD.finditer(block(plain(name), head)):
            yield kind, name, match.group(1)
    name = "neap/optim/optimizer.hpp"
    public = block(plain(name), "class NEAP_API Optimizer")
    public = public[:public.index(" protected:")]
    for match in GETTER.finditer(public):
        yield "optimizer", name, match.group(1)


def rows():
    for line in read(TABLE).splitlines():
        line = line.split("#")[0].strip()
        if line:
            kind, name, way, reason = (part.strip()
                                       for part in line.split("|", 3))
            yield kind, name, way, reason


def main():
    findings = []
    table = {}
    for kind, name, way, reason in rows():
        if way not in WAYS or not reason:
            findings.append(f"{TABLE}: {kind} {name}: one of {WAYS}, and why")
        table[(kind, name)] = way
    seen = set()
    for kind, file, name in found():
        seen.add((kind, name))
        if (kind, name) not in table:
            findings.append(
                f"{file}: {kind} '{name}' is not in {TABLE}: say what a step "
                "that is traced does about it")
    for kind, name in sorted(set(table) - seen):
        findings.append(f"{TABLE}: {kind} '{name}' is nowhere any more")
    finish("surroundings", findings, f"{len(seen)} of them")


if __name__ == "__main__":
    main()
