#!/usr/bin/env python3
"""A run that was refused memory after its plan was written kept the refusal to
standard error: the files of --page and --snapshot did not have it.

usage: refusal_was_not_on_the_page_test.py TOOL PRELOAD
"""

import gzip
import json
import os
import struct
import subprocess
import sys
import unittest

import tool_case
from tool_case import MEMORY, OK, ToolCase

PRELOAD = ""


class RefusalOnThePageTest(ToolCase):
    def run_failing(self, first, *arguments):
        """RETURNS: the status and standard error of a run in which the system has no
        pages from the `first` request on (0: it has), and the number of requests."""
        tally = self.folder / "tally"
        tally.write_bytes(bytes(48))
        variables = {**os.environ, "LD_PRELOAD": PRELOAD, "NEAP_FAULT_KIND": "2",
                     "NEAP_FAULT_FILE": str(tally), "NEAP_FAULT_AT": str(first)}
        done = subprocess.run([tool_case.TOOL, "train", *map(str, arguments)],
                              capture_output=True, text=True, timeout=120,
                              env=variables)
        return (done.returncode, done.stderr,
                struct.unpack("q", tally.read_bytes()[:8])[0])

    def test_a_refusal_after_the_plan_is_on_the_page_and_in_the_snapshot(self):
        page, file = self.folder / "run.html", self.folder / "run.neapmem"
        line = ("--data", self.write_set(tool_case.separable(640)), "--hidden",
                "512", "--batch", "256", "--steps", "3", "--threads", "1",
                "--progress", "none", "--page", page, "--snapshot", file)
        status, errors, requests = self.run_failing(0, *line)
        self.assertEqual((status, errors), (OK, ""))
        refused = 0
        for first in range(requests, 0, -1):
            for written in (page, file):
                written.unlink(missing_ok=True)
            status, errors, _ = self.run_failing(first, *line)
            if status != MEMORY:
                continue
            if not file.exists() or not file.read_bytes():
                break  # there was no plan yet
            snapshot = json.loads(gzip.decompress(file.read_bytes()))
            if not snapshot["refusals"]:
                continue  # there was no memory to write it again either
            said = errors.removeprefix("neap: ").strip()
            self.assertEqual([snapshot["refusals"][0].strip()], [said])
            self.assertIn(said.splitlines()[0][:40], page.read_text())
            refused += 1
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    tool_case.TOOL, PRELOAD = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
