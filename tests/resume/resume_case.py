"""What the tests of resumed runs share: one small run, in parts or whole."""

import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import tool_case  # noqa: E402  (found by the line above)
from tool_case import OK, ToolCase  # noqa: E402

# Everything that a state may depend on: dropout, clipping, a schedule, batches
# that do not divide the 64 samples.
RUN = ("--batch", "24", "--lr", "1e-2", "--dropout", "0.2", "--clip", "1",
       "--progress", "none")
TEXT = "the waters were divided, and the tide was low again.\n" * 20


class ResumeCase(ToolCase):
    def setUp(self):
        super().setUp()
        self.data = self.write_set()
        self.model = ("--hidden", "16")
        self.file = self.folder / "run.safetensors"
        self.summary = self.folder / "summary.json"

    def use_text(self, *model):
        """Trains that model on a small text from now on."""
        text = self.folder / "text.txt"
        text.write_text(TEXT, encoding="utf-8")
        self.data = "text"
        self.model = ("--path", text, *model)

    def arguments(self, *more, threads=1):
        return ("train", "--data", self.data, "--json", self.summary,
                "--threads", threads, *self.model, *RUN, *tool_case.as_said(more))

    def run_part(self, *more, threads=1):
        """RETURNS: the summary of a run that ends by itself."""
        status, output, errors = self.run_tool(
            *self.arguments(*more, threads=threads))
        self.assertEqual(status, OK, errors)
        self.assertTrue(output.endswith("live at exit: 0 B\n"), output)
        return json.loads(self.summary.read_text())

    def start(self, *more):
        """RETURNS: the process of a run that the test ends."""
        return subprocess.Popen(
            [tool_case.TOOL, *map(str, self.arguments(*more))],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, path):
        deadline = time.monotonic() + 120
        while not path.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
