#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets, fuzz/corpora/TARGET/: a few small
files each, whole ones and ones that are damaged at a place of their own."""

import gzip
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent / "corpora"
IMAGES = HERE.parents[1] / "neap" / "data" / "images" / "golden"


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def idx(dtype, extents, elements):
    return (struct.pack(">HBB", 0, dtype, len(extents))
            + struct.pack(f">{len(extents)}I", *extents) + elements)


def cifar(label):
    return bytes([label]) + bytes(range(256)) * 12


def images(ending, *names):
    """Those that the tests read, and the first of them cut off."""
    found = {name: (IMAGES / f"{name}.{ending}").read_bytes() for name in names}
    return found | {"cut": found[names[0]][:-40]}


def plan_record(runs=(), drops=(), channel=(), kind=None):
    """Runs are (index, drops, action)."""
    has = (1 if channel else 0) | (2 if runs else 0) if kind is None else kind
    body = struct.pack("<QII5qB", 1, 127, 0, 4096, 4032, 1000, 70, 60, has)
    body += struct.pack(f"<{len(channel)}q", *channel)
    if runs:
        body += struct.pack("<II", len(runs), len(drops))
        body += b"".join(struct.pack("<iIB", *run) for run in runs)
        body += struct.pack(f"<{len(drops)}i", *drops)
    return body


def plan(*records, count=None, version=1):
    """Its target puts the checksum in the place of the last eight bytes."""
    body = b"NEAPPLAN" + struct.pack(
        "<II16q", version, len(records) if count is None else count, *range(16))
    for number, record in enumerate(records):
        body += struct.pack("<QI", 10 + number, len(record)) + record
    return body + bytes(8)


RUNS = ((0, 0, 0), (0, 0, 1), (1, 2, 0), (0, 0, 2), (0, 0, 3), (2, 1, 0))
TWO = {"__metadata__": {"format": "pt", "k": "\u00e9\n\""},
       "a": entry("I64", [], 0, 8), "b.weight": entry("F32", [2, 1], 8, 16),
       "c": entry("BOOL", [3], 16, 19), "none": entry("BF16", [0, 4], 19, 19)}
ONES = {"neap.xxh3.header": "0" * 16, "neap.xxh3.tensors": "1" * 16}
# Two values of two calls, one after the other in one place.
SNAPSHOT = (
    b'{"neapmem":1,"title":"t","eager":false,"texts":["","relu"],'
    b'"sums":{"reserved":164,"predicted":-1,"arena":64,"stays":100,'
    b'"program":0,"idle":0,"overhead":0,"arguments":0,"external":0,'
    b'"budget":-1,"lower_bound":64,"proven":true,"peak_call":0,'
    b'"live_at_peak":64,"used_at_peak":32},'
    b'"calls":{"op":[1,1],"layer":[0,0],"line":[0,0],"phase":[0,1],'
    b'"again":[0,1],"ns":[5,-1]},'
    b'"blocks":{"first":[0,1],"last":[0,1],"space":[0,0],"kind":[0,2],'
    b'"offset":[0,0],"bytes":[64,64],"used":[32,40],"category":[0,0],'
    b'"dtype":[0,0],"shape":[0,0],"layer":[0,0],"line":[0,0],"value":[0,1],'
    b'"over":[-1,0]},"reads":{"block":[0],"call":[1]},'
    b'"stays":{"owner":[0],"category":[1],"bytes":[100]},'
    b'"steps":{"live":[1],"held":[2],"ns":[-1]},'
    b'"refusals":["no"],"leaks":[]}')



def nest(levels):
    """Sequences in sequences."""
    inner = {"type": "NFC"}
    for _ in range(levels):
        inner = {"type": "Sequence", "normalizers": [inner]}
    return inner


def tokenizer(model, **members):
    return json.dumps({"version": "1.0", "truncation": None, "padding": None,
                       "added_tokens": [], "normalizer": None,
                       "pre_tokenizer": None, "post_processor": None,
                       "decoder": None, "model": model, **members}).encode()


def added(number, content, **flags):
    return {"id": number, "content": content, "single_word": False,
            "lstrip": False, "rstrip": False, "normalized": False,
            "special": True, **flags}


LETTERS = {letter: number for number, letter in enumerate("abcde ow")}
BPE = {"type": "BPE", "vocab": {**LETTERS, "ab": 8, "abc": 9},
       "merges": [["a", "b"], "ab c"]}
PIECES = {"type": "WordPiece", "unk_token": "[UNK]", "vocab":
          {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "he": 3, "##llo": 4, "w": 5}}
SPLIT = {"type": "Split", "pattern": {"Regex": "(?i:'s|'t)|\\p{L}+|\\s+(?!\\S)"},
         "behavior": "Isolated", "invert": False}
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True,
         "trim_offsets": True}

CORPORA = {
    "tokenizer": {
        "bpe": tokenizer(BPE, pre_tokenizer=BYTES, decoder=BYTES,
                         added_tokens=[added(10, "<s>", lstrip=True)]),
        "fallback": tokenizer(
            {**BPE, "byte_fallback": True, "fuse_unk": True, "unk_token": "a"},
            normalizer={"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "\u2581"},
                {"type": "Replace", "pattern": {"String": " "},
                 "content": "\u2581"}, {"type": "NFKC"}]},
            decoder={"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "\u2581"},
                 "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}),
        "pieces": tokenizer(
            PIECES, normalizer={"type": "BertNormalizer", "lowercase": True},
            pre_tokenizer={"type": "BertPreTokenizer"},
            decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
            post_processor={"type": "TemplateProcessing", "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
                "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1],
                                             "tokens": ["[CLS]"]}}}),
        "split": tokenizer(BPE, pre_tokenizer={
            "type": "Sequence", "pretokenizers": [
                SPLIT, {"type": "Digits", "individual_digits": True}, BYTES,
                {"type": "Metaspace", "replacement": "\u2581"}]}),
        "steps": tokenizer(BPE, pre_tokenizer={
            **SPLIT, "pattern": {"Regex": "(a*)*(a*)*(a*)*b"}}),
        "nested": tokenizer(BPE, normalizer=nest(12)),
        "ids": tokenizer({**BPE, "vocab": {"a": 0, "b": 16_777_215}}),
        "twice": tokenizer({**BPE, "vocab": {"a": 0, "b": 0}}),
        "merge": tokenizer({**BPE, "merges": ["a z"]})},
    "safetensors": {
        "two": safetensors(TWO, bytes(16) + b"\0\1\0"),
        "empty": safetensors({}),
        "bool": safetensors(TWO, bytes(16) + b"\0\2\0"),
        "checksums": safetensors({"__metadata__": ONES,
                                  "x": entry("U8", [1], 0, 1)}, b"x"),
        "gap": safetensors({"x": entry("U8", [1], 1, 2)}, b"xy"),
        "long": safetensors({}, length=2**62),
        "huge": safetensors({"x": entry("F64", [2**31, 2**31, 4], 0, 8)},
                            bytes(8)),
        "twice": safetensors(b'{"x":{"dtype":"U8","shape":[],"data_offsets":'
                             b'[0,1]},"x":{"dtype":"U8","shape":[],'
                             b'"data_offsets":[0,1]}}', b"x")},
    "idx": {
        "u8": idx(8, [2, 3], bytes(6)), "f32": idx(13, [2], bytes(8)),
        "i32": idx(12, [1, 1, 1], bytes(4)), "none": idx(8, [0, 5], b""),
        "short": idx(8, [2, 3], bytes(5)), "long": idx(8, [2**32 - 1] * 4, b""),
        "gzip": gzip.compress(idx(8, [2, 3], bytes(6)), mtime=0)},
    "cifar": {
        "one": cifar(3), "two": cifar(0) + cifar(9), "label": cifar(10),
        "short": cifar(1)[:-1], "fine": bytes([19]) + cifar(99)},
    "jpeg": images("jpg", "sampled", "full", "restarts", "progressive", "grey", "cmyk",
                   "turned"),
    "png": images("png", "rgb8", "rgba16_interlaced", "grey1", "grey2_interlaced",
                  "grey_alpha16", "palette4", "chunks"),
    "csv": {
        "table": b"a,b,label\n1,2.5,0\n-3e4,inf,1\n",
        "quotes": b'"a ""b""","c\nd",e\r\n1,2,0\r\n', "empty": b"\n\n",
        "semicolons": b"a;b\n1;2\n", "mark": b"\xef\xbb\xbfa,b\n1,0\n",
        "open": b'"a,b\n', "return": b"a\rb\n"},
    "gzip": {
        "hello": gzip.compress(b"hello " * 50, mtime=0),
        "stored": gzip.compress(bytes(range(256)), 0, mtime=0),
        "two": gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0),
        "cut": gzip.compress(b"hello " * 50, mtime=0)[:-5],
        "sum": gzip.compress(b"hello", mtime=0)[:-8] + bytes(8),
        "plain": b"not compressed"},
    "toml": {
        "train": b"[train]\nmodel = 'mlp'\nhidden = [8, 8]\nlr = 1e-3\n"
                 b"compile = true\nbudget = \"64MiB\"\n",
        "top": b"steps = 3 # three\nsave = \"a\\u00e9\\n\"\n",
        "dotted": b"a.b.c = 1\n", "nested": b"hidden = [[1], {a = 2}]\n",
        "strings": b'path = """\nx\\\n  y"""\nsave = \'\'\'a"b\'\'\'\n',
        "broken": b"lr = = 2\n", "outside": b"lr = 1\n[train]\nlr = 2\n"},
    "pack": {
        "plain": b"id,lower,upper,size\na,0,2,16\nb,2,5,8\n",
        "all": b"lower,upper,size,alignment,fixed,alias_of,alias_at,offset\n"
               b"0,2,16,8,,,,0\n1,2,4,1,,0,4,4\n", "semicolons": b"lower;upper\n",
        "time": b"lower,upper,size\n2,1,4\n", "cells": b"lower,upper,size\n1,2\n",
        "large": b"lower,upper,size\n0,1,9223372036854775807\n0,1,1\n",
        "marks": b"\xef\xbb\xbf\xef\xbb\xbflower,upper,lower,size\n1,2,1,4\n"},
    "plan": {
        "kept": plan(plan_record()), "none": plan(),
        "two": plan(plan_record(), plan_record(RUNS, (0, 3, 1), (9, 8, 7, 6))),
        "record": plan_record(RUNS, (0, 3, 1)), "version": plan(version=2),
        "count": plan(count=2**32 - 1), "short": plan(plan_record())[:-9],
        "drops": plan(plan_record(RUNS, (0, 3))), "kind": plan_record(kind=4),
        "action": plan_record(((0, 0, 4),)), "index": plan_record(((-1, 0, 0),))},
    "snapshot": {
        "small": SNAPSHOT, "empty": b'{"neapmem":1}',
        "newer": SNAPSHOT.replace(b'"neapmem":1', b'"neapmem":2'),
        "more": SNAPSHOT.replace(b'"eager"', b'"x":[{"y":[]}],"eager"'),
        "text": SNAPSHOT.replace(b'"op":[1,1]', b'"op":[1,2]'),
        "length": SNAPSHOT.replace(b'"op":[1,1]', b'"op":[1]'),
        "over": SNAPSHOT.replace(b'"over":[-1,0]', b'"over":[1,-1]'),
        "large": SNAPSHOT.replace(b'"offset":[0,0]',
                                  b'"offset":[0,9007199254740991]')},
    "vocabulary": {
        "ascii": b"the tide was low\n", "utf8": "gr\u00f6\u00dfe \u20ac \U0001f30a".encode(),
        "cut": b"a\xc3", "surrogate": b"\xed\xa0\x80", "long": b"\xc0\xaf"},
    "json": {
        "object": b'{"a":[1,2,9223372036854775807],"b":{"c":"\\u00e9\\n"}}',
        "pair": b'"\\ud83c\\udf0a"', "alone": b'"\\ud83c"', "zero": b"01",
        "fraction": b"1.5", "control": b'"\n"', "open": b'"abc\\'},
}


def main():
    for target, files in CORPORA.items():
        folder = HERE / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
