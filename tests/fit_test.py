#!/usr/bin/env python3
"""`neap fit` as its users meet it: each budget that it names suffices.

usage: fit_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import sys
import unittest
import xml.etree.ElementTree

import tool_case
from tool_case import MEMORY, OK, OUTPUT, USAGE, ToolCase

LINE = ("--model", "gpt", "--layers", "2", "--dim", "64", "--threads", "1",
        "--batch")
BATCH = LINE + ("16",)


class FitTest(ToolCase):
    def setUp(self):
        super().setUp()
        if tool_case.SANITIZER and "less_memory" not in self.id():
            self.skipTest("searches are slow there, and have tests of their own")

    def fit(self, *arguments):
        """RETURNS: the JSON object of `neap fit --json -`."""
        status, output, errors = self.run_tool("fit", *arguments, "--json",
                                               "-")
        self.assertEqual((status, errors), (OK, ""), output)
        return json.loads(output)

    def test_less_memory_costs_more_time(self):
        points = self.fit(*BATCH)["points"]
        self.assertGreater(len(points), 4)
        self.assertEqual(points[0]["extra_time_percent"], 0)
        for more, less in zip(points, points[1:]):
            self.assertLess(less["arena_bytes"], more["arena_bytes"])
            self.assertLess(less["budget_bytes"], more["budget_bytes"])
            self.assertGreaterEqual(less["extra_time_percent"],
                                    more["extra_time_percent"])
            self.assertLessEqual(less["extra_time_bound_percent"],
                                 less["extra_time_percent"])
            self.assertGreater(less["calls_again"] + less["pieces"]
                               + less["micro_batches"], 0)

    def test_each_budget_suffices(self):
        for point in self.fit(*BATCH)["points"]:
            status, output, errors = self.run_tool(
                "plan", *BATCH, "--budget", point["budget_bytes"], "--json",
                "-")
            self.assertEqual((status, errors), (OK, ""), point)
            told = json.loads(output)
            self.assertLessEqual(told["extra_time_percent"],
                                 point["extra_time_percent"])
            self.assertLessEqual(told["peak_bytes"] + told["external_bytes"],
                                 point["budget_bytes"])

    def test_a_batch_grows_into_the_budget(self):
        whole = self.fit(*BATCH)["points"][0]["budget_bytes"]
        told = self.fit(*BATCH, "--budget", whole, "--grow", "batch")
        self.assertTrue(told["fits_budget"])
        grown = told["largest_batch"]
        self.assertGreater(grown, 16)
        self.assertGreater(told["largest_batch_extra_time_percent"], 0)
        status, output, _ = self.run_tool("plan", *LINE, grown,
                                          "--budget", whole)
        self.assertEqual(status, OK, output)

    def test_text_and_picture(self):
        picture = self.folder / "fit.svg"
        status, output, errors = self.run_tool("fit", *BATCH, "--svg", picture)
        self.assertEqual((status, errors), (OK, ""))
        self.assertRegex(output, r"\A +budget +arena +of it|\Agpt, batch 16")
        self.assertRegex(output, r"(?m)^ +\S+ MiB +\S+ MiB +100 % +0[.]0 %")
        root = xml.etree.ElementTree.parse(picture).getroot()
        self.assertTrue(root.tag.endswith("svg"))

    def test_what_cannot_be_met_is_refused(self):
        status, output, errors = self.run_tool("fit", *BATCH, "--budget",
                                               "20MiB")
        self.assertEqual(status, MEMORY)
        self.assertIn("budget 20.0 MiB (20 971 520 B): not met", output)
        self.check_budget_refusal(errors)

    def test_arguments_that_mean_nothing_are_refused(self):
        for arguments, says in ((("--grow", "batch"), "--budget"),
                                (("--grow", "width"), "--grow"),
                                (("--eager",), "--eager"),
                                (("--json", self.folder / "x", "--svg",
                                  self.folder / "x"), "--svg")):
            status, _, errors = self.run_tool("fit", *BATCH, *arguments)
            self.assertEqual(status, USAGE, arguments)
            self.assertIn(says, errors)

    def test_a_picture_that_cannot_be_written_is_told(self):
        status, _, errors = self.run_tool("fit", *BATCH, "--svg",
                                          "/no/such/folder/fit.svg")
        self.assertEqual(status, OUTPUT)
        self.assertIn("/no/such/folder", errors)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
