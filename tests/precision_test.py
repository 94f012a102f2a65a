#!/usr/bin/env python3
"""neap train --dtype bf16, as its users meet it.

usage: precision_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import sys
import unittest

import tool_case
from tool_case import OK, USAGE, ToolCase, has_bf16

MLP = ("--hidden", "32", "--batch", "16", "--epochs", "10", "--lr", "1e-2")
GPT = ("--model", "gpt", "--symbols", "bytes", "--layers", "2", "--dim", "32",
       "--heads", "2", "--block", "16", "--batch", "8", "--steps", "12",
       "--dropout", "0.1", "--lr", "1e-2")
BF16 = ("--dtype", "bf16")


class Bf16Test(ToolCase):
    def setUp(self):
        super().setUp()
        if not has_bf16():
            self.skipTest("this processor has no dot products of bf16")

    def text(self, *arguments):
        """The summary of a run on a made-up text."""
        path = self.folder / "text.txt"
        path.write_text("the quick brown fox jumps over the lazy dog\n" * 60)
        return self.train("text", "--path", str(path), *arguments)

    def expect_one_hash(self, run, *arguments):
        hashes = {run(*arguments, *BF16, *more)["state_hash"]
                  for more in (("--threads", "1"), ("--threads", "2"),
                               ("--threads", "1", "--compile"),
                               ("--threads", "3", "--compile"))}
        self.assertEqual(len(hashes), 1)
        plain = run(*arguments, "--threads", "1")
        self.assertNotIn(plain["state_hash"], hashes)

    def test_the_bits_of_an_mlp_are_one_for_threads_eager_and_compiled(self):
        data = self.write_set()
        self.expect_one_hash(lambda *rest: self.train(data, *rest), *MLP)

    def test_the_bits_of_a_gpt_are_one_for_threads_eager_and_compiled(self):
        self.expect_one_hash(self.text, *GPT)

    def test_training_ends_about_where_f32_does(self):
        data = self.write_set()
        plain = self.train(data, *MLP)
        rounded = self.train(data, *MLP, *BF16)
        self.assertEqual(plain["dtype"], "f32")
        self.assertEqual(rounded["dtype"], "bf16")
        self.assertGreater(rounded["test_accuracy"], 0.95)
        self.assertLess(abs(rounded["test_loss"] - plain["test_loss"]), 0.02)
        self.assertNotEqual(rounded["test_loss"], plain["test_loss"])
        of_text = (self.text(*GPT), self.text(*GPT, *BF16))
        self.assertLess(abs(of_text[0]["test_loss"] - of_text[1]["test_loss"]),
                        0.05)

    def test_a_settings_file_may_say_it_and_the_run_line_does(self):
        config = self.folder / "run.toml"
        config.write_text('dtype = "bf16"\n')
        status, output, errors = self.run_tool(
            "train", "--config", config, "--data", self.write_set(),
            "--steps", "2", "--progress", "none")
        self.assertEqual((status, errors), (OK, ""))
        self.assertRegex(output, r"(?m)^run .*products in bf16")
        self.assertRegex(output, r"(?m)^state hash .*products in bf16")

    def test_a_run_goes_on_in_the_dtype_that_it_began_in(self):
        data = self.write_set()
        run = ("--hidden", "8", "--batch", "16", "--schedule", "constant",
               *BF16)
        whole = self.train(data, *run, "--steps", "6")
        path = str(self.folder / "half.safetensors")
        self.train(data, *run, "--steps", "3", "--save", path)
        rest = self.train(data, *run, "--steps", "6", "--resume", path)
        self.assertEqual(rest["state_hash"], whole["state_hash"])
        self.refuse(USAGE, "--data", data, *run[:-2], "--steps", "6",
                    "--resume", path, says="dtype is bf16 there")
        self.train(data, *run[:-2], "--steps", "3", "--save", path)
        self.refuse(USAGE, "--data", data, *run, "--steps", "6", "--resume",
                    path, says="dtype is not said there")

    def test_a_plan_says_the_peak_of_the_run_to_the_byte(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        data = self.write_set()
        run = ("--hidden", "32", "--batch", "16", "--threads", "1", *BF16)
        status, text, errors = self.run_tool("plan", "--json", "--data", data,
                                             *run)
        self.assertEqual((status, errors), (OK, ""))
        told = json.loads(text)
        found = self.train(data, *run, "--steps", "9", "--compile")
        self.assertEqual(told["peak_bytes"], found["peak_bytes"])
        self.assertEqual(told["arena_bytes"], found["arena_bytes"])


class RefusalTest(ToolCase):
    def test_without_the_instruction_it_is_refused_and_says_what_to_do(self):
        for command in ("train", "plan"):
            status, _, errors = self.run_tool(
                command, "--data", self.write_set(), *BF16, NEAP_ISA="baseline")
            self.assertEqual(status, USAGE)
            self.assertRegex(errors, r"\Aneap: --dtype bf16: [^\n]*AVX512_BF16"
                                     r"[^\n]*leave --dtype out[^\n]*\n\Z")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
