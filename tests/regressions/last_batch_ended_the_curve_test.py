#!/usr/bin/env python3
"""A last batch of 7 samples has no parts as small as one of 8 has: where its
program did not fit an arena of the curve, `neap fit` ended without a table, and
a refusal of `neap plan` without the reason and the remedies.

usage: last_batch_ended_the_curve_test.py TOOL SANITIZER
"""

import sys
import unittest

import tool_case
from tool_case import MEMORY, OK, ToolCase

LINE = ("--model", "gpt", "--layers", "1", "--dim", "32", "--heads", "2",
        "--block", "32", "--batch", "8", "--threads", "1", "--data", "text",
        "--validation", "0", "--path")
# As many samples as leave 7 behind the last full batch.
SAMPLES = 8 * 5 + 7


class LastBatchTest(ToolCase):
    def setUp(self):
        super().setUp()
        if tool_case.SANITIZER:
            self.skipTest("searches are slow there, and have tests of their own")
        self.text = self.folder / "text.txt"
        self.text.write_text(("the tide was low again. " * 100)[:32 * SAMPLES + 1])

    def test_a_curve_has_the_arenas_that_do(self):
        status, output, errors = self.run_tool("fit", *LINE, self.text)
        self.assertEqual((status, errors), (OK, ""))
        self.assertIn("100 %", output)

    def test_a_refusal_says_why(self):
        status, _, errors = self.run_tool("plan", *LINE, self.text, "--budget",
                                          "21MiB")
        self.assertEqual(status, MEMORY)
        self.assertIn("is too small for this run", errors)
        self.assertIn("why", errors)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
