#!/usr/bin/env python3
"""A program that links Neap writes a page and a snapshot at its end, where the
environment asks for them, and is left alone where it does not.

usage: exit_page_test.py PROGRAM SANITIZER  ("", "address" or "thread")
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = SANITIZER = ""
SOURCE = pathlib.Path(__file__).with_name("watched_program.cpp")


def line_of(what):
    lines = SOURCE.read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1)
                if text.endswith(f"// planted {what}"))


class ExitPageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "run.html"
        self.file = self.folder / "run.neapmem"

    def run_program(self, *kinds, page="", snapshot="run.neapmem", **options):
        variables = {"ASAN_OPTIONS": "detect_leaks=0"}
        variables.update({name: value for name, value in
                          (("NEAP_PAGE", page), ("NEAP_SNAPSHOT", snapshot))
                          if value})
        return subprocess.run([PROGRAM, *kinds], cwd=self.folder, timeout=120,
                              env={**os.environ, **variables},
                              **{"capture_output": True, "text": True,
                                 **options})

    def snapshot(self, *kinds, status=0, **options):
        done = self.run_program(*kinds, **options)
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return json.loads(gzip.decompress(self.file.read_bytes()))

    def expect_nothing(self, status, *kinds, **options):
        done = self.run_program(*kinds, **options)
        self.assertEqual(done.returncode, status)
        self.assertEqual(list(self.folder.iterdir()), [])
        return done.stderr

    def test_without_a_variable_nothing_is_written(self):
        self.assertEqual(self.expect_nothing(0, "leak", snapshot=""), "")

    def test_a_compiled_step_is_shown_with_its_runs(self):
        shot = self.snapshot()
        self.assertFalse(shot["eager"])
        self.assertEqual(shot["title"], pathlib.Path(PROGRAM).name)
        self.assertIn("linear", " ".join(shot["texts"]))
        self.assertEqual(len(shot["steps"]["live"]), 20)
        self.assertTrue(all(ns > 0 for ns in shot["steps"]["ns"]))
        self.assertEqual(shot["leaks"], [])
        sums = shot["sums"]
        self.assertEqual(sums["reserved"], sum(
            sums[part] for part in ("arena", "stays", "program", "idle",
                                    "overhead")))

    def test_the_same_run_gives_the_same_snapshot_but_for_times(self):
        first = self.snapshot()
        second = self.snapshot()
        for shot in (first, second):
            del shot["steps"]["ns"]
        self.assertEqual(first, second)

    def test_the_page_has_the_snapshot_in_it(self):
        done = self.run_program(page="run.html")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = self.page.read_text()
        self.assertIn("<html", text)
        self.assertIn('id="snapshot"', text)

    def test_an_eager_run_is_shown_as_events(self):
        shot = self.snapshot("eager")
        self.assertTrue(shot["eager"])
        self.assertEqual(shot["sums"]["stays"], 0)
        self.assertGreater(shot["sums"]["live_at_peak"], 10_000)
        self.assertNotIn("before the log", shot["texts"])
        self.assertEqual(shot["leaks"], [])

    def test_what_is_live_at_the_end_is_a_leak_with_line_and_holder(self):
        for how in ((), ("eager",)):
            leaks = self.snapshot("leak", *how)["leaks"]
            self.assertRegex(leaks[0], r"^leak: 4 000 B in 1 block of .*made at "
                             rf"\S*watched_program\.cpp:{line_of('leak')} "
                             r"\(leak\)\n(.*\n)* +held by 1 handle of ")

    def test_static_objects_are_no_leaks_and_growth_is_told(self):
        shot = self.snapshot("grow")
        self.assertEqual(len(shot["leaks"]), 1)
        self.assertRegex(shot["leaks"][0], r"^growth: [\d ]+ B and \d+ blocks in "
                         r"16 steps")
        self.assertIn(f"watched_program.cpp:{line_of('growth')} (train)",
                      shot["leaks"][0])
        live = shot["steps"]["live"]
        self.assertGreater(live[19], live[10])

    def test_a_long_run_has_a_bounded_table_of_steps(self):
        shot = self.snapshot("long")
        self.assertEqual(len(shot["steps"]["live"]), 1250)

    def test_refusals_are_sentences(self):
        for how in ((), ("eager",)):
            refusals = self.snapshot("refused", *how)["refusals"]
            self.assertEqual(len(refusals), 1)
            self.assertRegex(refusals[0], r"^3\.8 MiB \(4 000 000 B\) of .* at "
                             r"\S*watched_program\.cpp:\d+ \(be_refused\) were "
                             "refused at event")

    def test_one_file_for_both_has_the_page_and_a_sentence(self):
        done = self.run_program(page="both", snapshot="./both")
        self.assertEqual(done.returncode, 0)
        self.assertIn("name one file", done.stderr)
        self.assertTrue((self.folder / "both").read_bytes()
                        .startswith(b"<!doctype html>"))

    def test_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        for paths in ({"page": "pipe", "snapshot": ""}, {"snapshot": "pipe"}):
            done = self.run_program(**paths)
            self.assertEqual(done.returncode, 0)
            self.assertIn("a device or a pipe", done.stderr)

    def test_the_exit_status_stays(self):
        self.snapshot("fails", status=7)

    def test_a_relative_path_is_of_the_folder_of_the_start(self):
        self.snapshot("elsewhere")

    def test_another_thread_may_end_the_program(self):
        self.snapshot("thread", status=7)

    def test_steps_may_run_meanwhile(self):
        if SANITIZER:
            self.skipTest("its thread uses the pool, which goes at exit")
        for _ in range(5):
            self.snapshot("busy")

    def test_a_child_writes_nothing(self):
        self.file.mkdir()  # whoever wrote would say that it cannot
        done = self.run_program("fork")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("NEAP_SNAPSHOT"), 1)

    def test_ends_that_are_no_exit_write_nothing(self):
        for kind, status in (("killed", -9), ("quick", 0), ("thrown", -6),
                             ("replaced", 0)):
            with self.subTest(kind):
                self.expect_nothing(status, kind)

    def test_what_cannot_be_written_is_a_sentence_and_no_failure(self):
        for kinds, status in (((), 0), (("fails",), 7)):
            done = self.run_program(*kinds, page="no/such/folder.html",
                                    snapshot="")
            self.assertEqual(done.returncode, status)
            self.assertRegex(done.stderr,
                             r"\Aneap: NEAP_PAGE: .*no/such/folder\.html.*\n\Z")
        self.assertEqual(self.run_program("deaf", snapshot="no/such").returncode,
                         0)

    def test_a_reader_that_is_gone_does_not_end_it(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_program("fails", snapshot="no/such/folder",
                                capture_output=False, stderr=writer,
                                stdout=subprocess.DEVNULL)
        os.close(writer)
        self.assertEqual(done.returncode, 7)


if __name__ == "__main__":
    PROGRAM, SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
