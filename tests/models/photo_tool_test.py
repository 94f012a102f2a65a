#!/usr/bin/env python3
"""`neap train|plan|eval|fit --from DIR --data images` as its users meet them.

usage: photo_tool_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import json
import math
import os
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

# pylint: disable=wrong-import-position
import plain_models  # noqa: E402
import tool_case  # noqa: E402
from small_folders import (BERT, RESNET, VIT, pixels_of, png,  # noqa: E402
                           read_weights, resnet18, vit, write_model,
                           write_photos)
from tool_case import DATA, OK, USAGE, ToolCase  # noqa: E402

GOLDEN = HERE.parent.parent / "neap/data/images/golden"


class PhotoToolTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.model = self.write_vit()
        self.photos = write_photos(self.folder / "photos")

    def write_vit(self, **changes):
        config = {**VIT, **changes}
        return write_model(self.folder / "vit", config, vit(config))

    def write_preprocessor(self, **members):
        (self.model / "preprocessor_config.json").write_text(
            json.dumps(members))

    def options(self):
        return ("--from", self.model, "--data", "images", "--path", self.photos,
                "--threads", 1)

    def good(self, *arguments, **variables):
        status, output, errors = self.run_tool(*arguments, **variables)
        self.assertEqual((status, errors), (OK, ""), output)
        return output

    def refused(self, status, *arguments, says=""):
        found, _, errors = self.run_tool(*arguments)
        self.assertEqual(found, status, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def train(self, *arguments, batch=8):
        return json.loads(self.good("train", *self.options(), "--batch", batch,
                                    "--progress", "none", "--json", "-",
                                    *arguments))

    def plan(self, *arguments, batch=8):
        return json.loads(self.good("plan", *self.options(), "--batch", batch,
                                    "--json", "-", *arguments))

    def measured(self, *arguments):
        return json.loads(self.good("eval", *self.options(), "--json", "-",
                                    *arguments))


class VitTest(PhotoToolTest):
    def test_it_learns_to_tell_colours_apart(self):
        run = self.folder / "run.safetensors"
        few = self.train("--steps", 1)
        summary = self.train("--steps", 60, "--lr", 3e-3, "--save", run)
        self.assertEqual(summary["live_bytes_at_exit"], 0)
        self.assertLess(summary["test_loss"], few["test_loss"] - 0.5)
        after = self.measured("--load", run)
        self.assertEqual(after["samples"], 36)
        self.assertGreater(after["accuracy"], 0.9)
        part = self.measured("--load", run, "--validation", 0.1)
        self.assertEqual(part["samples"], 3)
        self.assertAlmostEqual(part["loss"], summary["test_loss"], places=6)

    def test_other_folders_than_those_of_the_run_are_refused(self):
        run = self.folder / "run.safetensors"
        self.train("--steps", 1, "--save", run)
        (self.photos / "red").rename(self.photos / "crimson")
        self.refused(DATA, "eval", *self.options(), "--load", run,
                     says="trained on: blue, green, red")

    def test_folders_may_have_any_name(self):
        for old, new in (("red", b"a\nb"), ("blue", b"\xff\xfe")):
            (self.photos / old).rename(self.photos / os.fsdecode(new))
        run = self.folder / "run.safetensors"
        self.train("--steps", 1, "--save", run)
        self.assertEqual(self.measured("--load", run)["samples"], 36)

    def test_what_is_done_is_said(self):
        train = ("train", *self.options(), "--steps", 1, "--progress", "none")
        text = self.good(*train)
        self.assertIn("33 + 3 images of [3, 16, 16], 3 classes", text)
        self.assertIn(f"head     of 7 classes skipped: {self.photos} has 3\n",
                      text)
        self.assertIn("the usual ones, for the folder has none", text)
        self.write_preprocessor(image_mean=[0.1, 0.2, 0.3],
                                image_std=[0.5, 0.25, 1])
        text = self.good(*train)
        self.assertIn("mean 0.1 0.2 0.3, deviation 0.5 0.25 1: "
                      "of preprocessor_config.json\n", text)

    def test_scores_are_those_of_the_formula(self):
        write_photos(self.photos, 4, sizes=((16, 16),))
        for path in self.photos.glob("*/0[01][4-9].png"):
            path.unlink()
        for path in self.photos.glob("*/01*.png"):
            path.unlink()
        config = {**VIT, "id2label": {str(i): str(i) for i in range(3)}}
        self.write_vit(id2label=config["id2label"])
        weights = read_weights(self.model / "model.safetensors")
        for mean, deviation in ((0.5, 0.5), (0.25, 0.125)):
            if mean != 0.5:
                self.write_preprocessor(image_mean=[mean] * 3,
                                        image_std=[deviation] * 3,
                                        size={"height": 16, "width": 16})
            losses, right = [], 0
            for label, name in enumerate(("blue", "green", "red")):
                for path in sorted((self.photos / name).iterdir()):
                    pixels = [[[(value / 255 - mean) / deviation
                                for value in pixel] for pixel in row]
                              for row in pixels_of(path)]
                    found = plain_models.vit_scores(pixels, weights, config)
                    losses.append(-math.log(plain_models.softmax(found)[label]))
                    right += found.index(max(found)) == label
            told = self.measured()
            self.assertEqual(told["samples"], len(losses))
            self.assertAlmostEqual(told["loss"], sum(losses) / len(losses),
                                   places=5)
            self.assertAlmostEqual(told["accuracy"], right / len(losses))

    def test_what_is_said_beforehand_is_what_is_held(self):
        # Images of several sizes, formats and depths, and a reader thread.
        for index, name in enumerate(("progressive.jpg", "cmyk.jpg", "grey16.png",
                                      "rgba8_interlaced.png")):
            shutil.copy(GOLDEN / name, self.photos / "red" / f"more{index}"
                        f"{pathlib.Path(name).suffix}")
        (self.photos / "blue/wide.png").write_bytes(
            png(700, 90, lambda row, column: (row, column % 256, 250)))
        for more in ((), ("--prefetch", 2), ("--optimizer", "muon"),
                     ("--eval-every", 2), ("--adapter", "lora:2"),
                     ("--keep", "none"), ("--ema", 0.9)):
            with self.subTest(more=more):
                plan = self.plan(*more)
                summary = self.train("--steps", 11, *more)
                self.assertEqual(summary["predicted_peak_bytes"],
                                 summary["peak_bytes"])
                if tool_case.SANITIZER:  # blocks, where a plan has pages
                    self.assertGreaterEqual(plan["peak_bytes"],
                                            summary["peak_bytes"])
                else:
                    self.assertEqual(plan["peak_bytes"], summary["peak_bytes"])
                    self.assertEqual(plan["external_bytes"],
                                     summary["external_bytes"])

    def test_decoding_counts_by_the_largest_image(self):
        def external():
            return self.plan()["external_bytes"]

        before = external()
        (self.photos / "blue/large.png").write_bytes(
            png(1500, 1200, lambda row, column: (0, 0, 250)))
        self.assertGreaterEqual(external() - before, 3 * 1500 * 1200 - (1 << 20))

    def test_a_run_goes_on_where_it_was(self):
        options = ("--schedule", "constant", "--dropout", 0.1)
        whole = self.train("--steps", 7, *options)
        run = self.folder / "run.safetensors"
        self.train("--steps", 3, "--save", run, *options)
        resumed = self.train("--steps", 7, "--resume", run, *options)
        self.assertEqual(resumed["state_hash"], whole["state_hash"])
        same = ("train", *self.options(), "--batch", 8, "--steps", 7, *options,
                "--resume", run)
        self.refused(USAGE, *same, "--no-augment", says="no-augment")
        (self.photos / "red/000.png").rename(self.photos / "red/0000.png")
        self.refused(USAGE, *same, says="data")

    def test_the_middle_is_taken_where_nothing_is_at_random(self):
        a, b = (self.train("--steps", 4, "--seed", seed, "--no-augment",
                           batch=33)["train_loss"] for seed in (1, 1))
        self.assertEqual(a, b)
        self.assertNotEqual(self.train("--steps", 4, "--seed", 1,
                                       batch=33)["train_loss"], a)

    def test_an_adapter_changes_nothing_but_itself_and_the_head(self):
        run, folder = self.folder / "run.safetensors", self.folder / "adapter"
        options = ("--adapter", "lora:2", "--lr", 1e-2)
        self.assertLess(self.plan(*options)["persistent_bytes"],
                        self.plan()["persistent_bytes"])
        self.train("--steps", 40, *options, "--save", run, "--save-adapter",
                   folder)
        before = read_weights(self.model / "model.safetensors")
        changed = {name for name, values in read_weights(run).items()
                   if not name.startswith("optimizer.")
                   and before.get(name) != values}
        self.assertTrue(changed)
        for name in changed:
            self.assertRegex(name, r"\A(classifier\.|.*\.lora_[AB]\.weight\Z)")
        still = self.folder / "still.safetensors"
        self.train("--steps", 1, "--adapter", "lora:2", "--lr", 0, "--save", still)
        self.assertNotEqual(read_weights(still)["classifier.weight"],
                            read_weights(run)["classifier.weight"])
        config = json.loads((folder / "adapter_config.json").read_text())
        self.assertEqual(config["modules_to_save"], ["classifier"])
        kept = read_weights(folder / "adapter_model.safetensors")
        self.assertIn("base_model.model.classifier.weight", kept)
        told = self.measured("--adapter", folder)
        self.assertGreater(told["accuracy"], 0.9)
        self.assertEqual(told, self.measured("--adapter", "lora:2", "--load", run))
        self.train("--steps", 1, "--adapter", folder)
        (folder / "adapter_config.json").write_text(
            json.dumps({**config, "modules_to_save": None}))
        self.refused(DATA, "train", *self.options(), "--adapter", folder,
                     "--steps", 1, says="classifier")


class ResNetTest(PhotoToolTest):
    def setUp(self):
        super().setUp()
        self.model = write_model(self.folder / "resnet", RESNET,
                                 resnet18(RESNET))

    def test_it_is_planned_trained_and_measured(self):
        self.refused(DATA, "eval", *self.options(),
                     says="a head of 7, where")
        run = self.folder / "run.safetensors"
        plan = self.plan("--optimizer", "sgd")
        summary = self.train("--optimizer", "sgd", "--lr", 0.01, "--steps", 16,
                             "--save", run)
        if not tool_case.SANITIZER:
            self.assertEqual(plan["peak_bytes"], summary["peak_bytes"])
        self.assertEqual(summary["predicted_peak_bytes"], summary["peak_bytes"])
        self.assertGreater(self.measured("--load", run)["accuracy"], 0.6)
        text = self.good("eval", *self.options(), "--load", run)
        self.assertIn(f"head     of 3 classes, as {run} has it\n", text)
        self.assertIn("64 by 64, the middle of 80", text)
        self.assertIn("mean 0.4 0.5 0.6, deviation 0.2 0.2 0.2: "
                      "of config.json", text)
        self.assertRegex(text, r"accuracy \d+\.\d\d %, loss \d")

    def test_it_meets_a_budget_with_the_same_bits(self):
        if tool_case.SANITIZER:
            self.skipTest("what the process itself holds differs by MiBs")
        plan = self.plan(batch=16)
        need = plan["peak_bytes"] + plan["external_bytes"]
        free = self.train("--steps", 2, batch=16)
        held = self.train("--steps", 2, "--budget",
                          f"{need - plan['arena_bytes'] // 4}B", batch=16)
        self.assertEqual(held["state_hash"], free["state_hash"])
        for more in (("--threads", 2), ("--prefetch", 1), ("--eager",)):
            options = [*self.options()[:-2], "--threads", 1, "--batch", 16,
                       "--steps", 2, "--progress", "none", "--json", "-"]
            if more[0] == "--threads":
                options[7] = 2
                more = ()
            found = json.loads(self.good("train", *options, *more))
            self.assertEqual(found["state_hash"], free["state_hash"], more)
        status, _, errors = self.run_tool(
            "train", *self.options(), "--batch", 16, "--steps", 2, "--budget",
            f"{need - plan['arena_bytes']}B")
        self.assertEqual(status, tool_case.MEMORY)
        self.check_budget_refusal(errors)

    def test_a_curve_of_budgets_is_drawn(self):
        told = json.loads(self.good("fit", *self.options(), "--batch", 8,
                                    "--json", "-"))
        self.assertGreater(len(told["points"]), 2)

    def test_what_it_has_not_is_refused(self):
        for option in (("--adapter", "lora:2"), ("--dropout", 0.1),
                       ("--keep", "none")):
            self.refused(DATA, "train", *self.options(), "--steps", 1, *option,
                         says=option[0])


class RefusedTest(PhotoToolTest):
    def refused_run(self, *arguments, says=""):
        for command in ("train", "plan", "fit"):
            self.refused(DATA, command, *self.options(), *arguments, says=says)

    def test_folders_of_images_that_do_not_do(self):
        path = self.photos / "red/000.png"
        image = path.read_bytes()
        path.write_text("no image")
        self.refused_run(says="it is neither PNG nor JPEG")
        path.write_bytes(image[:20])
        self.refused_run(says="000.png")
        path.write_bytes(b"")
        self.refused_run(says="000.png: the image is not read: it is empty")
        path.unlink()
        (self.photos / "empty").mkdir()
        self.refused_run(says="has no image for its class")
        (self.photos / "empty").rmdir()
        (self.photos / "red/a.webp").touch()
        self.refused_run(says="only PNG and JPEG are read")
        (self.photos / "red/a.webp").unlink()
        for name in ("red", "green"):
            shutil.rmtree(self.photos / name)
        self.refused_run(says="has one class")
        shutil.rmtree(self.photos / "blue")
        self.refused_run(says="has no folder for a class")
        self.photos.rmdir()
        self.refused_run(says="photos")

    def test_an_image_whose_pixels_are_cut_off_ends_the_run(self):
        path = self.photos / "red/000.png"
        path.write_bytes(path.read_bytes()[:-30])
        self.refused(DATA, "train", *self.options(), "--epochs", 1,
                     "--progress", "none", says="000.png")

    def test_models_that_do_not_do(self):
        self.write_preprocessor(size=32)
        self.refused_run(says="images of 32, where config.json has an "
                              "image_size of 16")
        for members, says in (
                ({"image_std": [0.5, 0, 0.5]}, "deviation"),
                ({"image_mean": [0.5, 0.5]}, "image_mean has 2 numbers"),
                ({"image_mean": "grey"}, "image_mean is"),
                ({"rescale_factor": 1}, "1/255"),
                ({"size": {"height": 16, "width": 8}}, "square"),
                ({"size": []}, "size is")):
            self.write_preprocessor(**members)
            self.refused_run(says=says)
        (self.model / "preprocessor_config.json").write_text("{")
        self.refused_run(says="preprocessor_config.json")
        (self.model / "preprocessor_config.json").unlink()
        (self.model / "config.json").write_text(json.dumps(
            {"model_type": "bert", "architectures": ["BertModel"]}))
        self.refused_run(says="its model takes no images")
        (self.model / "config.json").write_text(json.dumps(BERT))
        self.refused_run(says="its model takes no images; it is for --data jsonl")
        (self.model / "config.json").unlink()
        self.refused_run(says="config.json")

    def test_options_that_contradict_each_other(self):
        common = ("train", *self.options())
        for option in (("--block", 64), ("--symbols", "bytes"),
                       ("--target", "x"), ("--width", 3)):
            self.refused(USAGE, *common, *option, says=option[0])
        self.refused(USAGE, *common, "--augment", "--no-augment",
                     says="exclude each other")
        self.refused(USAGE, "train", "--data", "images", "--path", self.photos,
                     says="--from must say")
        self.refused(USAGE, "train", "--from", self.model, "--data", "images",
                     says="--path must say")
        self.refused(USAGE, "train", "--no-augment", says="--no-augment")
        self.refused(USAGE, "train", "--from", self.model,
                     says="--data images --path FOLDER")
        self.refused(DATA, "plan", "--from", self.model,
                     says="it is for --data images --path FOLDER")
        self.refused(USAGE, *common, "--save", self.photos / "red/000.png",
                     says="--path")
        self.refused(USAGE, *common, "--validation", 0, "--eval-every", 1,
                     says="no part to test on")
        self.refused(DATA, *common, "--validation", 0.01,
                     says="leaves nothing for the test")


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1])
