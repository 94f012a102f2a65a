#!/usr/bin/env python3
"""What other viewers read: the exports of made-up snapshots are well formed, add
up to the snapshots' numbers, and PyTorch's own memory_viz takes them. Without
PyTorch the rest is checked, and the exit status is 77.

usage: viewers_test.py SAMPLES  (the program neap_report_samples)
"""

import importlib.util
import json
import pathlib
import pickle
import pickletools
import re
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

SAMPLES = ""
MISSING = 77  # ctest's SKIP_RETURN_CODE
ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("empty", "small", "hostile", "spaces", "profile", "long", "large")
# What the viewer's reader in JavaScript knows, but for what is never needed.
OPCODES = set("PROTO EMPTY_DICT EMPTY_LIST MARK SETITEMS APPENDS "
              "SHORT_BINUNICODE BINUNICODE BININT1 BININT2 BININT LONG1 "
              "NEWTRUE NEWFALSE MEMOIZE BINGET LONG_BINGET STOP".split())
FIRST_ADDRESS = 1 << 32


def memory_vizzes():
    """The memory_viz of each PyTorch, which itself is not imported: that of
    ./dev bench, the distribution's, and this interpreter's."""
    found = [*ROOT.glob("build/torch/lib/python*/site-packages/torch"),
             pathlib.Path("/usr/lib/python3/dist-packages/torch")]
    spec = importlib.util.find_spec("torch")
    if spec and spec.origin:
        found.append(pathlib.Path(spec.origin).parent)
    paths = {root / "cuda/_memory_viz.py" for root in found}
    modules = [load(path) for path in sorted(paths) if path.exists()]
    return [viz for viz in modules if hasattr(viz, "segsum")]  # since 2.0


