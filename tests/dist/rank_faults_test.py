#!/usr/bin/env python3
"""Faults of one rank of neap train, at random moments of a run's phases: the
others end in time with the named error, and the last checkpoint is whole.

    rank_faults_test.py MPIRUN NEAP TIMES  (of each fault in each phase; 0: a few)
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

MPIRUN, NEAP, TIMES = sys.argv[1], sys.argv[2], int(sys.argv[3])
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMPI_", "PMI"))}
ENVIRONMENT |= {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = 4
DEADLINE = 3  # seconds, of --rank-timeout
SLACK = 12    # the machine may be busy
STEPS = 60    # of the whole run
FIRST = 20    # of the checkpoint that is there before
TEXT = "In the beginning God created the heaven and the earth. " * 60
GPT = ("--model gpt --data text --layers 2 --dim 32 --heads 2 --block 16 "
       "--batch 16 --shards 4 --dropout 0.1 --clip 1 --threads 1 --seed 3 "
       "--schedule constant --progress none").split()
# Seconds until the fault, and options of the run. A run of a million steps is
# in the middle of one; one that saves at each is mostly at a save.
# While ranks join, Open MPI's mpirun may crash or hang over ranks that end.
PHASES = {"start": (0.5, 0.9, ["--steps", "1000000"]),
          "step": (1.0, 2.0, ["--steps", "1000000"]),
          "save": (1.0, 2.0, ["--steps", "1000000", "--save-every", "1"])}
# The process of mpirun's; its rank is a child of it.
WRAPPER = """#!/bin/bash
if [ "$OMPI_COMM_WORLD_RANK" != {rank} ]; then exec "$@"; fi
case {kind} in
options) exec "$@" --lr 0.5 ;;
disk) ulimit -f 8; exec "$@" ;;
esac
"$@" & own=$!
sleep {after}
date +%s.%N > {folder}/began
case {kind} in
kill) kill -9 $own; kill -9 $$ ;;
exit) kill -9 $own; exit 42 ;;
stop) kill -STOP $own; wait $own ;;
esac
"""
# mpirun does not always name a rank that ended.
NAMED = {"kill": "exited on signal 9|1 process returned",
         "exit": "Exit code:    42|1 process returned",
         "stop": "has not answered rank",
         "options": "the ranks differ", "disk": "File too large"}
STATUS = {"kill": 137, "exit": 42, "stop": 7, "options": 7, "disk": 5}


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.save = cls.folder / "run.safetensors"
        (cls.folder / "text.txt").write_text(TEXT)
        cls.whole = cls.alone("--steps", STEPS)
        cls.alone("--steps", FIRST, "--save", cls.save)
        cls.checkpoint = cls.save.read_bytes()

    @classmethod
    def words(cls, *more):
        return [NEAP, "train", *GPT, "--path", str(cls.folder / "text.txt"),
                *map(str, more)]

    @classmethod
    def alone(cls, *more):
        """RETURNS: the state hash of a good run of one rank."""
        done = subprocess.run([*cls.words(*more), "--json", "-"],
                              capture_output=True, text=True, timeout=120,
                              env=ENVIRONMENT, check=True)
        return json.loads(done.stdout)["state_hash"]

    def left_over(self):
        return subprocess.run(["pgrep", "-f", str(self.folder)],
                              capture_output=True, text=True,
                              check=False).stdout.split()

    def run_with_fault(self, kind, rank, after, options):
        """RETURNS: status, what was said, seconds from the fault to the end."""
        wrapper = self.folder / "wrapper"
        wrapper.write_text(WRAPPER.format(kind=kind, rank=rank, after=after,
                                          folder=self.folder))
        wrapper.chmod(0o755)
        began = self.folder / "began"
        began.write_text(str(time.time()))
        self.save.write_bytes(self.checkpoint)
        done = subprocess.run(
            [MPIRUN, "--oversubscribe", "-n", str(RANKS), str(wrapper),
             *self.words("--save", self.save, "--rank-timeout", DEADLINE,
                         "--zero", random.randrange(2), *options)],
            capture_output=True, text=True, timeout=120, env=ENVIRONMENT,
            check=False)
        seconds = time.time() - float(began.read_text())
        return done.returncode, done.stderr, seconds

    def check_fault(self, kind, phase, rank):
        least, most, options = PHASES[phase]
        if kind != "options":  # which the checkpoint would refuse before
            options = ["--resume", str(self.save), *options]
        if kind == "disk":  # the saves end, and the run with them
            options = ["--resume", str(self.save), "--steps", str(STEPS),
                       "--save-every", "1"]
        after = random.uniform(least, most)
        status, said, seconds = self.run_with_fault(kind, rank, after, options)
        self.assertRegex(said, NAMED[kind])
        self.assertEqual(status, STATUS[kind], said)
        if kind != "disk":  # whose run goes on
            self.assertLess(seconds, DEADLINE + 1 + SLACK, said)
        for _ in range(50):
            if not self.left_over():
                break
            time.sleep(0.1)
        self.assertEqual(self.left_over(), [])
        # The old checkpoint, or a newer one: whole. What had more steps than
        # the run is to have is only read.
        if phase == "save" and kind != "disk":
            done = subprocess.run(
                self.words("--steps", 1_000_000, "--minutes", 0.01, "--resume",
                           self.save), capture_output=True, text=True,
                timeout=120, env=ENVIRONMENT, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assertEqual(self.save.read_bytes(), self.checkpoint)
            self.assertEqual(
                self.alone("--steps", STEPS, "--resume", self.save),
                self.whole)
        return seconds

    def test_every_fault_in_every_phase(self):
        cases = [(kind, phase) for kind in ("kill", "exit", "stop")
                 for phase in PHASES]
        cases += [("options", "start"), ("disk", "save")]
        if TIMES == 0:
            cases = [("kill", "save"), ("stop", "step"), ("options", "start"),
                     ("disk", "save")]
        for kind, phase in cases * max(TIMES, 1):
            rank = 0 if kind == "disk" else random.randrange(RANKS)
            with self.subTest(kind=kind, phase=phase, rank=rank):
                seconds = self.check_fault(kind, phase, rank)
                print(f"{kind} of rank {rank} in {phase}: {seconds:.1f} s",
                      flush=True)


def setUpModule():
    if subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", "true"],
                      env=ENVIRONMENT, check=False).returncode != 0:
        raise unittest.SkipTest("mpirun starts no processes here")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
