#!/usr/bin/env python3
"""No noexcept function does what throws.

An exception that leaves a noexcept function ends the process. In every noexcept
function outside of kernels this looks, in the text alone, for what is known to
throw: raise, a question to a Tensor (all but defined() throw UseAfterRelease
where a scope gave the handle back), and room asked of a container. Functions
where that cannot happen stand with the reason in
scripts/noexcept_exceptions.txt; one that catches is left alone.
"""

import re

from sources import finish, read, tracked

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# A function with a body: its name, its parameters, noexcept, maybe initialisers.
FUNCTION = re.compile(
    r"(?P<name>[~\w:]+(?:\s*operator[^\s(]*)?)\s*\((?P<params>[^;{}]*?)\)\s*"
    r"(?:const\s*)?noexcept(?:\s+override|\s+final)*\s*"
    r"(?P<init>:[^;{}]*(?:\w\{[^{};]*\}[^;{}]*)*)?\{")
QUESTIONS = ("shape", "rank", "size", "element_count", "dtype", "space", "spec",
             "strides", "is_contiguous", "values", "mutable_values", "at",
             "item", "to_vector", "requires_grad", "is_leaf", "grad", "detach",
             "alias", "is_alias_of", "array", "link", "output_index",
             "scope_member", "set_link", "renew", "rebind", "is_sole_owner",
             "identity", "has_sole_handle", "is_given")
TENSOR = re.compile(r"(?:\bconst\s+)?\bTensor\s*&{0,2}\s+(\w+)\s*[;,)({=:\[]")
RAISE = re.compile(r"\b(?:base::)?raise<|\bthrow\b")
ROOM = re.compile(r"[.>](?:push_back|emplace_back|emplace|insert|resize|reserve|"
                  r"append|insert_or_assign)\s*\(")
ASKED = r"\.(?:%s)\s*(?:<[^<>]*>)?\(" % "|".join(QUESTIONS)


def blank(match):
    """Keeps the line count of what it takes away."""
    return "\n" * match.group(0).count("\n")


def body_of(text, start):
    """The text up to the brace that closes the one before `start`."""
    depth = 1
    at = start
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[start:at]


def questions(function, body):
    """Questions to tensors: parameters, locals, and what tensor() gives."""
    names = set(TENSOR.findall(function.group("params") + ")"))
    names |= set(TENSOR.findall(body))
    patterns = [r"\btensor\(\)" + ASKED]
    patterns += [r"(?<![\w.>])%s%s" % (name, ASKED) for name in names]
    for pattern in patterns:
        for match in re.finditer(pattern, body):
            guard = match.group(0).split(".")[0]
            # Asked for before: "t.defined() && t.shape()", or by an if.
            if f"{guard}.defined()" not in body[:match.start()]:
                yield match


def findings_in(name, text):
    # The books of the door say no by what they return.
    may_grow = name.startswith("neap/memory/")
    for function in FUNCTION.finditer(text):
        body = body_of(text, function.end())
        if re.search(r"\bcatch\b", body):
            continue
        found = list(RAISE.finditer(body))
        found += [] if may_grow else list(ROOM.finditer(body))
        found += questions(function, body)
        for match in found:
            at = function.end() + match.start()
            line = text.count("\n", 0, at) + 1
            yield (f"{name}: {function.group('name')}",
                   f"{name}:{line}: '{match.group(0).strip()}' may throw in "
                   f"noexcept {function.group('name')}")


def exceptions():
    lines = read("scripts/noexcept_exceptions.txt").splitlines()
    return set(filter(None, (line.split("#")[0].strip() for line in lines)))


def main():
    names = [name for name in tracked("neap/*/*.hpp", "neap/*/*.cpp")
             if not name.endswith(("_test.cpp", "_test.hpp", "_bench.cpp",
                                   "-inl.hpp"))
             and not name.startswith(("neap/kernels/", "neap/testing/"))]
    excepted = exceptions()
    findings, used = [], set()
    for name in names:
        for key, finding in findings_in(name, COMMENT.sub(blank, read(name))):
            if key in excepted:
                used.add(key)
            else:
                findings.append(finding)
    finish("noexcept", findings, f"{len(names)} files, {len(used)} exceptions")


if __name__ == "__main__":
    main()
