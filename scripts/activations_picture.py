#!/usr/bin/env python3
"""usage: activations_picture.py record | draw

"record" puts what `./dev bench activations` measured last
(build/bench/results.jsonl) into docs/pictures/activations.csv, "draw" makes
docs/pictures/activations.svg of that table: for each model the most memory of a
step against its time beside that of the step which keeps all, ours and
PyTorch's; its colours are to be read on white and on black.
"""

import csv
import json
import sys

from sources import ROOT

TABLE = ROOT / "docs" / "pictures" / "activations.csv"
PICTURE = ROOT / "docs" / "pictures" / "activations.svg"
RESULTS = ROOT / "build" / "bench" / "results.jsonl"
COLUMNS = ("model", "who", "setting", "peak_mb", "seconds", "extra_percent")

GREY, NEAP, PEER = "#7d8590", "#2f81f7", "#f0762b"
PANEL = (340, 220)
LEFT, TOP, ACROSS = 60, 60, 430
WIDTH, HEIGHT = 860, 350


def rows_of(facts):
    model, setting = facts["name"].rsplit(", ", 1)
    for who, peak, seconds, extra in (
            ("Neap", "peak, MB", "ours", "extra, %"),
            (facts["peer_name"].split(" on ")[0].split("; ")[-1],
             "peer peak, MB", "peer", "peer extra, %")):
        if facts.get(peak) is not None and facts.get(seconds) is not None:
            yield (model, who, setting.removesuffix(" %"),
                   f"{facts[peak]:.2f}", f"{facts[seconds]:.4f}",
                   f"{facts[extra]:.2f}")


def record():
    with RESULTS.open(encoding="utf-8") as file:
        facts = [json.loads(line) for line in file]
    rows = [row for fact in facts if fact["section"] == "activations"
            for row in rows_of(fact)]
    with TABLE.open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted(rows, key=lambda r: (r[0], r[1], -int(r[2]))))
    print(f"recorded {len(rows)} rows")


def text(x, y, words, anchor="middle", colour=GREY, weight="400"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'fill="{colour}" font-weight="{weight}">{words}</text>')


def step_above(value):
    """A round distance of marks, five of them at most."""
    for step in (5, 10, 20, 25, 50, 100, 200, 500):
        if value <= 5 * step:
            return step
    return 1000


class Panel:
    def __init__(self, number, model, rows):
        self.x0, self.y0 = LEFT + number * ACROSS, TOP
        self.points = {}
        for row in rows:
            self.points.setdefault(row["who"], []).append(
                (float(row["peak_mb"]), float(row["extra_percent"]),
                 row["setting"]))
        everything = [p for points in self.points.values() for p in points]
        self.step = (step_above(max(p[0] for p in everything)),
                     step_above(max(p[1] for p in everything)))
        self.most = (max(p[0] for p in everything) * 1.05,
                     max(max(p[1] for p in everything), 5) * 1.1)
        self.model = model

    def at(self, peak, extra):
        width, height = PANEL
        return (self.x0 + width * peak / self.most[0],
                self.y0 + height * (1 - max(extra, 0) / self.most[1]))

    def axes(self):
        width, height = PANEL
        yield text(self.x0, self.y0 - 14, self.model, "start", weight="700")
        for i in range(int(self.most[1] // self.step[1]) + 1):
            _, y = self.at(0, i * self.step[1])
            yield (f'<path d="M{self.x0} {y:.1f}h{width}" stroke="{GREY}" '
                   f'stroke-opacity="0.3"/>')
            yield text(self.x0 - 8, y + 4, f"+{i * self.step[1]} %", "end")
        for i in range(int(self.most[0] // self.step[0]) + 1):
            x, _ = self.at(i * self.step[0], 0)
            yield text(x, self.y0 + height + 18, f"{i * self.step[0]}")
        yield text(self.x0 + width / 2, self.y0 + height + 36,
                   "most memory of a step beside weights and state, MB")

    def curve(self, who):
        colour, radius = (NEAP, 3.5) if who == "Neap" else (PEER, 4.5)
        points = sorted(self.points[who], key=lambda p: -int(p[2]))
        path = " ".join("{:.1f},{:.1f}".format(*self.at(p[0], p[1]))
                        for p in points)
        yield (f'<polyline points="{path}" fill="none" stroke="{colour}" '
               f'stroke-width="1.5" stroke-opacity="0.6"/>')
        for peak, extra, setting in points:
            x, y = self.at(peak, extra)
            tip = f"{who}, {setting} %: {peak:.0f} MB, {extra:+.1f} %"
            yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" '
                   f'fill="{colour}"><title>{tip}</title></circle>')

    def draw(self):
        yield from self.axes()
        for number, who in enumerate(sorted(self.points, reverse=True)):
            yield from self.curve(who)
            x, y = self.x0 + PANEL[0] - 120, self.y0 + 12 + 19 * number
            colour = NEAP if who == "Neap" else PEER
            yield f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
            yield text(x + 10, y + 4, who, "start")


def draw():
    with TABLE.open(encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    models = sorted({row["model"] for row in rows})
    parts = [text(WIDTH / 2, 22, "A step with less memory: time beside the same "
                  "step that keeps all", weight="700")]
    for number, model in enumerate(models):
        mine = [row for row in rows if row["model"] == model]
        parts.extend(Panel(number, model, mine).draw())
    PICTURE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
        f'{HEIGHT}" font-family="system-ui, sans-serif" font-size="12">\n'
        + "\n".join(parts) + "\n</svg>\n", encoding="ascii")


if __name__ == "__main__":
    {"record": record, "draw": draw}[sys.argv[1]]()
