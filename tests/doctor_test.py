#!/usr/bin/env python3
"""`neap doctor` as its users meet it: programs in, findings and statuses out.

usage: doctor_test.py TOOL PROGRAM
"""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = PROGRAM = ""
USAGE, DATA, OUTPUT, LEAK = 2, 3, 5, 6


class DoctorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.scratch),
                            "ASAN_OPTIONS": "detect_leaks=0"}

    def doctor(self, *words, options=(), **more):
        """RETURNS: exit status, standard output, standard error."""
        done = subprocess.run(
            [TOOL, "doctor", *options, "--", *words], capture_output=True,
            text=True, timeout=120, cwd=self.folder, env=self.environment,
            **more)
        self.assertEqual(list(self.scratch.iterdir()), [])
        return done.returncode, done.stdout, done.stderr

    def test_a_program_without_a_fault_is_said_to_be_so(self):
        status, out, error = self.doctor(PROGRAM)
        self.assertEqual((status, error), (0, ""))
        self.assertTrue(out.startswith("trained\n"))
        self.assertRegex(out, r"neap doctor: \S*neap_watched_program ended with "
                         r"status 0\nleaks: none\ngrowth: none from step to "
                         r"step\n\nThe peak of neap_watched_program\n")
        self.assertRegex(out, r"\nreserved +\S+ [KM]iB ")
        self.assertRegex(out, r"\nAt the peak, call \d+ of \d+, ")
        self.assertRegex(out, r"\ngradients|\n\(no layer\) +gradients ")

    def test_a_leak_has_bytes_line_and_holder_and_a_status_of_its_own(self):
        status, out, _ = self.doctor(PROGRAM, "leak")
        self.assertEqual(status, LEAK)
        self.assertRegex(out, r"\nleaks: [\d.]+ KiB \(4 \d\d\d B\) in 2 rows still "
                         r"live at the end\n  leak: 4 000 B in 1 block of other, "
                         r".*watched_program\.cpp:\d+ \(leak\)\n.*\n +held by 1 "
                         "handle of ")

    def test_growth_has_bytes_a_step_and_its_lines(self):
        status, out, _ = self.doctor(PROGRAM, "grow")
        self.assertEqual(status, 0)  # it is all freed at the end
        self.assertIn("\nleaks: none\n", out)
        self.assertRegex(out, r"\ngrowth: \d+ B a step\n  [\d ]+ B and \d+ blocks "
                         r"in 16 steps after 3 of warm-up\n")
        self.assertRegex(out, r"activations  ''     \S*watched_program\.cpp:\d+ "
                         r"\(train\)\n")

    def test_an_eager_program_has_a_peak_of_events(self):
        status, out, _ = self.doctor(PROGRAM, "eager")
        self.assertEqual(status, 0)
        self.assertIn("\ngrowth: none from update to update\n", out)
        self.assertRegex(out, r"At the peak, event \d+ of \d+, allocate")
        self.assertRegex(out, r"\nweight +optimizer state ")

    def test_an_eager_program_that_grows_is_told_where(self):
        status, out, _ = self.doctor(PROGRAM, "eager", "grow")
        self.assertEqual(status, 0)
        self.assertIn("\nleaks: none\n", out)
        self.assertRegex(out, r"\ngrowth: \d+ B a step\n  [\d ]+ B and \d+ blocks "
                         r"in 16 steps after 3 of warm-up\n")
        self.assertRegex(out, r"activations  ''     \S*watched_program\.cpp:\d+ "
                         r"\((train|operator\(\))\)\n")

    def test_a_step_that_is_planned_alone_hides_no_growth(self):
        _, out, _ = self.doctor(PROGRAM, "eager", "prepared", "grow")
        self.assertRegex(out, r"\ngrowth: \d+ B a step\n")

    def test_growth_of_calls_that_were_not_compared_is_not_none(self):
        _, out, _ = self.doctor(PROGRAM, "evaluated", "grow")
        self.assertIn("growth: not known, since more than 6 calls of the "
                      "compiled step with the largest arena are needed", out)

    def test_few_steps_are_no_growth_and_no_sign_that_there_is_none(self):
        for kinds, ends in ((("layers", "short"), "updates by an optimizer"),
                            (("eager", "short"), "updates by an optimizer"),
                            (("inference", "short", "grow"), "calls of a model"),
                            (("short",), "calls of the compiled step")):
            _, out, _ = self.doctor(PROGRAM, *kinds)
            self.assertIn("\ngrowth: not known, since more than 6 " + ends, out)
        _, out, _ = self.doctor(PROGRAM, "layers")
        self.assertIn("\ngrowth: none from update to update\n", out)

    def test_a_program_that_calls_a_model_is_compared_by_its_calls(self):
        _, out, _ = self.doctor(PROGRAM, "inference")
        self.assertIn("\ngrowth: none from call to call of the model\n", out)
        _, out, _ = self.doctor(PROGRAM, "inference", "grow")
        self.assertRegex(out, r"\ngrowth: \d+ B a step\n.* in 16 steps after 3")

    def test_refusals_are_told(self):
        _, out, _ = self.doctor(PROGRAM, "refused")
        self.assertRegex(out, r"\nrefusals: 1\n  3\.8 MiB \(4 000 000 B\) of .* "
                         "were refused")

    def test_the_programs_own_status_goes_before(self):
        for kinds in (("fails",), ("fails", "leak")):
            status, out, _ = self.doctor(PROGRAM, *kinds)
            self.assertEqual(status, 7)
            self.assertIn("ended with status 7\nleaks: ", out)

    def test_the_programs_streams_are_its_own(self):
        done = subprocess.run([TOOL, "doctor", "--", "/bin/cat"], input="in\n",
                              capture_output=True, text=True, timeout=60)
        self.assertTrue(done.stdout.startswith("in\n"))

    def test_options_of_the_program_are_its_own(self):
        _, out, _ = self.doctor("/bin/echo", "--json", "--page", "--", "-h")
        self.assertTrue(out.startswith("--json --page -- -h\n"), out)

    def test_files_are_kept_where_they_are_asked_for(self):
        status, _, _ = self.doctor(PROGRAM, options=(
            "--page", "run.html", "--snapshot", "run.neapmem"))
        self.assertEqual(status, 0)
        self.assertIn('id="snapshot"', (self.folder / "run.html").read_text())
        file = self.folder / "run.neapmem"
        self.assertEqual(len(json.loads(gzip.decompress(
            file.read_bytes()))["steps"]["live"]), 20)
        report = subprocess.run([TOOL, "report", file], capture_output=True,
                                text=True, timeout=60)
        self.assertEqual(report.returncode, 0)
        self.assertIn("neap_watched_program", report.stdout)

    def test_a_file_that_cannot_be_written_is_a_failure(self):
        status, out, error = self.doctor(PROGRAM,
                                         options=("--page", "no/such.html"))
        self.assertEqual(status, OUTPUT)
        self.assertIn("leaks: none", out)
        self.assertIn("no/such.html", error)

    def test_a_program_that_writes_nothing_is_told_why_that_may_be(self):
        status, out, error = self.doctor("/bin/true")
        self.assertEqual(status, DATA)
        self.assertIn("neap doctor: /bin/true ended with status 0", out)
        self.assertIn("it does not include neap/neap.hpp", error)
        self.assertEqual(self.doctor("/bin/false")[0], 1)
        for kind in ("quick", "replaced"):
            status, _, error = self.doctor(PROGRAM, kind)
            self.assertEqual(status, DATA)
            self.assertIn("quick_exit()", error)

    def test_a_signal_is_named(self):
        status, out, error = self.doctor(PROGRAM, "killed")
        self.assertEqual(status, 128 + signal.SIGKILL)
        self.assertIn("was ended by signal 9 (Killed)", out)
        self.assertIn("written at exit alone", error)
        self.assertEqual(self.doctor(PROGRAM, "thrown")[0],
                         128 + signal.SIGABRT)

    def test_signals_reach_the_program(self):
        with subprocess.Popen([TOOL, "doctor", "--", "sleep", "60"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment, text=True) as doctor:
            while not list(self.scratch.iterdir()):
                time.sleep(0.01)
            time.sleep(0.2)  # until it sleeps
            doctor.send_signal(signal.SIGINT)  # the terminal sends it to both
            time.sleep(0.1)
            self.assertIsNone(doctor.poll())
            doctor.send_signal(signal.SIGTERM)
            out, _ = doctor.communicate(timeout=60)
        self.assertEqual(doctor.returncode, 128 + signal.SIGTERM)
        self.assertIn("ended by signal 15", out)

    def test_the_program_has_the_signals_of_a_fresh_one(self):
        def ignored(*before):
            done = subprocess.run(
                [*before, "grep", "SigIgn\\|SigBlk", "/proc/self/status"],
                capture_output=True, text=True, timeout=60)
            sets = [line.split() for line in done.stdout.splitlines()[:2]]
            inner = 1 << 31 | 1 << 32  # the C library's, which it sets itself
            return [(name, int(bits, 16) & ~inner) for name, bits in sets]
        plain = ignored("env", "--default-signal=PIPE,XFSZ")
        self.assertEqual(ignored(TOOL, "doctor", "--"), plain)

    def test_what_is_no_program_is_refused(self):
        for words, fact in (((), "doctor needs a program"),
                            (("/no/such",), "cannot run /no/such"),
                            ((str(self.folder),), "cannot run")):
            status, _, error = self.doctor(*words)
            self.assertEqual(status, USAGE)
            self.assertIn(fact, error)

    def test_the_program_is_not_written_over(self):
        path = self.folder / "program"
        path.write_text("#!/bin/sh\n")
        status, _, error = self.doctor(str(path),
                                       options=("--page", "program"))
        self.assertEqual(status, USAGE)
        self.assertIn("--page", error)
        self.assertEqual(path.read_text(), "#!/bin/sh\n")


if __name__ == "__main__":
    TOOL, PROGRAM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
