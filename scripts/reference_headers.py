"""A header of ours as doxygen reads it: same code, comments in its commands.

The opening paragraph describes the file; everything belongs to the page of the
room or the op; THROWS:, REQUIRES:, RETURNS: and LIFETIME: become headings;
"// --- title" in a class starts a group of members; a comment at the end of a
member's line is the member's.
"""

import re

CONTRACT = re.compile(
    r"\b(THROWS?(?: also)?|REQUIRES|RETURNS|LIFETIME):(?=\s|$)")
TITLES = {"THROW": "Throws", "THROWS": "Throws", "THROWS also": "Throws also",
          "THROW also": "Throws also", "REQUIRES": "Requires",
          "RETURNS": "Returns", "LIFETIME": "Lifetime"}
SECTION = re.compile(r"^ *// --- (.*?) -+$")
ACCESS = re.compile(r"^ (?:public|protected|private):$")
TRAILING = re.compile(r"^(?P<code>.*\S) {2,}// (?P<text>.*)$")
NOT_FOR_READERS = re.compile(r"NOLINT|IWYU|clang-format|^namespace\b")
SCOPE = re.compile(r"\b(?:class|struct|enum|union)\b(?!.*\))")
STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
NAMED = re.compile(r"^(\w+)(?:<T>)?: (\w)(.*)$")
CLASS = re.compile(r"^(?:class|struct) (?:NEAP_API )?(\w+)\b(?!.*;)")
DESCRIPTOR = re.compile(r"^extern const graph::Op k\w+;")
DECLARES = re.compile(r"^(?:[\w:<>&*]+ +)+[&*]?(\w+)\(")
FRIEND = re.compile(r"^ *friend\b")
SPAN = re.compile(r"(`[^`]*`)")


def escape(text):
    """Comment text without what doxygen would take for a command or a tag."""
    parts = SPAN.split(text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"[\\@<#%]|(?<![\w ])\*(?=\w)", r"\\\g<0>", parts[i])
    return "".join(parts)


def paragraphs_of(line):
    """A line of a comment, and headings where a contract begins in it."""
    pieces = CONTRACT.split(line)
    yield escape(pieces[0].rstrip())
    for word, text in zip(pieces[1::2], pieces[2::2]):
        yield f"@par {TITLES[word]}"
        yield escape(text.strip())


def is_code(lines, at):
    """An indented line, but for the rest of a list's item."""
    if not lines[at].startswith("  "):
        return False
    above = next((line for line in reversed(lines[:at])
                  if not line.startswith("  ")), "")
    return not re.match(r"[-*]|\d+\.", above)


def comment(lines):
    """Lines of a comment, without slashes, in doxygen's commands."""
    code = None
    for at, line in enumerate(lines):
        inside = is_code(lines, at) or (code is not None and not line and
                                        at + 1 < len(lines) and
                                        is_code(lines, at + 1))
        if inside and code is None:
            run = "\n".join(lines[at:])
            code = ".cpp" if re.search(r"[;{]$", run, re.MULTILINE) else \
                ".unparsed"
            yield f"@code{{{code}}}"
        elif not inside and code is not None:
            code = None
            yield "@endcode"
        if inside:
            yield line
        else:
            yield from paragraphs_of(line)
    if code is not None:
        yield "@endcode"


