#!/usr/bin/env python3
"""Runs that are killed (SIGKILL) at random moments and resumed each time end in
the bits of one that was left alone. Whenever it is killed, the file is whole.

usage: kill_test.py TOOL SANITIZER [ROUNDS KILLS]
"""

import random
import sys
import time
import unittest

import checkpoint_file
from resume_case import ResumeCase
import tool_case

ROUNDS, KILLS = 1, 4
# A run can be made longer where its rate does not depend on its end.
RUN = ("--schedule", "constant", "--warmup", "9")
ENDLESS = 10**9


SIZES = ("--layers", "1", "--heads", "2", "--dim", "16", "--block", "8")
TEXT_MODELS = ("gpt", "lstm", "gru")


class KillTest(ResumeCase):
    def test_a_run_that_is_killed_again_and_again_ends_in_the_same_bits(self):
        self.run_all()

    def test_one_of_a_convolutional_network_too(self):
        self.model = ("--model", "lenet")
        self.run_all()

    def test_one_of_a_network_with_buffers_too(self):
        self.model = ("--model", "resnet18", "--width", "1")
        self.run_all()

    def test_one_on_a_text_too(self):
        for model in TEXT_MODELS:
            with self.subTest(model=model):
                self.use_text("--model", model, *SIZES)
                self.run_all()

    def run_all(self):
        for seed in range(ROUNDS):
            for more in (("--compile", "--save-every", "1"),
                         ("--optimizer", "sgd", "--save-every", "3")):
                with self.subTest(seed=seed, more=more):
                    self.file.unlink(missing_ok=True)
                    self.run_killed(random.Random(seed), *RUN, *more)

    def run_killed(self, draw, *run):
        start = time.monotonic()
        self.run_part("--steps", "10", *run[:-2])
        seconds = time.monotonic() - start  # of a short run, on this machine
        for _ in range(KILLS):
            self.kill_after(draw.uniform(0.2, 3.0) * seconds, *run)
        while not self.file.exists():
            self.kill_after(10.0 * seconds, *run)
        done = self.steps_in_file()
        steps = ("--steps", done + draw.randint(1, 9))
        found = self.run_part(*steps, *run, "--save", self.file, "--resume",
                              self.file)
        whole = self.run_part(*steps, *run[:-2])
        self.assertEqual(found["resumed_steps"], done)
        for key in ("state_hash", "steps", "test_loss", "test_accuracy"):
            self.assertEqual(found[key], whole[key])

    def kill_after(self, seconds, *run):
        resume = ("--resume", self.file) if self.file.exists() else ()
        before = self.steps_in_file() if resume else 0
        process = self.start("--steps", ENDLESS, *run, "--save", self.file,
                             *resume)
        time.sleep(seconds)
        process.kill()
        _, errors = process.communicate(timeout=300)
        self.assertEqual((process.returncode, errors), (-9, ""))
        if resume:
            self.assertGreaterEqual(self.steps_in_file(), before)

    def steps_in_file(self):
        _, metadata = checkpoint_file.read(self.file)
        return int(metadata["neap.step"])


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    if tool_case.SANITIZER:
        KILLS = 2  # each run takes many times as long
    if len(sys.argv) > 3:
        ROUNDS, KILLS = map(int, sys.argv[3:5])
    unittest.main(argv=sys.argv[:1])
