#!/usr/bin/env python3
"""Ranks over MPI: the same bits for any number of them, and their failures.

    mpi_test.py MPIRUN WORKER EXAMPLE
"""

import os
import subprocess
import sys
import time
import unittest

MPIRUN, WORKER, EXAMPLE = sys.argv[1:4]
DEADLINE = 3.0


def run(ranks, *command, seconds=60):
    """Returns status, standard output and error, and seconds."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMPI_", "PMI"))}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    start = time.monotonic()
    done = subprocess.run(
        [MPIRUN, "--oversubscribe", "-n", str(ranks), *map(str, command)],
        capture_output=True, text=True, timeout=seconds, env=environment,
        check=False)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


def left_over():
    """Processes of the worker that are still there."""
    found = subprocess.run(["pgrep", "-f", f"^{WORKER} "],
                           capture_output=True, text=True, check=False)
    return found.stdout.split()


class Bits(unittest.TestCase):
    def test_training_has_the_same_bits_for_any_number_of_ranks(self):
        alone = subprocess.run([EXAMPLE], capture_output=True, text=True,
                               check=True).stdout
        self.assertIn("state ", alone)
        for ranks in (1, 2, 4, 8):
            status, out, error, _ = run(ranks, EXAMPLE)
            self.assertEqual((status, out), (0, alone), error)

    def test_a_rank_sends_the_least_there_is(self):
        status, out, error, _ = run(4, WORKER, 10, DEADLINE)
        self.assertEqual(status, 0, error)
        sent = int(out.split("sent ")[1].split(",")[0])
        least = 10 * 2 * 3 * 1000 * 300 * 4 // 4
        self.assertLess(sent, least * 1.005)
        self.assertIn("Open MPI", out)


class Failures(unittest.TestCase):
    def tearDown(self):
        for _ in range(50):
            if not left_over():
                return
            time.sleep(0.1)
        self.fail(f"still there: {left_over()}")

    def end(self, kind):
        status, _, error, seconds = run(4, WORKER, 100000, DEADLINE, kind, 2, 5)
        self.assertNotEqual(status, 0, error)
        self.assertLess(seconds, DEADLINE + 20)  # the machine may be busy
        return status, error

    def test_a_rank_that_is_killed(self):
        self.end("kill")

    def test_a_rank_that_exits(self):
        self.end("exit")

    def test_a_rank_that_throws(self):
        self.end("throw")

    def test_a_rank_that_stops_is_named(self):
        status, error = self.end("stop")
        self.assertEqual(status, 6, error)
        self.assertIn("rank 2 has not answered rank", error)
        self.assertIn("layer.weight", error)

    def test_ranks_with_other_shapes_are_named(self):
        status, error = self.end("shape")
        self.assertEqual(status, 7, error)
        self.assertIn("is at the sum of 'layer.weight', f32 [1000, 300], "
                      "rank 2 not", error)


def setUpModule():
    if run(2, "true")[0] != 0:
        raise unittest.SkipTest("mpirun starts no processes here")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
