# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""The networks of neap/models as a user would write them in Python: parameters
are made in the same order and filled in the same way, so that training leaves
the bits of C++'s. zoo_hash.cpp has the same sizes."""

import math

import neap
from neap import nn


class Mlp(nn.Module):
    def __init__(self, widths, dropout):
        super().__init__()
        self.count, self.dropout = len(widths) - 1, dropout
        for i in range(self.count):
            setattr(self, f"fc{i + 1}", nn.Linear(widths[i], widths[i + 1]))

    def forward(self, x):
        for i in range(self.count):
            x = getattr(self, f"fc{i + 1}")(x)
            if i + 1 < self.count:
                x = neap.dropout(x.relu(), self.dropout, self.training)
        return x


class LeNet(nn.Module):
    def __init__(self, image, channels, classes, dropout):
        super().__init__()
        self.dropout = dropout
        self.conv1 = nn.Conv2d(image[0], channels[0], 3, padding=1)
        self.conv2 = nn.Conv2d(channels[0], channels[1], 3, padding=1)
        self.fc = nn.Linear(channels[1] * (image[1] // 2) * (image[2] // 2),
                            classes)

    def forward(self, x):
        y = self.conv2(self.conv1(x).relu()).relu()
        y = neap.max_pool2d(y, 2).flatten(1)
        return self.fc(neap.dropout(y, self.dropout, self.training))


class Vgg11(nn.Module):
    PLAN = (1, 0, 2, 0, 4, 4, 0, 8, 8, 0, 8, 8, 0)  # 0: pooling

    def __init__(self, channels, width, classes):
        super().__init__()
        layers = []
        for step in self.PLAN:
            if step == 0:
                layers.append(nn.MaxPool2d(2))
                continue
            conv = nn.Conv2d(channels, step * width, 3, padding=1)
            nn.init.kaiming_normal_(conv.weight, mode="fan_out")
            nn.init.constant_(conv.bias, 0.0)
            channels = step * width
            layers += [conv, nn.BatchNorm2d(channels), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def resnet_conv(channels, out, kernel, stride=1):
    conv = nn.Conv2d(channels, out, kernel, stride=stride, padding=kernel // 2,
                     bias=False)
    nn.init.kaiming_normal_(conv.weight, mode="fan_out")
    return conv


class ResNetBlock(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = resnet_conv(channels, out, 3, stride)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = resnet_conv(out, out, 3)
        self.bn2 = nn.BatchNorm2d(out)
        self.changes = channels != out or stride != 1
        if self.changes:
            self.downsample = nn.Sequential(
                resnet_conv(channels, out, 1, stride), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + (self.downsample(x) if self.changes else x)).relu()


class ResNet18(nn.Module):
    def __init__(self, channels, width, classes):
        super().__init__()
        self.conv1 = resnet_conv(channels, width, 3)
        self.bn1 = nn.BatchNorm2d(width)
        inner = width
        for stage in range(4):
            out = width << stage
            setattr(self, f"layer{stage + 1}", nn.Sequential(
                ResNetBlock(inner, out, 2 if stage else 1),
                ResNetBlock(out, out, 1)))
            inner = out
        self.fc = nn.Linear(inner, classes)

    def forward(self, x):
        y = self.bn1(self.conv1(x)).relu()
        for stage in range(4):
            y = getattr(self, f"layer{stage + 1}")(y)
        return self.fc(y.mean((2, 3)))


class DoubleConv(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.double_conv = nn.Sequential(*[
            layer for inner in (channels, out) for layer in (
                nn.Conv2d(inner, out, 3, padding=1, bias=False),
                nn.BatchNorm2d(out), nn.ReLU())])

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2),
                                          DoubleConv(channels, 2 * channels))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.up = nn.ConvTranspose2d(channels, channels // 2, 2, stride=2)
        self.conv = DoubleConv(channels, channels // 2)

    def forward(self, below, beside):
        return self.conv(neap.concat([beside, self.up(below)], 1))


class Last(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.conv = nn.Conv2d(channels, classes, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, channels, classes, width, depth):
        super().__init__()
        self.depth = depth
        self.inc = DoubleConv(channels, width)
        for k in range(depth):
            setattr(self, f"down{k + 1}", Down(width << k))
        for k in range(depth):
            setattr(self, f"up{k + 1}", Up(width << (depth - k)))
        self.outc = Last(width, classes)

    def forward(self, x):
        y, levels = self.inc(x), []
        for k in range(self.depth):
            levels.append(y)
            y = getattr(self, f"down{k + 1}")(y)
        for k in range(self.depth):
            y = getattr(self, f"up{k + 1}")(y, levels.pop())
        return self.outc(y)


class Lstm(nn.Module):
    def __init__(self, features, hidden, layers, outputs):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, layers, batch_first=True)
        self.fc = nn.Linear(hidden, outputs)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return self.fc(h[-1])


class RecurrentLm(nn.Module):
    def __init__(self, net, vocab, dim, layers, dropout):
        super().__init__()
        self.dropout = dropout
        self.encoder = nn.Embedding(vocab, dim)
        self.rnn = net(dim, dim, layers, dropout=dropout)
        self.decoder = nn.Linear(dim, vocab)

    def forward(self, tokens):
        x = neap.dropout(self.encoder(tokens.T), self.dropout, self.training)
        y, _ = self.rnn(x)
        y = neap.dropout(y, self.dropout, self.training)
        return neap.transpose(self.decoder(y), 0, 1)


class Attention(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.c_proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, dim = x.shape
        qkv = self.c_attn(x).reshape((b, t, 3, self.heads, dim // self.heads))
        q, k, v = (qkv[:, :, which].permute((0, 2, 1, 3)) for which in range(3))
        y = neap.scaled_dot_product_attention(
            q, k, v, is_causal=True,
            dropout=self.dropout if self.training else 0.0)
        y = self.c_proj(neap.transpose(y, 1, 2).reshape((b, t, dim)))
        return neap.dropout(y, self.dropout, self.training)


class FeedForward(nn.Module):
    def __init__(self, dim, dropout):
        super().__init__()
        self.dropout = dropout
        self.c_fc = nn.Linear(dim, 4 * dim)
        self.c_proj = nn.Linear(4 * dim, dim)

    def forward(self, x):
        y = self.c_proj(neap.gelu(self.c_fc(x), "tanh"))
        return neap.dropout(y, self.dropout, self.training)


class Block(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, dropout)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = FeedForward(dim, dropout)

    def forward(self, x):
        y = x + self.attn(self.ln_1(x))
        return y + self.mlp(self.ln_2(y))


class Gpt(nn.Module):
    def __init__(self, vocab, block, layers, heads, dim, dropout):
        super().__init__()
        self.dropout = dropout
        self.wte = nn.Embedding(vocab, dim)
        self.wpe = nn.Embedding(block, dim)
        self.h = nn.Sequential(*[Block(dim, heads, dropout)
                                 for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self._initialise(layers)

    def _initialise(self, layers):
        for name, parameter in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(parameter, 0.0, 0.02 / math.sqrt(2.0 * layers))
            elif parameter.ndim == 2:
                nn.init.normal_(parameter, 0.0, 0.02)
            elif name.endswith(".bias"):
                nn.init.constant_(parameter, 0.0)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[:tokens.shape[1]]
        x = neap.dropout(x, self.dropout, self.training)
        return neap.linear(self.ln_f(self.h(x)), self.wte.weight)


def images(channels, size):
    return lambda: neap.randn((4, channels, size, size))


def tokens(vocab):
    return lambda: neap.randint(0, vocab, (3, 8))


# How to make a network, its input, and the shape and number of its targets.
NETWORKS = {
    "mlp": (lambda: Mlp([20, 32, 16, 5], 0.25), lambda: neap.randn((12, 20)),
            (12,), 5),
    "lenet": (lambda: LeNet((1, 8, 8), (4, 6), 5, 0.1), images(1, 8), (4,), 5),
    "vgg": (lambda: Vgg11(3, 2, 5), images(3, 32), (4,), 5),
    "resnet": (lambda: ResNet18(3, 4, 5), images(3, 16), (4,), 5),
    "unet": (lambda: UNet(1, 2, 4, 2), images(1, 8), (4, 8, 8), 2),
    "lstm": (lambda: Lstm(3, 8, 2, 5), lambda: neap.randn((4, 6, 3)), (4,), 5),
    "lstm_lm": (lambda: RecurrentLm(nn.LSTM, 11, 8, 2, 0.1), tokens(11),
                (3, 8), 11),
    "gru_lm": (lambda: RecurrentLm(nn.GRU, 11, 8, 1, 0.0), tokens(11),
               (3, 8), 11),
    "gpt": (lambda: Gpt(11, 8, 2, 2, 16, 0.1), tokens(11), (3, 8), 11),
}
