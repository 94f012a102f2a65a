#!/usr/bin/env python3
"""No file that a command writes takes the place of another one of the same
command: data, settings, a checkpoint, another output.

usage: outputs_overwrote_other_files_test.py TOOL
"""

import os
import sys
import unittest

import tool_case
from tool_case import OK, SMALL_GPT, ToolCase, USAGE

STEPS = ("--hidden", "8", "--batch", "16", "--steps", "2", "--threads", "1",
         "--progress", "none")


class OverwriteTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.table = self.at("table.csv")
        with open(self.table, "w", encoding="utf-8") as file:
            file.write("a,b,label\n" + "".join(
                f"{row * .5},{row % 7},{row % 3}\n" for row in range(100)))
        self.run_of_table = ("train", "--data", "csv", "--path", self.table,
                             *STEPS)

    def at(self, name):
        return str(self.folder / name)

    def contents(self):
        return {path: path.read_bytes() for path in self.folder.rglob("*")
                if path.is_file()}

    def same(self, first, second, *arguments):
        """Refused in a line that names both options; every file stays."""
        before = self.contents()
        status, output, errors = self.run_tool(*arguments)
        self.assertEqual((status, output), (USAGE, ""), errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(f"{first} and {second} are the same file", errors)
        self.assertEqual(self.contents(), before)

    def test_an_output_is_not_the_data(self):
        run = self.run_of_table
        os.link(self.table, self.at("hard"))
        os.symlink("table.csv", self.at("soft"))
        dotted = self.at("../" + self.folder.name + "/./table.csv")
        for option in ("--save", "--json", "--metrics"):
            for path in (self.table, self.at("hard"), self.at("soft"), dotted):
                self.same(option, "--path", *run, option, path)
        text = self.write_text()
        self.same("--save", "--path", "train", *SMALL_GPT, "--data", "text",
                  "--path", text, *STEPS, "--save", text)
        images = self.write_set()
        self.same("--json", "--data", "train", "--data", images, *STEPS,
                  "--json", images + "/t10k-labels-idx1-ubyte")

    def test_two_outputs_are_not_one_file_there_or_not(self):
        run = self.run_of_table
        for there in (False, True):
            if there:
                (self.folder / "r").touch()
            for first, second in (("--save", "--json"),
                                  ("--save", "--metrics"),
                                  ("--json", "--metrics")):
                self.same(first, second, *run, first, self.at("r"), second,
                          self.at("./r"))
        self.same("--save", "--tensorboard", *run, "--save", self.at("t"),
                  "--tensorboard", self.at("t/"))

    def test_settings_and_a_checkpoint_to_go_on_from_stay(self):
        config = self.at("run.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("hidden = [8]\n")
        run = self.run_of_table
        self.same("--json", "--config", "train", "--config", config,
                  *run[1:], "--json", config)
        saved = self.at("rc.st")
        self.assertEqual(self.run_tool(*run, "--save", saved)[0], OK)
        for option in ("--json", "--metrics"):
            self.same(option, "--resume", *run, "--resume", saved, option,
                      saved)
        # A plan writes its JSON alone.
        self.same("--json", "--config", "plan", "--config", config, *run[1:],
                  "--json", config)
        for names in (("--json", "--resume"), ("--save", "--json")):
            other = (set(names) - {"--json"}).pop()
            self.same(*names, "plan", *run[1:], other, saved, "--json", saved)
        self.same("--json", "--load", "eval", "--load", saved, "--data", "csv",
                  "--path", self.table, "--json", saved)

    def test_what_does_no_harm_is_allowed(self):
        run = self.run_of_table
        saved = self.at("rc.st")
        self.assertEqual(self.run_tool(*run, "--save", saved)[0], OK)
        for more in (("--resume", saved, "--save", saved),
                     ("--json", "/dev/null", "--metrics", "/dev/null"),
                     ("--json", self.at("a"), "--metrics", self.at("b"),
                      "--tensorboard", self.folder)):
            status, _, errors = self.run_tool(*run, *more)
            self.assertEqual((status, errors), (OK, ""))
        images = self.write_set()
        status, _, errors = self.run_tool("train", "--data", images, *STEPS,
                                          "--json", images + "/summary.json",
                                          "--tensorboard", images)
        self.assertEqual((status, errors), (OK, ""))

    def test_a_drawing_of_a_plan_is_a_file_of_its_own(self):
        problem = self.at("problem.csv")
        with open(problem, "w", encoding="utf-8") as file:
            file.write("lower,upper,size\n0,1,4\n")
        self.same("--svg", "the problem", "pack", problem, "--svg", problem)
        self.same("--svg", "--out", "pack", problem, "--svg", self.at("p"),
                  "--out", self.at("p"))
        self.assertEqual(self.run_tool("pack", problem, "--out", problem)[0],
                         OK)

    def test_a_path_with_a_zero_byte_is_refused(self):
        for key, status in (("save", tool_case.OUTPUT),
                            ("metrics", tool_case.OUTPUT),
                            ("json", tool_case.OUTPUT),
                            ("resume", tool_case.DATA)):
            config = self.folder / "zero.toml"
            config.write_text(f'{key} = "{self.at("cut")}\\u0000.st"\n')
            before = self.contents()
            found, _, errors = self.run_tool(
                "train", "--config", config, *self.run_of_table[1:])
            self.assertEqual(found, status, errors)
            self.assertIn("zero byte", errors)
            self.assertEqual(self.contents(), before)


if __name__ == "__main__":
    tool_case.TOOL = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1])
