#!/usr/bin/env python3
"""A comment can be read alone, in the field's words.

Two rules over all tracked sources. A comment that stands on lines of its own is a
sentence with a subject and a verb, or a noun phrase that says what the thing is: it
does not go on from the name or the line above it with "Of", "Those", "What", and
their like (OPENINGS). Words that would send somebody who knows PyTorch to a
dictionary of ours (TERMS) stand in no comment and on no page. A word of one's own
that is worth having is in docs/glossary.md.
"""

import re

from sources import finish, read, tracked

COMMENT = re.compile(r"\s*//[/!]?<?\s?(.*)")
TITLE = re.compile(r"-{3}|NOLINT|clang-format|Copyright ")
CLAUSE = re.compile(r"(?:[^.;:]|[.;:](?!\s|$))*[.;:]?")  # to where the first ends

# What a comment may not open with. Each pattern leaves alone what can be read
# alone: "Where x is NaN, y is." and "One row a length." have all they need.
OPENINGS = [
    (r"(?:Of|Those|That|What|Who|Whom|Whose|Which|And|But|Or|Nor|Than|So(?! far)|Else|"
     r"Likewise)\b", "goes on from above; name the thing"),
    (r"As (?!(?:many|much|few) )", "goes on from above; say what it is"),
    (r"One(?=[.,:;]| (?:an?|the|of|that|which|who|whose|with|without|below|from|"
     r"for|in|is|was)\b)", "one what? Name the thing"),
    (r"Where (?![^,]+, (?!and |or |then |too\b|as |in |else |counted |seen ))",
     "says a place or a case alone; say what it is, or what happens then"),
    (r"From (?!(?!when )[^,]+ on,? \w+ \w+)", "goes on from above; from what to what?"),
]
# Ours once, and what the field says. Only words that mean nothing else here.
TERMS = {
    r"campaigns?": "fuzz run",
    r"(?:plain|bf16)?kits?": "micro-kernels",
    r"lodg(?:er|ing)s?": "co-allocated block",
    r"carvers?": "BumpAllocator",
    r"turned round": "transposed",
    r"takes? the turns": "control flow is fixed when the step is traced",
    r"host looks?|looks? of the host": "host read",
    r"pass_(?:common|join_relu|copy_again|accumulate)":
        "cse, fuse_relu, rematerialise_copies, accumulate_in_place",
}
TERM = re.compile("|".join(rf"\b({word})\b".replace(" ", " +") for word in TERMS),
                  re.IGNORECASE)


def comments(name):
    """(line, text) of each comment that has lines of its own, joined."""
    block, first = [], 0
    for number, line in enumerate(read(name).split("\n"), 1):
        match = COMMENT.fullmatch(line)
        if match and not TITLE.match(match.group(1)):
            first = first if block else number
            block.append(match.group(1))
        elif block:
            yield first, " ".join(block)
            block = []
    if block:
        yield first, " ".join(block)


def opening_findings(name):
    for line, text in comments(name):
        clause = CLAUSE.match(text).group(0)
        for pattern, reason in OPENINGS:
            if re.match(pattern, clause):
                yield f"{name}:{line}: '{text[:40]}' {reason}"


def term_findings(name):
    text = re.sub(r"\s*\n\s*(?://[/!]?)?\s*", lambda gap: " " * len(gap.group()),
                  read(name))
    for match in TERM.finditer(text):
        line = read(name).count("\n", 0, match.start()) + 1
        better = list(TERMS.values())[match.lastindex - 1]
        yield f"{name}:{line}: '{match.group(0)}': write: {better}"


def main():
    sources = tracked("*.hpp", "*.cpp", "*.inc")
    pages = [name for name in tracked("*.md") if not name.startswith("docs/adr/")]
    findings = [finding for name in sources for finding in opening_findings(name)]
    findings += [finding for name in sources + pages
                 for finding in term_findings(name)]
    finish("words", findings, f"{len(sources)} sources, {len(pages)} pages")


if __name__ == "__main__":
    main()
