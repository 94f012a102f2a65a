#!/usr/bin/env python3
"""neap tokenizer beside Hugging Face's library, on much text: the King James
Bible, the sources of this repository, and random lines that are hard.

usage: compare_tokenizers.py TOOL SANITIZER [--lines N] [--text FILE] [--only NAME...]

At most N lines of each are taken, 1000 unless it is said.

Where the package `tokenizers` is not installed this is skipped (status 77).
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import tokenizers
    import zoo
except ImportError:
    print("skipped: the package tokenizers is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE = 2000


def run(tool, *arguments):
    return subprocess.run([tool, "tokenizer", *map(str, arguments)], check=True,
                          capture_output=True).stdout


def source_lines():
    names = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp", "*.md", "*.py"],
                           cwd=ROOT, check=True, capture_output=True, text=True)
    return [line for name in names.stdout.split()
            for line in (ROOT / name).read_text().splitlines()]


def verses(path):
    if path:
        return pathlib.Path(path).read_text().splitlines()
    made = subprocess.run([ROOT / "scripts/kjv_text.sh"], capture_output=True,
                          text=True, check=False)
    return made.stdout.splitlines() if made.returncode == 0 else []


def differences(ours, theirs, lines):
    for line, mine, yours in zip(lines, ours, theirs):
        if mine != yours:
            yield (f"{line!r}:\n  neap    {mine}\n  library {yours}")
    if len(ours) != len(theirs):
        yield f"{len(ours)} lines of ids, {len(theirs)} expected"


class Comparison:
    def __init__(self, tool, folder):
        self.tool = tool
        self.folder = pathlib.Path(folder)
        self.failures = 0

    def report(self, what, found, count):
        self.failures += len(found)
        print(f"{what}: {count} texts, {len(found)} differ", flush=True)
        for text in found[:4]:
            print(text)

    def encode(self, name, library, kind, lines):
        """Each line, and all of them as one text, there and back."""
        file = self.folder / "tokenizer.json"
        library.save(str(file))
        library = tokenizers.Tokenizer.from_file(str(file))
        text = self.folder / "text"
        text.write_bytes("".join(f"{line}\n" for line in lines).encode())
        ours = [list(map(int, row.split())) for row in
                run(self.tool, "encode", "--load", file, "--lines",
                    text).decode().split("\n")[:-1]]
        theirs = [row.ids for row in library.encode_batch(lines)]
        self.report(f"{name}, {kind}", list(differences(ours, theirs, lines)),
                    len(lines))
        whole = library.encode(text.read_bytes().decode()).ids
        ids = run(self.tool, "encode", "--load", file, text)
        mine = list(map(int, ids.split()))
        self.report(f"{name}, {kind}, whole",
                    [] if mine == whole else ["whole text: ids differ"], 1)
        (self.folder / "ids").write_bytes(ids)
        back = run(self.tool, "decode", "--load", file, self.folder / "ids")
        self.report(f"{name}, {kind}, decoded",
                    [] if back.decode() == library.decode(whole)
                    else ["decoded text differs"], 1)

    def train(self, kind, lines, size, frequency=0):
        text = self.folder / "train"
        text.write_bytes("".join(f"{line}\n" for line in lines).encode())
        special = ["<s>", "a", "</s>"]
        theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
        theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
            add_prefix_space=False)
        trainer = zoo.bpe_trainer(size, special)
        trainer.min_frequency = frequency
        theirs.train([str(text)], trainer)
        out = self.folder / "trained.json"
        run(self.tool, "train", text, "--vocab", size, "--out", out,
            "--min-frequency", frequency,
            *(word for token in special for word in ("--special", token)))
        ours = tokenizers.Tokenizer.from_file(str(out))  # it reads ours

        def model_of(tokenizer):
            model = json.loads(tokenizer.to_str())["model"]
            return model["vocab"], model["merges"]
        same = model_of(ours) == model_of(theirs)
        self.report(f"trained, {kind}, {size}", [] if same else
                    ["vocabulary or merges differ"], 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("sanitizer", nargs="?", default="")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--text", default="")
    parser.add_argument("--only", nargs="*", help="names of tokenizers")
    options = parser.parse_args()
    kinds = {"verses": verses(options.text)[:options.lines],
             "sources": source_lines()[:options.lines],
             "random": zoo.HARD_LINES + zoo.random_lines(options.lines, seed=2)}
    learn = kinds["verses"][:4000] + kinds["sources"][:4000]
    print(f"tokenizers {tokenizers.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options.tool, folder)
        for kind, lines in kinds.items():
            comparison.train(kind, lines, 1000)
        comparison.train("verses", kinds["verses"], 8000)
        comparison.train("sources", kinds["sources"][:20000], 30000, 3)
        for make in zoo.ALL if options.only is None else [
                getattr(zoo, name) for name in options.only]:
            library = make(learn, SIZE)
            for kind, lines in kinds.items():
                comparison.encode(make.__name__, library, kind, lines)
    sys.exit(1 if comparison.failures else 0)


if __name__ == "__main__":
    main()
