#!/usr/bin/env python3
"""usage: training_picture.py record RUN STEPS METRICS.jsonl...
       training_picture.py draw

"record" puts a run's curve into docs/pictures/training.csv in place of what
stands there: the training loss as means over so many STEPS, and every measure
over the validation or test part. METRICS are files of `neap train --metrics`
or bench/peers/gpt_text_torch.py. "draw" makes docs/pictures/training.svg of
all runs of the table; its colours are to be read on white and on black.
"""

import csv
import json
import sys

from sources import ROOT

TABLE = ROOT / "docs" / "pictures" / "training.csv"
PICTURE = ROOT / "docs" / "pictures" / "training.svg"

GREY, NEAP, PEER = "#7d8590", "#2f81f7", "#f0762b"
WIDTH, HEIGHT = 860, 560  # of the picture
PANEL = (340, 180)        # of a diagram
LEFT, TOP = 60, 46        # of the first diagram
ACROSS, DOWN = 430, 280   # from one to the next


def read_table():
    """{run: [(measure, step, value)]}, in the file's order."""
    runs = {}
    if TABLE.is_file():
        with TABLE.open(encoding="ascii", newline="") as file:
            for row in csv.DictReader(file):
                runs.setdefault(row["run"], []).append(
                    (row["measure"], int(row["step"]), float(row["value"])))
    return runs


def write_table(runs):
    with TABLE.open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("run", "measure", "step", "value"))
        for run in sorted(runs):
            for measure, step, value in runs[run]:
                writer.writerow((run, measure, step, f"{value:.5f}"))


def means(losses, width):
    """Of each `width` steps, at the last of them; a rest is left out."""
    steps = sorted(losses)
    for at in range(0, len(steps) - width + 1, width):
        part = steps[at:at + width]
        yield "loss", part[-1], sum(losses[s] for s in part) / width


def record(run, width, *files):
    losses, measures = {}, {}
    for name in files:
        with open(name, encoding="utf-8") as file:
            for facts in map(json.loads, file):
                step = facts["step"]
                if "loss" in facts:
                    losses[step] = facts["loss"]  # of two the later counts
                loss = facts.get("validation_loss", facts.get("test_loss"))
                if loss is not None:
                    measures["validation loss", step] = loss
                if facts.get("test_accuracy"):
                    measures["accuracy", step] = facts["test_accuracy"]
    runs = read_table()
    runs[run] = [*means(losses, int(width)),
                 *((name, step, value)
                   for (name, step), value in sorted(measures.items()))]
    write_table(runs)
    print(f"recorded {run}: {len(runs[run])} rows")


def curve(runs, run, measure):
    return [(step, value) for name, step, value in runs.get(run, ())
            if name == measure]


def last(runs, run, measure):
    values = curve(runs, run, measure)
    return values[-1][1] if values else None


