#!/usr/bin/env python3
"""Checkpoints of the neap tool: what they hold, what resumes from them, and
what is refused.

usage: resume_test.py TOOL SANITIZER  ("", "address" or "thread")
"""

import signal
import sys
import unittest

import checkpoint_file
from resume_case import ResumeCase
import tool_case
from tool_case import DATA, OUTPUT, USAGE

INTERRUPTED, TERMINATED = 130, 143
KEYS = {"format", "neap.checkpoint", "neap.step", "neap.epoch", "neap.batch",
        "neap.random.seed", "neap.random.draw", "neap.optimizer.steps"}


class FileTest(ResumeCase):
    def test_a_checkpoint_has_the_names_that_users_of_pytorch_expect(self):
        self.run_part("--steps", "5", "--save", self.file)
        tensors, metadata = checkpoint_file.read(self.file)
        model = {name: entry for name, entry in tensors.items()
                 if not name.startswith("optimizer.")}
        self.assertEqual(
            {name: entry[:2] for name, entry in model.items()},
            {"fc1.weight": ("F32", [16, 64]), "fc1.bias": ("F32", [16]),
             "fc2.weight": ("F32", [10, 16]), "fc2.bias": ("F32", [10])})
        self.assertEqual(set(tensors) - set(model),
                         {f"optimizer.{part}.{name}" for name in model
                          for part in ("exp_avg", "exp_avg_sq")})
        self.assertLessEqual(KEYS, set(metadata))
        self.assertEqual((metadata["format"], metadata["neap.step"],
                          metadata["neap.epoch"], metadata["neap.batch"]),
                         ("pt", "5", "1", "2"))

    def test_the_python_package_reads_the_same(self):
        try:
            from safetensors import safe_open
        except ImportError:
            self.skipTest("the Python package safetensors is not installed")
        self.run_part("--steps", "5", "--save", self.file)
        tensors, metadata = checkpoint_file.read(self.file)
        with safe_open(self.file, framework="np") as opened:
            self.assertEqual(set(opened.keys()), set(tensors))
            self.assertEqual(opened.metadata(), metadata)
            for name, (_, shape, data) in tensors.items():
                found = opened.get_tensor(name)
                self.assertEqual(list(found.shape), shape)
                self.assertEqual(found.tobytes(), data)

    def test_a_file_that_others_have_written_resumes_as_well(self):
        whole = self.run_part("--steps", "9", "--save", self.file)
        self.run_part("--steps", "9", "--schedule", "constant", "--save",
                      self.file)
        half = self.folder / "half"
        self.run_part("--steps", "4", "--schedule", "constant", "--save", half)
        tensors, metadata = checkpoint_file.read(half)
        others = {key: text for key, text in metadata.items()
                  if not key.startswith("neap.xxh3.")}
        checkpoint_file.write(half, dict(sorted(tensors.items())), others)
        found = self.run_part("--steps", "9", "--schedule", "constant",
                              "--resume", half)
        same = self.run_part("--steps", "9", "--schedule", "constant")
        self.assertEqual(found["state_hash"], same["state_hash"])
        self.assertNotEqual(found["state_hash"], whole["state_hash"])

    def test_the_same_run_gives_the_same_bytes(self):
        self.run_part("--steps", "5", "--save", self.file)
        first = self.file.read_bytes()
        self.run_part("--steps", "5", "--compile", "--save", self.file)
        self.assertEqual(self.file.read_bytes(), first)
        self.assertEqual([path.name for path in self.folder.iterdir()
                          if ".tmp" in path.name], [])


class ResumeTest(ResumeCase):
    def test_a_resumed_run_ends_in_the_bits_of_a_whole_one(self):
        for optimizer in ("sgd", "adam", "adamw"):
            for flags in (("--eager", "--compile"), ("--compile", "--eager")):
                with self.subTest(optimizer=optimizer, flags=flags):
                    run = ("--optimizer", optimizer, "--steps", "11",
                           "--schedule", "constant", "--warmup", "3")
                    whole = self.run_part(*run)
                    first = dict(zip(run[::2], run[1::2]), **{"--steps": "4"})
                    flat = [word for pair in first.items() for word in pair]
                    self.run_part(*flat, "--save", self.file, flags[0])
                    found = self.run_part(*run, "--resume", self.file, flags[1])
                    self.assertEqual(found["state_hash"], whole["state_hash"])
                    for key in ("test_loss", "train_loss", "steps"):
                        self.assertEqual(found[key], whole[key])
                    self.assertEqual(found["resumed_steps"], 4)

    def test_a_run_goes_on_in_its_own_file(self):
        whole = self.run_part("--epochs", "3")
        self.run_part("--epochs", "3", "--save", self.file, "--save-every", "2")
        found = self.run_part("--epochs", "3", "--save", self.file,
                              "--resume", self.file)
        self.assertEqual(found["state_hash"], whole["state_hash"])
        self.assertEqual((found["steps"], found["resumed_steps"]), (9, 9))
        self.assertIsNone(found["train_loss"])
        self.assertIsNone(found["images_per_second"])
        self.assertEqual(found["checkpoint"], str(self.file))
        self.assertIsNone(whole["checkpoint"])

    def test_a_run_that_was_done_says_so(self):
        self.run_part("--steps", "4", "--save", self.file)
        _, output, _ = self.run_tool(*self.arguments(
            "--steps", "4", "--resume", self.file))
        self.assertIn("after 4 steps (none was left to do)\n", output)
        self.assertIn(", 1 thread, ", output)

    def test_saving_changes_no_bit_and_takes_nothing_a_step(self):
        plain = self.run_part("--epochs", "5", "--compile")
        found = self.run_part("--epochs", "5", "--compile", "--save", self.file,
                              "--save-every", "5")
        self.assertEqual(found["state_hash"], plain["state_hash"])
        if not tool_case.SANITIZER:
            self.assertEqual(found["heap_calls_per_step"], 0)
            self.assertEqual(found["peak_bytes"],
                             found["predicted_peak_bytes"])

    def test_settings_that_decide_no_bit_may_be_others(self):
        self.run_part("--steps", "4", "--schedule", "constant", "--save",
                      self.file)
        self.run_part("--steps", "6", "--schedule", "constant", "--resume",
                      self.file, "--budget", "1GiB", "--compile",
                      threads=2)


