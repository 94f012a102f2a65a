#!/usr/bin/env python3
"""Every network that the neap tool knows: trained on small data, compiled and
eagerly, saved, measured and sampled from.

usage: networks_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "resume"))

# pylint: disable=wrong-import-position
import checkpoint_file  # noqa: E402  (found by the line above)
import tool_case
from tool_case import (DATA, IMAGE_NETWORKS, MEMORY, OK, SMALL_GPT, TEXT, TEXT_NETWORKS,
                       USAGE, ToolCase)

STEPS = ("--steps", "3", "--batch", "5", "--threads", "2", "--lr", "1e-2")


class ImageTest(ToolCase):
    def test_each_network_has_one_hash_compiled_or_not_and_is_measured(self):
        data = self.write_set()
        for model, sizes in IMAGE_NETWORKS.items():
            with self.subTest(model=model):
                file = self.folder / f"{model}.safetensors"
                options = ("--model", model, *sizes, *STEPS)
                eager = self.train(data, *options, "--save", file)
                compiled = self.train(data, *options, "--compile")
                self.assertEqual(compiled["state_hash"], eager["state_hash"])
                self.assertEqual(compiled["predicted_peak_bytes"],
                                 compiled["peak_bytes"])
                if not tool_case.SANITIZER:
                    self.assertEqual(compiled["heap_calls_per_step"], 0)
                found = self.measure("--load", file, "--data", data, "--batch",
                                     "5")
                self.assertEqual(found["samples"], 64)
                self.assertEqual(found["loss"], eager["test_loss"])
                self.assertEqual(found["accuracy"], eager["test_accuracy"])

    def test_images_of_any_size_are_padded_to_what_a_network_takes(self):
        for side in (1, 31, 40):
            part = (tool_case.idx((8, side, side), bytes(8 * side * side)),
                    tool_case.idx((8,), range(8)))
            data = self.write_set(dict(zip(tool_case.NAMES, part + part)))
            for model, sizes in IMAGE_NETWORKS.items():
                if (model, side) != ("lenet", 1):
                    with self.subTest(model=model, side=side):
                        self.train(data, "--model", model, *sizes, *STEPS)
        data = self.write_set(**{
            name: tool_case.idx((64, 1, 1), bytes(64))
            for name in ("train_images", "test_images")})
        self.refuse(DATA, "--model", "lenet", "--data", data, says="LeNet")

    def test_augmented_images_are_others_and_the_same_with_the_same_seed(self):
        data = self.write_set()
        options = ("--model", "lenet", *STEPS)
        plain = self.train(data, *options)
        first, again = (self.train(data, *options, "--augment")
                        for _ in range(2))
        self.assertEqual(first["state_hash"], again["state_hash"])
        self.assertNotEqual(first["state_hash"], plain["state_hash"])

    def measure(self, *arguments):
        status, text, errors = self.run_tool("eval", *arguments, "--json", "-")
        self.assertEqual((status, errors), (OK, ""))
        return json.loads(text)


class PlannedCase(ToolCase):
    def check_plan(self, *options):
        """What is said from files that are only looked at is what a run that
        reads them says before its first step, and holds."""
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        status, text, errors = self.run_tool("plan", "--json", *options)
        self.assertEqual((status, errors), (OK, ""))
        summary = self.folder / "planned.json"
        status, _, errors = self.run_tool(
            "train", *options, "--steps", "3", "--compile", "--json", summary,
            "--progress", "none")
        self.assertEqual((status, errors), (OK, ""))
        found = json.loads(summary.read_text())
        self.assertEqual(json.loads(text)["peak_bytes"],
                         found["predicted_peak_bytes"])
        self.assertEqual(found["peak_bytes"], found["predicted_peak_bytes"])


class CifarTest(PlannedCase):
    """CIFAR is in no package: files made in its format stand in for it."""

    PARTS = {"cifar10": ([f"data_batch_{part}.bin" for part in range(1, 6)],
                         "test_batch.bin"),
             "cifar100": (["train.bin"], "test.bin")}

    def write_cifar(self, name):
        """RETURNS: the folder of a small set: images as bright as their label,
        3 x 32 x 32, behind one label or (CIFAR-100) two."""
        folder = self.folder / name
        folder.mkdir()
        train, test = self.PARTS[name]
        for part in (*train, test):
            records = [([label] if name == "cifar10" else [label % 20, label],
                        60 * (label % 4) + 20)
                       for label in range(10)]
            (folder / part).write_bytes(b"".join(
                bytes(labels) + bytes([pixel]) * 3072
                for labels, pixel in records))
        return folder

    def test_both_train_a_network_on_augmented_images(self):
        for name, samples, classes in (("cifar10", 50, 10),
                                       ("cifar100", 10, 100)):
            with self.subTest(name=name):
                folder = self.write_cifar(name)
                file = self.folder / f"{name}.safetensors"
                options = ("--path", folder, "--model", "resnet18", "--width",
                           "1", "--augment", *STEPS)
                eager = self.train(name, *options, "--save", file)
                compiled = self.train(name, *options, "--compile")
                self.assertEqual(compiled["state_hash"], eager["state_hash"])
                self.assertEqual(eager["data_set_bytes"],
                                 (samples + 10) * (3072 + 1))
                status, text, errors = self.run_tool(
                    "eval", "--load", file, "--data", name, "--path", folder,
                    "--batch", "5", "--json", "-")
                self.assertEqual((status, errors), (OK, ""))
                self.assertEqual(json.loads(text)["loss"], eager["test_loss"])
                tensors, _ = checkpoint_file.read(file)
                self.assertEqual(tensors["fc.weight"][1], [classes, 8])

    def test_a_plan_says_the_peak_to_the_byte(self):
        for name in self.PARTS:
            folder = self.write_cifar(name)
            for model in ("lenet", "mlp"):
                with self.subTest(name=name, model=model):
                    self.check_plan("--model", model, "--data", name, "--path",
                                    folder, "--batch", "8", "--threads", "1")

    def test_files_that_end_early_or_are_missing_are_refused_by_name(self):
        for name, (train, test) in self.PARTS.items():
            folder = self.write_cifar(name)
            for part in (train[-1], test):
                whole = (folder / part).read_bytes()
                for content in (whole[:-1], whole + b"x", b""):
                    (folder / part).write_bytes(content)
                    self.refuse(DATA, "--model", "lenet", "--data", name,
                                "--path", folder, says=part)
                (folder / part).unlink()
                self.refuse(DATA, "--model", "lenet", "--data", name,
                            "--path", folder, says=part)
                (folder / part).write_bytes(whole)


class TableTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.table = self.folder / "points.csv"
        self.write("x,side,y",
                   *(f"{i % 7 - 3},{int(i % 7 > 3) + int(i % 5 > 2)},{i % 5}.5"
                     for i in range(200)))
        self.options = ("--path", self.table, "--target", "side", "--hidden",
                        "16", "--batch", "10", "--epochs", "20", "--lr", "1e-2")

    def write(self, *rows):
        self.table.write_text("\n".join(rows) + "\n", encoding="utf-8")

    def test_a_table_is_learnt_planned_and_measured(self):
        file = self.folder / "table.safetensors"
        eager = self.train("csv", *self.options, "--save", file)
        compiled = self.train("csv", *self.options, "--compile")
        self.assertEqual(eager["test_accuracy"], 1.0)
        self.assertEqual(compiled["state_hash"], eager["state_hash"])
        self.assertEqual(compiled["predicted_peak_bytes"],
                         compiled["peak_bytes"])
        self.assertEqual(eager["data_set_bytes"], 200 * (2 * 4 + 4))
        status, text, errors = self.run_tool(
            "eval", "--load", file, "--batch", "10", "--json", "-")
        self.assertEqual((status, errors), (OK, ""))
        self.assertEqual(json.loads(text), {"samples": 20, "accuracy": 1.0,
                                            "loss": eager["test_loss"]})
        status, _, errors = self.run_tool("eval", "--load", file, "--target",
                                          "x")
        self.assertEqual(status, DATA)
        self.assertIn("x", errors)
        status, _, errors = self.run_tool("eval", "--load", file, "--data",
                                          "text")
        self.assertEqual(status, USAGE)
        self.assertIn("--data text", errors)

    def test_a_model_is_resumed_where_its_data_have_moved(self):
        file = self.folder / "table.safetensors"
        run = ("--target", "side", "--hidden", "16", "--batch", "10",
               "--schedule", "constant")
        self.train("csv", "--path", self.table, *run, "--steps", "3", "--save",
                   file)
        moved = self.table.rename(self.folder / "moved.csv")
        status, _, errors = self.run_tool("eval", "--load", file)
        self.assertEqual(status, DATA)
        self.assertIn("points.csv", errors)
        status, _, errors = self.run_tool("eval", "--load", file, "--path",
                                          moved)
        self.assertEqual((status, errors), (OK, ""))
        self.train("csv", "--path", moved, *run, "--steps", "6", "--resume",
                   file)

    def test_a_plan_says_the_peak_to_the_byte(self):
        if tool_case.SANITIZER:
            self.skipTest("every block is a malloc of its own, without pages")
        for rows in (40, 400, 5000):
            self.write("x,side,y", *(f"{i % 7},{i % 2},1" for i in range(rows)))
            status, text, errors = self.run_tool(
                "plan", "--json", "--threads", "1", "--data", "csv",
                *self.options[:8])
            self.assertEqual((status, errors), (OK, ""))
            found = self.train("csv", *self.options[:8], "--steps", "9",
                               "--threads", "1", "--compile")
            self.assertEqual(json.loads(text)["peak_bytes"],
                             found["peak_bytes"])

    def test_the_last_column_is_the_target_unless_told(self):
        self.write("x,y", *(f"{i % 2},{i % 2}" for i in range(40)))
        found = self.train("csv", "--path", self.table, *self.options[4:])
        self.assertEqual(found["test_accuracy"], 1.0)

    def test_what_is_no_such_table_is_refused(self):
        csv = ("--data", "csv", *self.options)
        self.refuse(USAGE, "--data", "csv", says="--path")
        self.refuse(USAGE, *csv, "--model", "lenet", says="--model mlp")
        self.refuse(DATA, *csv[:4], "--target", "z", says="column 'z'")
        self.refuse(DATA, *csv, "--validation", "0.001", says="--validation")
        self.write("x,side,y", "1,0,2", "1,zero,2")
        self.refuse(DATA, *csv, says="line 3: column 1 (side): 'zero'")
        self.table.unlink()
        self.refuse(DATA, *csv, says="points.csv")


class TextTest(PlannedCase):
    def setUp(self):
        super().setUp()
        self.data = ("--path", self.write_text())
        self.file = self.folder / "gpt.safetensors"

    def test_each_network_has_one_hash_compiled_or_not(self):
        for network in TEXT_NETWORKS:
            with self.subTest(network=network):
                options = (*self.data, *network, *STEPS, "--dropout", "0.1")
                eager = self.train("text", *options)
                compiled = self.train("text", *options, "--compile")
                self.assertEqual(compiled["state_hash"], eager["state_hash"])
                self.assertIsNone(eager["test_accuracy"])
                self.assertGreater(eager["test_loss"], 0)

    def test_a_plan_says_the_peak_to_the_byte(self):
        for symbols in ("characters", "bytes"):
            for model, dim in (("lstm", "16"), ("lstm", "128"), ("gru", "16")):
                with self.subTest(symbols=symbols, model=model, dim=dim):
                    self.check_plan("--data", "text", *self.data, "--symbols",
                                    symbols, "--model", model, "--dim", dim,
                                    "--batch", "8", "--threads", "1")

    def test_what_is_kept_and_who_reads_change_no_bit(self):
        options = (*self.data, *SMALL_GPT, *STEPS, "--dropout", "0.1")
        plain = self.train("text", *options)
        for more in (("--keep", "everything"), ("--keep", "nothing"),
                     ("--prefetch", "2"),
                     ("--prefetch", "1", "--keep", "nothing", "--compile")):
            with self.subTest(more=more):
                found = self.train("text", *options, *more)
                self.assertEqual(found["state_hash"], plain["state_hash"])

    def test_each_saved_network_is_measured_and_writes(self):
        for network in TEXT_NETWORKS:
            with self.subTest(network=network):
                trained = self.train("text", *self.data, *network, *STEPS,
                                     "--save", self.file)
                status, text, errors = self.run_tool(
                    "eval", "--load", self.file, "--batch", "5", "--json", "-")
                self.assertEqual((status, errors), (OK, ""))
                self.assertEqual(json.loads(text)["loss"],
                                 trained["test_loss"])
                self.check_samples()

    def check_samples(self):
        first, again, other = (
            self.run_tool("sample", "--load", self.file, "--prompt", "the ",
                          "--length", "40", "--seed", seed)
            for seed in (1, 1, 2))
        self.assertEqual((first[0], first[2]), (OK, ""))
        self.assertEqual(first, again)
        self.assertNotEqual(first[1], other[1])
        self.assertTrue(first[1].startswith("the "))
        self.assertEqual(len(first[1]), len("the ") + 40 + 1)
        self.assertLessEqual(set(first[1]), set(TEXT))

    def test_a_text_ends_before_a_stop_and_within_its_budget(self):
        self.train("text", *self.data, *SMALL_GPT, *STEPS, "--save", self.file)
        likely = ("sample", "--load", self.file, "--prompt", "the ",
                  "--max-tokens", "60")
        sample = (*likely, "--temperature", "1.5")
        status, text, errors = self.run_tool(*sample)
        self.assertEqual((status, errors), (OK, ""))
        new = text[len("the "):-1]
        stop = new[20:22]
        status, cut, _ = self.run_tool(*sample, "--stop", "@@", "--stop", stop)
        self.assertEqual((status, cut),
                         (OK, "the " + new[:new.index(stop)] + "\n"))
        # What waits for the rest of a stop is written at the end.
        _, whole, _ = self.run_tool(*sample, "--stop", new[-1] + "@")
        self.assertEqual(whole, text)
        _, likeliest, _ = self.run_tool(*sample, "--top-p", "0.0001")
        _, greedy, _ = self.run_tool(*likely, "--temperature", "0")
        self.assertEqual(likeliest, greedy)
        status, again, errors = self.run_tool(*sample, "--report")
        self.assertEqual((status, again), (OK, text))
        self.assertRegex(errors, r"^needs .* B\): weights and cache .*\n"
                         r"60 tokens in .* tokens/s; weights of ")
        self.assertEqual(self.run_tool(*sample, "--budget", "1GiB")[:2],
                         (OK, text))
        status, _, errors = self.run_tool(*sample, "--budget", "2MiB")
        self.assertEqual(status, MEMORY)
        self.assertEqual(errors.count("\n"), 1)

    def test_a_prompt_of_unknown_characters_is_refused(self):
        self.train("text", *self.data, *SMALL_GPT, *STEPS, "--save", self.file)
        status, _, errors = self.run_tool("sample", "--load", self.file,
                                          "--prompt", "Q")
        self.assertEqual(status, USAGE)
        self.assertIn("--prompt", errors)

    def test_a_run_on_another_text_is_refused_in_one_line(self):
        run = ("--model", "lstm", "--dim", "8", "--block", "8", *STEPS)
        self.train("text", *self.data, *run, "--save", self.file)
        other = self.folder / "other.txt"
        other.write_text("0123456789\n" * 30, encoding="utf-8")
        self.refuse(USAGE, "--data", "text", "--path", other, *run,
                    "--resume", self.file, says="characters is \\n ,.")

    def test_another_text_is_not_measured_with_this_one_s_characters(self):
        self.train("text", *self.data, *SMALL_GPT, *STEPS, "--save", self.file)
        other = self.folder / "other.txt"
        other.write_text("0123456789" * 30, encoding="utf-8")
        status, _, errors = self.run_tool("eval", "--load", self.file, "--data",
                                          "text", "--path", other)
        self.assertEqual(status, DATA)
        self.assertIn("characters", errors)


class RefusalTest(ToolCase):
    def test_a_network_on_the_wrong_data_is_refused(self):
        self.refuse(USAGE, "--model", "gpt", says="--data fashion-mnist")
        self.refuse(USAGE, "--model", "lenet", "--data", "text",
                    says="--model lenet")

    def test_data_without_a_path_is_refused(self):
        self.refuse(USAGE, "--model", "gpt", "--data", "text", says="--path")
        self.refuse(USAGE, "--model", "lenet", "--data", "cifar10",
                    says="--path")

    def test_what_is_no_model_is_refused(self):
        path = self.folder / "text"
        path.write_text("not tensors", encoding="utf-8")
        for command in ("eval", "sample"):
            status, _, errors = self.run_tool(command, "--load", path)
            self.assertEqual(status, DATA)
            self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        status, _, errors = self.run_tool("eval")
        self.assertEqual(status, USAGE)
        self.assertIn("--load", errors)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
