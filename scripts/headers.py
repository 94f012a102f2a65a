"""What the pages need of the project's headers: which ones are public, their
opening paragraphs, and the functions that they declare with their comments."""

import re

from sources import ROOT, read

INCLUDE = re.compile(r'^#include "(neap/[^"]+)"', re.MULTILINE)
FUNCTION = re.compile(
    r"((?:^ *///.*\n)*)^NEAP_API [^;{}]*?\b(\w+)\(([^;]*?)\)(?: noexcept)?;",
    re.MULTILINE)
INNER = re.compile(r"^namespace \w+ \{$(?<!namespace neap \{).*?^\}",
                   re.MULTILINE | re.DOTALL)
PARAMETER = re.compile(r"(\w+)(?: = .*)?$")


def reached(first):
    """The project's headers that one includes, directly or not."""
    found, queue = [], [first]
    while queue:
        name = queue.pop(0)
        if name not in found and (ROOT / name).is_file():
            found.append(name)
            queue += INCLUDE.findall(read(name))
    return found


def paragraph(text):
    """The lines between the licence and #pragma once, without slashes."""
    lines = text.splitlines()[1:]
    opening = []
    for line in lines:
        if not line.startswith("//"):
            break
        opening.append(line[2:].removeprefix(" "))
    return opening


def split(parameters):
    """At the commas that part parameters: not those inside <>, {} or ()."""
    parts, depth = [""], 0
    for character in " ".join(parameters.split()):
        depth += (character in "<{(") - (character in ">})")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


class Function:
    def __init__(self, comment, name, parameters, is_inner=False):
        self.name = name
        self.is_inner = is_inner  # in a namespace below neap
        self.comment = " ".join(line.strip().removeprefix("///").strip()
                                for line in comment.splitlines())
        tensors = [part for part in split(parameters)
                   if re.search(r"\b(?:Operand|Tensor|TensorOperand)\b", part)]
        self.operands = [PARAMETER.search(part).group(1) for part in tensors]
        # The last one stands for any number.
        self.takes_many = bool(tensors) and "<" in tensors[-1]


def functions(header):
    """Those marked NEAP_API. One without a comment shares that of the line
    above: an overload, or an op's twin."""
    found, end, text = [], None, read(header)
    inner = [match.span() for match in INNER.finditer(text)]
    for match in FUNCTION.finditer(text):
        comment, name, parameters = match.groups()
        is_next = end is not None and match.start() == end + 1
        if not comment and is_next and ("/ops/" in header or
                                        found[-1].name == name):
            comment = f"/// {found[-1].comment}"
        is_inner = any(first < match.start() < last for first, last in inner)
        found.append(Function(comment, name, parameters, is_inner))
        end = match.end()
    return found