class RefusalTest(ResumeCase):
    def refuse_resume(self, status, *more, says):
        self.refuse(status, *self.arguments("--resume", self.file, *more)[1:],
                    says=says)

    def test_another_run_is_refused_with_what_differs(self):
        self.run_part("--steps", "4", "--save", self.file)
        for option, value, says in (
                ("--batch", "16", "batch is 24 there, 16 here"),
                ("--seed", "8", "seed is 7 there, 8 here"),
                ("--hidden", "16,8", "hidden is 16 there, 16,8 here"),
                ("--dropout", "0", "dropout is 0.2 there, 0 here"),
                ("--lr", "0.02", "lr is 0.01 there, 0.02 here"),
                ("--clip", "0", "clip is 1 there, 0 here"),
                ("--weight-decay", "0.1", "weight-decay is 0 there"),
                ("--optimizer", "adamw", "optimizer is adam there, adamw here"),
                ("--optimizer", "sgd", "momentum is not said there"),
                ("--schedule", "constant", "schedule is cosine there"),
                ("--steps", "5", "steps is 4 there, 5 here")):
            with self.subTest(option=option, value=value):
                given = dict(zip(self.arguments()[1::2],
                                 self.arguments()[2::2]),
                             **{"--steps": "4", option: value})
                flat = [word for pair in given.items() for word in pair]
                self.refuse(USAGE, *flat, "--resume", self.file, says=says)

    def test_other_data_are_refused(self):
        self.run_part("--steps", "4", "--save", self.file)
        self.data = self.write_set(tool_case.separable(48))
        self.refuse_resume(USAGE, "--steps", "4",
                           says="samples is 64 there, 48 here")

    def test_other_data_of_the_same_size_are_refused(self):
        self.run_part("--steps", "4", "--save", self.file)
        files = tool_case.separable()
        images = next(iter(files))
        pixel = files[images][-1] ^ 1
        files[images] = files[images][:-1] + bytes([pixel])
        self.data = self.write_set(files)
        self.refuse_resume(USAGE, "--steps", "4",
                           says="the data hold something else")

    def test_a_file_that_is_none_is_refused_before_the_data(self):
        self.data = self.folder / "no data"
        self.refuse_resume(DATA, says="run.safetensors")
        for content in (b"", b"x" * 100, b"\2" + bytes(7) + b"[]"):
            self.file.write_bytes(content)
            self.refuse_resume(DATA, says="run.safetensors")

    def test_a_truncated_checkpoint_is_refused(self):
        self.run_part("--steps", "4", "--save", self.file)
        whole = self.file.read_bytes()
        for size in (7, 100, len(whole) // 2, len(whole) - 1):
            self.file.write_bytes(whole[:size])
            self.refuse_resume(DATA, "--steps", "4", says="run.safetensors")

    def test_a_model_alone_is_no_checkpoint(self):
        self.run_part("--steps", "4", "--save", self.file)
        tensors, _ = checkpoint_file.read(self.file)
        checkpoint_file.write(self.file, tensors, {"format": "pt"})
        self.refuse_resume(DATA, "--steps", "4", says="no checkpoint")

    def test_a_place_that_cannot_be_written_is_refused_before_the_data(self):
        for path in (self.folder / "none" / "x", self.folder):
            self.refuse(OUTPUT, "--data", self.folder / "no data", "--save",
                        path, says=str(path))

    def test_save_every_needs_a_place(self):
        self.refuse(USAGE, "--save-every", "5", says="--save")

    def test_a_save_that_fails_at_the_end_has_a_status_of_its_own(self):
        place = self.folder / "there"
        place.mkdir()
        process = self.start("--steps", "100000", "--save",
                             place / "x", "--save-every", "1")
        self.wait_for(place / "x")
        for path in place.iterdir():
            path.unlink(missing_ok=True)
        while True:  # a temporary file may come and go
            try:
                place.rmdir()
                break
            except OSError:
                for path in place.iterdir():
                    path.unlink(missing_ok=True)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, OUTPUT, errors)
        self.assertRegex(errors, r"\Aneap: [^\n]*there[^\n]*\n\Z")


class SignalTest(ResumeCase):
    def test_a_signal_ends_a_run_after_its_step_and_saves_it(self):
        for number, status in ((signal.SIGINT, INTERRUPTED),
                               (signal.SIGTERM, TERMINATED)):
            with self.subTest(signal=number):
                self.file.unlink(missing_ok=True)
                run = ("--steps", "2000", "--schedule", "constant")
                process = self.start("--steps", "100000000", *run[2:],
                                     "--save", self.file, "--save-every", "5")
                self.wait_for(self.file)
                process.send_signal(number)
                output, errors = process.communicate(timeout=300)
                self.assertEqual((process.returncode, errors), (status, ""))
                self.assertTrue(output.endswith("live at exit: 0 B\n"))
                _, metadata = checkpoint_file.read(self.file)
                done = int(metadata["neap.step"])
                self.assertGreaterEqual(done, 5)
                found = self.run_part("--steps", done + 7, *run[2:], "--resume",
                                      self.file)
                whole = self.run_part("--steps", done + 7, *run[2:])
                self.assertEqual(found["state_hash"], whole["state_hash"])


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
