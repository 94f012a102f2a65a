#!/usr/bin/env python3
"""`neap pack` as its users meet it: problems in, plans out, exit statuses.

usage: pack_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import csv
import json
import random
import re
import sys
import unittest

import tool_case
from tool_case import DATA, MEMORY, OK, OUTPUT, USAGE, ToolCase

OPTIONS = "help capacity seconds out svg json".split()
KEYS = ("buffers capacity fits height lower_bound proven method work "
        "seconds").split()
SMALL = "id,lower,upper,size\na,0,3,4\nb,2,5,6\nc,3,9,4\n"


def random_problem(count):
    numbers = random.Random(1)
    rows = ["size,upper,name,lower"]
    for index in range(count):
        lower = numbers.randrange(100)
        rows.append(f"{numbers.randrange(1, 50)},"
                    f"{lower + numbers.randrange(1, 30)},b{index},{lower}")
    return "\n".join(rows) + "\n"


def is_free_of_overlaps(rows):
    boxes = [tuple(int(row[name])
                   for name in ("lower", "upper", "offset", "size"))
             for row in rows]
    return not any(a[0] < b[1] and b[0] < a[1]
                   and a[2] < b[2] + b[3] and b[2] < a[2] + a[3]
                   for index, a in enumerate(boxes) for b in boxes[:index])


class PackTest(ToolCase):
    def problem(self, text):
        path = self.folder / "problem.csv"
        path.write_text(text)
        return path

    def pack(self, text, *arguments):
        status, output, errors = self.run_tool("pack", self.problem(text),
                                               *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return output

    def refuse_pack(self, status, *arguments, says=""):
        found, _, errors = self.run_tool("pack", *arguments)
        self.assertEqual(found, status, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def test_the_help_lists_every_option(self):
        status, text, errors = self.run_tool("pack", "--help")
        self.assertEqual((status, errors), (OK, ""))
        listed = re.findall(r"^\s+(?:-h,)?--([a-z-]+)", text, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(OPTIONS))
        self.assertIn("Exit status", text)

    def test_the_table_says_height_bound_gap_and_proof(self):
        text = self.pack(SMALL)
        self.assertRegex(text, r"(?m)^height +10$")
        self.assertRegex(text, r"(?m)^lower bound +10$")
        self.assertRegex(text, r"(?m)^gap +0\.00 %$")
        self.assertRegex(text, r"(?m)^proof +no plan is lower$")

    def test_the_json_has_every_key(self):
        found = json.loads(self.pack(SMALL, "--json"))
        self.assertEqual(list(found), KEYS)
        self.assertEqual((found["height"], found["lower_bound"],
                          found["proven"], found["fits"]),
                         (10, 10, True, True))

    def test_the_plan_has_the_same_rows_and_no_overlap(self):
        text = random_problem(150)
        out = self.folder / "plan.csv"
        found = json.loads(self.pack(text, "--json", "--out", out))
        lines = out.read_text().splitlines()
        self.assertEqual([line.rsplit(",", 1)[0] for line in lines],
                         text.splitlines())
        rows = list(csv.DictReader(lines))
        self.assertTrue(is_free_of_overlaps(rows))
        self.assertEqual(found["height"], max(
            int(row["offset"]) + int(row["size"]) for row in rows))
        self.assertGreaterEqual(found["height"], found["lower_bound"])

    def test_the_same_problem_gives_the_same_plan(self):
        outs = []
        for name in ("first.csv", "second.csv"):
            out = self.folder / name
            self.pack(random_problem(60), "--out", out)
            outs.append(out.read_text())
        self.assertEqual(*outs)

    def test_the_drawing_has_a_rectangle_a_buffer(self):
        out = self.folder / "plan.svg"
        self.pack(SMALL, "--svg", out)
        self.assertEqual(out.read_text().count("<rect"), 3)

    def test_a_capacity_that_is_too_small_is_refused(self):
        path = self.problem(SMALL)
        self.refuse_pack(MEMORY, path, "--capacity", "9", says="within 9")
        self.pack(SMALL, "--capacity", "10")
        status, text, _ = self.run_tool("pack", path, "--capacity", "9",
                                        "--json")
        self.assertEqual(status, MEMORY)
        found = json.loads(text)
        self.assertEqual((found["fits"], found["proven"], found["height"]),
                         (False, True, None))

    def test_bad_arguments_are_refused(self):
        path = self.problem(SMALL)
        self.refuse_pack(USAGE, says="pack needs FILE")
        self.refuse_pack(USAGE, path, "--capacity", "0", says="--capacity")
        self.refuse_pack(USAGE, path, "--seconds", "-1", says="--seconds")
        self.refuse_pack(USAGE, path, "--budget", "1", says="--budget")

    def test_bad_files_are_refused_with_their_line(self):
        self.refuse_pack(DATA, self.folder / "none.csv", says="none.csv")
        self.refuse_pack(DATA, self.folder, says=str(self.folder))
        for text, says in (("", "line 1"), ("id,lower,upper\n", "size"),
                           (SMALL + "d,1,1,1\n", "line 5"),
                           (SMALL + "d,1,2,x\n", "line 5"),
                           (SMALL + "d,1\n", "line 5")):
            self.refuse_pack(DATA, self.problem(text), says=says)

    def test_an_output_that_cannot_be_written_is_refused(self):
        self.refuse_pack(OUTPUT, self.problem(SMALL), "--out",
                         self.folder / "none" / "plan.csv", says="none")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
