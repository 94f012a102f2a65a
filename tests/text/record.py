#!/usr/bin/env python3
"""Writes tests/text/golden/: small tokenizers, and what Hugging Face's library
makes of hard texts by them.

usage: record.py TEXT  (a text to train on, such as scripts/kjv_text.sh writes)

Needs the package `tokenizers` (pip install tokenizers); versions differ in what
they know of Unicode, so the file says which one it was.
"""

import json
import pathlib
import sys

import tokenizers
import zoo

HERE = pathlib.Path(__file__).resolve().parent
SIZE = 420
LINES = 600


def training_lines(path):
    source = pathlib.Path(HERE / "zoo.py").read_text()
    lines = pathlib.Path(path).read_text().splitlines()[:LINES]
    return lines + source.splitlines()[:120]


def texts(lines):
    return zoo.HARD + lines[::60] + zoo.random_lines(60, seed=1)


def main():
    lines = training_lines(sys.argv[1])
    folder = HERE / "golden"
    folder.mkdir(exist_ok=True)
    cases = {"library": tokenizers.__version__, "texts": texts(lines),
             "tokenizers": []}
    for make in zoo.ALL:
        name = f"{make.__name__}.json"
        made = make(lines, SIZE)
        made.save(str(folder / name), pretty=False)
        # What the library reads is what counts.
        read = tokenizers.Tokenizer.from_file(str(folder / name))
        ids = [read.encode(text).ids for text in cases["texts"]]
        cases["tokenizers"].append({
            "file": name, "size": read.get_vocab_size(), "ids": ids,
            "plain": [read.encode(text, add_special_tokens=False).ids
                      for text in cases["texts"][:20]],
            "decoded": [read.decode(row) for row in ids],
            "whole": [read.decode(row, skip_special_tokens=False)
                      for row in ids[::4]]})
    text = json.dumps(cases, separators=(",", ":")).replace("},{", "},\n{")
    (folder / "cases.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
