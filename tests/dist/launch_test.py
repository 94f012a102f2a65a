#!/usr/bin/env python3
"""neap launch: a run that loses ranks ends in the bits of one that does not.

    launch_test.py MPIRUN NEAP
"""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIRUN, NEAP = sys.argv[1:3]
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMPI_", "PMI"))}
ENVIRONMENT |= {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
TEXT = "In the beginning God created the heaven and the earth. " * 60
# An epoch has 13 steps: checkpoints are in the middle of one.
GPT = ("--model gpt --data text --layers 2 --dim 32 --heads 2 --block 16 "
       "--batch 16 --dropout 0.1 --clip 1 --threads 1 --seed 3 --steps 1000 "
       "--schedule constant --progress none").split()
# Runs the real mpirun; rank 1 of the first start ends in the middle of it.
ENDING = """#!/bin/sh
for word; do :; done
if [ -e {folder}/ended ] && [ {always} = no ]; then exec {mpirun} "$@"; fi
touch {folder}/ended
exec {mpirun} "$1" "$2" "$3" sh -c '
"$@" & own=$!
if [ $OMPI_COMM_WORLD_RANK = 1 ]; then sleep 1; kill -9 $own; exit {status}; fi
wait $own' sh "${{@:4}}"
"""


def children(process, name):
    found = subprocess.run(["pgrep", "-P", str(process), name],
                           capture_output=True, text=True, check=False)
    return [int(one) for one in found.stdout.split()]


class LaunchCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = self.folder / "text.txt"
        self.text.write_text(TEXT)
        self.save = self.folder / "run.safetensors"
        self.report = self.folder / "report.json"

    def tearDown(self):
        for _ in range(50):
            left = subprocess.run(["pgrep", "-f", str(self.folder)],
                                  capture_output=True, text=True,
                                  check=False).stdout.split()
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"still there: {left}")

    def job(self, *more):
        return [*map(str, ("train", *GPT, "--path", self.text, "--json",
                           self.report, *more))]

    def words(self, *own, job=None, mpirun=MPIRUN):
        job = job or self.job("--save", self.save, "--save-every", 25,
                              "--shards", 4, "--rank-timeout", 3)
        return [NEAP, "launch", "--mpirun", str(mpirun), "--mpirun-options",
                "--oversubscribe", *map(str, own), "--", *job]

    def start(self, *own, **more):
        return subprocess.Popen(self.words(*own, **more), text=True,
                                env=ENVIRONMENT, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_to_end(self, *own, **more):
        return subprocess.run(self.words(*own, **more), env=ENVIRONMENT,
                              capture_output=True, text=True, timeout=120,
                              check=False)

    def undisturbed(self):
        done = subprocess.run([NEAP, *self.job("--shards", 4)], text=True,
                              env=ENVIRONMENT, capture_output=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.report.read_text())
        self.report.unlink()
        return found["state_hash"]

    def await_checkpoint(self):
        for _ in range(600):
            if self.save.exists():
                return
            time.sleep(0.05)
        self.fail("no checkpoint")

    def mpirun_and_ranks(self, launch, count):
        for _ in range(200):
            for mpirun in children(launch.pid, "mpirun"):
                ranks = children(mpirun, "neap")
                if len(ranks) == count:
                    return mpirun, ranks
            time.sleep(0.05)
        self.fail("no ranks")

    def starts(self, error):
        return [line for line in error.splitlines()
                if line.startswith("neap: launch: start ")]


class Lost(LaunchCase):
    def lose(self, disturb):
        """A start of 4 ranks, which is disturbed; RETURNS: the second line."""
        launch = self.start("--ranks", "4,2")
        self.await_checkpoint()
        disturb(*self.mpirun_and_ranks(launch, 4))
        _, error = launch.communicate(timeout=120)
        self.assertEqual(launch.returncode, 0, error)
        found = json.loads(self.report.read_text())
        self.assertEqual(len(found["ranks"]), 2)
        self.report.unlink()
        self.assertEqual(found["state_hash"], self.undisturbed())
        lines = self.starts(error)
        self.assertEqual(len(lines), 2, error)
        self.assertEqual(lines[0], "neap: launch: start 1, 4 ranks, from the "
                                   "beginning")
        self.assertRegex(lines[1], r"start 2, 2 ranks, from step (?!1000)\d*[05] of ")
        self.assertIn(f"from step {found['resumed_steps']} of ", lines[1])
        return lines[1]

    def test_a_rank_that_is_killed(self):
        rank = random.randrange(4)
        line = self.lose(lambda _, ranks: os.kill(ranks[rank], signal.SIGKILL))
        # mpirun does not always name a rank that ended.
        self.assertRegex(line, r"; before it (rank \d was ended by signal 9 "
                               r"\(Killed\) \(status 137\)|status 137)$")

    def test_a_rank_that_stops(self):
        rank = random.randrange(4)
        line = self.lose(lambda _, ranks: os.kill(ranks[rank], signal.SIGSTOP))
        self.assertRegex(line, r"; before it rank \d has not answered rank \d "
                               r"\(status 7\)$")

    def test_a_rank_that_stops_while_it_joins(self):
        launch = self.start("--ranks", "4,2")
        _, ranks = self.mpirun_and_ranks(launch, 4)
        os.kill(random.choice(ranks), signal.SIGSTOP)
        _, error = launch.communicate(timeout=120)
        self.assertEqual(launch.returncode, 0, error)
        # Open MPI's mpirun may crash, or hang, over ranks that end then.
        self.assertEqual(len(self.starts(error)), 2, error)
        found = json.loads(self.report.read_text())["state_hash"]
        self.assertEqual(found, self.undisturbed())

    def test_the_launcher_that_is_killed(self):
        line = self.lose(lambda mpirun, _: os.kill(mpirun, signal.SIGKILL))
        self.assertRegex(line, r"; before it mpirun was ended by signal 9 ")

    def mpirun_that_ends(self, status=42, always="no"):
        script = self.folder / "mpirun"
        script.write_text(ENDING.format(
            folder=self.folder, mpirun=MPIRUN, status=status,
            always=always).replace("#!/bin/sh", "#!/bin/bash"))
        script.chmod(0o755)
        return script

    def test_a_rank_that_exits_before_the_first_checkpoint(self):
        script = self.mpirun_that_ends()
        job = self.job("--save", self.save, "--save-every", 999)
        done = self.run_to_end("--ranks", "4,2", mpirun=script, job=job)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(self.report.read_text())["state_hash"]
        self.assertEqual(found, self.undisturbed())
        lines = self.starts(done.stderr)
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertRegex(lines[1], r"start 2, 2 ranks, from the beginning; "
                         r"before it (rank 1 ended with status 42 "
                         r"\(status 42\)|status 42)$")

    def test_restarts_have_an_end(self):
        script = self.mpirun_that_ends(always="yes")
        done = self.run_to_end("--ranks", "2", "--restarts", 1, mpirun=script)
        self.assertEqual(done.returncode, 42, done.stderr)
        self.assertEqual(len(self.starts(done.stderr)), 2)
        self.assertRegex(done.stderr, "1 restarts were not enough: (rank 1 "
                         r"ended with status 42 \()?status 42")

    def test_a_run_goes_on_with_the_checkpoint_of_another_launch(self):
        first = self.start("--ranks", "2")
        self.await_checkpoint()
        first.kill()  # its job ends with it
        first.communicate()
        for _ in range(100):
            if not subprocess.run(["pgrep", "-f", str(self.folder)],
                                  stdout=subprocess.DEVNULL,
                                  check=False).returncode:
                time.sleep(0.1)
        done = self.run_to_end("--ranks", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.starts(done.stderr)[0], "4 ranks, from step ")
        found = json.loads(self.report.read_text())["state_hash"]
        self.assertEqual(found, self.undisturbed())


class Ends(LaunchCase):
    def test_signals_end_it(self):
        for sent, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            launch = self.start("--ranks", "2")
            self.await_checkpoint()
            self.mpirun_and_ranks(launch, 2)
            launch.send_signal(sent)
            _, error = launch.communicate(timeout=60)
            self.assertEqual(launch.returncode, status, error)
            self.assertEqual(len(self.starts(error)), 1, error)
            self.save.unlink()

    def test_what_a_restart_cannot_mend_is_not_tried_again(self):
        bad = self.folder / "bad.safetensors"
        bad.write_bytes(b"none")
        missing = self.folder / "missing.txt"
        for more, status in ((["--path", missing], 3),
                             (["--budget", "1MiB"], 4)):
            job = [word for word in self.job("--save", self.save)
                   if word not in ("--path", str(self.text))
                   or "--path" not in more]
            done = self.run_to_end("--ranks", "2", job=[*job, *map(str, more)])
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(len(self.starts(done.stderr)), 1, done.stderr)
        self.save.write_bytes(b"none")
        done = self.run_to_end("--ranks", "2")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.starts(done.stderr), [])

    def test_options_that_differ_are_not_tried_again(self):
        script = self.folder / "mpirun"
        script.write_text(f"""#!/bin/bash
exec {MPIRUN} "$1" "$2" "$3" sh -c '
if [ $OMPI_COMM_WORLD_RANK = 1 ]; then exec "$@" --lr 0.5; fi
exec "$@"' sh "${{@:4}}"
""")
        script.chmod(0o755)
        done = self.run_to_end("--ranks", "2", mpirun=script)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(len(self.starts(done.stderr)), 1, done.stderr)