def load(path):
    spec = importlib.util.spec_from_file_location("memory_viz", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ViewersTest(unittest.TestCase):
    sample = ""  # the one looked at

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([SAMPLES, cls.folder.name], check=True, timeout=120)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def read(self, name, kind):
        path = pathlib.Path(self.folder.name, f"{name}.{kind}")
        return path.read_bytes()

    def samples(self, kind):
        """Each sample's file of a kind, and its numbers."""
        for self.sample in NAMES:
            yield (self.read(self.sample, kind),
                   json.loads(self.read(self.sample, "numbers.json")))

    def _formatMessage(self, msg, standard):
        return f"{self.sample}: {super()._formatMessage(msg, standard)}"


class PickleTest(ViewersTest):
    def test_every_operation_is_one_that_the_viewer_knows(self):
        for data, _ in self.samples("pickle"):
            ops = list(pickletools.genops(data))
            self.assertEqual((ops[0][0].name, ops[0][1]), ("PROTO", 4))
            self.assertLessEqual({op.name for op, _, _ in ops}, OPCODES)

    def test_lists_grow_by_few_values(self):
        for data, _ in self.samples("pickle"):
            longest = since = 0
            for op, _, _ in pickletools.genops(data):
                since = 0 if op.name == "MARK" else since + 1
                longest = max(longest, since)
            self.assertLess(longest, 1000)

    def test_blocks_tile_their_segments(self):
        for data, numbers in self.samples("pickle"):
            segments = pickle.loads(data)["segments"]
            for segment in segments:
                blocks = segment["blocks"]
                self.assertEqual(sum(b["size"] for b in blocks),
                                 segment["total_size"])
                self.assertEqual(
                    sum(b["size"] for b in blocks
                        if b["state"] == "active_allocated"),
                    segment["active_size"])
            self.assertEqual(sum(s["total_size"] for s in segments),
                             numbers["reserved"])

    def replay(self, snapshot):
        """Checks that what is freed was there, and that blocks do not overlap.
        RETURNS: (what remains, the most that lived at once, all allocations)."""
        events = iter(snapshot["device_traces"][0])
        there, most, allocated = {}, 0, []
        for event in events:
            place = (event["addr"], event["size"])
            if event["action"] == "alloc":
                self.assertNotIn(place[0], there)
                for addr, size in there.items():
                    self.assertTrue(addr + size <= place[0]
                                    or sum(place) <= addr)
                there[place[0]] = place[1]
                allocated.append((place[0], place[1], event["category"]))
                most = max(most, sum(there.values()))
            elif event["action"] == "free_requested":
                self.assertEqual(there.pop(place[0]), place[1])
                self.assertEqual(next(events)["action"], "free_completed")
            else:
                self.assertEqual(event["action"], "snapshot")
        return there, most, allocated

    def test_events_balance(self):
        for data, numbers in self.samples("pickle"):
            snapshot = pickle.loads(data)
            there, most, allocated = self.replay(snapshot)
            active = {}
            for segment in snapshot["segments"]:
                address = segment["address"]
                for block in segment["blocks"]:
                    if block["state"] == "active_allocated":
                        active[address] = block["size"]
                    address += block["size"]
            self.assertEqual(there, active)
            self.assertEqual(most, numbers["live_at_peak"] + numbers["stays"] +
                             numbers["program"])
            values = [a[1] for a in allocated
                      if a[0] < FIRST_ADDRESS + numbers["arena"]]
            self.assertEqual(values, [b[4] for b in numbers["blocks"] if b[4]])

    def test_events_have_what_the_viewer_asks_for(self):
        for data, _ in self.samples("pickle"):
            events = pickle.loads(data)["device_traces"][0]
            self.assertIn("unknown", {e.get("category") for e in events})
            times = [event["time_us"] for event in events]
            self.assertEqual(times, sorted(times))
            for event in events:
                self.assertEqual(event["stream"], 0)
                for frame in event["frames"]:
                    self.assertEqual(set(frame), {"name", "filename", "line"})

    def test_a_frame_names_op_layer_value_and_line(self):
        events = pickle.loads(self.read("small", "pickle"))["device_traces"][0]
        frames = [e["frames"][0] for e in events if e["action"] == "alloc"]
        self.assertIn({"name": "relu in fc1.act: f32 [250]",
                       "filename": "net.cpp", "line": 8}, frames)

    def test_memory_viz_takes_them(self):
        vizzes = memory_vizzes()
        if not vizzes:
            self.skipTest("no PyTorch")
        for viz in vizzes:
            for data, numbers in self.samples("pickle"):
                snapshot = pickle.loads(data)
                self.assertIn("total_reserved", viz.segsum(snapshot))
                text = viz.trace(snapshot)
                self.assertEqual(
                    text.count(" = "),
                    sum(e["action"] == "alloc"
                        for e in snapshot["device_traces"][0]))
                self.assertNotIn("MEM[", text)


class TraceTest(ViewersTest):
    def events(self, data, phase):
        return [e for e in json.loads(data)["traceEvents"] if e["ph"] == phase]

    def test_counters_are_the_live_line(self):
        for data, numbers in self.samples("trace.json"):
            live = [sum(e["args"].values()) for e in self.events(data, "C")]
            self.assertEqual(live, numbers["live"])
            calls = [e["args"]["call"] for e in self.events(data, "X")]
            self.assertEqual(calls, list(range(len(live))))

    def test_slices_follow_each_other(self):
        for data, _ in self.samples("trace.json"):
            end = 0
            for event in self.events(data, "X"):
                self.assertAlmostEqual(event["ts"], end, places=2)
                end = event["ts"] + event["dur"]

    def test_arrows_lead_onward(self):
        for data, _ in self.samples("trace.json"):
            begins = {e["id"]: e["ts"] for e in self.events(data, "s")}
            ends = {e["id"]: e["ts"] for e in self.events(data, "f")}
            self.assertEqual(set(begins), set(ends))
            self.assertLessEqual(len(begins), 200)
            for block, begin in begins.items():
                self.assertLessEqual(begin, ends[block])


class OtherFilesTest(ViewersTest):
    def test_folded_stacks_add_up(self):
        for data, numbers in self.samples("folded"):
            total = 0
            for line in data.decode().splitlines():
                stack, size = line.rsplit(" ", 1)
                self.assertTrue(all(stack.split(";")), line)
                total += int(size)
            self.assertEqual(total, numbers["reserved"])

    def test_pictures_are_xml_without_a_script(self):
        allowed = set("svg title style defs pattern path text rect g".split())
        for data, numbers in self.samples("svg"):
            tree = ElementTree.fromstring(data)
            tags = {re.sub("{.*}", "", e.tag) for e in tree.iter()}
            self.assertLessEqual(tags, allowed)
            groups = [e for e in tree if e.tag.endswith("}g")]
            self.assertEqual(len(groups), min(2000, len(numbers["blocks"])))

    def test_texts_fit_a_terminal(self):
        for kind in ("txt", "diff.txt"):
            for data, _ in self.samples(kind):
                for line in data.decode().split("\n"):
                    self.assertLessEqual(len(line), 80, line)

    def test_markdown_has_no_markup_of_names(self):
        for kind in ("md", "diff.md"):
            for data, _ in self.samples(kind):
                for line in data.decode().split("\n"):
                    self.assertNotRegex(line, r"<|(?<!\\)`|[^\\]\[")
                    cells = len(re.findall(r"(?<!\\)\|", line))
                    self.assertIn(cells, (0, 4), line)


def main():
    global SAMPLES
    SAMPLES = sys.argv.pop(1)
    done = unittest.main(exit=False)
    if not done.result.wasSuccessful():
        sys.exit(1)
    sys.exit(MISSING if done.result.skipped else 0)


if __name__ == "__main__":
    main()
