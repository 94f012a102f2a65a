#!/usr/bin/env python3
"""`neap report`, and the files that neap plan and neap train write for it, as
their users meet them.

usage: report_tool_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = SANITIZER = ""
OK, USAGE, DATA, MEMORY, OUTPUT = 0, 2, 3, 4, 5
TEXT = "the waters were divided, and the tide was low again.\n" * 40
SMALL = ("--model", "gpt", "--layers", "2", "--heads", "2", "--dim", "32",
         "--block", "16", "--data", "text", "--path", "text.txt",
         "--threads", "1")


class ReportToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "text.txt").write_text(TEXT)

    def run_tool(self, *words):
        done = subprocess.run([TOOL, *words], capture_output=True, text=True,
                              timeout=300, cwd=self.folder, check=False)
        return done.returncode, done.stdout, done.stderr

    def good(self, *words):
        status, out, errors = self.run_tool(*words)
        self.assertEqual((status, errors), (OK, ""))
        return out

    def train(self, *words):
        return self.good("train", *SMALL, "--steps", "8", "--progress", "none",
                         *words)

    def snapshot(self, name):
        return json.loads(gzip.decompress((self.folder / name).read_bytes()))

    def plan(self, name, *words):
        self.good("plan", *SMALL, "--snapshot", name, *words)
        return self.snapshot(name)

    def test_a_plan_gives_one_file_byte_for_byte(self):
        self.plan("a.neapmem")
        self.plan("b.neapmem")
        self.assertEqual((self.folder / "a.neapmem").read_bytes(),
                         (self.folder / "b.neapmem").read_bytes())
        text = json.dumps(self.snapshot("a.neapmem"))
        self.assertNotIn(str(self.folder), text)

    def test_lines_of_the_program_may_be_left_out(self):
        told = self.plan("a.neapmem")
        kept = self.plan("b.neapmem", "--no-lines", "--page", "b.html")
        self.assertRegex(json.dumps(told), r"\w\.[ch]pp:\d+")
        for text in (json.dumps(kept), (self.folder / "b.html").read_text()):
            self.assertNotRegex(text, r"\w\.[ch]pp:\d+ \(")
        names = lambda made, part, key: [made["texts"][k] for k in made[part][key]]
        for part, keys in (("calls", ("op", "layer")), ("stays", ("owner", "category")),
                           ("blocks", ("category", "dtype", "shape", "layer"))):
            for key in keys:
                self.assertEqual(names(told, part, key), names(kept, part, key))

    def test_the_page_has_the_snapshot(self):
        made = self.plan("a.neapmem", "--page", "a.html", "--trace", "a.json")
        page = (self.folder / "a.html").read_text()
        data = re.search(r'id="snapshot">(.*?)</script>', page, re.DOTALL)
        self.assertEqual(json.loads(data.group(1)), made)
        self.good("report", "a.neapmem", "--page", "b.html")
        self.assertEqual((self.folder / "b.html").read_text(), page)
        events = json.loads((self.folder / "a.json").read_text())["traceEvents"]
        calls = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(calls), len(made["calls"]["op"]))

    def test_a_run_adds_its_steps_and_is_as_predicted(self):
        self.train("--page", "run.html", "--snapshot", "run.neapmem",
                   "--json", "run.json")
        made = self.snapshot("run.neapmem")
        said = json.loads((self.folder / "run.json").read_text())
        self.assertEqual(len(made["steps"]["live"]), 8)
        self.assertEqual(set(made["steps"]["live"]), {made["steps"]["live"][0]})
        self.assertTrue(all(ns > 0 for ns in made["steps"]["ns"]))
        sums = made["sums"]
        self.assertEqual(sums["arena"], said["arena_bytes"])
        self.assertEqual(sums["reserved"], sums["arena"] + sums["stays"]
                         + sums["program"] + sums["idle"] + sums["overhead"])
        self.assertNotIn("ns", made["calls"])

    def test_looking_changes_no_bit(self):
        hashes = set()
        for words in ((), ("--page", "p.html"), ("--profile",),
                      ("--profile", "--snapshot", "s.neapmem")):
            self.train("--json", "run.json", *words)
            hashes.add(json.loads((self.folder / "run.json").read_text())
                       ["state_hash"])
        self.assertEqual(len(hashes), 1)

    def test_a_profile_says_where_the_time_went(self):
        out = self.train("--profile", "--snapshot", "s.neapmem")
        self.assertRegex(out, r"\nop +calls +ms +% +GFLOP/s +GB/s +limit\n")
        self.assertRegex(out, r"\nlayer +calls ")
        calls = self.snapshot("s.neapmem")["calls"]
        self.assertEqual(len(calls["ns"]), len(calls["op"]))
        # A call that needs no instruction has none.
        self.assertGreater(sum(ns >= 0 for ns in calls["ns"]),
                           len(calls["ns"]) // 2)
        self.assertGreater(sum(calls["flops"]), 0)
        made = self.snapshot("s.neapmem")
        limits = (made["sums"]["flops_a_second"], made["sums"]["bytes_a_second"])
        for flops, moved, ns, share in zip(
                calls["flops"], calls["moved"], calls["ns"], calls["share"]):
            if ns > 0:
                most = max(flops / limits[0], moved / limits[1])
                self.assertAlmostEqual(share, most / ns * 1e12, delta=0.51)
            else:
                self.assertEqual(share, -1)
        # A single step has none that is not the first.
        status, out, errors = self.run_tool(
            "train", *SMALL, "--steps", "1", "--progress", "none", "--profile")
        self.assertEqual((status, errors), (OK, ""))
        self.assertIn("no times", out)

    def test_the_tables_add_up(self):
        self.plan("a.neapmem")
        sums = self.snapshot("a.neapmem")["sums"]
        out = self.good("report", "a.neapmem")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        reserved = re.search(r"^reserved .*?B +([\d ]+)$", out, re.MULTILINE)
        self.assertEqual(int(reserved.group(1).replace(" ", "")),
                         sums["reserved"])

    def test_of_two_it_tells_the_change(self):
        a = self.plan("a.neapmem", "--batch", "4")
        b = self.plan("b.neapmem", "--batch", "8")
        self.assertTrue(self.good("report", "a.neapmem", "a.neapmem")
                        .startswith("peak unchanged"))
        out = self.good("report", "a.neapmem", "b.neapmem", "--page", "d.html",
                        "--pickle", "b.pickle", "--folded", "b.txt",
                        "--svg", "b.svg", "--markdown")
        self.assertRegex(out, r"peak \+")
        page = (self.folder / "d.html").read_text()
        self.assertIn('id="other"', page)
        folded = (self.folder / "b.txt").read_text().splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded),
                         b["sums"]["reserved"])
        self.assertNotEqual(a["sums"]["reserved"], b["sums"]["reserved"])

    def test_what_is_damaged_or_newer_is_refused(self):
        self.plan("a.neapmem")
        whole = (self.folder / "a.neapmem").read_bytes()
        for content in (b"", b"hello", whole[:-9], whole + b"x",
                        gzip.compress(b"{}"), gzip.compress(b'{"neapmem":2}'),
                        gzip.compress(b'{"neapmem":1}')):
            (self.folder / "bad.neapmem").write_bytes(content)
            status, out, errors = self.run_tool("report", "bad.neapmem",
                                                "--page", "bad.html")
            self.assertEqual((status, out), (DATA, ""))
            self.assertIn("bad.neapmem", errors)
            self.assertEqual(len(errors.splitlines()), 1)
            self.assertFalse((self.folder / "bad.html").exists())
        self.assertEqual(self.run_tool("report", "none.neapmem")[0], DATA)

    def test_files_that_are_one_are_refused(self):
        self.plan("a.neapmem")
        before = (self.folder / "a.neapmem").read_bytes()
        for words in (("--page", "a.neapmem"),
                      ("--svg", "x", "--folded", "x")):
            self.assertEqual(self.run_tool("report", "a.neapmem", *words)[0],
                             USAGE)
        self.assertEqual((self.folder / "a.neapmem").read_bytes(), before)
        for words in (("--page", "x", "--snapshot", "x"),
                      ("--page", "text.txt"),
                      ("--eager", "--page", "x"), ("--eager", "--profile")):
            status = self.run_tool("train", *SMALL, "--steps", "2", *words)[0]
            self.assertEqual(status, USAGE, words)

    def test_a_file_that_cannot_be_written_is_told(self):
        self.plan("a.neapmem")
        for option in ("--page", "--pickle", "--trace", "--folded", "--svg"):
            status, _, errors = self.run_tool("report", "a.neapmem", option,
                                              "no/such/folder")
            self.assertEqual(status, OUTPUT, option)
            self.assertIn("no/such", errors)
        status, _, errors = self.run_tool("train", *SMALL, "--steps", "2",
                                          "--page", "no/such/folder")
        self.assertEqual(status, OUTPUT)

    def test_within_a_budget_what_is_shown_is_counted(self):
        if SANITIZER:
            self.skipTest("what the process itself holds differs by MiBs")
        _, out, _ = self.run_tool("plan", *SMALL, "--json", "-")
        plain = json.loads(out)
        self.good("plan", *SMALL, "--budget", "2G", "--page", "p.html",
                  "--json", "p.json")
        shown = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(shown["external_bytes"] - plain["external_bytes"],
                         8 << 20)

    def test_a_refused_run_shows_what_was_planned(self):
        _, out, _ = self.run_tool("plan", *SMALL, "--json", "-")
        # What is shown takes 8 MiB, and the parameters more than the rest.
        budget = json.loads(out)["external_bytes"] + (8 << 20) + 10000
        tight = ("--budget", str(budget), "--page", "p.html", "--snapshot",
                 "s.neapmem", "--trace", "t.json")
        for command in (("train", *SMALL, "--steps", "2"), ("plan", *SMALL)):
            status, _, errors = self.run_tool(*command, *tight)
            self.assertEqual(status, MEMORY)
            made = self.snapshot("s.neapmem")
            self.assertEqual(made["sums"]["budget"], budget)
            self.assertGreater(made["sums"]["arena"], 0)
            self.assertEqual(len(made["refusals"]), 1)
            self.assertIn("is too small for this run\n", made["refusals"][0])
            self.assertIn("\n  needed  ", made["refusals"][0])
            self.assertEqual(errors, f"neap: {made['refusals'][0]}\n")
            self.assertIn('id="snapshot"', (self.folder / "p.html").read_text())
            for name in ("p.html", "s.neapmem", "t.json"):
                (self.folder / name).unlink()
        # A file that cannot be written is told beforehand, as ever.
        status, _, errors = self.run_tool("train", *SMALL, *tight[:2],
                                          "--page", "no/such/folder")
        self.assertEqual(status, OUTPUT)


if __name__ == "__main__":
    TOOL, SANITIZER = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
