#!/usr/bin/python3
"""Trains PyTorch's GPT on a text as `neap train --model gpt` does it.

usage: gpt_text_torch.py TEXT INITIAL.safetensors METRICS.jsonl [options]

The same in both: the architecture, the initial weights (INITIAL: a checkpoint
of a run with a learning rate of 0), the blocks of text in every step and their
order (functions of the seed, drawn here as there), AdamW on all parameters, the
clipping, warm-up and cosine, the text's end kept for the validation, and its
loss: the mean over the tokens of all its blocks. So the two curves may differ by
rounding alone. METRICS has a line for every step, one for each validation and
a last one with "test_loss". gpt_text.sh runs both.

PyTorch must find a fast BLAS: LD_LIBRARY_PATH, as gpt_text.sh sets it. Needs
Debian's python3-torch and python3-numpy.
"""

import argparse
import json
import math
import pathlib
import re
import struct
import sys
import time

import numpy as np
import torch

import models_torch
import torch_worker

MASK = np.uint64(0xFFFFFFFF)


def philox(counter, draw, seed):
    """Philox4x32-10's words, (4, n), for the counters (n) of a draw."""
    half = np.uint64(32)
    words = [counter & MASK, counter >> half,
             np.full_like(counter, draw & 0xFFFFFFFF),
             np.full_like(counter, draw >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p0 = words[0] * np.uint64(0xD2511F53)
        p1 = words[2] * np.uint64(0xCD9E8D57)
        words = [(p1 >> half) ^ words[1] ^ np.uint64(key[0]), p1 & MASK,
                 (p0 >> half) ^ words[3] ^ np.uint64(key[1]), p0 & MASK]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF,
               (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(words)


def draw_of(purpose, epoch):
    return (purpose << 60) | epoch


def shuffled(size, seed, epoch):
    """The order of an epoch's samples (neap/data/sampler.cpp)."""
    blocks = np.arange(size // 4 + 1, dtype=np.uint64)
    words = philox(blocks, draw_of(8, epoch), seed).T.reshape(-1)
    order = list(range(size))
    for left in range(size, 1, -1):
        pick = (int(words[left]) * left) >> 32
        order[left - 1], order[pick] = order[pick], order[left - 1]
    return np.array(order, dtype=np.uint64)


def starts_of(samples, starts, seed, epoch):
    """Where samples of random blocks begin (neap/data/text_set.cpp)."""
    words = philox(samples, draw_of(10, epoch), seed)
    bits = (words[0] << np.uint64(21)) ^ (words[1] >> np.uint64(11))
    uniform = bits.astype(np.float64) * 2.0 ** -53
    return np.minimum(uniform * starts, starts - 1).astype(np.int64)


def training_starts(tokens, options):
    """Yields the starts of a step's blocks, for ever."""
    starts = tokens - options.block
    size = (starts - 1) // options.block + 1
    epoch = 0
    while True:
        order = shuffled(size, options.seed, epoch)
        for at in range(0, size, options.batch):
            yield starts_of(order[at:at + options.batch], starts, options.seed,
                            epoch)
        epoch += 1


def blocks_at(tokens, starts, block):
    """The inputs and targets (n, block) that start there."""
    at = torch.as_tensor(starts)[:, None] + torch.arange(block)
    return tokens[at], tokens[at + 1]


def read_safetensors(path):
    """The f32 tensors of a file by name."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    body = memoryview(data)[8 + size:]
    return {name: torch.from_numpy(
                np.frombuffer(body[slice(*entry["data_offsets"])], np.float32)
                .reshape(entry["shape"]).copy())
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] == "F32"}


def name_there(name):
    """A parameter of models_torch's Gpt in a checkpoint."""
    name = re.sub(r"\.(c_attn|attn_proj|c_fc|mlp_proj)\.",
                  lambda m: {"c_attn": ".attn.c_attn.",
                             "attn_proj": ".attn.c_proj.",
                             "c_fc": ".mlp.c_fc.",
                             "mlp_proj": ".mlp.c_proj."}[m[1]], name)
    return name.replace("head.", "lm_head.")


def make_model(options, vocab):
    model = models_torch.gpt_class(torch)(options.layers, options.heads,
                                          options.dim, options.block, vocab)
    there = read_safetensors(options.initial)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(there[name_there(name)])
    return model


def loss_of(model, inputs, targets):
    scores = model(inputs)
    return torch.nn.functional.cross_entropy(
        scores.view(-1, scores.size(-1)), targets.reshape(-1))


def rate_of(step, options):
    """The learning rate of a step, counted from 0."""
    if step < options.warmup:
        return options.lr * (step + 1) / options.warmup
    progress = (step - options.warmup) / (options.steps - options.warmup)
    return options.lr * 0.5 * (1 + math.cos(math.pi * progress))


def validate(model, tokens, block, batch=64):
    """The mean loss over the tokens of all blocks, one after the other."""
    starts = np.arange(0, len(tokens) - block, block)
    total = 0.0
    with torch.no_grad():
        for at in range(0, len(starts), batch):
            part = starts[at:at + batch]
            total += len(part) * loss_of(
                model, *blocks_at(tokens, part, block)).item()
    return total / len(starts)


def train(model, tokens, options, metrics):
    kept = int(len(tokens) * (1 - options.validation))
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr,
                                  weight_decay=options.weight_decay)
    starts = training_starts(kept, options)
    for step in range(options.steps):
        begin = time.perf_counter()
        rate = optimizer.param_groups[0]["lr"] = rate_of(step, options)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model, *blocks_at(tokens, next(starts), options.block))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimizer.step()
        write(metrics, step=step + 1, loss=loss.item(), learning_rate=rate,
              gradient_norm=norm.item(), seconds=time.perf_counter() - begin)
        if (step + 1) % options.every == 0 and step + 1 < options.steps:
            write(metrics, step=step + 1,
                  validation_loss=validate(model, tokens[kept:], options.block))
    loss = validate(model, tokens[kept:], options.block)
    write(metrics, step=options.steps, test_loss=loss)
    return loss


def write(file, **facts):
    print(json.dumps(facts, separators=(",", ":")), file=file, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for name in ("text", "initial", "metrics"):
        parser.add_argument(name)
    for name, default in (
            ("layers", 4), ("heads", 4), ("dim", 128), ("block", 64),
            ("batch", 16), ("steps", 4000), ("warmup", 100), ("lr", 2e-3),
            ("weight-decay", 0.1), ("clip", 1.0), ("validation", 0.1),
            ("seed", 7), ("every", 500), ("threads", 1)):
        parser.add_argument("--" + name, type=type(default), default=default,
                            help=" ")
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    torch.set_num_threads(options.threads)
    print(f"PyTorch {torch.__version__}, BLAS {torch_worker.loaded_blas()}",
          flush=True)
    text = pathlib.Path(options.text).read_text("utf-8")
    vocabulary = {c: token for token, c in enumerate(sorted(set(text)))}
    tokens = torch.tensor([vocabulary[c] for c in text])
    model = make_model(options, len(vocabulary))
    begin = time.perf_counter()
    with open(options.metrics, "w", encoding="ascii") as metrics:
        loss = train(model, tokens, options, metrics)
    print(f"validation loss {loss:.4f}, after {options.steps} steps in "
          f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
