#!/usr/bin/env python3
"""PyTorch's training steps of a gpt and an lstm, as a worker (torch_worker.py).

usage: models_torch.py THREADS BLAS

    model gpt LAYERS HEADS DIM BLOCK BATCH VOCAB    with AdamW
    model lstm FEATURES HIDDEN STEPS BATCH OUTPUTS  with Adam
The gpt is written as those of PyTorch's users are: queries, keys and values in
one product, a mask in a buffer, the head tied to the embedding.
"""

import math

import torch_worker


def gpt_class(torch):
    nn = torch.nn
    functional = nn.functional

    class Block(nn.Module):
        def __init__(self, heads, dim, block):
            super().__init__()
            self.heads = heads
            self.ln_1 = nn.LayerNorm(dim)
            self.c_attn = nn.Linear(dim, 3 * dim)
            self.attn_proj = nn.Linear(dim, dim)
            self.ln_2 = nn.LayerNorm(dim)
            self.c_fc = nn.Linear(dim, 4 * dim)
            self.mlp_proj = nn.Linear(4 * dim, dim)
            mask = torch.ones(block, block, dtype=torch.bool).triu(1)
            self.register_buffer("mask", mask)

        def attend(self, x):
            b, t, c = x.size()
            q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2)
                       for part in self.c_attn(x).split(c, dim=2))
            scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:t, :t], -math.inf)
            y = functional.softmax(scores, dim=-1) @ v
            return self.attn_proj(y.transpose(1, 2).contiguous().view(b, t, c))

        def forward(self, x):
            x = x + self.attend(self.ln_1(x))
            inner = functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
            return x + self.mlp_proj(inner)

    class Gpt(nn.Module):
        def __init__(self, layers, heads, dim, block, vocab):
            super().__init__()
            self.wte = nn.Embedding(vocab, dim)
            self.wpe = nn.Embedding(block, dim)
            self.h = nn.Sequential(
                *(Block(heads, dim, block) for _ in range(layers)))
            self.ln_f = nn.LayerNorm(dim)
            self.head = nn.Linear(dim, vocab, bias=False)
            self.head.weight = self.wte.weight
            self.register_buffer("positions", torch.arange(block))

        def forward(self, tokens):
            positions = self.positions[:tokens.size(1)]
            x = self.wte(tokens) + self.wpe(positions)
            return self.head(self.ln_f(self.h(x)))

    return Gpt


def make_gpt(torch, layers, heads, dim, block, batch, vocab):
    model = gpt_class(torch)(layers, heads, dim, block, vocab)
    tokens = torch.randint(0, vocab, (batch, block))
    targets = torch.randint(0, vocab, (batch * block,))
    return torch_worker.Steps(
        torch, model,
        lambda parameters, foreach: torch.optim.AdamW(
            parameters, lr=1e-3, foreach=foreach),
        lambda: torch.nn.functional.cross_entropy(
            model(tokens).view(-1, vocab), targets))


def make_lstm(torch, features, hidden, steps, batch, outputs):
    nn = torch.nn

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(features, hidden, batch_first=True)
            self.fc = nn.Linear(hidden, outputs)

        def forward(self, x):
            return self.fc(self.lstm(x)[0][:, -1])

    model = Lstm()
    x = torch.rand(batch, steps, features)
    labels = torch.randint(0, outputs, (batch,))
    return torch_worker.Steps(
        torch, model,
        lambda parameters, foreach: torch.optim.Adam(
            parameters, lr=1e-3, foreach=foreach),
        lambda: nn.functional.cross_entropy(model(x), labels))


def make_steps(torch, kind, *sizes):
    make = make_gpt if kind == "gpt" else make_lstm
    return make(torch, *(int(size) for size in sizes))


if __name__ == "__main__":
    torch_worker.serve(make_steps)
