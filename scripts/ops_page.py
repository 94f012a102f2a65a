#!/usr/bin/env python3
"""docs/ops.md from the descriptors of all ops and their headers' comments.

  ops_page.py PROGRAM            says whether the page is as it should be
  ops_page.py PROGRAM --write    writes it

PROGRAM is tests/op_facts.cpp, built. ./dev docs --write does both.
"""

import json
import re
import subprocess
import sys

from headers import functions, reached
from sources import ROOT, finish, read, tracked

PAGE = ROOT / "docs" / "ops.md"
DTYPE = r"(?:f32|f64|bf16|i32|i64|u8|bool|any dtype)(?: \(wraps\))?"
DTYPES = re.compile(rf"; ({DTYPE}(?:(?:, | and ){DTYPE})*(?: to \w+)?)"
                    r"(?=[.;]|$)")

END = re.compile(r"(?<!\.)\.(?: |$)")  # not that of "x, .. y"
SENTENCE = re.compile(r"(?<!\.)[.;](?: |$)")
KEEPS = re.compile(r"\bKeeps (.+?)(?: for (?:it|the derivative))?"
                   r"(?:[.,;:] |[.]$)")
EDGES = re.compile(r"\b(?:derivative|gradient|equal|ties?|NaN|inf|infinity|"
                   r"of nothing|repeats|same place)\b")
NOT_EDGES = re.compile(r"Keeps|(?:Not differentiable|no derivative)$|[Nn]eeds")

OPENING = """\
# All operations

Made from the list of operations by `./dev docs --write`; do not edit. What a
name does in full, its errors, ties and kinks stand where the name leads.

- **dtypes** are those of the first operand; views take every dtype.
- **backward keeps** says which operands and results stay in memory until the
  backward pass has used them; "b (a)" means that b is kept only where a needs
  a gradient. Shapes and numbers are always kept. What lives anyway, such as a
  result that is the next operation's operand, costs nothing more.
- **may take over**: the operand whose memory the result may use when it is a
  temporary that nothing else needs.
- Derivatives are made of operations of these lists, so that every order of
  derivative is there, backward and forward. *No derivative* means that nothing
  flows back through it; *random*, that it takes a draw of the generator.
"""
PRIMITIVES = """
## Primitives

| operation | formula | dtypes | backward keeps | may take over | remarks |
|---|---|---|---|---|---|
"""
COMPOSITES = """
## Composites

Functions that are made of other operations, and keep what those keep.

| operation | is | dtypes |
|---|---|---|
"""
INNER = """
## Inside derivatives

Primitives that the rules of others call.

| operation | formula | dtypes | backward keeps | may take over | remarks |
|---|---|---|---|---|---|
"""


EDGE_CASES = """
## Ties, kinks and special values

What the headers say of points where a derivative or a value is a matter of
choice. Where nothing is said, a NaN goes through and IEEE 754 decides.

| operation | rule |
|---|---|
"""


def outer(header):
    """The functions of a header that users call."""
    there = functions(header) if (ROOT / header).is_file() else []
    return [function for function in there if not function.is_inner]


class Headers:
    """Where each op and function is declared."""

    def __init__(self):
        self.public = set(reached("neap/ops/ops.hpp"))
        self.functions = {}
        for header in tracked("neap/ops/*.hpp"):
            for function in functions(header):
                self.functions.setdefault(function.name, (header, function))

    def of_op(self, name):
        """RETURNS: header and function; the header has the op's name, or else
        names its descriptor."""
        if name in self.functions:
            return self.functions[name]
        header = next((header for header in tracked("neap/ops/*.hpp")
                       if header.endswith(f"/{name}.hpp")), None)
        if header is None:
            return self.declaring(name), None
        return header, next(iter(outer(header)), None)

    @staticmethod
    def declaring(name):
        descriptor = "k" + "".join(map(str.capitalize, name.split("_")))
        return next(header for header in tracked("neap/ops/*.hpp")
                    if f" {descriptor};" in read(header))

    def composites(self, facts):
        """The headers of the composites."""
        return {self.functions[name][0] for name in facts["composites"]
                if name in self.functions}


def bits(mask):
    return [i for i in range(32) if mask >> i & 1]


def operand(function, index):
    if function and index < len(function.operands):
        return function.operands[index]
    if function and function.takes_many:
        return function.operands[-1]
    return f"operand {index + 1}"


def escape(text):
    for character in "\\|*_<":
        text = text.replace(character, "\\" + character)
    return text


