#!/usr/bin/env python3
"""Each command runs the function that it was given: those of train and plan were
captured by reference and called when what they referred to had ended, which
AddressSanitizer sees in any run.

usage: commands_ran_beyond_their_end_test.py TOOL SANITIZER
"""

import json
import sys
import unittest

import tool_case
from tool_case import OK, ToolCase

LINE = ("--hidden", "8", "--threads", "1", "--batch", "8")


class CommandsTest(ToolCase):
    def run_command(self, command, *more):
        status, output, errors = self.run_tool(
            command, "--data", self.write_set(), *LINE, *more, "--json")
        self.assertEqual((status, errors), (OK, ""), output)
        return json.loads(output)

    def test_each_command_does_its_own_work(self):
        trained = self.run_command("train", "--steps", "2", "--progress",
                                   "none")
        self.assertEqual(trained["steps"], 2)
        self.assertEqual(self.run_command("plan")["batch"], 8)
        self.assertIn("points", self.run_command("fit"))


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
