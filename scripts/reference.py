#!/usr/bin/env python3
"""The API reference of the public headers and the guides: build/docs/html.

  reference.py OP_FACTS    OP_FACTS is tests/op_facts.cpp, built

Lays the headers and pages out in build/docs/input, runs doxygen, and fails
where a comment is wrong or a link leads nowhere. ./dev docs runs it.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

from headers import paragraph, reached
from reference_headers import Header, comment, escape
from reference_ops import Ops, stem_of
from reference_pages import Pages, encoded, page_id
from sources import ROOT, finish, read, tracked

OUT = ROOT / "build" / "docs"
INPUT = OUT / "input"
ROOMS = "docs/reference/rooms.txt"
# Headers that are not for users, but whose paragraph says what users rely on.
EXPLAINED = ["neap/kernels/conv/conv.hpp", "neap/kernels/gemm/gemm.hpp",
             "neap/kernels/reduction/reduce.hpp"] + [
    name for name in tracked("neap/kernels/*-inl.hpp")
    if "units in the last place" in " ".join(paragraph(read(name)))]
# Of ops/: what concerns all of them.
SHARED_OPS = {"ops", "op_list", "operators"}


def public_headers():
    """Those that neap/neap.hpp leads to, and those that export a name. In a
    room those come first that declare names of neap itself."""
    umbrella = set(reached("neap/neap.hpp"))
    public = [name for name in tracked("neap/*/*.hpp")
              if name in umbrella or "NEAP_API" in read(name)]
    return sorted(public, key=lambda name: (
        "\nnamespace neap {" not in read(name),
        stem_of(name) != name.split("/")[1]))


def rooms():
    """Name, title and contents of each, in order."""
    return re.findall(r"^(\w+) +([^:]+): (.*)$", read(ROOMS), re.MULTILINE)


def room_texts():
    """Room -> its paragraph of ARCHITECTURE.md."""
    texts = {}
    for piece in re.split(r"\n\n+", read("ARCHITECTURE.md")):
        for room in re.findall(r"\*\*(\w+)/\*\*", piece):
            texts[room] = piece
    return texts


def group_of(header):
    room = header.split("/")[1]
    if room == "ops" and stem_of(header) not in SHARED_OPS:
        return f"op_{stem_of(header)}"
    return f"room_{room}"


def group(name, title, parent, brief, details):
    lines = [f"@defgroup {name} {title}"]
    if parent:
        lines.append(f"@ingroup {parent}")
    return "\n".join(["/**", *lines, f"@brief {brief}", "", *details, "*/",
                      ""])


def groups(headers, ops):
    """The pages of rooms and operations, in doxygen's language."""
    texts = room_texts()
    present = {header.split("/")[1] for header in headers}
    titles = {room: title for room, title, _ in rooms()}
    for room in sorted(present - titles.keys()):
        raise SystemExit(f"reference: {ROOMS} has no line for {room}")
    for room, title, contents in rooms():
        if room in present:
            text = texts[room].replace("**", "").splitlines()
            yield group(f"room_{room}", title, None,
                        f"<code>neap/{room}</code>: {contents}.",
                        comment(text))
    operations = [h for h in headers if group_of(h).startswith("op_")]
    for header in sorted(operations, key=stem_of):
        yield group(group_of(header), ops.title(header), ops.parent(header),
                    ops.brief(header), list(ops.table(header)))
    yield group("inside_derivatives", "Inside derivatives", "room_ops",
                "Operations that the derivative rules of others call.", [])


