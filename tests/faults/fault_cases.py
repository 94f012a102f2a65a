"""Runs of the neap tool, small ones of every command, and the files they need."""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tool_case import NAMES, SMALL_GPT, TEXT, separable  # noqa: E402

PACK = "lower,upper,size\n0,4,16\n1,3,8\n2,6,24\n5,9,16\n7,9,8\n0,9,4\n"
TOML = ("[train]\nhidden = [8]\nbatch = 16\nsteps = 2\nlr = 1e-2\n"
        "threads = 1\nprogress = \"none\"\nbudget = \"1GiB\"\n")
MLP = ("--hidden", "8", "--batch", "16", "--steps", "2", "--threads", "1",
       "--progress", "none")
GPT = (*SMALL_GPT, "--data", "text", "--batch", "4", "--steps", "2",
       "--threads", "1", "--progress", "none")
FITTED = ("--model", "gpt", "--layers", "2", "--heads", "2", "--dim", "16",
          "--block", "16", "--keep", "everything", "--data", "text", "--batch",
          "32", "--steps", "2", "--threads", "1", "--progress", "none")
SMALL_FIT = ("--hidden", "8", "--batch", "16", "--threads", "1")


# How a file that is written is compared with that of a good run. A log that
# grows line by line is not: it may end anywhere.
EXACTLY = "exactly"
BUT_FIGURES = "but for its figures"  # times and pages differ between runs
GROWS = "not at all"


@dataclasses.dataclass
class Description:
    arguments: tuple
    writes: dict = dataclasses.field(default_factory=dict)  # name -> compared
    old: dict = dataclasses.field(default_factory=dict)
    exact: bool = False  # figures too are the same in every run
    between: bytes = None  # what is saved on the way
    says: str = ""  # in the output of a good run


