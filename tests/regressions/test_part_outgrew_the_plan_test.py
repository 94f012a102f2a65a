#!/usr/bin/env python3
"""The budget that `neap plan` names carries a run to its end: also where the
part kept for the test has more samples than a training batch can have.

usage: test_part_outgrew_the_plan_test.py TOOL SANITIZER
"""

import json
import os
import sys
import unittest

import tool_case
from tool_case import OK, SMALL_GPT, ToolCase


class LargeTestPartTest(ToolCase):
    def table(self, rows):
        path = self.folder / "table.csv"
        path.write_text("a,b,label\n" + "".join(
            f"{row * .5},{row % 7},{row % 3}\n" for row in range(rows)))
        return "--data", "csv", "--path", path, "--hidden", "64"

    def summary(self, *arguments):
        """RETURNS: the JSON summary of a run that ends well."""
        status, output, errors = self.run_tool(
            "train", "--steps", "2", "--progress", "none", "--json", "-",
            *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return json.loads(output)

    def carries(self, *arguments):
        """The planned budget carries the run, and nothing above it is held."""
        common = ("--threads", "1", *arguments)
        status, output, errors = self.run_tool("plan", "--json", *common)
        self.assertEqual((status, errors), (OK, ""))
        told = json.loads(output)
        budget = told["peak_bytes"] + told["external_bytes"]
        found = self.summary("--compile", "--budget", budget, *common)
        self.assertEqual(found["peak_bytes"], told["peak_bytes"])

    @unittest.skipIf(len(sys.argv) > 2 and sys.argv[2],
                     "every block is a malloc of its own, without pages")
    def test_the_budget_of_the_plan_carries_the_test_pass(self):
        table = self.table(20_000)
        for share in ("0.6", "0.95", "0.9999"):
            with self.subTest(share=share):
                self.carries(*table, "--validation", share, "--batch", "20000")
        text = self.folder / "long.txt"
        text.write_text(tool_case.TEXT * 20)
        gpt = (*SMALL_GPT, "--data", "text", "--path", text)
        self.carries(*gpt, "--validation", "0.9", "--batch", "1000")

    @unittest.skipIf(len(sys.argv) > 2 and sys.argv[2],
                     "every block is a malloc of its own, without pages")
    def test_the_plan_counts_what_the_run_counts_of_its_model(self):
        data = self.write_set(tool_case.separable(3))
        for width in ("1", "2"):  # with many parameters, of many pages
            common = ("--data", data, "--model", "resnet34", "--width", width,
                      "--threads", "1")
            told = self.run_tool("plan", "--json", *common)[1]
            found = self.summary("--compile", *common)
            self.assertEqual(found["peak_bytes"],
                             json.loads(told)["peak_bytes"])

    @unittest.skipIf(len(sys.argv) > 2 and sys.argv[2],
                     "every block is a malloc of its own, without pages")
    def test_a_test_part_of_more_sizes_of_batches_is_in_the_plan(self):
        few, many = tool_case.separable(3), tool_case.separable(10)
        data = self.write_set({
            name: (many if name.startswith("test") else few)[name]
            for name in few})
        for optimizer in ("sgd", "adam"):
            options = ("--data", data, "--model", "vgg11", "--width", "2",
                       "--batch", "500", "--optimizer", optimizer)
            self.carries(*options)
            common = (*options, "--threads", "1")
            told = json.loads(self.run_tool("plan", "--json", *common)[1])
            found = self.summary("--compile", *common)
            self.assertEqual(found["peak_bytes"], told["peak_bytes"])

    def test_the_test_pass_has_the_same_bits_eager_and_compiled(self):
        table = self.table(3000)
        for share, batch in (("0.9", "3000"), ("0.9", "77"), ("0.1", "3000")):
            with self.subTest(share=share, batch=batch):
                common = (*table, "--validation", share, "--batch", batch)
                eager = self.summary(*common)
                planned = self.summary("--compile", *common)
                for key in ("test_loss", "test_accuracy", "state_hash"):
                    self.assertEqual(eager[key], planned[key])


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = os.path.abspath(
        sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
