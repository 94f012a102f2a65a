#!/usr/bin/env python3
"""The hunt of docs/memory-page.md: what the page says of a program that holds
too much, and what is left of it when that is mended.

usage: hunt_test.py TOOL PROGRAM
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = PROGRAM = ""
SCORES = 4096 * 256 * 4  # bytes of f32
LEAK = 6


class HuntTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}

    def snapshot(self, *words):
        path = self.folder / "s.neapmem"
        subprocess.run([PROGRAM, *words], check=True, capture_output=True,
                       timeout=120,
                       env={**self.environment, "NEAP_SNAPSHOT": str(path)})
        return json.loads(gzip.decompress(path.read_bytes()))

    def large_at_peak(self, made):
        blocks, texts = made["blocks"], made["texts"]
        peak = made["sums"]["peak_call"]
        rows = zip(blocks["first"], blocks["last"], blocks["bytes"],
                   blocks["category"], blocks["line"])
        return sorted((texts[category], texts[line].split(" ")[0])
                      for first, last, size, category, line in rows
                      if first <= peak <= last and size >= SCORES)

    def test_the_peak_has_the_line_and_the_leak_too(self):
        faults = self.snapshot("faults")
        self.assertEqual(self.large_at_peak(faults),
                         [("activations", "memory_hunt.cpp:38"),
                          ("activations", "memory_hunt.cpp:39"),
                          ("gradients", "memory_hunt.cpp:44")])
        self.assertIn("memory_hunt.cpp:44", faults["leaks"][0])
        mended = self.snapshot()
        self.assertEqual(self.large_at_peak(mended),
                         [("activations", "memory_hunt.cpp:38"),
                          ("gradients", "memory_hunt.cpp:44")])
        self.assertEqual(mended["leaks"], [])
        less = faults["sums"]["live_at_peak"] - mended["sums"]["live_at_peak"]
        self.assertTrue(SCORES <= less < SCORES + 8192, less)

    def test_the_doctor_finds_the_leak(self):
        for words, status in ((("faults",), LEAK), ((), 0)):
            done = subprocess.run([TOOL, "doctor", "--", PROGRAM, *words],
                                  capture_output=True, text=True, timeout=120,
                                  env=self.environment, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual("leaks: none" in done.stdout, status == 0)


if __name__ == "__main__":
    TOOL, PROGRAM = (str(pathlib.Path(path).resolve())
                     for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