class Fixture:
    """Data, models and checkpoints, made by good runs."""

    def __init__(self, tool, preload, folder):
        self.tool = tool
        self.preload = preload
        self.folder = folder
        self.scratch = folder / "runs"
        self.scratch.mkdir()
        self.data = folder / "data"
        self.data.mkdir()
        for name, content in separable().items():
            (self.data / NAMES[name]).write_bytes(content)
        self.text = self.file("text.txt", TEXT)
        self.pack = self.file("pack.csv", PACK)
        self.table = self.file("table.csv", "".join(
            f"{row % 7},{row % 5},{row % 3}\n" for row in range(-1, 60)).replace(
                "6,4,2", "a,b,label", 1))
        self.toml = self.file("train.toml", TOML + f'data = "{self.data}"\n')
        self.old = self.made("old.safetensors", "--data", self.data, *MLP,
                             "--seed", "1")
        self.half = self.made("half.safetensors", "--data", self.data, *MLP,
                              "--schedule", "constant", "--steps", "1")
        self.between = self.made("between.safetensors", "--data", self.data,
                                 *MLP, "--minutes", "1e-9")
        self.gpt = self.made("gpt.safetensors", "--path", self.text, *GPT)
        fitted = ("--path", self.text, *FITTED)
        self.fitted = self.made("fitted.safetensors", *fitted, "--seed", "1")
        self.budget = self.peak(*fitted) - (64 << 10)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def made(self, name, *arguments):
        """RETURNS: a checkpoint that `neap train` has saved."""
        path = self.folder / name
        arguments = list(map(str, arguments))
        for option in ("--steps",):  # the last one counts
            while arguments.count(option) > 1:
                at = arguments.index(option)
                del arguments[at:at + 2]
        subprocess.run([self.tool, "train", *arguments, "--save", str(path)],
                       check=True, stdout=subprocess.DEVNULL)
        return path

    def peak(self, *arguments):
        """RETURNS: the least budget that `neap plan` needs to change nothing,
        beside what the library that makes allocations fail takes."""
        with tempfile.NamedTemporaryFile(dir=self.folder) as tally:
            tally.write(bytes(4096))
            tally.flush()
            variables = {**os.environ, "LD_PRELOAD": self.preload,
                         "NEAP_FAULT_FILE": tally.name, "NEAP_FAULT_AT": "0",
                         "NEAP_FAULT_COUNT": "1", "NEAP_FAULT_TRACE": "0"}
            done = subprocess.run([self.tool, "plan", *map(str, arguments),
                                   "--json"], check=True, env=variables,
                                  stdout=subprocess.PIPE)
        plan = json.loads(done.stdout)
        return plan["peak_bytes"] + plan["external_bytes"]

    def train(self, *arguments):
        return ("train", "--data", str(self.data), *MLP, *arguments)

    def cases(self):
        """name -> Description, in the order of cost."""
        old = {"saved.safetensors": self.old.read_bytes()}
        saved = {"saved.safetensors": EXACTLY}
        save = ("--save", "saved.safetensors")
        gpt = str(self.gpt)
        return {
            "version": Description(("--version",), exact=True),
            "help": Description(("--help",), exact=True),
            "help of train": Description(("train", "--help"), exact=True),
            "usage": Description(("train", "--learning", "1"), exact=True),
            "no data": Description(("train", "--data", "nowhere"), exact=True),
            "pack": Description(
                ("pack", str(self.pack), "--out", "plan.csv", "--svg",
                 "plan.svg"),
                writes={"plan.csv": EXACTLY, "plan.svg": EXACTLY},
                old={"plan.svg": b"<svg>an older plan</svg>\n"}),
            "pack json": Description(("pack", str(self.pack), "--json")),
            "train": Description(self.train(*save), saved, old),
            "train compiled": Description(
                self.train(*save, "--compile", "--save-every", "1"), saved,
                old, between=self.between.read_bytes()),
            "train eager": Description(
                self.train(*save, "--eager"), saved, old),
            "train threads": Description(
                ("train", "--data", str(self.data), "--hidden", "8", "--batch",
                 "16", "--steps", "2", "--threads", "2", "--prefetch", "1",
                 "--progress", "none", *save), saved, old),
            "train metrics": Description(
                self.train("--metrics", "run.jsonl", "--tensorboard", "events",
                           "--json", "summary.json"),
                {"run.jsonl": GROWS, "events": GROWS,
                 "summary.json": BUT_FIGURES}, {"summary.json": b"{}\n"}),
            "train settings": Description(
                ("train", "--config", str(self.toml), *save), saved, old),
            "train table": Description(
                ("train", "--data", "csv", "--path", str(self.table), *MLP)),
            "resume": Description(
                self.train("--schedule", "constant", "--resume",
                           str(self.half), *save), saved, old),
            "gpt": Description(
                ("train", "--path", str(self.text), *GPT, *save), saved,
                {"saved.safetensors": self.gpt.read_bytes()}),
            "train fitted": Description(
                ("train", "--path", str(self.text), *FITTED, "--budget",
                 str(self.budget), *save), saved,
                {"saved.safetensors": self.fitted.read_bytes()},
                says="calls run again"),
            "eval": Description(
                ("eval", "--load", str(self.old), "--data", str(self.data),
                 "--threads", "1", "--json", "-"), exact=True),
            "eval text": Description(
                ("eval", "--load", gpt, "--path", str(self.text), "--data",
                 "text", "--threads", "1"), exact=True),
            "sample": Description(
                ("sample", "--load", gpt, "--length", "4", "--threads", "1",
                 "--prompt", "the"), exact=True),
            "plan": Description(
                ("plan", "--data", str(self.data), "--hidden", "8",
                 "--batch", "16", "--threads", "1", "--json")),
            "plan gpt": Description(
                ("plan", *SMALL_GPT, "--batch", "4", "--threads", "1",
                 "--budget", "64MiB")),
            "manual": Description(("manual", "man"), exact=True),
            "manual bash": Description(("manual", "bash"), exact=True),
            "fit": Description(
                ("fit", *SMALL_FIT, "--data", str(self.data))),
            "fit svg": Description(
                ("fit", *SMALL_FIT, "--data", str(self.data), "--svg",
                 "curve.svg", "--json", "fit.json"),
                writes={"curve.svg": BUT_FIGURES, "fit.json": BUT_FIGURES},
                old={"curve.svg": b"<svg>an older curve</svg>\n",
                     "fit.json": b"{}\n"}),
        }