def guides():
    """Pages in the order of the sidebar."""
    first = ["README.md", "docs/tour.md", "docs/memory.md", "docs/own-data.md",
             "docs/command-line.md", "docs/ops.md", "docs/numerics.md",
             "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    there = tracked("*.md")
    guides = [name for name in first if name in there]
    guides += [name for name in there if name not in first
               and re.fullmatch(r"docs/[^/]+\.md", name)]
    return guides, [name for name in there if name.startswith("docs/adr/")]


def decisions(records):
    """The page that lists the records of docs/adr."""
    lines = ["# Decisions {#page_decisions}", "",
             "What was decided, when and why; one dated page each.", ""]
    lines += [f"- @subpage {page_id(name)}" for name in records]
    return lines


class Layout:
    """Writes what doxygen reads; knows where each line comes from."""

    def __init__(self):
        shutil.rmtree(OUT, ignore_errors=True)
        self.paths = []    # in the order in which doxygen reads them
        self.origins = {}

    def put(self, name, lines, source=None, origins=None):
        path = INPUT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.paths.append(path)
        if source:
            self.origins[str(path)] = (source, origins)

    def original(self, warning):
        found = re.match(r"(/[^:]*):(\d+): (.*)", warning)
        if not found or found.group(1) not in self.origins:
            return warning
        source, origins = self.origins[found.group(1)]
        line = min(int(found.group(2)), len(origins) if origins else 10**9)
        return f"{source}:{origins[line - 1] if origins else line}: " \
               f"{found.group(3)}"


def explained(name):
    """Only the opening paragraph of a header, as a file of its own."""
    lines = [f"/// @file", "/// @ingroup room_kernels"]
    return lines + [f"/// {line}".rstrip()
                    for line in comment(paragraph(read(name)))]


def example_name(path):
    """The path below examples/, which is what doxygen looks a program up by."""
    return str(pathlib.PurePath(path).relative_to("examples"))


def lay_out(ops):
    layout = Layout()
    headers = public_headers()
    for name in headers:
        header = Header(read(name), group_of(name))
        layout.put(name, header.lines, name, header.origins)
    for name in EXPLAINED:
        if name not in headers:
            layout.put(name, explained(name), name)
    layout.put("groups.dox", groups(headers, ops))
    examples = tracked("examples/*.cpp")
    layout.put("examples.dox",
               ["/**\n" + "\n".join([f"@example {example_name(name)}",
                                     "@details",
                                     *map(escape, paragraph(read(name)))])
                + "\n*/" for name in examples])

    pages, records = guides()
    targets = {name: f"{encoded(example_name(name))}-example.html"
               for name in examples}
    for name in headers + EXPLAINED:
        targets[name] = (f"@ref {group_of(name)}" if "/ops/" in name
                         else f"@ref {name}")
    targets["docs/adr"] = "@ref page_decisions"
    targets["neap/ops/op_list.inc"] = "@ref page_ops"
    book = Pages(pages + records, targets)
    for number, name in enumerate(pages + records):
        lines = book.convert(name, read(name))
        layout.put(f"{number:02}_{page_id(name)}.md", lines, name)
    layout.put("99_decisions.md", decisions(records))
    return layout


def run_doxygen(layout):
    """RETURNS: what it warns of, at the project's own lines."""
    names = " ".join(str(path) for path in layout.paths)
    settings = read("docs/reference/Doxyfile") + f"INPUT = {names}\n"
    subprocess.run(["doxygen", "-"], cwd=ROOT, input=settings, text=True,
                   check=True, stdout=subprocess.DEVNULL)
    # The results of a search are pages of their own.
    with (OUT / "html" / "search" / "search.css").open("a") as sheet:
        sheet.write(read("docs/reference/style.css"))
    log = (OUT / "warnings.log").read_text(encoding="utf-8")
    return [layout.original(line) for line in log.splitlines() if line]


class Links(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        self.anchors |= {names.get("id"), names.get("name")}
        if tag == "a" and names.get("href"):
            self.links.append(names["href"])


def broken_links():
    pages = {path.name: Links(path.read_text(encoding="utf-8"))
             for path in (OUT / "html").glob("*.html")}
    for name, page in sorted(pages.items()):
        for link in page.links:
            url = urllib.parse.urlparse(link)
            if url.scheme:
                continue
            target = urllib.parse.unquote(url.path) or name
            if not (OUT / "html" / target).exists():
                yield f"html/{name}: link to {link}, which is not there"
            elif (url.fragment and target in pages and
                  url.fragment != "nested-classes" and  # of private ones
                  url.fragment not in pages[target].anchors):
                yield f"html/{name}: there is no place {link}"


def main():
    layout = lay_out(Ops(sys.argv[1]))
    findings = run_doxygen(layout)
    findings += broken_links()
    count = len(list((OUT / "html").glob("*.html")))
    finish("reference", findings,
           f"{count} pages, build/docs/html/index.html")


if __name__ == "__main__":
    main()
