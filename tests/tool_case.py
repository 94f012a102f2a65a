"""What the tests of the neap tool share: running it, and folders of IDX files."""

import gzip
import json
import os
import pathlib
import resource
import struct
import subprocess
import tempfile
import unittest

OK, INTERNAL, USAGE, DATA, MEMORY, OUTPUT = range(6)

# Set by tool_test.py.
TOOL = SANITIZER = ""

SIDE = 8  # of an image, in pixels
TEXT = "the waters were divided, and the tide was low again.\n" * 20
# What makes each network small.
IMAGE_NETWORKS = {"lenet": (), "vgg11": ("--width", "2"),
                  "resnet18": ("--width", "2"), "resnet34": ("--width", "1"),
                  "unet": ("--width", "1")}
SMALL_GPT = ("--model", "gpt", "--layers", "2", "--heads", "2", "--dim", "16",
             "--block", "8")
TEXT_NETWORKS = (SMALL_GPT, ("--model", "lstm", *SMALL_GPT[2:]),
                 ("--model", "gru", *SMALL_GPT[2:]))
NAMES = {"train_images": "train-images-idx3-ubyte",
         "train_labels": "train-labels-idx1-ubyte",
         "test_images": "t10k-images-idx3-ubyte",
         "test_labels": "t10k-labels-idx1-ubyte"}


def idx(extents, elements, magic=None):
    """An IDX file of u8; the header says `extents`, whatever there is."""
    start = struct.pack(">HBB", 0, 8, len(extents)) if magic is None else magic
    return (start + struct.pack(f">{len(extents)}I", *extents)
            + bytes(elements))


def image_of(label, index):
    """Bright in the row of its label, with a little made-up noise."""
    noise = [(index * 31 + pixel * 17 + label * 7) % 40
             for pixel in range(SIDE * SIDE)]
    row = range(label % SIDE * SIDE, label % SIDE * SIDE + SIDE)
    return bytes(200 + value if pixel in row else value
                 for pixel, value in enumerate(noise))


def separable(count=64, classes=4):
    """The four files of a small set that a linear model can tell apart."""
    labels = [index % classes for index in range(count)]
    images = b"".join(image_of(label, index)
                      for index, label in enumerate(labels))
    part = idx((count, SIDE, SIDE), images), idx((count,), labels)
    return dict(zip(NAMES, part + part))


def has_bf16():
    """Whether this processor has dot products of bf16."""
    level = os.environ.get("NEAP_ISA", "avx512")
    cpus = pathlib.Path("/proc/cpuinfo")
    return (level == "avx512" and cpus.is_file()
            and " avx512_bf16" in cpus.read_text())


def as_said(arguments):
    """With --eager, unless they say how the step is to run."""
    says = {"--compile", "--eager"} & set(map(str, arguments))
    return arguments if says else (*arguments, "--eager")


class ToolCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_set(self, files=None, is_gzipped=False, **changed):
        """Writes IDX files, some of them changed; RETURNS: their folder."""
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        for name, content in {**(files or separable()), **changed}.items():
            path = data / NAMES[name]
            if content is None:
                continue
            if is_gzipped:
                path.with_name(path.name + ".gz").write_bytes(
                    gzip.compress(content))
            else:
                path.write_bytes(content)
        return str(data)

    def write_text(self):
        """RETURNS: the file of a small text."""
        path = self.folder / "text.txt"
        path.write_text(TEXT, encoding="utf-8")
        return path

    def run_tool(self, *arguments, **variables):
        """RETURNS: exit status, standard output, standard error."""
        done = subprocess.run([TOOL, *map(str, arguments)],
                              env={**os.environ, **variables},
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def refuse(self, status, *arguments, says=""):
        """The tool ends with `status` and one line, within a second. Where the
        budget is too small, short lines below it say what would be enough."""
        def spent():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = spent()
        found, _, errors = self.run_tool("train", *arguments)
        # Processor time: the machine may be busy with other things.
        self.assertLess(spent() - before, 10 if SANITIZER else 1)
        self.assertEqual(found, status, errors)
        if status == MEMORY:
            self.check_budget_refusal(errors)
        else:
            self.assertRegex(errors, r"\Aneap: [^\n]+\n\Z")
        self.assertIn(says, errors)

    def check_budget_refusal(self, errors):
        """Lines that fit a terminal, with facts alone below the first; none
        names a line of source."""
        self.assertRegex(
            errors, r"\Aneap: the budget of .* is too small for this run\n"
            r"(  [a-z ]{9}  [^ \n][^\n]*\n)+\Z")
        self.assertLessEqual(max(map(len, errors.splitlines())), 80, errors)
        self.assertNotRegex(errors, r"[.][ch]pp|::")

    def train(self, data, *arguments):
        """The same, but --eager unless --compile is among the arguments."""
        return self.train_as_told(data, *as_said(arguments))

    def train_as_told(self, data, *arguments):
        """RETURNS: the JSON summary of a good run."""
        path = self.folder / "summary.json"
        status, output, errors = self.run_tool(
            "train", "--data", data, "--json", path, "--progress", "none",
            *arguments)
        self.assertEqual((status, errors), (OK, ""), output)
        self.assertTrue(output.endswith("live at exit: 0 B\n"), output)
        return json.loads(path.read_text())
