#!/usr/bin/env python3
"""Every command takes as a number what is one, within its bounds, and refuses
the rest: nan, digits beyond what the number's type holds, a sign it has not.

usage: numbers_that_are_none_test.py TOOL
"""

import os
import sys
import unittest

import tool_case
from tool_case import DATA, OK, ToolCase, USAGE

HUGE = "99999999999999999999999"


class NumbersTest(ToolCase):
    def check(self, status, *arguments):
        found, _, errors = self.run_tool(*arguments)
        self.assertEqual(found, status, (arguments, errors))
        if status != OK:
            self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        return errors

    def test_sample_takes_numbers_alone(self):
        # A good one shows itself by the file that is not there.
        for option, bad, good in (
                ("temperature", ("nan", "inf", "-1", "100.5", "1e400", "1x",
                                 "", " 1", "0x1"), ("0", "0.5", "1e2")),
                ("seed", (HUGE, "-5", "1.5", "+1", "0x10", "1e3",
                          "18446744073709551616"),
                 ("0", "18446744073709551615")),
                ("length", (HUGE, "0", "-1", "2147483649", "1 "),
                 ("1", "2147483648")),
                ("top-k", (HUGE, "-1", "nan"), ("0", "7")),
                ("threads", (HUGE, "-1", "257"), ("0", "256"))):
            for text in bad:
                errors = self.check(USAGE, "sample", "--load", "none",
                                    f"--{option}={text}")
                if text:
                    self.assertIn(f"--{option}: '{text}' is not a", errors)
            for text in good:
                self.check(DATA, "sample", "--load", "none",
                           f"--{option}={text}")

    def test_pack_takes_numbers_alone(self):
        problem = self.folder / "problem.csv"
        problem.write_text("lower,upper,size\n0,1,4\n0,1,4\n")
        for option, bad, good in (
                ("capacity", (HUGE, "99999999999999999999", "0", "-1", "nan",
                              "8.5"), ("8", "9223372036854775806")),
                ("seconds", ("nan", "inf", "0", "-1", "1e400", "1s"),
                 ("1", "0.5", "1e9"))):
            for text in bad:
                errors = self.check(USAGE, "pack", problem,
                                    f"--{option}={text}")
                self.assertIn(f"--{option}: '{text}' is not a", errors)
            for text in good:
                self.check(OK, "pack", problem, f"--{option}={text}")


if __name__ == "__main__":
    tool_case.TOOL = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
