#!/usr/bin/env python3
"""The neap tool as its users meet it: arguments, settings files, data files,
exit statuses and the JSON summary.

usage: tool_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import fcntl
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import termios
import unittest
import unittest.mock

import tool_case
from tool_case import (DATA, MEMORY, OK, OUTPUT, SIDE, USAGE, ToolCase, idx,
                       separable)

FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")
OPTIONS = ("model data path symbols validation augment no-augment width layers dim heads "
           "block hidden dropout epochs steps minutes batch seed threads optimizer "
           "lr momentum weight-decay schedule plateau-patience plateau-factor ema eval-every warmup clip budget spill spill-rate spill-a-day costs plan "
           "kernels dtype compile "
           "keep prefetch target from adapter weights save-adapter "
           "eager paged save save-every resume verify json page shards rank-timeout zero snapshot trace metrics "
           "tensorboard no-lines profile progress "
           "config").split()
KEYS = ("test_accuracy steps resumed_steps checkpoint step_ms_median images_per_second peak_bytes "
        "peak_live_bytes peak_by_category peak_by_owner live_bytes_at_exit "
        "compiled arena_bytes predicted_peak_bytes "
        "heap_calls_per_step page_faults_per_step max_rss_bytes external_bytes "
        "state_hash seed threads isa dtype kernels version").split()
SMALL = ("--hidden", "16", "--batch", "16", "--epochs", "10", "--lr", "1e-2",
         "--threads", "1")


class HelpTest(ToolCase):
    def test_the_tool_says_its_commands_version_and_exit_statuses(self):
        status, text, errors = self.run_tool("--help")
        self.assertEqual((status, errors), (OK, ""))
        for word in ("train", "--help", "--version", "Exit status", "130"):
            self.assertIn(word, text)
        status, text, _ = self.run_tool("--version")
        self.assertEqual(status, OK)
        self.assertRegex(text, r"\Aneap \d+\.\d+\.\d+\n\Z")

    def test_the_help_of_train_lists_every_option(self):
        status, text, errors = self.run_tool("train", "--help")
        self.assertEqual((status, errors), (OK, ""))
        listed = re.findall(r"^\s+(?:-h,)?--([a-z-]+)", text, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(["help", *OPTIONS]))
        self.assertIn("Exit status", text)

    def test_the_help_of_train_says_every_default(self):
        _, text, _ = self.run_tool("train", "--help")
        words = " ".join(text.split())
        for entry in text.split("\n  --")[1:]:
            self.assertRegex(" ".join(entry.split()), r"\(default \S")
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80)
        for default in ("512,256", "0.001", "128", "adam", "cosine"):
            self.assertIn(f"(default {default})", words)

    def test_descriptions_hang_below_what_they_describe(self):
        for command in ((), ("train",), ("fit",), ("pack",), ("sample",),
                        ("launch",)):
            with self.subTest(command=command):
                _, text, _ = self.run_tool("help", *command)
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
                entries = False
                for line in text.split("Exit status")[0].splitlines():
                    if entries and line and not line.endswith(":"):
                        self.assertRegex(line, r"^(  |  -\S.*| {30})\S")
                    entries = entries or line.endswith(":")

    def test_the_manual_page_has_every_option(self):
        status, text, errors = self.run_tool("manual", "man")
        self.assertEqual((status, errors), (OK, ""))
        self.assertTrue(text.startswith(".TH NEAP 1 "), text[:40])
        for option in OPTIONS:
            name = r"\-\-" + option.replace("-", r"\-")
            self.assertRegex(text, rf"(?m)^\.BI? (\\-v, )?{re.escape(name)}( |$)")
        self.assertIn(".SH \"EXIT STATUS\"", text)

    def completions(self, *words):
        """RETURNS: what bash offers for the last word."""
        _, script, _ = self.run_tool("manual", "bash")
        quoted = " ".join(f"'{word}'" for word in words)
        ask = (f"COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}; _neap; "
               "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script + ask], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.completions("neap", "tr"), ["train"])
        self.assertEqual(self.completions("neap", "train", "--mom"),
                         ["--momentum"])
        self.assertEqual(self.completions("neap", "train", "--model", "res"),
                         ["resnet18", "resnet34"])
        self.assertEqual(self.completions("neap", "plan", "--epochs", ""), [])
        (self.folder / "words.txt").touch()
        self.assertEqual(self.completions("neap", "train", "--path", "wor"),
                         ["words.txt"])
        self.assertEqual(self.completions("neap", "pack", "wor"), ["words.txt"])

    def test_other_shells_get_every_option_too(self):
        for shell, form in (("zsh", "'--{}["), ("fish", " -l {} -d ")):
            status, text, errors = self.run_tool("manual", shell)
            self.assertEqual((status, errors), (OK, ""))
            for option in OPTIONS:
                self.assertIn(form.format(option), text)
        self.assertEqual(self.run_tool("manual", "csh")[0], USAGE)


class ArgumentTest(ToolCase):
    def test_no_command_and_an_unknown_one_are_refused(self):
        for arguments in ((), ("tarin",)):
            status, _, errors = self.run_tool(*arguments)
            self.assertEqual(status, USAGE)
            self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")

    def test_an_unknown_option_is_refused(self):
        self.refuse(USAGE, "--learning", "1", says="--learning")

    def test_what_was_meant_is_guessed(self):
        for arguments, says in (
                (("trian",), "there is no command 'trian' (did you mean train?)"),
                (("xyzzy",), "there is no command 'xyzzy'; try"),
                (("train", "--bugdet", "64MiB"),
                 "train has no option --bugdet (did you mean --budget?)"),
                (("train", "--bugdet=64MiB"), "(did you mean --budget?)"),
                (("plan", "--bacth", "64"), "(did you mean --batch?)"),
                (("train", "--qqqqqqqq", "1"), "no option --qqqqqqqq; try"),
                (("train", "--model", "rsnet18"), "(did you mean resnet18?)"),
                (("train", "--budget", "64"), "64MiB, or 64B")):
            with self.subTest(arguments=arguments):
                status, _, errors = self.run_tool(*arguments)
                self.assertEqual(status, USAGE)
                self.assertIn(says, errors)

    def test_help_and_version_are_words_too(self):
        for words, flags in ((("help",), ("--help",)),
                             (("help", "train"), ("train", "--help")),
                             (("version",), ("--version",)),
                             (("-V",), ("--version",))):
            self.assertEqual(self.run_tool(*words), self.run_tool(*flags))

    def test_an_option_without_a_value_or_given_twice_is_refused(self):
        self.refuse(USAGE, "--lr", says="--lr needs a value: X")
        self.refuse(USAGE, "--lr", "1", "--lr", "2",
                    says="--lr is given 2 times; give it once")

    def test_what_is_missing_or_too_much_is_named(self):
        for arguments, says in (
                (("manual",), "manual needs FORM: man, bash, zsh or fish"),
                (("pack",), "pack needs FILE: CSV with the columns"),
                (("sample",), "sample needs --load FILE: "),
                (("launch",), "launch needs --ranks N,N,...: "),
                (("train", "more"), "train takes no 'more'"),
                (("-x",), "there is no command: train, plan")):
            with self.subTest(arguments=arguments):
                status, _, errors = self.run_tool(*arguments)
                self.assertEqual(status, USAGE)
                self.assertIn(says, errors)
        self.assertNotIn("{", self.run_tool("help", "sample")[1])

    def test_bad_values_are_refused_by_name(self):
        bad = {"model": ["cnn", ""], "hidden": ["", "0", "16,", "16,x", "-1"],
               "dropout": ["1", "-0.1", "nan", "half"], "data": [""],
               "epochs": ["0", "1.5", "99999999999"], "steps": ["0", "x"],
               "batch": ["0", "-1"], "seed": ["-1", "x", "1e3"],
               "threads": ["-1", "257", "two"], "optimizer": ["lbfgs"],
               "lr": ["-1", "inf", "nan", "1e"], "momentum": ["1", "-1"],
               "weight-decay": ["-1", "inf"], "schedule": ["step"],
               "plateau-patience": ["-1", "x"], "plateau-factor": ["1", "-1"],
               "ema": ["1", "-0.1", "nan", "x"], "eval-every": ["0", "x", "1.5"],
               "warmup": ["-1"], "clip": ["-1", "nan"], "json": [""], "metrics": [""],
               "page": [""], "snapshot": [""], "trace": [""],
               "tensorboard": [""],
               "budget": ["0", "-1MiB", "64", "1.5", "64XiB", "64MiBs", "1e3MiB",
                          "1.5.5GiB", "GiB", "9999999999999GiB", "9000000T", "lots"],
               "spill": [""], "spill-rate": ["0", "fast", "1KiB", "-1MiB"],
               "shards": ["0", "-1", "x", "4097"],
               "rank-timeout": ["0", "-1", "inf", "x"],
               "zero": ["-1", "2", "x"],
               "spill-a-day": ["0", "much", "1KiB", "-1MiB"],
               "plan": [""], "costs": [""],
               "kernels": [""], "dtype": ["f64", ""], "progress": ["loud"], "save": [""], "verify": ["yes", ""],
               "save-every": ["0", "-5", "1.5min", "5m", "min", "x"],
               "resume": [""], "path": [""], "symbols": ["words"],
               "validation": ["1", "-0.1"], "width": ["0", "x"],
               "layers": ["0"], "dim": ["0"], "heads": ["0"], "block": ["0"],
               "target": [""], "keep": ["most", ""], "prefetch": ["-1", "7", "x"],
               "minutes": ["-1", "inf"], "from": [""], "save-adapter": [""],
               "weights": ["bf16", ""],
               "adapter": ["", "lora:", "lora:0", "lora:x", "lora:8:y", "lora:99999"]}
        flags = {"compile", "eager", "paged", "profile", "augment",
                 "no-augment", "no-lines"}
        self.assertEqual(set(bad), set(OPTIONS) - {"config"} - flags)
        for option, values in bad.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.refuse(USAGE, f"--{option}={value}",
                                says=f"--{option}")

    def test_a_plug_in_that_is_not_there_is_refused(self):
        self.refuse(USAGE, "--kernels", "nosuch", says="plug-in nosuch")

    def test_steps_and_epochs_exclude_each_other(self):
        self.refuse(USAGE, "--steps", "1", "--epochs", "1", says="--epochs")

    def test_compile_and_eager_exclude_each_other(self):
        self.refuse(USAGE, "--compile", "--eager", says="--eager")

    def test_pages_without_a_plan_are_refused(self):
        self.refuse(USAGE, "--paged", "--eager", says="--eager")

    def test_a_warm_up_as_long_as_the_run_is_refused(self):
        self.refuse(USAGE, "--steps", "5", "--warmup", "5", says="--warmup")
        data = self.write_set()  # 64 samples
        for warmup in ("8", "9"):
            self.refuse(USAGE, "--data", data, "--epochs", "2", "--batch", "16",
                        "--warmup", warmup, says="--warmup")
        self.train(data, "--epochs", "2", "--batch", "16", "--warmup", "7")


class SettingsFileTest(ToolCase):
    def config(self, text):
        path = self.folder / "run.toml"
        path.write_text(text)
        return str(path)

    def refuse_config(self, text, says):
        self.refuse(USAGE, "--config", self.config(text), says=says)

    def test_a_missing_file_is_refused(self):
        self.refuse(USAGE, "--config", self.folder / "none.toml",
                    says="none.toml")

    def test_broken_syntax_is_refused_with_its_line(self):
        self.refuse_config("lr = 1\nseed = = 2\n", "run.toml:2:")

    def test_unknown_keys_are_refused_with_their_line(self):
        self.refuse_config("lr = 1\nlearning_rate = 2\n",
                           "run.toml:2: unknown key 'learning_rate'")
        self.refuse_config("[train]\nrate = 1\n", "unknown key 'rate'")
        self.refuse_config("seed = 1\n[train]\nlr = 1\n", "outside of [train]")

    def test_wrong_types_and_values_are_refused(self):
        self.refuse_config("lr = true\n", "run.toml:1: 'lr'")
        for listed in ("[true]", "[[16]]", "[16, 'x']", "[1.5]", "[{a = 1}]"):
            self.refuse_config(f"hidden = {listed}\n", "run.toml:1: 'hidden'")
        self.refuse_config("lr = 1\nhidden = " + "[" * 50 + "]" * 50 + "\n",
                           "run.toml:2: 'hidden'")
        self.refuse_config("lr = 'fast'\n", "'fast' is not")
        self.refuse_config("epochs = 1.5\n", "'1.5' is not")
        self.refuse_config("[lr]\nx = 1\n", "'lr'")

    def test_a_flag_takes_true_or_false_and_nothing_else(self):
        for value in ("1", "'true'", "[1]"):
            self.refuse_config(f"compile = {value}\n",
                               "'compile' takes true or false")
        self.refuse_config("eager = true\n", "unknown key 'eager'")
        data = self.write_set()
        for text, more, wanted in (("", (), True), ("compile = true", (), True),
                                   ("compile = false", (), False),
                                   ("compile = true", ("--eager",), False),
                                   ("compile = false", ("--compile",), True)):
            path = self.config(f"{text}\nsteps = 1\n")
            found = self.train_as_told(data, "--config", path, *more)
            self.assertIs(found["compiled"], wanted)

    def test_steps_and_epochs_in_one_file_are_refused(self):
        self.refuse_config("steps = 3\nepochs = 1\n", "exclude")

    def test_a_huge_file_is_refused(self):
        self.refuse_config("#" * (2 << 20), "larger than")

    def test_command_line_goes_before_file_and_file_before_defaults(self):
        path = self.config('[train]\nseed = 21\nsteps = 3\nhidden = [16, 8]\n'
                           'batch = 16\nthreads = 1\noptimizer = "sgd"\n')
        data = self.write_set()
        both = self.train(data, "--config", path, "--steps", "2")
        self.assertEqual((both["seed"], both["steps"]), (21, 2))
        self.assertIn("fc3.weight", both["peak_by_owner"])
        epochs = self.train(data, "--config", path, "--epochs", "2")
        self.assertEqual(epochs["steps"], 8)
        default = self.train(data, "--steps", "1")
        self.assertEqual(default["seed"], 7)


class DataTest(ToolCase):
    def refuse_set(self, says, **changed):
        """Refused plain and gzipped, for each file that changes."""
        for is_gzipped in (False, True):
            with self.subTest(is_gzipped=is_gzipped):
                data = self.write_set(is_gzipped=is_gzipped, **changed)
                self.refuse(DATA, "--data", data, says=says)
                for path in pathlib.Path(data).iterdir():
                    path.unlink()

    def test_a_missing_folder_and_a_missing_file_are_refused(self):
        self.refuse(DATA, "--data", self.folder / "none",
                    says="none: there is no such folder")
        self.refuse_set("train-labels", train_labels=None)

    def test_a_file_in_place_of_the_folder_is_refused(self):
        path = self.folder / "file"
        path.write_text("x")
        self.refuse(DATA, "--data", path, says="file")

    def test_truncated_files_are_refused(self):
        whole = separable()
        for name, content in whole.items():
            self.refuse_set("idx", **{name: content[:-1]})
            self.refuse_set("idx", **{name: content[:6]})
            self.refuse_set("idx", **{name: b""})

    def test_overlong_files_are_refused(self):
        for name, content in separable().items():
            self.refuse_set("idx", **{name: content + b"\0"})

    def test_a_header_that_lies_about_its_size_is_refused(self):
        pixels = bytes(64 * SIDE * SIDE)
        for extents in ((65, SIDE, SIDE), (0xffffffff,) * 3,
                        (0xffffffff, 1, 1)):
            self.refuse_set("train-images", train_images=idx(extents, pixels))

    def test_a_wrong_magic_number_is_refused(self):
        for magic in (b"\1\0\10\3", b"\0\0\7\3", b"\0\0\x0b\3", b"\0\0\10\0",
                      b"\x89PNG"):
            wrong = idx((64, SIDE, SIDE), bytes(64 * SIDE * SIDE), magic)
            self.refuse_set("train-images", train_images=wrong)

    def test_the_wrong_kind_of_file_is_refused(self):
        whole = separable()
        self.refuse_set("labels", train_labels=whole["train_images"])
        self.refuse_set("images", train_images=whole["train_labels"])
        floats = idx((1, 1), bytes(4), b"\0\0\x0d\2")
        self.refuse_set("images", test_images=floats)

    def test_a_label_out_of_range_is_refused(self):
        labels = idx((64,), [0] * 63 + [10])
        self.refuse_set("label 10 of sample 63", train_labels=labels)

    def test_counts_and_shapes_that_do_not_match_are_refused(self):
        self.refuse_set("63 labels", train_labels=idx((63,), [0] * 63))
        small = idx((64, 4, 4), bytes(64 * 16))
        self.refuse_set("test images", test_images=small)

    def test_an_empty_set_is_refused(self):
        self.refuse_set("no sample", train_images=idx((0, SIDE, SIDE), b""),
                        train_labels=idx((0,), b""))

    def test_damaged_compression_is_refused(self):
        data = self.write_set(is_gzipped=True)
        path = pathlib.Path(data) / "train-images-idx3-ubyte.gz"
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[-6] ^= 1  # of the checksum
        for damaged in (whole[:-9], whole[:12], bytes(flipped), whole + b"x"):
            path.write_bytes(damaged)
            self.refuse(DATA, "--data", data, says="train-images")


class TrainTest(ToolCase):
    def test_a_run_learns_and_its_summary_is_whole_and_adds_up(self):
        found = self.train(self.write_set(), *SMALL)
        self.assertLessEqual(set(KEYS), set(found))
        self.assertEqual(found["test_accuracy"], 1.0)
        self.assertEqual(found["steps"], 40)
        self.assertEqual(found["live_bytes_at_exit"], 0)
        self.assertEqual((found["seed"], found["threads"]), (7, 1))
        for rows in ("peak_by_category", "peak_by_owner"):
            self.assertEqual(sum(found[rows].values()),
                             found["peak_live_bytes"])
        self.assertGreaterEqual(found["peak_bytes"], found["peak_live_bytes"])
        self.assertRegex(found["state_hash"], r"\A[0-9a-f]{16}\Z")
        weights = 4 * (16 * SIDE * SIDE + 16 + 10 * 16 + 10)
        categories = found["peak_by_category"]
        self.assertEqual(categories["parameters"], weights)
        self.assertEqual(categories["optimizer state"], 2 * weights)
        if not tool_case.SANITIZER:
            self.assertEqual(found["heap_calls_per_step"], 0)

    def test_gzipped_files_give_the_same_run(self):
        plain = self.train(self.write_set(), *SMALL)
        data = pathlib.Path(self.write_set(is_gzipped=True))
        for path in list(data.iterdir()):
            if path.suffix != ".gz":
                path.unlink()
        zipped = self.train(str(data), *SMALL)
        self.assertEqual(plain["state_hash"], zipped["state_hash"])

    def test_the_seed_alone_decides_the_bits(self):
        data = self.write_set()
        options = (*SMALL[:-2], "--dropout", "0.2", "--clip", "1")

        def state_hash(threads, seed=7):
            return self.train(data, *options, "--threads", threads, "--seed",
                              seed)["state_hash"]

        first = state_hash(1)
        self.assertEqual([first] * 3,
                         [state_hash(1), state_hash(2), state_hash(3)])
        self.assertNotEqual(first, state_hash(1, seed=8))

    def test_a_compiled_run_has_the_bits_of_an_eager_one(self):
        data = self.write_set()
        for more in (("--dropout", "0.2", "--clip", "1", "--warmup", "3"),
                     ("--optimizer", "sgd", "--batch", "24"),
                     ("--optimizer", "lion", "--schedule", "wsd"),
                     ("--optimizer", "rmsprop", "--schedule", "one-cycle"),
                     ("--optimizer", "adafactor", "--lr", "0.05"),
                     ("--optimizer", "muon", "--batch", "24"),
                     ("--optimizer", "adamw", "--weight-decay", "0.1")):
            with self.subTest(more=more):
                options = dict(zip(SMALL[::2], SMALL[1::2]))
                options.update(zip(more[::2], more[1::2]))
                flat = [word for pair in options.items() for word in pair]
                eager = self.train(data, *flat, "--eager")
                compiled = self.train(data, *flat, "--compile")
                for key in ("state_hash", "train_loss", "test_loss",
                            "test_accuracy"):
                    self.assertEqual(compiled[key], eager[key], key)
                self.assertFalse(eager["compiled"])
                self.assertTrue(compiled["compiled"])

    def test_a_compiled_run_keeps_to_the_peak_that_it_predicts(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        found = self.train(self.write_set(), *SMALL, "--compile")
        self.assertGreater(found["arena_bytes"], 0)
        self.assertEqual(found["predicted_peak_bytes"], found["peak_bytes"])
        self.assertEqual(found["live_bytes_at_exit"], 0)
        if not tool_case.SANITIZER:
            self.assertEqual(found["heap_calls_per_step"], 0)
        eager = self.train(self.write_set(), *SMALL)
        self.assertIsNone(eager["predicted_peak_bytes"])
        self.assertEqual(eager["arena_bytes"], 0)

    def test_the_weight_decay_is_the_optimizers_own_unless_told(self):
        def state_hash(optimizer, *more):
            return self.train(data, "--steps", "3", "--threads", "1",
                              "--optimizer", optimizer, *more)["state_hash"]

        data = self.write_set()
        for optimizer, own in (("sgd", "0"), ("adam", "0"), ("adamw", "0.01"),
                               ("lion", "0"), ("rmsprop", "0"),
                               ("adafactor", "0"), ("muon", "0.1")):
            with self.subTest(optimizer=optimizer):
                found = state_hash(optimizer)
                self.assertEqual(
                    found, state_hash(optimizer, "--weight-decay", own))
                self.assertNotEqual(
                    found, state_hash(optimizer, "--weight-decay", "0.5"))

    def test_every_optimizer_and_schedule_trains(self):
        data = self.write_set()
        for more in (("--optimizer", "sgd", "--lr", "0.1"),
                     ("--optimizer", "adamw"),
                     ("--optimizer", "lion", "--lr", "0.001"),
                     ("--optimizer", "rmsprop", "--schedule", "one-cycle"),
                     ("--optimizer", "adafactor", "--lr", "0.1"),
                     ("--optimizer", "muon", "--lr", "0.01"),
                     ("--schedule", "linear"), ("--schedule", "wsd"),
                     ("--schedule", "plateau", "--eval-every", "4", "--ema",
                      "0.9"),
                     ("--schedule", "constant", "--warmup", "5")):
            with self.subTest(more=more):
                options = dict(zip(SMALL[::2], SMALL[1::2]))
                options.update(zip(more[::2], more[1::2]))
                flat = [word for pair in options.items() for word in pair]
                self.assertEqual(self.train(data, *flat)["test_accuracy"], 1)

    def test_no_hidden_layer_gives_a_linear_model(self):
        for empty in (("--hidden", ""), ("--config", self.config_file())):
            found = self.train(self.write_set(), *SMALL[2:], *empty)
            weights = 4 * (10 * SIDE * SIDE + 10)
            self.assertEqual(found["peak_by_category"]["parameters"], weights)

    def config_file(self):
        path = self.folder / "linear.toml"
        path.write_text("hidden = []\n")
        return path

    def test_the_summary_goes_to_standard_output_for_a_dash(self):
        status, output, _ = self.run_tool(
            "train", "--data", self.write_set(), "--json", "-", "--progress",
            "none", "--steps", "1")
        self.assertEqual(status, OK)
        self.assertEqual(json.loads(output)["steps"], 1)

    def test_a_summary_that_cannot_be_written_is_refused_before_the_data(self):
        for path in (self.folder / "none" / "summary.json", self.folder):
            self.refuse(OUTPUT, "--data", self.folder / "no data", "--json",
                        path, says=str(path))

    def test_trying_the_summary_leaves_an_old_one_as_it_is(self):
        path = self.folder / "summary.json"
        path.write_text("old")
        self.refuse(DATA, "--data", self.folder / "none", "--json", path)
        self.assertEqual(path.read_text(), "old")
        self.assertEqual(list(self.folder.iterdir()), [path])

    def test_a_full_standard_output_has_the_status_of_a_failed_write(self):
        data = self.write_set()
        for arguments in (("train", "--data", data, "--steps", "1",
                           "--progress", "none"),
                          ("train", "--data", data, "--steps", "1",
                           "--progress", "none", "--json", "-"),
                          ("train", "--help"), ("--version",)):
            with self.subTest(arguments=arguments), \
                    open("/dev/full", "w") as full:
                done = subprocess.run([tool_case.TOOL, *arguments],
                                      stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=300)
                self.assertEqual(done.returncode, OUTPUT, done.stderr)
                self.assertRegex(done.stderr,
                                 r"\Aneap: standard output: [^\n]+\n\Z")

    def test_a_run_that_diverges_says_so(self):
        path = self.folder / "summary.json"
        status, output, errors = self.run_tool(
            "train", "--data", self.write_set(), "--optimizer", "sgd", "--lr",
            "1e30", "--progress", "none", "--batch", "16", "--epochs", "3",
            "--json", path)
        self.assertEqual((status, errors), (OK, ""))
        self.assertRegex(output, "loss -?nan")
        self.assertIsNone(json.loads(path.read_text())["train_loss"])

    def test_metrics_are_a_line_a_step_and_an_event_file(self):
        lines, events = self.folder / "run.jsonl", self.folder / "runs" / "a"
        found = self.train(self.write_set(), *SMALL, "--clip", "1",
                           "--metrics", lines, "--tensorboard", events)
        self.assertEqual(found["heap_calls_per_step"] or 0, 0)
        rows = [json.loads(line) for line in lines.read_text().splitlines()]
        self.assertEqual([row["step"] for row in rows],
                         [*range(1, found["steps"] + 1), found["steps"]])
        self.assertEqual(rows[-2]["loss"], found["train_loss"])
        self.assertGreater(rows[0]["gradient_norm"], 0)
        self.assertEqual(rows[-1]["test_accuracy"], found["test_accuracy"])
        (event,) = events.iterdir()
        self.assertEqual(event.read_bytes().count(b"train/loss"),
                         found["steps"])

    def test_metrics_that_fail_are_told_at_the_end(self):
        data = self.write_set()
        status, output, errors = self.run_tool(
            "train", "--data", data, "--steps", "3", "--progress", "none",
            "--metrics", "/dev/full")
        self.assertEqual(status, OUTPUT)
        self.assertIn("after 3 steps", output)
        self.assertIn("/dev/full", errors)
        self.refuse(OUTPUT, "--data", self.folder / "no data", "--tensorboard",
                    "/dev/null", says="/dev/null")

    def test_the_report_is_narrow_and_says_what_is_kept(self):
        _, output, _ = self.run_tool("train", "--data", self.write_set(),
                                     "--steps", "2", "--progress", "none")
        self.assertLessEqual(max(map(len, output.splitlines())), 130)
        self.assertRegex(output, r"\nidle pages +\d[^\n]* B[^\n]*for reuse")

    def test_the_report_has_the_prediction_beside_what_was_measured(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        _, output, _ = self.run_tool(
            "train", "--data", self.write_set(), "--compile", "--steps", "2",
            "--progress", "none")
        self.assertLessEqual(max(map(len, output.splitlines())), 130)
        self.assertRegex(output, r"\nplan +\d+ calls, arena \d")
        self.assertRegex(
            output, r"\nheld at most +(\S.*\))\n"
            r"predicted +\1  \(before the first step\)\n")

    def test_a_budget_too_small_has_a_status_of_its_own(self):
        for budget in ("1B", "64KiB", "0.1M"):
            self.refuse(MEMORY, "--data", self.write_set(), "--budget", budget,
                        says="beside the step's arena")
            self.refuse(MEMORY, "--data", self.write_set(), "--budget", budget,
                        says="would fit  no batch")

    def test_a_refusal_says_which_batch_fits(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("--data", self.write_set(), "--hidden", "512", "--threads", "1")
        found = self.train(run[1], *run[2:], "--steps", "1", "--compile",
                           "--batch", "64")
        budget = (found["predicted_peak_bytes"] + found["external_bytes"]
                  - 65536)
        status, _, errors = self.run_tool(
            "train", *run, "--steps", "1", "--batch", "64", "--budget", budget,
            "--progress", "none")
        self.assertEqual(status, MEMORY, errors)
        self.check_budget_refusal(errors)
        self.assertRegex(errors, r"\n  needed     .* with all values kept, .* more")
        fits = re.search(r"\n  would fit  --batch (\d+), all values kept\n",
                         errors)
        self.assertTrue(fits, errors)
        self.train(run[1], *run[2:], "--steps", "1", "--compile", "--batch",
                   fits[1], "--budget", budget)

    def test_an_eager_run_is_told_what_is_enough(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("--data", self.write_set(), "--hidden", "512", "--threads", "1",
               "--steps", "4", "--batch", "32")
        found = self.train(run[1], *run[2:])
        whole = found["peak_bytes"] + found["external_bytes"]
        status, _, errors = self.run_tool(
            "train", *run, "--eager", "--budget", whole * 3 // 4,
            "--progress", "none")
        self.assertEqual(status, MEMORY, errors)
        self.check_budget_refusal(errors)
        enough = re.search(r"\n  enough .*[(]([\d ]+) B[)] for an eager run",
                           errors)
        self.assertTrue(enough, errors)
        self.assertEqual(int(enough[1].replace(" ", "")), whole)
        self.assertRegex(errors, r"\n  compiled   \S")

    def test_an_eager_run_is_told_that_a_plan_fits(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("--data", "text", "--path", self.write_text(), "--model", "gpt",
               "--layers", "3", "--dim", "64", "--block", "32", "--batch", "32",
               "--steps", "2", "--threads", "1")
        found = self.train_as_told(*run[1:], "--compile")
        budget = found["peak_bytes"] + found["external_bytes"]
        status, _, errors = self.run_tool(
            "train", *run, "--eager", "--budget", budget, "--progress", "none")
        self.assertEqual(status, MEMORY, errors)
        self.check_budget_refusal(errors)
        self.assertRegex(errors, r"\n  compiled   the run fits without --eager")

    def test_a_budget_is_met_with_the_same_bits(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("text", "--model", "gpt", "--path", self.write_text(), "--layers",
               "3", "--dim", "64", "--block", "32", "--batch", "32", "--steps",
               "3", "--threads", "1", "--compile")
        whole = self.train(*run)
        budget = (whole["peak_bytes"] + whole["external_bytes"]
                  - whole["arena_bytes"] // 2)
        some = self.train(*run, "--budget", budget)
        self.assertEqual(some["state_hash"], whole["state_hash"])
        self.assertGreater(some["calls_again"] + some["micro_batches"], 0)
        self.assertGreater(some["extra_time_percent"], 0)
        self.assertEqual(whole["calls_again"], 0)
        self.assertEqual(whole["micro_batches"], 0)
        self.assertLessEqual(some["peak_bytes"] + some["external_bytes"],
                             budget)
        self.assertLessEqual(some["max_rss_bytes"], budget)
        self.assertEqual(some["predicted_peak_bytes"], some["peak_bytes"])
        self.assertEqual(some["values_spilled"], 0)
        filed = self.train(*run, "--budget", budget, "--spill", self.folder,
                           "--spill-rate", "4GiB")
        self.assertEqual(filed["state_hash"], whole["state_hash"])
        self.assertGreater(filed["values_spilled"], 0)
        self.assertGreater(filed["spill_written_bytes"], 0)
        self.assertLessEqual(filed["extra_time_percent"],
                             some["extra_time_percent"])
        self.assertLessEqual(filed["peak_bytes"] + filed["external_bytes"],
                             budget)
        self.assertEqual(filed["predicted_peak_bytes"], filed["peak_bytes"])

    def test_a_state_in_a_file_has_the_same_bits(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("text", "--model", "gpt", "--path", self.write_text(), "--layers",
               "1", "--dim", "256", "--block", "32", "--batch", "8", "--steps",
               "3", "--threads", "1", "--compile")
        whole = self.train(*run)
        # Without half of the state, and of the arena.
        budget = (whole["peak_bytes"] + whole["external_bytes"]
                  - whole["arena_bytes"] // 2
                  - whole["peak_by_category"]["parameters"] + 320 * 1024)
        saved = self.folder / "saved.safetensors"
        some = self.train(*run, "--budget", budget, "--spill", self.folder,
                          "--spill-rate", "4GiB", "--save", saved)
        self.assertEqual(some["state_hash"], whole["state_hash"])
        self.assertGreater(some["states_away"], 0)
        self.assertLessEqual(some["peak_bytes"] + some["external_bytes"],
                             budget)
        self.assertEqual(some["predicted_peak_bytes"], some["peak_bytes"])
        self.assertEqual(some["heap_calls_per_step"], 0)

    def test_weights_beyond_the_budget_have_the_same_bits(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("text", "--model", "gpt", "--path", self.write_text(), "--layers",
               "6", "--dim", "256", "--block", "32", "--batch", "1", "--steps",
               "3", "--threads", "1", "--compile")
        whole = self.train(*run)
        weights = whole["peak_by_category"]["parameters"]
        budget = whole["external_bytes"] + weights // 2
        some = self.train(*run, "--budget", budget, "--spill", self.folder,
                          "--spill-rate", "4GiB")
        self.assertEqual(some["state_hash"], whole["state_hash"])
        self.assertGreater(some["states_away"], 0)
        self.assertGreater(some["weights_away"], 0)
        self.assertLess(some["peak_bytes"], weights)
        self.assertLessEqual(some["peak_bytes"] + some["external_bytes"],
                             budget)
        self.assertEqual(some["predicted_peak_bytes"], some["peak_bytes"])
        self.assertEqual(some["heap_calls_per_step"], 0)

    def test_a_run_beyond_its_budget_is_resumed_in_it(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("text", "--model", "gpt", "--path", self.write_text(), "--layers",
               "6", "--dim", "256", "--block", "32", "--batch", "1",
               "--threads", "1", "--schedule", "constant", "--compile")
        whole = self.train(*run, "--steps", "4")
        weights = whole["peak_by_category"]["parameters"]
        budget = whole["external_bytes"] + weights // 2
        saved = self.folder / "saved.safetensors"
        within = ("--budget", budget, "--spill", self.folder, "--spill-rate",
                  "4GiB")
        self.train(*run, *within, "--steps", "2", "--save", saved)
        some = self.train(*run, *within, "--steps", "4", "--resume", saved)
        self.assertEqual(some["state_hash"], whole["state_hash"])
        self.assertGreater(some["states_away"], 0)
        self.assertGreater(some["weights_away"], 0)
        self.assertLessEqual(some["peak_bytes"] + some["external_bytes"],
                             budget)
        self.assertEqual(some["predicted_peak_bytes"], some["peak_bytes"])

    def test_a_spill_file_needs_a_folder_on_a_disk_and_a_budget(self):
        run = ("--data", self.write_set(), "--steps", "1")
        for folder in ("/dev/shm", "/nowhere"):
            self.refuse(OUTPUT, *run, "--budget", "64MiB", "--spill", folder,
                        says="--spill: ")
        self.refuse(USAGE, *run, "--spill", self.folder, says="--budget")
        self.refuse(USAGE, *run, "--budget", "64MiB", "--eager", "--spill",
                    self.folder, says="--eager")

    def test_a_size_is_read_as_people_write_it(self):
        for text, size in (("512MiB", 512 << 20), ("512 mib", 512 << 20),
                           ("512m", 512 << 20), ("0.5GiB", 512 << 20),
                           ("600MB", 600_000_000), ("0.6GB", 600_000_000),
                           ("524288K", 512 << 20), ("536870912", 512 << 20)):
            with self.subTest(size=text):
                status, out, errors = self.run_tool(
                    "plan", "--budget", text, "--json", "--data", self.write_set())
                self.assertEqual(status, 0, errors)
                self.assertEqual(json.loads(out)["budget_bytes"], size)

    def test_a_budget_large_enough_is_kept(self):
        budget = 512 << 20  # code with a sanitizer alone comes to 300 MiB
        found = self.train(self.write_set(), *SMALL, "--budget", "512MiB")
        self.assertLessEqual(found["peak_bytes"] + found["external_bytes"],
                             budget)

    def test_progress_has_loss_accuracy_speed_and_bytes(self):
        _, _, errors = self.run_tool("train", "--data", self.write_set(),
                                     "--steps", "2", "--progress", "plain")
        lines = errors.splitlines()
        self.assertEqual(len(lines), 2)
        for word in ("loss", "acc", "samples/s", "live", "peak", "step 2/2"):
            self.assertIn(word, lines[-1])

    def on_terminal(self, columns, *arguments):
        """RETURNS: the lines that a terminal of so many columns shows."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 40, columns, 0, 0))
        with subprocess.Popen([tool_case.TOOL, *map(str, arguments)],
                              stdin=subprocess.DEVNULL, stdout=theirs,
                              stderr=theirs) as process:
            os.close(theirs)
            text = b""
            while True:
                try:
                    piece = os.read(ours, 1 << 16)
                except OSError:  # the other end is closed
                    break
                text += piece
            self.assertEqual(process.wait(), OK)
        os.close(ours)
        return re.split(r"[\r\n]+", text.decode().replace("\x1b[K", ""))

    def test_lines_fit_the_terminal(self):
        for columns in (200, 80, 60, 40, 20, 1):
            lines = self.on_terminal(
                columns, "train", "--data", self.write_set(), "--steps", "30",
                "--batch", "4", "--eager")
            with self.subTest(columns=columns):
                progress = [line for line in lines if "30/30" in line
                            and "steps" not in line]
                self.assertTrue(progress or columns < 20, lines)
                for line in progress:
                    self.assertLess(len(line), columns)
                    self.assertEqual("[===" in line, columns >= 80, line)
                    self.assertEqual("epoch" in line, columns >= 200, line)
                table = [line for line in lines if line.startswith("  fc")
                         or line.startswith("  layer")]
                self.assertTrue(table, lines)
                for line in table:
                    self.assertLessEqual(len(line), max(columns, 38))

    def test_a_compiled_run_within_a_budget_fits_80_columns(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        run = ("--model", "gpt", "--layers", "4", "--dim", "64", "--threads",
               "1", "--batch", "32", "--data", "text", "--path",
               self.write_text())
        needed = json.loads(self.run_tool("plan", *run, "--json")[1])
        budget = (needed["external_bytes"] + needed["peak_bytes"]
                  - needed["arena_bytes"] // 3)
        lines = self.on_terminal(80, "train", *run, "--steps", "2", "--budget",
                                 budget)
        for start in ("plan ", "budget ", "held at most ", "predicted "):
            self.assertTrue([line for line in lines if line.startswith(start)],
                            lines)
        for line in lines:
            self.assertLessEqual(len(line), 80, line)

    def test_a_bad_instruction_set_is_refused(self):
        status, _, errors = self.run_tool("train", "--data", self.write_set(),
                                          NEAP_ISA="mmx")
        self.assertEqual(status, USAGE)
        self.assertRegex(errors, r"\Aneap: [^\n]*NEAP_ISA[^\n]*\n\Z")


class FashionMnistTest(ToolCase):
    def setUp(self):
        super().setUp()
        if not FASHION_MNIST.is_dir():
            self.skipTest("the package dataset-fashion-mnist is not installed")
        if tool_case.SANITIZER:
            self.skipTest("a sanitizer takes memory and time of its own")

    # Of the program's file the system maps 64 KiB around each page that is used,
    # as far as its cache has them: 0.8 MiB more right after a build than later.
    # Of libjpeg and libpng 0.4 MiB are, which the loader touches.
    def test_resident_memory_is_the_data_set_and_at_most_18_mib_and_a_half(self):
        tool = shutil.copy(tool_case.TOOL, self.folder)
        with open(tool, "rb") as file:
            os.fsync(file.fileno())  # a page that is not written yet stays
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.enterContext(unittest.mock.patch.object(tool_case, "TOOL", tool))
        found = self.train("fashion-mnist", "--steps", "60", "--batch", "128",
                           "--compile")  # as ./dev demo
        over = found["max_rss_bytes"] - found["data_set_bytes"]
        self.assertLessEqual(over, 37 << 19)
        self.assertEqual(found["data_set_bytes"], 70000 * (28 * 28 + 1))
        self.assertGreater(found["test_accuracy"], 0.6)
        self.assertEqual(found["heap_calls_per_step"], 0)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
