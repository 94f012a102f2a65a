"""Joins the assets of neap/report/page and a snapshot into one page, as
report::write_page does."""

import base64
import gzip
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
ASSETS = HERE.parents[1] / "neap" / "report" / "page"
SCRIPTS = ("load", "model", "picture", "map", "areas", "panel", "below", "diff",
           "main")


def asset(name):
    return (ASSETS / name).read_text(encoding="ascii")


def joined():
    """(script, style), as they are embedded: without indents and notes."""
    def slim(text):
        lines = (line.strip() for line in text.splitlines())
        return "\n".join(line for line in lines if line and
                         not re.match(r"//|/\*\*.*\*/$", line)) + "\n"
    return slim("".join(asset(f"{name}.js") for name in SCRIPTS)), slim(
        asset("page.css"))


def block(snapshot, name, packed=False):
    text = snapshot if isinstance(snapshot, str) else json.dumps(
        snapshot, separators=(",", ":"))
    if packed:
        data = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
        return (f'<script type="text/plain" id="{name}" '
                f'data-encoding="gzip-base64">{data}</script>\n')
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def page(snapshot, other=None, packed=False, head="", tables=""):
    script, style = joined()
    data = block(snapshot, "snapshot", packed)
    if other is not None:
        data += block(other, "other", packed)
    parts = {"/*STYLE*/": style, "/*SCRIPT*/": script, "<!--HEAD-->": head,
             "<!--TABLES-->": tables, "<!--DATA-->": data}
    marks = "|".join(map(re.escape, parts))
    return re.sub(marks, lambda match: parts[match.group()], asset("page.html"))
