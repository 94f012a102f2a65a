#!/usr/bin/env python3
"""Averages of weights (--ema), tests between steps (--eval-every) and the
schedule plateau, as users of the tool meet them.

usage: averages_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import sys
import unittest

import tool_case
from tool_case import DATA, IMAGE_NETWORKS, OK, SMALL_GPT, USAGE, ToolCase

RUN = ("--hidden", "16", "--batch", "24", "--dropout", "0.2", "--threads", "1")
PLATEAU = ("--eval-every", "2", "--schedule", "plateau", "--plateau-patience",
           "0", "--plateau-factor", "0.5", "--lr", "0.05")


class AveragesCase(ToolCase):
    def setUp(self):
        super().setUp()
        self.data = self.write_set()
        self.file = self.folder / "run.safetensors"
        self.batch = RUN[2:4]

    def eval(self, *arguments):
        """RETURNS: the JSON object of a good measurement."""
        status, output, errors = self.run_tool(
            "eval", "--load", self.file, "--json", "-", *self.batch, *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        return json.loads(output)

    def lines(self, *arguments):
        """RETURNS: the lines of the metrics of a run, steps and tests."""
        file = self.folder / "run.jsonl"
        file.unlink(missing_ok=True)
        self.train(self.data, "--metrics", file, *arguments)
        found = list(map(json.loads, file.read_text().splitlines()))
        return ([one for one in found if "loss" in one],
                [one for one in found if "test_loss" in one])


class AveragesTest(AveragesCase):
    def test_the_test_is_of_the_averages_and_the_weights_stay(self):
        run = (*RUN, "--steps", "7", "--save", self.file)
        plain = self.train(self.data, *run)
        self.assertEqual(self.eval()["loss"], plain["test_loss"])
        averaged = self.train(self.data, *run, "--ema", "0.9")
        self.assertNotEqual(averaged["test_loss"], plain["test_loss"])
        self.assertEqual(self.eval()["loss"], averaged["test_loss"])
        self.assertEqual(self.eval("--averages", "on")["loss"],
                         averaged["test_loss"])
        self.assertEqual(self.eval("--averages", "off")["loss"],
                         plain["test_loss"])

    def test_no_decay_is_the_weights_themselves(self):
        run = (*RUN, "--steps", "5")
        plain = self.train(self.data, *run)
        same = self.train(self.data, *run, "--ema", "0")
        self.assertEqual(same["test_loss"], plain["test_loss"])

    def test_running_means_are_averaged_too(self):
        run = ("--model", "resnet18", *IMAGE_NETWORKS["resnet18"],
               *self.batch, "--steps", "6", "--threads", "1", "--save",
               self.file)
        found = self.train(self.data, *run, "--ema", "0.9")
        names = [name for name in self.header() if "running_mean" in name]
        averaged = [name for name in names
                    if name.startswith("optimizer.average.")]
        self.assertGreater(len(averaged), 0)
        self.assertEqual(len(averaged) * 2, len(names))
        self.assertEqual(self.eval()["loss"], found["test_loss"])

    def header(self):
        content = self.file.read_bytes()
        size = int.from_bytes(content[:8], "little")
        return json.loads(content[8:8 + size])

    def test_compiled_steps_have_the_bits_of_eager_ones(self):
        for more in ((), PLATEAU):
            run = (*RUN, "--steps", "9", "--ema", "0.9", *more)
            eager = self.train(self.data, *run, "--eager")
            compiled = self.train(self.data, *run, "--compile")
            for key in ("state_hash", "test_loss", "test_accuracy"):
                self.assertEqual(eager[key], compiled[key], key)

    def test_a_resumed_run_ends_in_the_bits_of_a_whole_one(self):
        for way in ("--eager", "--compile"):
            run = (*RUN, *PLATEAU, "--ema", "0.9", way)
            whole = self.train(self.data, *run, "--steps", "9")
            for first in ("3", "4"):  # between two tests, and after one
                self.train(self.data, *run, "--steps", first, "--save",
                           self.file)
                rest = self.train(self.data, *run, "--steps", "9", "--resume",
                                  self.file)
                for key in ("state_hash", "test_loss"):
                    self.assertEqual(rest[key], whole[key], (way, first))

    def test_another_decay_is_refused_and_so_is_a_file_without_averages(self):
        run = (*RUN, "--steps", "4", "--schedule", "constant", "--data",
               self.data, "--progress", "none")
        self.train(self.data, *run[:-4], "--ema", "0.9", "--save", self.file)
        self.refuse(USAGE, *run, "--ema", "0.8", "--resume", self.file,
                    says="ema is 0.9 there, 0.8 here")
        says = "its run keeps averages of the weights; give --ema 0.9, as there"
        self.refuse(USAGE, *run, "--resume", self.file, says=says)
        status, _, errors = self.run_tool("plan", *run[:-2], "--resume",
                                          self.file)
        self.assertNotEqual(status, OK)
        self.assertIn(says, errors)
        self.train(self.data, *run[:-4], "--save", self.file)
        self.refuse(USAGE, *run, "--ema", "0.8", "--resume", self.file,
                    says="ema is not said there")

    def test_what_is_predicted_is_held(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        text = ("--data", "text", "--path", self.write_text(), *SMALL_GPT,
                "--batch", "5")
        images = ("--data", self.data, "--batch", "7")
        for run in ((*images, "--ema", "0.9"),
                    (*images, "--eval-every", "3"),
                    (*images, "--model", "vgg11", "--width", "2", "--ema",
                     "0.9", *PLATEAU),
                    (*text, "--ema", "0.9"), (*text, *PLATEAU, "--ema", "0.9")):
            with self.subTest(run=run):
                run = (*run, "--threads", "1", "--save", self.file)
                status, output, errors = self.run_tool("plan", "--json", *run)
                self.assertEqual((status, errors), (OK, ""))
                told = json.loads(output)
                found = self.train_as_told(run[1], *run[2:], "--compile",
                                           "--steps", "9")
                self.assertEqual(told["peak_bytes"], found["peak_bytes"])
                self.assertEqual(found["predicted_peak_bytes"],
                                 found["peak_bytes"])
                self.assertEqual(found["heap_calls_per_step"], 0)

    def test_a_model_without_a_text_has_its_averages_counted(self):
        sizes = ("plan", "--json", *SMALL_GPT)
        plain = json.loads(self.run_tool(*sizes)[1])
        averaged = json.loads(self.run_tool(*sizes, "--ema", "0.9")[1])
        self.assertEqual(averaged["persistent_bytes"]
                         - plain["persistent_bytes"],
                         4 * plain["parameters"])

    def test_a_budget_is_met_with_the_same_bits(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("text", "--model", "gpt", "--path", self.write_text(),
               "--layers", "3", "--dim", "64", "--block", "32", "--batch",
               "32", "--steps", "3", "--threads", "1", "--compile", "--ema",
               "0.9", "--eval-every", "2")
        whole = self.train(*run)
        budget = (whole["peak_bytes"] + whole["external_bytes"]
                  - whole["arena_bytes"] // 2)
        for more in ((), ("--spill", self.folder, "--spill-rate", "4GiB")):
            some = self.train(*run, "--budget", budget, *more)
            self.assertEqual(some["state_hash"], whole["state_hash"])
            self.assertEqual(some["test_loss"], whole["test_loss"])
            self.assertLessEqual(some["peak_bytes"] + some["external_bytes"],
                                 budget)
            self.assertEqual(some["predicted_peak_bytes"], some["peak_bytes"])
            self.assertEqual(some["states_away"], 0)

    def test_weights_that_would_not_stay_in_memory_are_refused(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("--data", "text", "--path", self.write_text(), "--model", "gpt",
               "--layers", "6", "--dim", "256", "--block", "32", "--batch",
               "1", "--steps", "3", "--threads", "1", "--progress", "none",
               "--budget", "40MiB", "--spill", self.folder, "--spill-rate",
               "4GiB")
        for more in (("--ema", "0.9"), ("--eval-every", "2")):
            status, _, errors = self.run_tool("train", *run, *more)
            self.assertEqual(status, tool_case.MEMORY, errors)
            self.check_budget_refusal(errors)
            self.assertIn("--ema and --eval-every keep weights", errors)

    def test_a_decay_is_a_number_below_1(self):
        self.refuse(USAGE, "--ema", "1", says="--ema")
        self.refuse(USAGE, "--ema", "-0.1", says="--ema")


class TestsBetweenStepsTest(AveragesCase):
    def test_each_has_a_line_and_changes_no_bit(self):
        steps, tests = self.lines(*RUN, "--steps", "7", "--eval-every", "3")
        self.assertEqual([one["step"] for one in tests], [3, 6, 7])
        whole = self.train(self.data, *RUN, "--steps", "7", "--eval-every", "3")
        plain = self.train(self.data, *RUN, "--steps", "7")
        self.assertEqual(whole["state_hash"], plain["state_hash"])
        self.assertEqual(whole["test_loss"], plain["test_loss"])
        self.assertEqual(tests[-1]["test_loss"], plain["test_loss"])

    def test_a_test_between_steps_is_that_of_a_run_that_ends_there(self):
        run = (*RUN, "--ema", "0.8", "--schedule", "constant")
        _, tests = self.lines(*run, "--steps", "6", "--eval-every", "4")
        ended = self.train(self.data, *run, "--steps", "4")
        self.assertEqual(tests[0]["test_loss"], ended["test_loss"])

    def test_progress_tells_them(self):
        status, _, errors = self.run_tool(
            "train", "--data", self.data, *RUN, "--steps", "4", "--eval-every",
            "2", "--progress", "plain")
        self.assertEqual(status, OK, errors)
        for step in ("2", "4"):
            self.assertRegex(errors, rf"\n test at step {step}:  loss +[\d.]+"
                             r"  acc +[\d.]+%\n")

    def test_there_must_be_something_to_test_on(self):
        text = ("--data", "text", "--path", self.write_text(), *SMALL_GPT,
                "--batch", "4", "--validation", "0", "--eval-every", "2")
        self.refuse(USAGE, *text, "--steps", "2", says="--eval-every")
        for run in (text, (*SMALL_GPT, "--eval-every", "2")):
            status, _, errors = self.run_tool("plan", *run)
            self.assertEqual(status, DATA, errors)
            self.assertIn("--eval-every", errors)


class PlateauTest(AveragesCase):
    def test_a_loss_that_rises_lowers_the_rate(self):
        run = (*RUN, "--steps", "8", "--eval-every", "2", "--schedule",
               "plateau", "--optimizer", "sgd", "--plateau-factor", "0.5")
        steps, tests = self.lines(*run, "--lr", "50", "--plateau-patience",
                                  "0")
        rate, best = 50.0, float("inf")
        for number, one in enumerate(steps):
            self.assertEqual(one["learning_rate"], rate, number)
            if number % 2 == 1 and number // 2 < len(tests):
                loss = tests[number // 2]["test_loss"]
                is_better = loss is not None and loss < best * (1 - 1e-4)
                best = loss if is_better else best
                rate = rate if is_better else rate * 0.5
        self.assertLess(rate, 50.0)

    def test_it_needs_tests_and_no_warm_up(self):
        run = ("--data", self.data, "--schedule", "plateau")
        self.refuse(USAGE, *run, says="--eval-every")
        self.refuse(USAGE, *run, "--eval-every", "3", "--warmup", "2",
                    says="--warmup")
        status, _, errors = self.run_tool("plan", *run)
        self.assertEqual(status, USAGE)
        self.assertIn("--eval-every", errors)

    def test_what_decides_its_rates_belongs_to_the_run(self):
        run = (*RUN, *PLATEAU)
        self.train(self.data, *run, "--steps", "4", "--save", self.file)
        common = ("--data", self.data, "--steps", "8", "--progress", "none",
                  "--resume", self.file)
        for options, says in ((("--eval-every", "3"), "eval-every is 2 there"),
                              (("--plateau-patience", "1"), "patience"),
                              (("--plateau-factor", "0.1"), "factor")):
            changed = dict(zip(run[::2], run[1::2]))
            changed.update([options])
            flat = [word for pair in changed.items() for word in pair]
            self.refuse(USAGE, *flat, *common, says=says)

    def test_other_data_to_test_on_are_another_run(self):
        run = (*RUN, *PLATEAU)
        self.train(self.data, *run, "--steps", "4", "--save", self.file)
        files = tool_case.separable()
        images = bytearray(files["test_images"])
        images[-1] ^= 1
        self.write_set(test_images=bytes(images))
        self.refuse(USAGE, *run, "--data", self.data, "--steps", "8",
                    "--progress", "none", "--resume", self.file,
                    says="test-data")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
