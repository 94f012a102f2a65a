#!/usr/bin/env python3
"""Draws where the values of a training step lie, and for how long.

usage: step_picture.py

Reads docs/pictures/step.csv, which build/release/examples/neap_example_step_memory
prints, and writes docs/pictures/step.svg: a rectangle a value in the step's
arena, calls to the right, bytes upward.
"""

import csv
import html

from sources import ROOT

FOLDER = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 860, 330  # of the diagram
LEFT, TOP, RIGHT, BOTTOM = 70, 58, 20, 62
COLOURS = {"activations": "#7aa6d8", "gradients": "#e8a25c",
           "workspace": "#c9cdd3"}
WORDS = {"workspace": "scratch of one call"}
MIB = 1 << 20
LETTER = 6.2  # width of one, at 11 px


def text(x, y, words, anchor="middle", **more):
    more = "".join(f' {key.replace("_", "-")}="{value}"'
                   for key, value in more.items())
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
            f"{html.escape(words)}</text>")


class Picture:
    def __init__(self, rows):
        self.rows = [row for row in rows if row["where"] == "arena"]
        for row in self.rows:
            for key in ("first", "last", "offset", "bytes"):
                row[key] = int(row[key])
        self.calls = max(int(row["last"]) for row in rows) + 1
        self.bytes = max(row["offset"] + row["bytes"] for row in self.rows)

    def x(self, call):
        return LEFT + WIDTH * call / self.calls

    def y(self, offset):
        return TOP + HEIGHT * (1 - offset / self.bytes)

    def value(self, row):
        x, right = self.x(row["first"]), self.x(row["last"] + 1)
        y, bottom = self.y(row["offset"] + row["bytes"]), self.y(row["offset"])
        tip = (f'{row["name"]}: calls {row["first"]} to {row["last"]}, '
               f'{row["bytes"]} B at {row["offset"]}')
        yield (f'<rect x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" '
               f'height="{max(bottom - y, 0.8):.1f}" '
               f'fill="{COLOURS[row["category"]]}" stroke="#fff" '
               f'stroke-width="0.7"><title>{html.escape(tip)}</title></rect>')
        name = row["name"]
        if right - x > LETTER * len(name) + 6 and bottom - y > 14:
            yield text((x + right) / 2, (y + bottom) / 2 + 4, name,
                       fill="#1c2530")

    def axes(self):
        for tenth in range(0, int(2 * self.bytes / MIB) + 1):
            y = self.y(tenth * MIB / 2)
            yield (f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#888" '
                   f'stroke-opacity="0.35"/>')
            yield text(LEFT - 8, y + 4, f"{tenth / 2:g} MiB", "end")
        for call in range(0, self.calls + 1, 4):
            yield text(self.x(call), TOP + HEIGHT + 18, str(call))
        yield text(LEFT + WIDTH / 2, TOP + HEIGHT + 36,
                   "calls of the step: forward, backward, update")

    def legend(self):
        x = LEFT
        for category, colour in COLOURS.items():
            words = WORDS.get(category, category)
            yield (f'<rect x="{x}" y="{TOP - 24}" width="12" height="12" '
                   f'fill="{colour}"/>')
            yield text(x + 18, TOP - 14, words, "start")
            x += 40 + LETTER * len(words)

    def svg(self):
        parts = [text(LEFT, 20, "The arena of the demo's training step: "
                      f"{self.bytes / MIB:.1f} MiB, laid out before the first "
                      "step", "start", font_size="14", font_weight="700")]
        parts += self.legend()
        parts += self.axes()
        # Long lives first, so that scratch is seen on top.
        for row in sorted(self.rows, key=lambda row: row["first"] - row["last"]):
            parts += self.value(row)
        width = LEFT + WIDTH + RIGHT
        height = TOP + HEIGHT + BOTTOM - 14
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
                f'{height}" font-family="sans-serif" font-size="11" '
                f'fill="#333">\n<rect width="{width}" height="{height}" '
                'fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n")


def main():
    with open(FOLDER / "step.csv", encoding="utf-8") as file:
        picture = Picture(list(csv.DictReader(file)))
    (FOLDER / "step.svg").write_text(picture.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
