"""The pages of operations in the reference: what their descriptors say."""

import html
import pathlib
import re

import ops_page
from headers import functions, paragraph
from reference_headers import escape
from sources import read


def stem_of(header):
    return pathlib.PurePath(header).stem


def fact_rows(op, function):
    """What the op's descriptor says, as (title, text)."""
    yield "dtypes", ", ".join(op["dtypes"]) or "every"
    yield "derivative", ("backward and forward" if op["has_vjp"] else
                         "forward" if op["has_jvp"] else "none")
    if op["has_vjp"]:
        yield "backward keeps", ops_page.kept(op, function)
    donates = [ops_page.operand(function, i)
               for i in ops_page.bits(op["donates"])]
    yield "may take over", ", ".join(donates) or "nothing"
    kinds = [kind for kind in ("view", "random") if op[f"is_{kind}"]]
    if kinds:
        yield "kind", ", ".join(kinds)


def plain(formula):
    """A formula that doxygen takes as it is: no tag, command or link in it."""
    text = html.escape(formula, quote=False)
    for character in "\\@#":
        text = text.replace(character, "\\" + character)
    return text.replace(". ", ".&nbsp;")  # or the brief would end there


class Ops:
    """The pages of the operations."""

    def __init__(self, program):
        self.facts = ops_page.facts_of(program)
        self.headers = ops_page.Headers()

    def of_header(self, header):
        """Descriptor and function of each: two where twins share a header."""
        found = ((op, *self.headers.of_op(op["name"]))
                 for op in self.facts["ops"])
        return [(op, function) for op, there, function in found
                if there == header]

    def title(self, header):
        """All of two or three twins, else the header's name."""
        names = [op["name"] for op, _ in self.of_header(header)] or [
            name for name in self.facts["composites"]
            if self.headers.functions.get(name, ("",))[0] == header]
        return ", ".join(names) if len(names) in (2, 3) else stem_of(header)

    def is_listed(self, name):
        return (name in self.facts["composites"] or
                any(name == op["name"] for op in self.facts["ops"]))

    def brief(self, header):
        """One line for lists: a formula or the first sentence."""
        ops = self.of_header(header)
        if len(ops) == 1:
            return f"<code>{plain(ops[0][0]['formula'])}</code>"
        for function in functions(header):
            if self.is_listed(function.name) and function.comment:
                text = escape(ops_page.SENTENCE.split(function.comment)[0])
                # A variable's name keeps its small letter.
                return re.sub(r"^([a-z])\b", r"<code>\1</code>", text)
        opening = " ".join(paragraph(read(header)))
        return escape(opening.split(". ")[0])

    def table(self, header):
        ops = self.of_header(header)
        for op, function in ops:
            if len(ops) > 1:
                yield f"<h3>{op['name']}: "
                yield f"<code>{plain(op['formula'])}</code></h3>"
            yield '<table class="facts">'
            for title, text in fact_rows(op, function):
                yield f"<tr><th>{title}</th><td>{text}</td></tr>"
            yield "</table>"
        if not ops and header in self.headers.composites(self.facts):
            yield '<table class="facts"><tr><th>kind</th><td>composite: made '
            yield "of other operations</td></tr></table>"

    def parent(self, header):
        return ("room_ops" if header in self.headers.public
                else "inside_derivatives")
