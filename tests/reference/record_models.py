#!/usr/bin/python3
"""Records PyTorch's gpt and lstm, for neap/models/model_figures_test.cpp.

    python3 tests/reference/record_models.py > neap/models/model_figures.inc

f64. Element i of the p-th parameter (in the order of the library's names) is
0.3 sin(1.7 i + 0.9 p), plus 1 for a norm's weight. The gpt: vocab 11, block 5,
2 layers, 2 heads, dim 8, tied; token i of (2, 5) is (3 i + i^2) mod 11, target i
is (5 i + 2) mod 11. The lstm: torch.nn.LSTM of 3 features, 4 hidden, 2 layers
and a linear layer to 2; x (2, 5, 3) has sin(0.8 i), the loss is the mean of the
squares. Recorded: the result, the loss, and for each parameter the sum of its
gradient times cos(0.3 i). Needs PyTorch (Debian: python3-torch).
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from figures import fill, gradients_of, page, show, show_projections, wave

VOCAB, BLOCK, LAYERS, HEADS, DIM = 11, 5, 2, 2, 8


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(DIM, 3 * DIM)
        self.c_proj = nn.Linear(DIM, DIM)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, HEADS, c // HEADS).transpose(1, 2)
                   for part in self.c_attn(x).split(c, dim=2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // HEADS)
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        y = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.c_proj(y)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc = nn.Linear(DIM, 4 * DIM)
        self.c_proj = nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(DIM)
        self.attn = Attention()
        self.ln_2 = nn.LayerNorm(DIM)
        self.mlp = Mlp()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, DIM)
        self.wpe = nn.Embedding(BLOCK, DIM)
        self.h = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.ln_f = nn.LayerNorm(DIM)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[:tokens.shape[1]]
        return self.ln_f(self.h(x)) @ self.wte.weight.T


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])


def is_norm(name, _):
    return "ln_" in name and name.endswith("weight")


def record(name, model, result, loss):
    loss.backward()
    show("k%sResult" % name, result)
    print("constexpr double k%sLoss = %.17g;" % (name, loss.item()))
    show_projections(name + "Gradients", gradients_of(model))


def main():
    gpt = fill(Gpt(), is_norm)
    tokens = torch.tensor([(3 * i + i * i) % VOCAB for i in range(10)])
    targets = torch.tensor([(5 * i + 2) % VOCAB for i in range(10)])
    scores = gpt(tokens.view(2, 5))
    record("Gpt", gpt, scores,
           F.cross_entropy(scores.view(-1, VOCAB), targets))
    lstm = fill(Lstm())
    y = lstm(wave((2, 5, 3), lambda i: math.sin(0.8 * i)))
    record("Lstm", lstm, y, (y * y).mean())


page(main)
