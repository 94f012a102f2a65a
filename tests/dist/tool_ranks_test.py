#!/usr/bin/env python3
"""neap train on several ranks: one state hash, one checkpoint, and failures.

    tool_ranks_test.py MPIRUN NEAP EXAMPLE
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIRUN, NEAP, EXAMPLE = sys.argv[1:4]
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMPI_", "PMI"))}
ENVIRONMENT |= {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
TEXT = "In the beginning God created the heaven and the earth. " * 60
GPT = ("--model gpt --data text --layers 2 --dim 32 --heads 2 --block 16 "
       "--batch 16 --shards 4 --dropout 0.1 --clip 1 --threads 1 --seed 3 "
       "--schedule constant --progress none").split()


def command(ranks, *arguments):
    started = [MPIRUN, "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    return [*started, *map(str, arguments)]


def run(ranks, *arguments):
    return subprocess.run(command(ranks, *arguments), capture_output=True,
                          text=True, timeout=120, env=ENVIRONMENT, check=False)


class Ranks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = self.folder / "text.txt"
        self.text.write_text(TEXT)

    def train(self, ranks, *more):
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = run(ranks, NEAP, "train", *GPT, "--path", self.text,
                   "--json", report, *more)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(report.read_text())

    def test_any_number_of_ranks_has_one_state(self):
        # 3 300 tokens: the last batch of an epoch is smaller.
        alone = self.train(1, "--epochs", 2)
        for ranks in (2, 4):
            some = self.train(ranks, "--epochs", 2)
            self.assertEqual(some["state_hash"], alone["state_hash"])
            self.assertEqual(some["steps"], alone["steps"])
            self.assertEqual(some["peak_bytes"], some["predicted_peak_bytes"])
            self.assertEqual(len(some["ranks"]), ranks)
            for row in some["ranks"]:
                self.assertEqual(row["live_bytes_at_exit"], 0)
                self.assertEqual(row["allocations"], row["releases"])

    def test_a_plan_says_what_each_rank_holds_and_sends(self):
        found = self.train(4, "--steps", 5)
        for rank in range(4):
            done = run(1, NEAP, "plan", *GPT, "--path", self.text, "--steps", 5,
                       "--ranks", 4, "--rank", rank, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            plan = json.loads(done.stdout)
            row = found["ranks"][rank]
            self.assertEqual(plan["peak_bytes"], row["peak_bytes"])
            sent = 5 * plan["sent_in_a_step_bytes"]
            self.assertAlmostEqual(row["sent_bytes"] / sent, 1.0, delta=0.01)

    def test_a_network_is_measured_for_plans(self):
        network = self.folder / "network.json"
        done = run(2, NEAP, "network", "--out", network)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "latency .* us\noverhead .*\nrate .*"
                                      "\nengine +Open MPI")
        found = json.loads(network.read_text())
        self.assertLess(found["latency_nanoseconds"], 1e9)
        self.assertGreater(found["bytes_a_second"], 1e5)
        done = run(1, NEAP, "plan", *GPT, "--path", self.text, "--ranks", 4,
                   "--network", network, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["traffic_seconds"], 0.0)
        for ranks, out, status in ((1, network, 2), (4, network, 2),
                                   (2, "/nowhere/file", 5)):
            done = run(ranks, NEAP, "network", "--out", out)
            self.assertEqual(done.returncode, status, done.stderr)

    def test_a_checkpoint_is_one_file_and_goes_on_with_other_ranks(self):
        whole = self.train(1, "--steps", 6)
        files = [self.folder / f"{ranks}.safetensors" for ranks in (1, 2, 4)]
        for ranks, path in zip((1, 2, 4), files):
            self.train(ranks, "--steps", 3, "--save", path)
            self.assertEqual(path.read_bytes(), files[0].read_bytes())
        for ranks in (1, 2, 4):
            after = self.train(ranks, "--steps", 6, "--resume", files[1])
            self.assertEqual(after["state_hash"], whole["state_hash"])

    def test_ranks_that_share_out_the_state_have_the_same_one(self):
        whole = self.train(1, "--steps", 6, "--zero", 1)
        self.assertEqual(self.train(1, "--steps", 6)["state_hash"],
                         whole["state_hash"])
        self.assertEqual(self.train(4, "--epochs", 2, "--zero", 1)["state_hash"],
                         self.train(1, "--epochs", 2)["state_hash"])
        files = []
        for ranks, zero in ((2, 0), (2, 1), (4, 1)):
            files.append(self.folder / f"{ranks}{zero}.safetensors")
            found = self.train(ranks, "--steps", 3, "--zero", zero, "--save",
                               files[-1])
            self.assertEqual(files[-1].read_bytes(), files[0].read_bytes())
            self.assertEqual(found["peak_bytes"], found["predicted_peak_bytes"])
        for ranks, zero in ((1, 1), (2, 0), (2, 1), (4, 1)):
            after = self.train(ranks, "--steps", 6, "--zero", zero, "--resume",
                               files[-1])
            self.assertEqual(after["state_hash"], whole["state_hash"])
            self.assertEqual(after["peak_bytes"], after["predicted_peak_bytes"])

    def test_a_plan_says_what_each_rank_holds_of_a_shared_state(self):
        path = self.folder / "run.safetensors"
        found = self.train(4, "--steps", 5, "--zero", 1, "--save", path)
        shares = []
        for rank in range(4):
            done = run(1, NEAP, "plan", *GPT, "--path", self.text, "--steps", 5,
                       "--ranks", 4, "--rank", rank, "--zero", 1, "--save",
                       path, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            shares.append(json.loads(done.stdout))
            self.assertEqual(shares[-1]["peak_bytes"],
                             found["ranks"][rank]["peak_bytes"])
        for whole, part in (("state_of_all_ranks_bytes", "state_of_rank_bytes"),
                            ("handed_on_least_bytes", None)):
            self.assertEqual(len({share[whole] for share in shares}), 1)
            if part:
                self.assertEqual(sum(share[part] for share in shares),
                                 shares[0][whole])
        self.assertEqual(sum(share["handed_on_bytes"] for share in shares),
                         4 * shares[0]["handed_on_least_bytes"])

    def test_a_budget_is_one_of_each_rank(self):
        free = self.train(2, "--steps", 3)
        room = free["ranks"][0]["peak_bytes"] + free["external_bytes"]
        budget = room - free["arena_bytes"] // 8
        less = self.train(2, "--steps", 3, "--budget", budget)
        self.assertEqual(less["state_hash"], free["state_hash"])
        for row in less["ranks"]:
            self.assertLessEqual(row["peak_bytes"] + less["external_bytes"],
                                 budget)
        done = run(2, NEAP, "train", *GPT, "--path", self.text, "--steps", 3,
                   "--budget", "1MiB")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("too small for this run", done.stderr)
        self.assertIn("would fit  no batch", done.stderr)

    def test_a_run_ends_well_with_any_timeout(self):
        self.train(2, "--steps", 3, "--rank-timeout", 30)

    def test_an_example_has_one_state(self):
        alone = run(1, EXAMPLE)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for ranks in (2, 4):
            self.assertEqual(run(ranks, EXAMPLE).stdout.split("state")[1],
                             alone.stdout.split("state")[1])

    def test_what_ranks_cannot_have_is_refused_by_name(self):
        few = ["--model", "gpt", "--data", "text", "--path", self.text]
        for more, why in ((["--eager"], "--eager"), (["--paged"], "--paged"),
                          (["--batch", 1], "needs a sample"),
                          (["--plan", self.folder / "p.plan"], "--plan"),
                          (["--zero", 1, "--budget", "1GiB", "--spill",
                            self.folder], "--spill beside --zero 1")):
            done = run(2, NEAP, "train", *few, *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(why, done.stderr)
        done = run(3, NEAP, "train", *GPT, "--path", self.text)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("power of two", done.stderr)

    def test_a_rank_that_stops_is_named_within_the_deadline(self):
        process = subprocess.Popen(
            command(2, NEAP, "train", *GPT, "--path", self.text, "--steps",
                    1000000, "--rank-timeout", 3),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=ENVIRONMENT)
        time.sleep(4)
        ranks = subprocess.run(["pgrep", "-P", str(process.pid), "neap"],
                               capture_output=True, text=True,
                               check=True).stdout.split()
        self.assertEqual(len(ranks), 2)
        os.kill(int(ranks[1]), signal.SIGSTOP)
        start = time.monotonic()
        _, error = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 23)  # the machine may be busy
        self.assertEqual(process.returncode, 7, error)
        self.assertIn("rank 1 has not answered rank 0", error)


def setUpModule():
    if run(2, "true").returncode != 0:
        raise unittest.SkipTest("mpirun starts no processes here")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
