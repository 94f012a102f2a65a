#!/usr/bin/env python3
"""`--plan FILE` as its users meet it: the plan of a run is made once.

usage: plan_file_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import sys
import unittest

import tool_case
from tool_case import DATA, MEMORY, OK, OUTPUT, USAGE, ToolCase


def with_option(line, name, *value):
    """The line with this option, in the place of the one that it has."""
    if name not in line:
        return (*line, name, *value)
    at = line.index(name)
    return (*line[:at + 1], *value, *line[at + 2:])


class PlanFileTest(ToolCase):
    def setUp(self):
        super().setUp()
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        self.file = self.folder / "run.plan"
        self.line = ("--path", self.write_text(), "--model", "gpt", "--layers",
                     "2", "--dim", "64", "--block", "32", "--batch", "32",
                     "--threads", "1", "--steps", "3")
        whole = self.train("text", *self.line, "--compile")
        self.hash = whole["state_hash"]
        self.budget = (whole["peak_bytes"] + whole["external_bytes"]
                       - whole["arena_bytes"] // 2)
        self.kept = (*self.line, "--budget", self.budget, "--plan", self.file)

    def plan(self, *arguments):
        return self.plan_of("text", *arguments)

    def plan_of(self, data, *arguments):
        status, output, errors = self.run_tool("plan", "--json", "--data", data,
                                               *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return json.loads(output)

    def refuse_file(self, *arguments, status=DATA, says=""):
        """One line, the same of plan and of train; the file is as before."""
        before = self.file.read_bytes()
        for command in ("plan", "train"):
            found, _, errors = self.run_tool(command, "--data", "text",
                                             *arguments)
            self.assertEqual(found, status, errors)
            self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
            self.assertIn(says, errors)
            short = errors.replace(str(self.file), "run.plan")
            self.assertLessEqual(len(short.rstrip()), 80, short)
        self.assertEqual(self.file.read_bytes(), before)

    def check_same(self, *more):
        """Plan writes the file, train takes it, and once more."""
        run = (*self.kept, *more)
        told = self.plan(*run)
        self.assertEqual(told["plan_file"], "written")
        content = self.file.read_bytes()
        self.assertEqual(self.plan(*run)["plan_file"], "taken")
        for _ in range(2):
            found = self.train_as_told("text", *run)
            self.assertEqual(found["plan_file"], "taken")
            self.assertEqual(found["state_hash"], self.hash)
            self.assertEqual(found["predicted_peak_bytes"],
                             found["peak_bytes"])
            for key in ("arena_bytes", "peak_bytes", "calls_again",
                        "values_spilled", "extra_time_percent"):
                self.assertEqual(found[key], told[key], key)
            self.assertLessEqual(found["peak_bytes"] + found["external_bytes"],
                                 self.budget)
        self.assertEqual(self.file.read_bytes(), content)
        return told

    def test_train_takes_the_plan_that_plan_wrote(self):
        told = self.check_same()
        self.assertGreater(told["calls_again"] + told["micro_batches"], 0)

    def test_a_disk_is_measured_once(self):
        self.check_same("--spill", self.folder)  # which may be a slow one

    def test_costs_are_measured_once(self):
        costs = self.folder / "costs.txt"
        told = self.check_same("--costs", costs)
        self.assertGreater(told["calls_again"] + told["micro_batches"], 0)
        lines = costs.read_text().splitlines()
        self.assertEqual(lines[0], "neap costs 1")
        self.assertEqual(lines[1:], sorted(set(lines[1:])))
        costs.write_text("\n".join(lines[:-1]) + "\nnone\n")
        for command in ("plan", "train"):
            status, _, errors = self.run_tool(command, "--data", "text",
                                              *self.kept, "--costs", costs)
            self.assertEqual(status, DATA)
            self.assertRegex(errors, r"\Aneap: --costs: [^\n]+ends within a "
                             r"line; remove it to measure anew\n\Z")

    def test_costs_that_are_not_kept_hold_for_no_plan(self):
        for command in ("plan", "train"):
            status, _, errors = self.run_tool(command, "--data", "text",
                                              *self.kept, "--costs", "measure")
            self.assertEqual(status, USAGE)
            self.assertIn("give --costs a file", errors)
        self.assertFalse(self.file.exists())

    def test_measured_costs_change_no_bit(self):
        run = (*self.line, "--budget", self.budget, "--costs", "measure")
        found = self.train_as_told("text", *run)
        self.assertEqual(found["state_hash"], self.hash)
        self.assertEqual(found["predicted_peak_bytes"], found["peak_bytes"])
        self.assertLessEqual(found["peak_bytes"] + found["external_bytes"],
                             self.budget)

    def check_away(self, text, layers, budget_of):
        """Plan keeps what is away, train takes it; the report of a run."""
        run = ("--path", text, "--model", "gpt", "--layers", layers, "--dim",
               "256", "--block", "32", "--batch", "1", "--steps", "3",
               "--threads", "1")
        whole = self.train("text", *run, "--compile")
        budget = budget_of(whole)
        run = (*run, "--budget", budget, "--spill", self.folder, "--spill-rate",
               "4GiB", "--plan", self.file)
        told = self.plan(*run)
        self.assertEqual(told["plan_file"], "written")
        content = self.file.read_bytes()
        found = self.train_as_told("text", *run)
        self.assertEqual(found["plan_file"], "taken")
        self.assertEqual(found["state_hash"], whole["state_hash"])
        self.assertEqual(found["predicted_peak_bytes"], found["peak_bytes"])
        self.assertLessEqual(found["peak_bytes"] + found["external_bytes"],
                             budget)
        for key in ("arena_bytes", "states_away", "weights_away"):
            self.assertEqual(found[key], told[key], key)
        self.assertEqual(self.file.read_bytes(), content)
        return found

    def test_a_plan_keeps_state_away(self):
        found = self.check_away(
            self.write_text(), "1",
            lambda whole: (whole["peak_bytes"] + whole["external_bytes"]
                           - whole["arena_bytes"] // 2
                           - whole["peak_by_category"]["parameters"]
                           + 256 * 1024))
        self.assertGreater(found["states_away"], 0)

    def test_a_plan_keeps_weights_away(self):
        found = self.check_away(
            self.write_text(), "6",
            lambda whole: (whole["external_bytes"]
                           + whole["peak_by_category"]["parameters"] // 2))
        self.assertGreater(found["weights_away"], 0)

    def test_train_writes_what_the_next_takes(self):
        first = self.train_as_told("text", *self.kept)
        content = self.file.read_bytes()
        self.assertEqual(first["plan_file"], "written")
        second = self.train_as_told("text", *self.kept)
        self.assertEqual(second["plan_file"], "taken")
        self.assertEqual(self.file.read_bytes(), content)
        for key in ("state_hash", "arena_bytes", "peak_bytes"):
            self.assertEqual(first[key], second[key], key)
        self.assertEqual(first["state_hash"], self.hash)

    def test_fit_writes_and_takes_it(self):
        for word in ("written to", "taken from"):
            status, output, errors = self.run_tool("fit", "--data", "text",
                                                   *self.kept)
            self.assertEqual((status, errors), (OK, ""))
            self.assertIn(f"plan {word} ", output)
        self.assertEqual(self.plan(*self.kept)["plan_file"], "taken")

    def test_a_run_that_fits_as_it_is_has_a_plan_too(self):
        told = self.plan(*self.line, "--budget", "1GiB", "--plan", self.file)
        self.assertEqual((told["plan_file"], told["calls_again"]),
                         ("written", 0))
        found = self.train_as_told("text", *self.line, "--budget", "1GiB",
                                   "--plan", self.file)
        self.assertEqual(found["plan_file"], "taken")
        self.assertEqual(found["arena_bytes"], told["arena_bytes"])

    def test_batches_of_two_sizes_are_in_one_file(self):
        run = ("--hidden", "16", "--batch", "24", "--epochs", "1", "--threads",
               "1", "--budget", "1GiB", "--plan", self.file)
        data = self.write_set()  # 64 images: 24, 24 and 16
        told = self.plan_of(data, *run)
        content = self.file.read_bytes()
        found = self.train_as_told(data, *run)
        self.assertEqual(self.file.read_bytes(), content)
        self.assertEqual((told["plan_file"], found["plan_file"]),
                         ("written", "taken"))
        self.assertEqual(found["state_hash"],
                         self.train(data, *run[:-4])["state_hash"])

    def test_another_run_or_budget_is_refused(self):
        self.plan(*self.kept)
        for more, says in ((("--batch", "16"), "no plan of this step"),
                           (("--layers", "3"), "no plan of this step"),
                           (("--optimizer", "sgd"), "no plan of this step"),
                           (("--budget", self.budget + 4096),
                            "budget was"),
                           (("--paged",), "paging was off, is on"),
                           (("--spill", self.folder), "spilling was off"),
                           (("--threads", "2"), "number of threads was 1, is 2")):
            with self.subTest(more=more):
                self.refuse_file(*with_option(self.kept, *more), says=says)

    def test_what_does_not_change_the_plan_may_change(self):
        self.plan(*self.kept)
        for more in (("--seed", "8"), ("--lr", "0.5"), ("--dropout", "0")):
            with self.subTest(more=more):
                self.assertEqual(self.plan(*self.kept, *more)["plan_file"],
                                 "taken")

    def test_a_damaged_file_is_refused(self):
        self.plan(*self.kept)
        good = self.file.read_bytes()
        for bad in (b"", b"\0", good[:-1], good[:40], good + b"\0",
                    good[:200] + bytes([good[200] ^ 4]) + good[201:],
                    b"another file"):
            self.file.write_bytes(bad)
            self.refuse_file(*self.kept, says="--plan ")

    def test_it_needs_a_budget_and_a_compiled_step(self):
        run = ("--data", "text", *self.line, "--plan", self.file)
        self.refuse(USAGE, *run, says="--budget")
        self.refuse(USAGE, *run, "--eager", "--budget", "1GiB", says="--eager")

    def test_where_it_cannot_be_written_nothing_begins(self):
        run = ("--data", "text", *self.line, "--budget", "1GiB", "--plan")
        self.refuse(OUTPUT, *run, "/nowhere/run.plan", says="/nowhere")
        self.refuse(OUTPUT, *run, self.folder, says="folder")

    def test_a_budget_that_is_not_met_leaves_no_file(self):
        status, _, errors = self.run_tool(
            "plan", "--data", "text", *self.line, "--budget", "18MiB",
            "--plan", self.file)
        self.assertEqual(status, MEMORY, errors)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
