#!/usr/bin/env python3
"""Every network of the neap tool, trained for a few steps, eager and compiled,
has one state hash at all instruction sets that fuse multiply-add, and another
at all that do not.

usage: same_hashes_test.py TOOL [COMMAND...]

COMMAND is another build of the tool, which fuses too: "qemu-aarch64 PATH"; an
empty one is none. A level that this processor lacks is passed over.
"""

import os
import subprocess
import sys

from tool_case import IMAGE_NETWORKS, SMALL_GPT, TEXT_NETWORKS, ToolCase
import tool_case
import unittest

FUSES = "avx512", "avx2"
DOES_NOT = "sse4", "baseline"
STEPS = ("--steps", "3", "--batch", "5", "--threads", "2", "--lr", "1e-2",
         "--seed", "3", "--json", "-", "--progress", "none")
OTHERS = []


class SameHashesTest(ToolCase):
    def setUp(self):
        super().setUp()
        data = self.write_set()
        text = ("--data", "text", "--path", self.write_text())
        self.networks = (
            *(("--model", model, *sizes, "--data", data)
              for model, sizes in {"mlp": (), **IMAGE_NETWORKS}.items()),
            *((*network, *text) for network in TEXT_NETWORKS),
            (*SMALL_GPT, *text, "--dropout", "0.1", "--keep", "nothing"))

    def hash_of(self, command, options, **variables):
        """RETURNS: None where the processor lacks the level."""
        done = subprocess.run(
            [*command, "train", *map(str, options), *STEPS], text=True,
            env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=600, check=False)
        if "this processor has no" in done.stderr:
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        return tool_case.json.loads(done.stdout)["state_hash"]

    def hashes_of(self, levels, options):
        return {level: self.hash_of([tool_case.TOOL], options, NEAP_ISA=level)
                for level in levels}

    def test_each_network_has_one_hash(self):
        for network in self.networks:
            for how in ("--eager", "--compile"):
                options = (*network, how)
                found = self.hashes_of(FUSES, options)
                for command in OTHERS:
                    found[command] = self.hash_of(command.split(), options)
                with self.subTest(options=options):
                    self.assertLessEqual(len(set(found.values()) - {None}), 1,
                                         found)
                found = self.hashes_of(DOES_NOT, options)
                with self.subTest(options=options):
                    self.assertLessEqual(len(set(found.values()) - {None}), 1,
                                         found)


if __name__ == "__main__":
    tool_case.TOOL = sys.argv[1]
    OTHERS = [command for command in sys.argv[2:] if command]
    unittest.main(argv=sys.argv[:1])
