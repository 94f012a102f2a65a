#!/usr/bin/env python3
"""A planted leak of one tensor is reported by the library, by valgrind and, in
a build with AddressSanitizer, by LeakSanitizer; a program without it by none.

usage: planted_leak_test.py PROGRAM SANITIZER  ("", "address" or "thread")
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

PROGRAM = SANITIZER = ""
SOURCE = pathlib.Path(__file__).with_name("planted_leak.cpp")
LEAK = r"leak: 4 000 B in 1 block of parameters, owner 'planted\.weight', "


def run(*command, **variables):
    """RETURNS: exit status and everything printed."""
    done = subprocess.run(command, env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def planted_line():
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1)
                if line.endswith("// planted"))


class LibraryTest(unittest.TestCase):
    def test_the_report_names_bytes_owner_and_line(self):
        for allocator in ("pooled", "system"):
            # The report itself is looked at: no other checker may interfere.
            _, text = run(PROGRAM, "leak", NEAP_ALLOCATOR=allocator,
                          ASAN_OPTIONS="detect_leaks=0")
            where = rf"made at \S*planted_leak\.cpp:{planted_line()} "
            self.assertRegex(text, LEAK + where)

    def test_without_a_leak_there_is_nothing_to_report(self):
        status, text = run(PROGRAM)
        self.assertEqual((status, text), (0, ""))


class ValgrindTest(unittest.TestCase):
    def setUp(self):
        if SANITIZER:
            self.skipTest("a sanitizer's memory is not valgrind's")
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")

    def valgrind(self, *arguments):
        return run("valgrind", "--leak-check=full", "--error-exitcode=9",
                   PROGRAM, *arguments, NEAP_ALLOCATOR="system")

    def test_the_leak_is_an_error(self):
        status, text = self.valgrind("leak")
        self.assertEqual(status, 9, text)
        self.assertRegex(text, r"definitely lost: [1-9]")
        self.assertIn("leak_one", text)

    def test_without_a_leak_there_is_no_error(self):
        status, text = self.valgrind()
        self.assertEqual(status, 0, text)


class LeakSanitizerTest(unittest.TestCase):
    OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1"}

    def setUp(self):
        if SANITIZER != "address":
            self.skipTest("not built with AddressSanitizer")

    def test_the_leak_is_an_error(self):
        status, text = run(PROGRAM, "leak", **self.OPTIONS)
        self.assertNotEqual(status, 0, text)
        self.assertIn("LeakSanitizer: detected memory leaks", text)

    def test_without_a_leak_there_is_no_error(self):
        status, text = run(PROGRAM, **self.OPTIONS)
        self.assertEqual((status, text), (0, ""))


if __name__ == "__main__":
    PROGRAM, SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
