#!/usr/bin/env python3
"""Start after start, seen from outside: the budget that `neap plan` prints is
enough for `neap train`, and no more is resident than held and external say.

usage: starts_test.py TOOL SANITIZER  ("", "address" or "thread")
NEAP_STARTS (6): how many starts of each command.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import tool_case
from tool_case import OK, SMALL_GPT, ToolCase

STARTS = int(os.environ.get("NEAP_STARTS", "6"))


def resident(process):
    """Bytes resident at most so far, or 0 once it has ended."""
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


class StartsTest(ToolCase):
    def setUp(self):
        super().setUp()
        if tool_case.SANITIZER:
            self.skipTest("sanitizers have memory of their own")
        self.summary = self.folder / "summary.json"

    def watch(self, *arguments):
        """Runs the tool. RETURNS: its status, errors and highest resident."""
        with subprocess.Popen([tool_case.TOOL, *map(str, arguments)],
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as child:
            highest = 0
            while child.poll() is None:
                highest = max(highest, resident(child.pid))
                time.sleep(0.002)
            return child.returncode, child.stderr.read(), highest

    def check_starts(self, settings, run):
        """`settings` are of the plan; `run` is what training has on top."""
        outside = []
        for _ in range(STARTS):
            status, output, errors = self.run_tool("plan", "--json", *settings)
            self.assertEqual((status, errors), (OK, ""))
            told = json.loads(output)
            budget = told["peak_bytes"] + told["external_bytes"]
            status, errors, highest = self.watch(
                "train", *settings, *run, "--budget", budget, "--json",
                self.summary, "--progress", "none", "--compile")
            self.assertEqual((status, errors), (OK, ""))
            found = json.loads(self.summary.read_text())
            self.assertEqual(found["external_bytes"], told["external_bytes"])
            self.assertEqual(found["peak_bytes"], told["peak_bytes"])
            bound = found["peak_bytes"] + found["external_bytes"]
            self.assertGreater(highest, 0)
            self.assertLessEqual(highest, bound)
            self.assertLessEqual(found["max_rss_bytes"], bound)
            outside.append(told["external_bytes"])
        self.assertEqual(len(set(outside)), 1)

    def test_the_predicted_peak_is_a_budget_that_is_enough(self):
        data = self.write_set()
        for threads, more in (("1", ()), ("2", ("--prefetch", "2")),
                              ("2", ("--metrics", self.folder / "log.jsonl"))):
            with self.subTest(threads=threads, more=more):
                self.check_starts(("--data", data, "--batch", "16",
                                   "--threads", threads, *more),
                                  ("--steps", "9"))

    def test_a_text_and_a_file_of_the_run(self):
        self.check_starts(("--data", "text", "--path", self.write_text(),
                           *SMALL_GPT, "--batch",
                           "4", "--threads", "2", "--save",
                           self.folder / "run.safetensors"), ("--steps", "9"))

    def test_what_eval_and_sample_have_resident_is_within_the_same(self):
        """They hold less than training did."""
        file = self.folder / "run.safetensors"
        text = self.write_text()
        common = ("--data", "text", "--path", text, *SMALL_GPT, "--threads",
                  "1")
        status, _, errors = self.run_tool(
            "train", *common, "--steps", "9", "--save", file, "--json",
            self.summary, "--progress", "none")
        self.assertEqual((status, errors), (OK, ""))
        found = json.loads(self.summary.read_text())
        bound = found["peak_bytes"] + found["external_bytes"]
        for command in (("eval", "--load", file, *common[:4]),
                        ("sample", "--load", file, "--length", "200")):
            for _ in range(STARTS):
                status, errors, highest = self.watch(*command, "--threads",
                                                     "1")
                self.assertEqual((status, errors), (OK, ""))
                self.assertLessEqual(highest, bound)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
