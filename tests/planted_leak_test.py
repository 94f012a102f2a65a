#!/usr/bin/env python3
"""Planted leaks of several kinds are reported by the library, by valgrind and,
in a build with AddressSanitizer, by LeakSanitizer; a program without one by
none.

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
KINDS = ("tensor", "vector", "history", "hook", "gradients", "scope")
# The library itself is looked at: no other checker may interfere.
ALONE = {"ASAN_OPTIONS": "detect_leaks=0"}


def run(*command, **variables):
    """RETURNS: exit status and everything printed."""
    done = subprocess.run(command, env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def planted_at(kind):
    """A pattern of the line that asks for what leaks."""
    lines = SOURCE.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1)
                if text.endswith(f"// planted {kind}"))
    return rf"\S*planted_leak\.cpp:{line} \(leak_{kind}\)"


class LibraryTest(unittest.TestCase):
    def test_the_report_names_bytes_owner_and_line(self):
        leak = (r"leak: 4 000 B in 1 block of parameters, "
                r"owner 'planted\.weight', made at ")
        for allocator in ("pooled", "system"):
            _, text = run(PROGRAM, "tensor", NEAP_ALLOCATOR=allocator, **ALONE)
            self.assertRegex(text, leak + planted_at("tensor"))

    def test_every_kind_is_named_with_its_line(self):
        for kind in KINDS:
            with self.subTest(kind):
                _, text = run(PROGRAM, kind, **ALONE)
                self.assertRegex(text, r"leak: 4 000 B in [12] blocks? of .*"
                                 "made at " + planted_at(kind))
                self.assertIn("memory::TrackHandles", text)

    def test_where_handles_are_tracked_it_names_who_holds_it(self):
        handle = "held by 1 handle of "
        holders = {
            "tensor": handle + r"parameters 'planted\.weight'",
            "vector": handle + "the tensor made at " + planted_at("vector"),
            "history": r"held by residual 'output 0' of 'exp' \(" +
                       planted_at("history") +
                       r"\)\n( +<- needed by .*\n)+ +<- 1 handle of the ",
            "hook": "held by the closure of the hook registered at .* on "
                    r"'exp' \(" + planted_at("hook") + r"\)\n"
                    " +<- which it holds itself: a cycle",
            "gradients": handle + "the .* made at " + planted_at("gradients"),
            "scope": handle + "the tensor made at " + planted_at("scope"),
        }
        for kind in KINDS:
            with self.subTest(kind):
                _, text = run(PROGRAM, kind, "track", **ALONE)
                self.assertRegex(text, holders[kind])
                self.assertNotIn("memory::TrackHandles", text)

    def test_without_a_leak_there_is_nothing_to_report(self):
        for arguments in ((), ("none", "track")):
            status, text = run(PROGRAM, *arguments)
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

    def test_every_kind_is_an_error(self):
        for kind in KINDS:
            with self.subTest(kind):
                status, text = self.valgrind(kind)
                self.assertEqual(status, 9, text)
                self.assertRegex(text, r"definitely lost: [1-9]")
                self.assertIn(f"leak_{kind}", text)

    def test_without_a_leak_there_is_no_error(self):
        for arguments in ((), ("none", "track")):
            status, text = self.valgrind(*arguments)
            self.assertEqual(status, 0, text)


class LeakSanitizerTest(unittest.TestCase):
    OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1"}

    def setUp(self):
        if SANITIZER != "address":
            self.skipTest("not built with AddressSanitizer")

    def test_every_kind_is_an_error(self):
        for kind in KINDS:
            with self.subTest(kind):
                status, text = run(PROGRAM, kind, **self.OPTIONS)
                self.assertNotEqual(status, 0, text)
                self.assertIn("LeakSanitizer: detected memory leaks", text)

    def test_without_a_leak_there_is_no_error(self):
        status, text = run(PROGRAM, **self.OPTIONS)
        self.assertEqual((status, text), (0, ""))


if __name__ == "__main__":
    PROGRAM, SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
