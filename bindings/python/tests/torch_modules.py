# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch's as people write them, small. See test_torch.py."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                nn.BatchNorm2d(outputs))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet18(nn.Module):
    def __init__(self, width=4, classes=5):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        layers, inputs = [], width
        for outputs, stride in ((width, 1), (2 * width, 2), (4 * width, 2),
                                (8 * width, 2)):
            layers += [BasicBlock(inputs, outputs, stride),
                       BasicBlock(outputs, outputs, 1)]
            inputs = outputs
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.layers(F.relu(self.bn1(self.conv1(x))))
        x = F.adaptive_avg_pool2d(x, (1, 1))
        return self.fc(torch.flatten(x, 1))


class CausalAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.c_proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                   for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(b, t, c))


class GptBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = CausalAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU("tanh"),
                                 nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self, vocab=11, block=8, dim=12, heads=3):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, dim), nn.Embedding(block, dim)
        self.h = nn.ModuleList(GptBlock(dim, heads) for _ in range(2))
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids):
        places = torch.arange(ids.size(1), device=ids.device)
        x = self.wte(ids) + self.wpe(places)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Llama(nn.Module):
    """RMSNorm, rotary embedding by halves, SwiGLU, grouped queries."""

    def __init__(self, vocab=11, dim=12, heads=2, groups=1, tokens=6):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, dim // heads
        self.embed = nn.Embedding(vocab, dim)
        self.norm1, self.norm2 = nn.RMSNorm(dim, 1e-6), nn.RMSNorm(dim, 1e-6)
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * groups * self.size, bias=False)
        self.gate = nn.Linear(dim, 20, bias=False)
        self.up = nn.Linear(dim, 20, bias=False)
        self.down = nn.Linear(20, dim, bias=False)
        rates = 1.0 / 10000 ** (torch.arange(0, self.size, 2) / self.size)
        angles = torch.outer(torch.arange(tokens), rates).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def turned(self, x):
        first, second = x.chunk(2, dim=-1)
        return x * self.cos + torch.cat((-second, first), dim=-1) * self.sin

    def forward(self, ids):
        x = self.embed(ids)
        b, t, c = x.shape
        h = self.norm1(x)
        q = self.q(h).view(b, t, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(h).view(b, t, self.groups, 2 * self.size).transpose(
            1, 2).chunk(2, dim=-1)
        k, v = (part.repeat_interleave(self.heads // self.groups, dim=1)
                for part in (self.turned(k), v))
        scores = self.turned(q) @ k.transpose(-2, -1) / math.sqrt(self.size)
        mask = torch.full((t, t), float("-inf")).triu(1)
        y = F.softmax(scores + mask, dim=-1) @ v
        x = x + y.transpose(1, 2).reshape(b, t, c)
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Vit(nn.Module):
    def __init__(self, dim=16, classes=5):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, 4, 4)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.randn(1, 5, dim))
        layer = nn.TransformerEncoderLayer(dim, 2, 32, 0.0, "gelu",
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.head(self.norm(self.encoder(x + self.pos_embed))[:, 0])


class Bert(nn.Module):
    """Token types, a mask of padding, attention written out, a pooler."""

    def __init__(self, vocab=11, dim=12, heads=3):
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(vocab, dim, padding_idx=0)
        self.places, self.types = nn.Embedding(8, dim), nn.Embedding(2, dim)
        self.norm = nn.LayerNorm(dim, eps=1e-12)
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.dense = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.pooler = nn.Linear(dim, dim)

    def forward(self, ids):
        mask = (ids != 0).to(torch.float32)[:, None, None, :]
        bias = (1.0 - mask) * -10000.0
        x = (self.words(ids) + self.types(torch.zeros_like(ids)) +
             self.places(torch.arange(ids.shape[1]).unsqueeze(0)))
        x = self.norm(x)

        def apart(y):
            return y.view(*y.shape[:-1], self.heads, -1).permute(0, 2, 1, 3)

        q, k, v = apart(self.query(x)), apart(self.key(x)), apart(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        y = torch.matmul(nn.Softmax(dim=-1)(scores + bias), v)
        y = y.permute(0, 2, 1, 3).contiguous().view(x.shape)
        x = self.norm(x + self.dense(y))
        return torch.tanh(self.pooler(x[:, 0]))


class UNet(nn.Module):
    def __init__(self, width=4, classes=2):
        super().__init__()
        def twice(inputs, outputs):
            return nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(inplace=True),
                nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU(inplace=True))
        self.down1, self.down2 = twice(1, width), twice(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.out1 = twice(2 * width, width)
        self.last = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        return self.last(self.out1(torch.cat([first, self.up(second)], 1)))


class MobileNet(nn.Module):
    """Depthwise convolutions, hard swish, squeeze and excitation."""

    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1, bias=False)
        self.depth = nn.Conv2d(width, width, 3, 1, 1, groups=width, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.squeeze, self.excite = nn.Linear(width, 4), nn.Linear(4, width)
        self.point = nn.Conv2d(width, width, 1)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = F.hardswish(self.stem(x))
        y = F.relu6(self.bn(self.depth(x)))
        scale = torch.sigmoid(self.excite(F.relu(self.squeeze(y.mean((2, 3))))))
        x = x + self.point(y * scale[:, :, None, None])
        return self.head(F.dropout(x.mean(dim=[-2, -1]), 0.0, self.training))


class ConvNext(nn.Module):
    """Layer norm over channels last, a scale for each channel."""

    def __init__(self, dim=6):
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 2, 2)
        self.depth = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(0.1 * torch.ones(dim))

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.gamma * self.narrow(F.gelu(self.wide(y)))
        return (x + y.permute(0, 3, 1, 2)).flatten(1)


class Recurrent(nn.Module):
    """The last output of LSTM or GRU layers over a sequence."""

    def __init__(self, kind, **options):
        super().__init__()
        self.rnn = kind(4, 6, batch_first=True, **options)
        self.fc = nn.Linear(6 * (2 if self.rnn.bidirectional else 1), 3)

    def forward(self, x):
        y, _ = self.rnn(x)
        return self.fc(y[:, -1])


class Mixer(nn.Module):
    def __init__(self, tokens=6, dim=8):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.over_tokens = nn.Sequential(nn.Linear(tokens, 10), nn.GELU(),
                                         nn.Linear(10, tokens))
        self.over_channels = nn.Sequential(nn.Linear(dim, 10), nn.GELU(),
                                           nn.Linear(10, dim))

    def forward(self, x):
        x = x + self.over_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.over_channels(self.norm2(x))


def autoencoder():
    return nn.Sequential(
        nn.Conv1d(2, 4, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
        nn.GroupNorm(2, 4), nn.Conv1d(4, 4, 3, padding=2, dilation=2),
        nn.ELU(), nn.ConvTranspose1d(4, 2, 4, stride=2, padding=1), nn.Tanh())


def tokens(*shape):
    return torch.arange(math.prod(shape)).reshape(shape) * 7 % 11


# Makers of a module, and of an input.
MODULES = {
    "mlp": (lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)),
            lambda: torch.randn(5, 4)),
    "resnet18": (ResNet18, lambda: torch.randn(2, 3, 16, 16)),
    "gpt": (Gpt, lambda: tokens(2, 8)),
    "llama": (Llama, lambda: tokens(2, 6)),
    "vit": (Vit, lambda: torch.randn(2, 3, 8, 8)),
    "bert": (Bert, lambda: tokens(2, 6)),
    "encoder": (lambda: nn.TransformerEncoderLayer(16, 2, 32, 0.0,
                                                   batch_first=True),
                lambda: torch.randn(2, 5, 16)),
    "unet": (UNet, lambda: torch.randn(2, 1, 8, 8)),
    "mobilenet": (MobileNet, lambda: torch.randn(2, 3, 8, 8)),
    "convnext": (ConvNext, lambda: torch.randn(2, 3, 8, 8)),
    "lstm": (lambda: Recurrent(nn.LSTM, num_layers=2),
             lambda: torch.randn(2, 5, 4)),
    "gru": (lambda: Recurrent(nn.GRU, bidirectional=True),
            lambda: torch.randn(2, 5, 4)),
    "mixer": (Mixer, lambda: torch.randn(2, 6, 8)),
    "autoencoder": (autoencoder, lambda: torch.randn(2, 2, 16)),
}
