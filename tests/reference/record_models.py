#!/usr/bin/python3
"""Records PyTorch's mlp, gpt in two forms and lstm, for
neap/models/model_figures_test.cpp.

    python3 tests/reference/record_models.py > neap/models/model_figures.inc

f64. Element i of the p-th parameter (in the order of the library's names) is
0.3 sin(1.7 i + 0.9 p), plus 1 for a norm's weight. The mlp: 6, 5, 4 and 3 wide;
x (4, 2, 3) has sin(0.8 i), the loss is cross_entropy, label i is (5 i + 2) mod
3. The gpt: vocab 11, block 5, 2 layers, 2 heads, dim 8, tied; token i of (2, 5)
is (3 i + i^2) mod 11, target i is (5 i + 2) mod 11. The llama: the same with
rotary positions (halves of a head), rms norms, a gated layer of 32, no biases
and a head of its own. The lstm: torch.nn.LSTM of 3 features, 4 hidden, 2 layers
and a linear layer to 2; x (2, 5, 3) has sin(0.8 i), the loss is the mean of the
squares. Recorded: the result, the loss, and for each parameter the sum of its
gradient times cos(0.3 i). Needs PyTorch (Debian: python3-torch).
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from figures import fill, gradients_of, page, show, show_projections, wave

VOCAB, BLOCK, LAYERS, HEADS, DIM, GATED = 11, 5, 2, 2, 8, 32


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 5)
        self.fc2 = nn.Linear(5, 4)
        self.fc3 = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc3(self.fc2(self.fc1(x.flatten(1)).relu()).relu())


def turned(x):
    """Each row of (..., t, d) by its position."""
    t, d = x.shape[-2:]
    pair = torch.arange(d // 2, dtype=x.dtype)
    angle = torch.arange(t, dtype=x.dtype)[:, None] * 10000 ** (-2 * pair / d)
    first, second = x[..., :d // 2], x[..., d // 2:]
    return torch.cat((first * angle.cos() - second * angle.sin(),
                      second * angle.cos() + first * angle.sin()), -1)


class Attention(nn.Module):
    def __init__(self, is_llama=False):
        super().__init__()
        self.is_llama = is_llama
        self.c_attn = nn.Linear(DIM, 3 * DIM, bias=not is_llama)
        self.c_proj = nn.Linear(DIM, DIM, bias=not is_llama)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, HEADS, c // HEADS).transpose(1, 2)
                   for part in self.c_attn(x).split(c, dim=2))
        if self.is_llama:
            q, k = turned(q), turned(k)
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


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, x):
        return x * ((x * x).mean(-1, keepdim=True) + 1e-5).rsqrt() * self.weight


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(DIM, GATED, bias=False)
        self.w2 = nn.Linear(GATED, DIM, bias=False)
        self.w3 = nn.Linear(DIM, GATED, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, is_llama=False):
        super().__init__()
        self.ln_1 = RmsNorm() if is_llama else nn.LayerNorm(DIM)
        self.attn = Attention(is_llama)
        self.ln_2 = RmsNorm() if is_llama else nn.LayerNorm(DIM)
        self.mlp = Gated() if is_llama else Mlp()

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


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, DIM)
        self.h = nn.Sequential(*(Block(True) for _ in range(LAYERS)))
        self.ln_f = RmsNorm()
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, tokens):
        return self.lm_head(self.ln_f(self.h(self.wte(tokens))))


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


def record_language_model(name, model):
    fill(model, is_norm)
    tokens = torch.tensor([(3 * i + i * i) % VOCAB for i in range(10)])
    targets = torch.tensor([(5 * i + 2) % VOCAB for i in range(10)])
    scores = model(tokens.view(2, 5))
    record(name, model, scores,
           F.cross_entropy(scores.view(-1, VOCAB), targets))


def main():
    mlp = fill(Perceptron())
    scores = mlp(wave((4, 2, 3), lambda i: math.sin(0.8 * i)))
    labels = torch.tensor([(5 * i + 2) % 3 for i in range(4)])
    record("Mlp", mlp, scores, F.cross_entropy(scores, labels))
    record_language_model("Gpt", Gpt())
    record_language_model("Llama", Llama())
    lstm = fill(Lstm())
    y = lstm(wave((2, 5, 3), lambda i: math.sin(0.8 * i)))
    record("Lstm", lstm, y, (y * y).mean())


page(main)
