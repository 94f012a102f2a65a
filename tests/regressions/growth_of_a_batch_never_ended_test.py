#!/usr/bin/env python3
"""`neap fit --grow batch` ends where a batch beyond all samples fits: it grew on,
since every batch above was the same step.

usage: growth_of_a_batch_never_ended_test.py TOOL SANITIZER
"""

import json
import sys
import unittest

import tool_case
from tool_case import OK, ToolCase


class GrowthTest(ToolCase):
    def test_a_batch_beyond_all_samples_ends_the_growth(self):
        status, output, errors = self.run_tool(
            "fit", "--data", self.write_set(), "--hidden", "8", "--threads",
            "1", "--batch", "8", "--budget", "1GiB", "--grow", "batch",
            "--json")
        self.assertEqual((status, errors), (OK, ""), output)
        told = json.loads(output)
        self.assertTrue(told["fits_budget"])
        self.assertGreaterEqual(told["largest_batch"], 64)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
