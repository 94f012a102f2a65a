#!/usr/bin/env python3
"""Without a test part there is no test loss: none in the report, null for
programs, and no line of it among the metrics.

usage: no_test_part_was_a_loss_of_zero_test.py TOOL
"""

import json
import os
import sys
import unittest

import tool_case
from tool_case import OK, SMALL_GPT, ToolCase


class NoTestPartTest(ToolCase):
    def test_a_text_without_a_test_part_has_no_test_loss(self):
        text = self.write_text()
        saved, summary, lines = (self.folder / name for name in "abc")
        data = ("--data", "text", "--path", text, "--validation", "0")
        for how in ("--eager", "--compile"):
            lines.unlink(missing_ok=True)
            status, output, errors = self.run_tool(
                "train", *SMALL_GPT, *data, how, "--steps", "2", "--batch",
                "4", "--progress", "none", "--save", saved, "--json", summary,
                "--metrics", lines)
            self.assertEqual((status, errors), (OK, ""))
            self.assertIn("\ntest loss none, after 2 steps", output)
            found = json.loads(summary.read_text())
            self.assertIsNone(found["test_loss"])
            self.assertIsNone(found["test_accuracy"])
            self.assertGreater(found["train_loss"], 0)
            self.assertEqual(len(lines.read_text().splitlines()), 2)
            ask = ("eval", "--load", saved, *data, how)
            status, output, errors = self.run_tool(*ask)
            self.assertEqual((status, errors), (OK, ""))
            self.assertEqual(output, "loss none: there is no test part\n")
            status, output, errors = self.run_tool(*ask, "--json", "-")
            self.assertEqual((status, errors), (OK, ""))
            self.assertEqual(json.loads(output), {
                "samples": 0, "loss": None, "accuracy": None})


if __name__ == "__main__":
    tool_case.TOOL = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