class Header:
    """Lines for doxygen, and for each the line that it comes from."""

    def __init__(self, text, group):
        self.lines = []
        self.origins = []
        self.at = 1
        self.group = group
        self.is_grouping = False
        self.above = None      # name and comment of the declaration above
        self.about = {}        # class -> its paragraph
        self.braces = []       # of each open one: what stands in it
        self.statement = ""    # code since the last ; or brace
        self.group_depth = None  # of braces where a member group is open
        self.trailing = None   # column of a member's comment that may go on
        source = text.splitlines()
        start = self.opening(source, group)
        self.body(source, start)

    def put(self, line):
        self.lines.append(line)
        self.origins.append(self.at)

    def put_comment(self, lines, start="///"):
        for line in comment(lines):
            self.put(f"{start} {line}".rstrip())
            start = "///"

    def opening(self, source, group):
        """Up to #pragma once. RETURNS: the index of the line after it."""
        end = source.index("#pragma once")
        self.put("/// @file")
        self.put(f"/// @ingroup {group}")
        paragraph = [line[2:].removeprefix(" ") for line in source[1:end]]
        named = NAMED.match(paragraph[0]) if paragraph else None
        if named:
            first, rest = named.groups()[1:]
            is_formula = rest.startswith((" =", "["))  # y = x w^T + b
            paragraph[0] = (first if is_formula else first.upper()) + rest
            self.about[named.group(1)] = paragraph
        self.put_comment(paragraph)
        return end + 1

    def body(self, source, start):
        block = []
        for at in range(start, len(source)):
            line = source[at]
            stripped = line.strip()
            self.at = at + 1
            if stripped.startswith("///"):
                block.append(stripped[3:].removeprefix(" "))
                continue
            block = self.shared(stripped, block)
            self.about_class(stripped, block)
            if block:
                self.put_comment(block)
                block = []
            if not (self.section(line) or self.rest_of_trailing(line)):
                self.code(line)

    def shared(self, line, block):
        """RETURNS: the comment of a declaration: its own, or that of the line
        above for another overload, and for an op's twin (maximum, minimum)."""
        if not line:
            self.above = None
        found = DECLARES.match(line)
        is_inside = self.braces and self.braces[-1] == "code"
        if not found or is_inside or self.statement.strip():
            return block
        name = found.group(1)
        if block:
            self.above = (name, list(block))
        elif self.above and (name == self.above[0] or
                             self.group.startswith("op_")):
            return list(self.above[1])
        return block

    def about_class(self, line, block):
        """The file's paragraph is the class's where it names it."""
        found = CLASS.match(line)
        paragraph = found and self.about.pop(found.group(1), None)
        if paragraph:
            block[:0] = paragraph + [""] * bool(block)

    def regroup(self, opens):
        """What stands in a namespace belongs to the page; it does not."""
        if opens != self.is_grouping:
            self.put(f"/** @addtogroup {self.group}" if opens else "/** @} */")
            if opens:
                self.put(" *  @{ */")
            self.is_grouping = opens

    def section(self, line):
        found = SECTION.match(line)
        if found:
            self.end_section()
            name, _, note = found.group(1).partition("; ")
            self.put(f"/// @name {name[:1].upper()}{name[1:]}")
            if note:
                self.put_comment([re.sub(r"^(all )?THROW:", "THROWS:", note)])
            self.put("/// @{")
            self.group_depth = len(self.braces)
        return found is not None

    def end_section(self):
        if self.group_depth is not None:
            self.put("/// @}")
            self.group_depth = None

    def rest_of_trailing(self, line):
        """A member's comment that goes on in a line of its own."""
        column = line.find("// ")
        if (self.trailing is None or column != self.trailing or
                line[:column].strip()):
            self.trailing = None
            return False
        self.put_comment([line[column + 3:]], "///<")
        return True

    def code(self, line):
        if ACCESS.match(line) and self.group_depth == len(self.braces):
            self.end_section()
        found = TRAILING.match(line)
        shown = found and not NOT_FOR_READERS.search(found.group("text"))
        bare = found.group("code") if found else line.split("//")[0]
        is_member = bool(self.braces) and self.braces[-1] == "members"
        if DESCRIPTOR.match(line):
            self.put("/// The descriptor: rules and memory facts.")
        if FRIEND.match(line):
            if "operator" not in line:
                line = bare = ""
            line = line.replace("friend ", "")
        walls = self.namespaces()
        self.count(bare)
        is_wall = walls != self.namespaces()
        if is_wall:
            self.regroup(False)
        if self.group_depth is not None and len(self.braces) < self.group_depth:
            self.end_section()
        if shown and is_member and bare[-1] in ";,":
            self.put(bare)
            self.put_comment([found.group("text")], "///<")
            self.trailing = line.index("// ")
        else:
            self.put(line if not found or shown else bare)
        if is_wall and self.namespaces():
            self.regroup(True)

    def namespaces(self):
        return self.braces.count("namespace")

    def kind(self):
        """Of the brace that the statement opens."""
        if SCOPE.search(self.statement):
            return "members"
        return "namespace" if "namespace" in self.statement else "code"

    def count(self, bare):
        """Follows braces."""
        if bare.startswith("#"):
            return
        for character in STRING.sub("", bare):
            if character == "{":
                self.braces.append(self.kind())
                self.statement = ""
            elif character == "}":
                self.braces.pop()
                self.statement = ""
            elif character == ";":
                self.statement = ""
            else:
                self.statement += character
        self.statement += " "