def contract_free(comment):
    """A comment without its THROWS: and the like."""
    return re.split(r" ?\b[A-Z]{4,}(?: also)?: ", comment)[0]


def kept(op, function):
    """What each cotangent reads, one name once; or what the comment says, for
    an op that the tape records in another form."""
    said = KEEPS.search(function.comment) if function else None
    if said:
        return escape(said.group(1))
    wanted = {}  # name -> indices of operands whose cotangent reads it
    inputs = len(function.operands) if function else 4
    for index, reads in enumerate(op["reads"][:inputs]):
        names = [operand(function, i) for i in bits(reads["inputs"])]
        names += ["result" if i == 0 else f"result {i + 1}"
                  for i in bits(reads["outputs"])]
        for name in names:
            wanted.setdefault(name, []).append(index)
    if not wanted:
        return "nothing"
    readers = {i for indices in wanted.values() for i in indices}
    words = []
    for name, indices in wanted.items():
        some = len(indices) < len(readers)
        who = ", ".join(operand(function, i) for i in indices)
        words.append(f"{name} ({who})" if some else name)
    return escape(", ".join(words))


def link(name, header):
    return f"[`{name}`](../{header})"


def primitive(op, headers):
    header, function = headers.of_op(op["name"])
    names = [op["name"]]
    if function and function.name != op["name"]:
        names = dict.fromkeys(other.name for other in outer(header))
    remarks = []
    if op["is_view"]:
        remarks.append("view")
    if op["is_random"]:
        remarks.append("random")
    if not op["has_vjp"]:
        remarks.append("no derivative" if not op["has_jvp"] else "forward only")
    donates = [operand(function, i) for i in bits(op["donates"])]
    cells = [", ".join(link(name, header) for name in names),
             escape(op["formula"]),
             ", ".join(op["dtypes"]) or "every",
             kept(op, function) if op["has_vjp"] else "-",
             escape(", ".join(donates)) or "-", ", ".join(remarks)]
    is_public = header in headers.public and not (
        function and function.is_inner)
    return f"| {' | '.join(cells)} |".replace("|  |", "| |"), is_public


def composite(name, headers):
    if name not in headers.functions:
        return f"| `{name}` | | |"
    header, function = headers.functions[name]
    text = function.comment
    dtypes = DTYPES.search(text)
    if dtypes:
        text = text.replace(dtypes.group(0), "", 1)
    summary = END.split(text)[0]
    cells = [link(name, header), escape(summary),
             dtypes.group(1).strip() if dtypes else ""]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def edge_cases(headers):
    """The sentences about them in the comments of public functions."""
    found = {}  # link -> sentences
    for header in sorted(headers.public):
        for function in outer(header):
            text = DTYPES.sub("", contract_free(function.comment))
            rules = [sentence.strip() for sentence in END.split(text)
                     if EDGES.search(sentence)
                     and not NOT_EDGES.search(sentence)]
            found.setdefault(link(function.name, header), []).extend(rules)
    for name, rules in sorted(found.items()):
        if rules:
            yield f"| {name} | {escape('. '.join(dict.fromkeys(rules)))} |"


def page(facts):
    headers = Headers()
    public, inner = [], []
    for op in sorted(facts["ops"], key=lambda op: op["name"]):
        row, is_public = primitive(op, headers)
        (public if is_public else inner).append(row)
    composites = [composite(name, headers)
                  for name in sorted(facts["composites"])]
    return (OPENING + PRIMITIVES + "\n".join(public) + "\n"
            + COMPOSITES + "\n".join(composites) + "\n"
            + EDGE_CASES + "\n".join(edge_cases(headers)) + "\n"
            + INNER + "\n".join(inner) + "\n")


def facts_of(program):
    output = subprocess.run([program], check=True, capture_output=True,
                            text=True).stdout
    return json.loads(output)


def main():
    program, *flags = sys.argv[1:]
    facts = facts_of(program)
    wanted = page(facts)
    if "--write" in flags:
        PAGE.write_text(wanted, encoding="utf-8")
    there = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    stale = [] if there == wanted else [
        "docs/ops.md is not what the ops say; ./dev docs --write makes it anew"]
    names = facts["composites"] + [op["name"] for op in facts["ops"]]
    twice = [f"neap/ops/op_list.inc: {name} stands there twice"
             for name in sorted({n for n in names if names.count(n) > 1})]
    finish("ops page", stale + twice, f"{wanted.count(chr(10) + '| [')} operations")


if __name__ == "__main__":
    main()