class Refusals(LaunchCase):
    def refuse(self, says, *own, job=None, **more):
        done = self.run_to_end(*own, job=job or self.job(
            "--save", self.save), **more)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, done.stderr)

    def test_what_cannot_be_launched_is_refused_by_name(self):
        self.refuse("without --save", "--ranks", "2", job=self.job())
        self.refuse("needs --ranks")
        for ranks in ("", "4,", "0", "x", "2048", "-1"):
            self.refuse("--ranks", f"--ranks={ranks}")
        self.refuse("3 ranks cannot share out 4 shards", "--ranks", "4,3")
        self.refuse("power", "--ranks", "3")
        self.refuse("8 ranks cannot share out 4 shards", "--ranks", "8,4",
                    job=self.job("--save", self.save, "--shards", 4))
        self.refuse("--restarts", "--ranks", "2", "--restarts", "-1")
        self.refuse("--batch 16: each of 32 shards", "--ranks", "32")
        self.refuse("./dev setup mpi", "--ranks", "2",
                    mpirun=self.folder / "none")
        self.refuse("launch runs neap train", "--ranks", "2", job=["plan"])
        self.refuse("train has no option --lrr", "--ranks", "2",
                    job=self.job("--save", self.save, "--lrr", 1))
        self.refuse("--eager", "--ranks", "2",
                    job=self.job("--save", self.save, "--eager"))

    def test_two_checkpoints_to_go_on_from_are_refused(self):
        self.save.write_bytes(b"one")
        other = self.folder / "other.safetensors"
        other.write_bytes(b"two")
        self.refuse("leave --resume out", "--ranks", "2", job=self.job(
            "--save", self.save, "--resume", other))

    def test_no_mpirun_in_path_is_refused(self):
        words = [NEAP, "launch", "--ranks", "2", "--",
                 *self.job("--save", self.save)]
        done = subprocess.run(words, env={**ENVIRONMENT, "PATH": "/nowhere"},
                              capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("./dev setup mpi", done.stderr)
        self.assertIn("openmpi-bin", done.stderr)


def setUpModule():
    if subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", "true"],
                      env=ENVIRONMENT, check=False).returncode != 0:
        raise unittest.SkipTest("mpirun starts no processes here")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
