#!/usr/bin/env python3
"""A dry run that the budget refused by the rest of a page was taken for one that
fits: `neap plan` told of a run that holds nothing, with status 0.

usage: refused_budget_was_told_as_met_test.py TOOL SANITIZER
"""

import json
import sys
import unittest

import tool_case
from tool_case import MEMORY, OK, ToolCase

LINE = ("--model", "gpt", "--layers", "2", "--dim", "64", "--threads", "1")


class RefusedBudgetTest(ToolCase):
    def plan(self, batch, *arguments):
        status, output, errors = self.run_tool(
            "plan", *LINE, "--batch", batch, *arguments, "--json", "-")
        self.assertIn(status, (OK, MEMORY), errors)
        return status, json.loads(output)

    def test_what_is_told_as_met_holds_something_and_fits(self):
        _, whole = self.plan(16)
        budget = whole["peak_bytes"] + whole["external_bytes"]
        for batch in (34, 37, 40):
            status, told = self.plan(batch, "--budget", budget)
            self.assertGreater(told["peak_bytes"], 0, batch)
            needed = told["peak_bytes"] + told["external_bytes"]
            self.assertEqual(status == OK, needed <= budget, batch)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
