"""The guides as doxygen reads them: links to pages, headings and headers lead
to their places in the reference."""

import posixpath
import re

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#+) (.*)$")
FENCE = re.compile(r"^\s*```")


def page_id(name):
    """docs/own-data.md -> page_own_data; README.md is the main page."""
    if name == "README.md":
        return "mainpage"
    stem = name.removeprefix("docs/").removesuffix(".md").lower()
    return "page_" + re.sub(r"\W", "_", stem)


def slug(heading):
    """As a page on the web would number its headings."""
    words = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return words.strip().replace(" ", "-")


def encoded(name):
    """As doxygen names the page of a file."""
    for character, code in (("/", "_2"), (".", "_8")):
        name = name.replace(character, code)
    return name


class Pages:
    """`pages`: those shown; `targets`: path of a file -> where it is shown."""

    def __init__(self, pages, targets):
        self.pages = set(pages)
        self.targets = targets

    def target(self, page, link):
        """Where a link of a page leads in the reference; None: nowhere."""
        path, _, anchor = link.partition("#")
        if "://" in link:
            return link
        name = (posixpath.normpath(posixpath.join(posixpath.dirname(page),
                                                  path)) if path else page)
        if name in self.pages:
            found = page_id(name)
            return f"@ref {found}_{slug(anchor)}" if anchor else f"@ref {found}"
        return self.targets.get(name)

    def links(self, page, line):
        def replace(found):
            text, link = found.groups()
            target = self.target(page, link)
            if target and target.startswith("@ref"):
                text = text.replace("`", "")  # which it would show
            return f"[{text}]({target})" if target else text
        return LINK.sub(replace, line)

    def heading(self, page, depth, title):
        """The main page's own do not belong in the sidebar, as its first."""
        name = page_id(page)
        if len(depth) == 1:
            return f"# {title} {{#{name}}}"
        name += "_" + slug(title)
        if page == "README.md":
            level = len(depth) - 1
            return f'<h{level}>@anchor {name} {title}</h{level}>'
        return f"{depth} {title} {{#{name}}}"

    def convert(self, page, text):
        """RETURNS: the page's lines, as many as there were."""
        is_code = False
        lines = []
        for line in text.splitlines():
            heading = HEADING.match(line)
            if FENCE.match(line):
                is_code = not is_code
                line = line.replace("```text", "```unparsed").replace(
                    "```cmake", "```unparsed")
            elif is_code or line.startswith("    "):
                pass
            elif line.startswith("<!-- "):
                line = ""
            elif heading:
                line = self.heading(page, *heading.groups())
            else:
                line = self.links(page, line)
            lines.append(line)
        return lines