class Panel:
    """A diagram: its place in the picture and its ranges. `across` are the
    marks from the first step to the last, and what they count."""

    def __init__(self, place, title, steps, values, ticks, across):
        self.x0, self.y0 = LEFT + place[0] * ACROSS, TOP + place[1] * DOWN
        self.steps, self.values = steps, values
        self.parts = []
        width, height = PANEL
        self.text(0, -16, title, "start", "700")
        for value in ticks:
            y = self.y(value)
            self.parts.append(
                f'<path d="M{self.x0} {y:.1f}h{width}" stroke="{GREY}" '
                f'stroke-opacity="0.3"/>')
            self.text(-8, y - self.y0 + 4, f"{value:g}", "end")
        marks, unit = across
        for number, mark in enumerate(marks):
            self.text(width * number / (len(marks) - 1), height + 18,
                      f"{mark:,}".replace(",", " "), "middle")
        self.text(width / 2, height + 36, unit, "middle")

    def x(self, step):
        return self.x0 + PANEL[0] * step / self.steps

    def y(self, value):
        low, high = self.values
        part = (min(max(value, low), high) - low) / (high - low)
        return self.y0 + PANEL[1] * (1 - part)

    def text(self, x, y, text, anchor="start", weight="400", colour=GREY):
        self.parts.append(
            f'<text x="{self.x0 + x:.1f}" y="{self.y0 + y:.1f}" '
            f'text-anchor="{anchor}" font-weight="{weight}" fill="{colour}">'
            f'{text}</text>')

    def line(self, points, colour, width=2.0, opacity=1.0):
        path = " ".join(f"{self.x(s):.1f},{self.y(v):.1f}" for s, v in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{width}" stroke-opacity="{opacity}"/>')

    def dots(self, points, colour, radius=3.5, fill="none"):
        for step, value in points:
            self.parts.append(
                f'<circle cx="{self.x(step):.1f}" cy="{self.y(value):.1f}" '
                f'r="{radius}" fill="{fill}" stroke="{colour}" '
                f'stroke-width="1.5"/>')

    def key(self, *lines):
        """Explains marks: (colour, is a dot, text)."""
        for number, (colour, is_dot, text) in enumerate(lines):
            x, y = PANEL[0] - 160, (12, 31, 59, 78)[number]  # between ticks
            self.parts.append(
                f'<circle cx="{self.x0 + x + 9}" cy="{self.y0 + y}" r="3.5" '
                f'fill="none" stroke="{colour}" stroke-width="1.5"/>'
                if is_dot else
                f'<path d="M{self.x0 + x} {self.y0 + y}h18" '
                f'stroke="{colour}" stroke-width="3"/>')
            self.text(x + 26, y + 4, text)


def quarters(steps):
    return [steps * quarter // 4 for quarter in range(5)], "steps"


def losses_of_gpt(runs):
    ours, theirs = (curve(runs, run, "loss") for run in ("gpt", "gpt torch"))
    panel = Panel((0, 0), "GPT of 4 layers, King James text: loss",
                  ours[-1][0], (1.0, 3.0), (1, 1.5, 2, 2.5, 3),
                  quarters(ours[-1][0]))
    panel.line(theirs, PEER, 6, 0.55)
    panel.line(ours, NEAP, 1.5)
    panel.dots(curve(runs, "gpt torch", "validation loss"), PEER, 5.5)
    panel.dots(curve(runs, "gpt", "validation loss"), NEAP, 3)
    panel.key((PEER, False, "PyTorch, training"), (NEAP, False, "Neap, training"),
              (PEER, True, "PyTorch, validation"),
              (NEAP, True, "Neap, validation"))
    return panel


def differences(runs, measure):
    theirs = dict(curve(runs, "gpt torch", measure))
    return [(step, value - theirs[step])
            for step, value in curve(runs, "gpt", measure) if step in theirs]


def difference_of_gpt(runs):
    steps = curve(runs, "gpt", "loss")[-1][0]
    panel = Panel((1, 0), "The same: Neap's loss less PyTorch's", steps,
                  (-0.02, 0.02), (-0.02, -0.01, 0, 0.01, 0.02),
                  quarters(steps))
    panel.line(differences(runs, "loss"), NEAP)
    panel.dots(differences(runs, "validation loss"), NEAP)
    panel.key((NEAP, False, "training"), (NEAP, True, "validation"))
    return panel


def losses_of_images(runs, column, run, title, epochs, each):
    """`each`: steps in an epoch."""
    panel = Panel((column, 1), f"{title}, {epochs} epochs: loss",
                  epochs * each, (0, 1), (0, 0.25, 0.5, 0.75, 1),
                  (range(epochs + 1), "epochs"))
    panel.line(curve(runs, run, "loss"), NEAP)
    panel.dots(curve(runs, run, "validation loss"), NEAP)
    accuracy = last(runs, run, "accuracy")
    test = "" if accuracy is None else f", {100 * accuracy:.2f} % right"
    panel.key((NEAP, False, "training"), (NEAP, True, "test" + test))
    return panel


def draw():
    runs = read_table()
    panels = [
        losses_of_gpt(runs), difference_of_gpt(runs),
        losses_of_images(runs, 0, "lenet", "LeNet, Fashion-MNIST", 5, 938),
        losses_of_images(runs, 1, "resnet18", "ResNet-18, Fashion-MNIST", 3,
                         469)]
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}" font-size="13" '
             f'font-family="system-ui, sans-serif">']
    for panel in panels:
        lines += panel.parts
    PICTURE.write_text("\n".join([*lines, "</svg>", ""]), "ascii")
    print(f"drew {PICTURE.relative_to(ROOT)}")


def main():
    words = sys.argv[1:]
    if len(words) >= 4 and words[0] == "record":
        record(*words[1:])
    elif words == ["draw"]:
        draw()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
