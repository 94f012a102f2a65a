"""A checkpoint is plain safetensors to a parser that knows nothing of Neap, and
damage to it ends every command that loads it with one line."""

import json
import struct
import sys
import unittest

import tool_case
from tool_case import DATA, OK, ToolCase, USAGE

WIDTHS = {"I64": 8, "F64": 8, "F32": 4, "I32": 4, "BF16": 2, "U8": 1, "BOOL": 1}
SMALL = ("--model", "mlp", "--hidden", "8", "--batch", "8")


def parse(content):
    """RETURNS: metadata, {name: (dtype, shape, bytes)}, by the format's rules."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length].decode("utf-8"))
    metadata = header.pop("__metadata__", {})
    data = content[8 + length:]
    tensors, spans = {}, []
    for name, entry in header.items():
        assert set(entry) == {"dtype", "shape", "data_offsets"}, entry
        begin, end = entry["data_offsets"]
        count = 1
        for extent in entry["shape"]:
            count *= extent
        assert end - begin == count * WIDTHS[entry["dtype"]], name
        spans.append((begin, end))
        tensors[name] = entry["dtype"], entry["shape"], data[begin:end]
    filled = 0
    for begin, end in sorted(spans):
        assert begin == filled
        filled = end
    assert filled == len(data)
    return metadata, tensors


class ForeignReaderTest(ToolCase):
    def saved(self):
        path = self.folder / "run.safetensors"
        self.data = self.write_set()
        self.train(self.data, *SMALL, "--steps", "3", "--save", path)
        return path

    def test_a_plain_parser_reads_what_is_saved(self):
        metadata, tensors = parse(self.whole)
        self.assertTrue(all(isinstance(text, str)
                            for pair in metadata.items() for text in pair))
        self.assertEqual(metadata["neap.step"], "3")
        self.assertRegex(metadata["neap.xxh3.header"], r"\A[0-9a-f]{16}\Z")
        self.assertEqual(len(metadata["neap.xxh3.tensors"]), 16 * len(tensors))
        dtype, shape, content = tensors["fc1.weight"]
        self.assertEqual((dtype, shape), ("F32", [8, 64]))
        values = struct.unpack("<512f", content)
        self.assertTrue(all(abs(value) < 1 for value in values))
        self.assertTrue(any(value != 0 for value in values))

    def damage(self, path, at):
        content = bytearray(self.whole)
        content[at] ^= 1
        path.write_bytes(bytes(content))

    def setUp(self):
        super().setUp()
        self.path = self.saved()
        self.whole = self.path.read_bytes()
        (length,) = struct.unpack("<Q", self.whole[:8])
        header = json.loads(self.whole[8:8 + length])
        self.weight = (8 + length
                       + header["fc1.weight"]["data_offsets"][0] + 7)

    def test_damage_is_one_line_in_every_command_that_loads(self):
        resume = ("train", "--data", self.data, *SMALL, "--steps", "3",
                  "--resume", self.path)
        plan = ("plan", "--data", self.data, *SMALL, "--resume", self.path)
        load = ("eval", "--data", self.data, "--load", self.path)
        rate = self.whole.index(b"neap.optimizer.rate.0") + 25
        # A plan reads no elements, and eval those of the model alone.
        for at, commands in ((self.weight, (resume, load)),
                             (len(self.whole) - 3, (resume,)),
                             (rate, (resume, load, plan))):
            self.damage(self.path, at)
            for command in commands:
                status, _, errors = self.run_tool(*command)
                self.assertEqual(status, DATA, errors)
                self.assertRegex(errors, r"\Aneap: [^\n]*checksum[^\n]*\n\Z")

    def test_verify_off_reads_it_as_it_is(self):
        self.damage(self.path, self.weight)
        load = ("eval", "--data", self.data, "--load", self.path)
        self.assertEqual(self.run_tool(*load)[0], DATA)
        self.assertEqual(self.run_tool(*load, "--verify", "off")[0], OK)
        self.assertEqual(self.run_tool(*load, "--verify", "no")[0], USAGE)


if __name__ == "__main__":
    tool_case.TOOL, tool_case.SANITIZER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
