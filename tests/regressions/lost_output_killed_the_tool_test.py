#!/usr/bin/env python3
"""Output that nobody takes does not end the process: a pipe without a reader, a
file beyond the largest size that the process may write.

usage: lost_output_killed_the_tool_test.py TOOL
"""

import os
import signal
import subprocess
import sys
import unittest

import tool_case
from tool_case import OK, OUTPUT, SMALL_GPT, ToolCase

RUN = ("--hidden", "8", "--batch", "16", "--steps", "4", "--threads", "1",
       "--progress", "plain")


class LostOutputTest(ToolCase):
    def run_without_reader(self, *arguments, errors_too=False):
        """RETURNS: exit status and standard error; nobody reads the output."""
        read, write = os.pipe()
        os.close(read)
        try:
            done = subprocess.run(
                [tool_case.TOOL, *map(str, arguments)], stdout=write,
                stdin=subprocess.DEVNULL, timeout=300, text=True,
                stderr=write if errors_too else subprocess.PIPE)
        finally:
            os.close(write)
        return done.returncode, done.stderr

    def lost(self, found):
        status, errors = found
        self.assertEqual(status, OUTPUT, errors)
        self.assertRegex(errors.splitlines()[-1], r"\Aneap: standard output: ")

    def test_a_training_without_a_reader_goes_on_and_is_saved(self):
        run = ("train", "--data", self.write_set(), *RUN)
        good, found, json = (self.folder / name for name in "abc")
        self.assertEqual(self.run_tool(*run, "--save", good)[0], OK)
        self.lost(self.run_without_reader(*run, "--save", found, "--json",
                                          json))
        self.assertEqual(found.read_bytes(), good.read_bytes())
        self.assertTrue(json.read_text().endswith("}\n"))
        found.unlink()
        status, _ = self.run_without_reader(*run, "--save", found,
                                            errors_too=True)
        self.assertEqual(status, OUTPUT)
        self.assertEqual(found.read_bytes(), good.read_bytes())

    def test_other_commands_without_a_reader_end_with_the_status(self):
        self.lost(self.run_without_reader("--help"))
        self.lost(self.run_without_reader("plan", "--model", "gpt"))
        self.lost(self.run_without_reader("train", "--data", self.write_set(),
                                          *RUN, "--json", "-"))

    def test_a_text_that_nobody_reads_is_not_written_on(self):
        model = self.folder / "gpt.safetensors"
        self.assertEqual(
            self.run_tool("train", *SMALL_GPT, "--data", "text", "--path",
                          self.write_text(), *RUN, "--save", model)[0], OK)
        # Days of work, of which the time limit would tell.
        self.lost(self.run_without_reader("sample", "--load", model,
                                          "--length", str(1 << 30)))

    def test_a_checkpoint_beyond_the_limit_of_files_is_one_line(self):
        data = self.write_set()
        for limit, save_every in (("1", ()), ("1", ("--save-every", "1"))):
            with self.subTest(save_every=save_every):
                path = self.folder / "run.safetensors"
                done = subprocess.run(
                    ["sh", "-c", f'ulimit -f {limit}; exec "$0" "$@"',
                     tool_case.TOOL, "train", "--data", data, "--hidden",
                     "300", "--batch", "16", "--steps", "4", "--progress",
                     "none", "--save", str(path), *save_every],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True,
                    timeout=300)
                self.assertEqual(done.returncode, OUTPUT, done.stderr)
                self.assertRegex(done.stderr, r"\Aneap: [^\n]+\n\Z")
                self.assertIn("live at exit: 0 B", done.stdout)
                self.assertEqual([p.name for p in self.folder.iterdir()],
                                 ["data"])

    def test_a_stream_beyond_the_limit_of_files_is_status_five(self):
        with open(self.folder / "out", "w", encoding="utf-8") as out:
            done = subprocess.run(
                ["sh", "-c", 'ulimit -f 1; exec "$0" train --help',
                 tool_case.TOOL], stdout=out, stderr=subprocess.PIPE,
                text=True, timeout=300)
        self.lost((done.returncode, done.stderr))
        self.assertNotEqual(done.returncode, -signal.SIGXFSZ)


if __name__ == "__main__":
    tool_case.TOOL = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
