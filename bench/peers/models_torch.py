#!/usr/bin/env python3
"""PyTorch's training steps of networks, as a worker (torch_worker.py).

usage: models_torch.py THREADS ON

    model mlp BATCH OPTIMIZER                       784-512-256-10; sgd, adam
    model cnn BATCH                                 28 x 28, with SGD
    model resnet BATCH                              ResNet-18 for 32 x 32, with
                                                    SGD and momentum
    model gpt LAYERS HEADS DIM BLOCK BATCH VOCAB    with AdamW
    model lstm FEATURES HIDDEN STEPS BATCH OUTPUTS  with Adam
The gpt is written as those of PyTorch's users are: queries, keys and values in
one product, the head tied to the embedding, attention in one call where this
PyTorch has one. Images lie as is faster: channels first or last.
"""

import copy
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
            y = self.attention(q, k, v)
            return self.attn_proj(y.transpose(1, 2).contiguous().view(b, t, c))

        def attention(self, q, k, v):
            if hasattr(functional, "scaled_dot_product_attention"):
                return functional.scaled_dot_product_attention(
                    q, k, v, is_causal=True)
            t = q.size(2)
            scores = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:t, :t], -math.inf)
            return functional.softmax(scores, dim=-1) @ v

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


def classification(torch, model, shape, make_optimizer):
    """Steps of a model that gives scores of ten classes."""
    x = torch.rand(*shape)
    labels = torch.randint(0, 10, (shape[0],))

    def make(form):
        own = copy.deepcopy(model).to(memory_format=form)
        forward = torch_worker.forward_of(torch, own)
        given = x.to(memory_format=form) if x.dim() == 4 else x
        return torch_worker.Steps(
            torch, own, make_optimizer,
            lambda: torch.nn.functional.cross_entropy(forward(given), labels))

    steps = make(torch.contiguous_format)
    if x.dim() == 4:
        steps = min(steps, make(torch.channels_last), key=lambda s: s.seconds)
    return steps


def make_mlp(torch, batch, optimizer):
    nn = torch.nn
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
        nn.Linear(256, 10))

    def make_optimizer(parameters, **how):
        if optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=0.01, **how)
        return torch.optim.Adam(parameters, lr=0.001, **how)

    return classification(torch, model, (int(batch), 784), make_optimizer)


def make_cnn(torch, batch):
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(inplace=True),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 14 * 14, 10))
    return classification(
        torch, model, (int(batch), 1, 28, 28),
        lambda parameters, **how: torch.optim.SGD(parameters, lr=0.01, **how))


def resnet_block_class(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, before, after, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(after)
            self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(after)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = nn.Identity()
            if stride != 1 or before != after:
                self.downsample = nn.Sequential(
                    nn.Conv2d(before, after, 1, stride, bias=False),
                    nn.BatchNorm2d(after))

        def forward(self, x):
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.bn2(self.conv2(y))
            return self.relu(y + self.downsample(x))

    return Block


def make_resnet(torch, batch):
    nn = torch.nn
    block = resnet_block_class(torch)
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64),
              nn.ReLU(inplace=True)]
    before = 64
    for after in (64, 128, 256, 512):
        layers.append(block(before, after, 1 if after == before else 2))
        layers.append(block(after, after, 1))
        before = after
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(512, 10))
    return classification(
        torch, model, (int(batch), 3, 32, 32),
        lambda parameters, **how: torch.optim.SGD(
            parameters, lr=0.1, momentum=0.9, **how))


def make_gpt(torch, layers, heads, dim, block, batch, vocab):
    model = gpt_class(torch)(layers, heads, dim, block, vocab)
    tokens = torch.randint(0, vocab, (batch, block))
    targets = torch.randint(0, vocab, (batch * block,))
    forward = torch_worker.forward_of(torch, model)
    return torch_worker.Steps(
        torch, model,
        lambda parameters, **how: torch.optim.AdamW(
            parameters, lr=1e-3, **how),
        lambda: torch.nn.functional.cross_entropy(
            forward(tokens).view(-1, vocab), targets))


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
    forward = torch_worker.forward_of(torch, model)
    return torch_worker.Steps(
        torch, model,
        lambda parameters, **how: torch.optim.Adam(
            parameters, lr=1e-3, **how),
        lambda: nn.functional.cross_entropy(forward(x), labels))


def make_steps(torch, kind, *sizes):
    if kind == "mlp":
        return make_mlp(torch, *sizes)
    make = {"cnn": make_cnn, "resnet": make_resnet, "gpt": make_gpt,
            "lstm": make_lstm}[kind]
    return make(torch, *(int(size) for size in sizes))


if __name__ == "__main__":
    torch_worker.serve(make_steps)
