#!/usr/bin/env python3
"""However the tool fails, it ends with a documented status and one line: the
system gives no memory or no thread, or a standard stream is closed or full.

usage: tool_ends_test.py TOOL PRELOAD
"""

import os
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tool_case  # noqa: E402
from tool_case import MEMORY, OK, OUTPUT, USAGE, ToolCase  # noqa: E402

PRELOAD = ""  # set below
MAP = "2"  # of NEAP_FAULT_KIND
RUN = ("--hidden", "8", "--batch", "16", "--steps", "2")


class MemoryTest(ToolCase):
    def run_without(self, *arguments, at, count="1", kind="0", size="0"):
        """RETURNS: status, output, errors of a run whose n-th call fails."""
        return self.run_tool(*arguments, LD_PRELOAD=PRELOAD,
                             NEAP_FAULT_AT=str(at), NEAP_FAULT_COUNT=count,
                             NEAP_FAULT_KIND=kind, NEAP_FAULT_SIZE=size)

    def calls_of(self, *arguments):
        """RETURNS: how many calls for memory a good run makes, about."""
        tally = self.folder / "tally"
        tally.write_bytes(bytes(64))
        self.run_tool(*arguments, LD_PRELOAD=PRELOAD,
                      NEAP_FAULT_FILE=str(tally))
        return struct.unpack_from("q", tally.read_bytes())[0]

    def refused(self, found):
        status, _, errors = found
        self.assertEqual(status, MEMORY, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        return errors

    def test_a_library_gets_no_memory_before_main(self):
        for at in (3, 50, 200, 400):
            self.refused(self.run_without("--version", at=at))

    def test_nothing_is_left_from_the_first_call_on(self):
        for arguments in (("--version",), ("train", "--learning", "1")):
            for at in (1, 2, 3, 1000, 4000):
                self.refused(self.run_without(*arguments, at=at, count="0"))

    def test_the_help_is_whole_or_not_there(self):
        _, whole, _ = self.run_tool("--help")
        calls = self.calls_of("--help")  # the text is made last
        for at in range(calls - 100, calls + 5):
            found = self.run_without("--help", at=at)
            if found[0] == OK:
                self.assertEqual(found[1], whole)
            else:
                self.assertEqual(self.refused(found) and found[1], "")

    def test_a_number_in_a_settings_file_is_not_called_bad(self):
        settings = self.folder / "train.toml"
        settings.write_text('[train]\nlr = 1e-2\nmomentum = 1e-1\n'
                            'optimizer = "sgd"\ndata = "nowhere"\n')
        ends = set()
        calls = self.calls_of("train", "--config", settings)
        for at in range(calls - 150, calls):
            status, _, errors = self.run_without("train", "--config", settings,
                                                 at=at)
            ends.add(status)
            self.assertNotEqual(status, USAGE, errors)
        self.assertIn(MEMORY, ends)

    def test_a_thread_without_a_stack_is_a_lack_of_memory(self):
        data = self.write_set()
        lines = ""
        for at in range(1, 8):  # few maps are as large as a stack
            found = self.run_without(
                "train", "--data", data, *RUN, "--threads", "2", "--prefetch",
                "1", "--progress", "none", at=at, kind=MAP, size="200000")
            if found[0] != OK:
                lines += self.refused(found)
        self.assertIn("started 0 of 1 worker threads", lines)
        self.assertIn("starts no thread for", lines)


class StreamTest(ToolCase):
    def run_with(self, redirections, *arguments):
        """RETURNS: exit status of a run by the shell."""
        command = f'exec "$0" "$@" {redirections}'
        return subprocess.run(
            ["sh", "-c", command, tool_case.TOOL, *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=300).returncode

    def test_a_message_that_is_lost_leaves_the_status(self):
        for stream in ("2>&-", "2>/dev/full", "2>&- >&- <&-"):
            self.assertEqual(self.run_with(stream, "train", "--lr", "x"), USAGE)
            self.assertEqual(self.run_with(stream, "--learning"), USAGE)
            self.assertEqual(
                self.run_with(stream, "train", "--data", "nowhere"),
                tool_case.DATA)

    def test_progress_that_is_lost_does_not_end_a_training(self):
        data = self.write_set()
        for stream in ("2>&-", "2>/dev/full"):
            for how in ("bar", "plain"):
                self.assertEqual(
                    self.run_with(stream, "train", "--data", data, *RUN,
                                  "--progress", how), OK)

    def test_a_result_on_a_closed_standard_output_is_lost(self):
        for stream in (">&-", ">&- 2>&-", ">/dev/full 2>&-"):
            self.assertEqual(self.run_with(stream, "--version"), OUTPUT)

    def test_no_file_takes_the_place_of_a_closed_stream(self):
        data = self.write_set()
        good = self.folder / "good.safetensors"
        found = self.folder / "found.safetensors"
        metrics = self.folder / "metrics.jsonl"
        run = ("train", "--data", data, *RUN, "--progress", "plain", "--save")
        self.assertEqual(self.run_with("", *run, good), OK)
        status = self.run_with("<&- >&- 2>&-", *run, found, "--metrics",
                               metrics)
        self.assertEqual(status, OUTPUT)  # the report is lost
        self.assertEqual(found.read_bytes(), good.read_bytes())
        for line in metrics.read_text().splitlines():
            self.assertRegex(line, r"\A\{.*\}\Z")


if __name__ == "__main__":
    tool_case.TOOL, PRELOAD = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
