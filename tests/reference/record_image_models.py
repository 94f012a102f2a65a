#!/usr/bin/python3
"""Records PyTorch's image models, for neap/models/image_models_test.cpp.

    python3 tests/reference/record_image_models.py \
        > neap/models/image_model_figures.inc

f64, in training mode. Element i of the p-th parameter (in the order of the
library's names) is 0.3 sin(1.7 i + 0.9 p), plus 1 for a norm's weight (those of
one axis); element i of the images is sin(0.8 i); label i is (5 i + 2) mod the
classes; the loss is cross_entropy. Recorded: the loss, for each parameter the
sum of its gradient times cos(0.3 i), and the sum of all running means and
variances afterwards. Needs PyTorch (Debian: python3-torch).
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from figures import fill, gradients_of, page, show_projections, wave


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 3, 3, padding=1)
        self.conv2 = nn.Conv2d(3, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 3 * 2, 5)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.fc(F.max_pool2d(x, 2).flatten(1))


class Vgg11(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers, channels = [], 3
        for step in (1, 0, 2, 0, 4, 4, 0, 8, 8, 0, 8, 8, 0):
            if step == 0:
                layers.append(nn.MaxPool2d(2))
                continue
            layers += [nn.Conv2d(channels, step * width, 3, padding=1),
                       nn.BatchNorm2d(step * width), nn.ReLU()]
            channels = step * width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(8 * width, 5)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False),
                nn.BatchNorm2d(after))
        else:
            self.downsample = nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.downsample(x))


class Bottleneck(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        width = after // 4
        self.conv1 = nn.Conv2d(before, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, after, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(after)
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False),
                nn.BatchNorm2d(after))
        else:
            self.downsample = nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(F.relu(self.bn2(self.conv2(y)))))
        return F.relu(y + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self, counts, width, block=Block, is_large=False):
        super().__init__()
        self.conv1 = (nn.Conv2d(3, width, 7, 2, 3, bias=False) if is_large
                      else nn.Conv2d(3, width, 3, 1, 1, bias=False))
        self.bn1 = nn.BatchNorm2d(width)
        self.is_large = is_large
        before, wider = width, 4 if block is Bottleneck else 1
        for stage, count in enumerate(counts):
            after = wider * width << stage
            blocks = [block(before if i == 0 else after, after,
                            2 if i == 0 and stage > 0 else 1)
                      for i in range(count)]
            setattr(self, "layer%d" % (stage + 1), nn.Sequential(*blocks))
            before = after
        self.fc = nn.Linear(before, 5)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        if self.is_large:
            x = F.max_pool2d(x, 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class DoubleConv(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after), nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.maxpool_conv = nn.Sequential(
            nn.MaxPool2d(2), DoubleConv(before, 2 * before))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.up = nn.ConvTranspose2d(before, before // 2, 2, stride=2)
        self.conv = DoubleConv(before, before // 2)

    def forward(self, below, beside):
        return self.conv(torch.cat([beside, self.up(below)], 1))


class OutConv(nn.Module):
    def __init__(self, before, classes):
        super().__init__()
        self.conv = nn.Conv2d(before, classes, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inc = DoubleConv(1, width)
        self.down1 = Down(width)
        self.down2 = Down(2 * width)
        self.up1 = Up(4 * width)
        self.up2 = Up(2 * width)
        self.outc = OutConv(width, 3)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        return self.outc(self.up2(self.up1(x3, x2), x1))


def is_norm(name, parameter):
    return parameter.dim() == 1 and name.endswith("weight")


def record(name, model, shape, classes):
    fill(model, is_norm)
    y = model(wave(shape, lambda i: math.sin(0.8 * i)))
    places = (shape[0],) + tuple(y.shape[2:])
    labels = torch.tensor([(5 * i + 2) % classes
                           for i in range(math.prod(places))])
    loss = F.cross_entropy(y, labels.view(places))
    loss.backward()
    running = sum(float(b.sum()) for key, b in model.named_buffers()
                  if "running" in key)
    print("constexpr double k%sLoss = %.17g;" % (name, loss.item()))
    print("constexpr double k%sRunning = %.17g;" % (name, running))
    show_projections(name + "Gradients", gradients_of(model))


def main():
    record("LeNet", LeNet(), (3, 2, 6, 5), 5)
    record("Vgg11", Vgg11(2), (3, 3, 32, 32), 5)
    record("ResNet18", ResNet((2, 2, 2, 2), 2), (3, 3, 16, 16), 5)
    record("ResNet34", ResNet((3, 4, 6, 3), 1), (3, 3, 16, 16), 5)
    record("ResNet50", ResNet((3, 4, 6, 3), 1, Bottleneck, True),
           (3, 3, 64, 64), 5)
    record("UNet", UNet(2), (2, 1, 8, 8), 3)


page(main)
