#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A small transformer that learns the characters of a text, and then writes.

    python transformer.py [--path FILE] [--steps N]
"""

import argparse

import neap
import numpy as np
from neap import nn

TEXT = "/usr/share/common-licenses/GPL-3"  # on every Debian machine
BLOCK, DIM, HEADS, BATCH = 64, 64, 4, 16


class Block(nn.Module):
    """Attention over the characters so far, then two layers for each."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)

    def attend(self, x):
        batch, tokens, _ = x.shape
        heads = self.qkv(x).reshape((batch, tokens, 3, HEADS, DIM // HEADS))
        q, k, v = (part.squeeze(2).permute((0, 2, 1, 3))
                   for part in neap.chunk(heads, 3, axis=2))
        mixed = neap.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.permute((0, 2, 1, 3)).reshape(x.shape))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(neap.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Scores of the next character after each, (B, T) to (B, T, symbols)."""

    def __init__(self, symbols, layers=2):
        super().__init__()
        self.symbols = nn.Embedding(symbols, DIM)
        self.places = nn.Embedding(BLOCK, DIM)
        self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, symbols)

    def forward(self, text):
        places = neap.arange(text.shape[1], neap.i64)
        x = self.symbols(text) + self.places(places)
        return self.head(self.norm(self.blocks(x)))


def write(net, symbols, prompt, count, random):
    text = [symbols.index(c) for c in prompt]
    for _ in range(count):
        with neap.NoGrad():
            scores = net(neap.tensor([text[-BLOCK:]]))
        last = neap.softmax(scores, 2).numpy()[0, -1].astype(float)
        text.append(int(random.choice(len(last), p=last / last.sum())))
    return "".join(symbols[i] for i in text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--path", default=TEXT)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    with open(options.path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    symbols = "".join(sorted(set(text)))
    codes = np.array([symbols.index(c) for c in text], np.int64)

    neap.seed(7)
    net = Transformer(len(symbols))
    adam = neap.optim.AdamW(net, lr=2e-3)

    @neap.compile
    def step(x, y):
        scores = net(x)
        loss = neap.cross_entropy(scores.reshape((-1, len(symbols))),
                                  y.reshape((-1,)))
        loss.backward()
        neap.optim.clip_grad_norm(net, 1.0)
        adam.step()
        adam.zero_grad()
        return loss

    random = np.random.default_rng(7)
    for number in range(options.steps):
        starts = random.integers(0, len(codes) - BLOCK, BATCH)
        pieces = np.stack([codes[s:s + BLOCK + 1] for s in starts])
        loss = step(pieces[:, :-1].copy(), pieces[:, 1:].copy()).item()
        if number % 100 == 0 or number + 1 == options.steps:
            print(f"step {number + 1}: loss {loss:.3f}")
    net.eval()
    print(write(net, symbols, text[:8], 100, random))


if __name__ == "__main__":
    main()
