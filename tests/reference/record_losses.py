#!/usr/bin/python3
"""Records PyTorch's losses and activations, for neap/ops/loss/loss_figures_test.cpp.

    python3 tests/reference/record_losses.py > neap/ops/loss/loss_figures.inc

All on the same 3 x 4 numbers in f64: x[i] = 1.5 sin(1.3 i + 0.4), targets
t[i] = 0.5 + 0.45 cos(0.9 i). A case is the sum of the result and its derivative
by x. Needs PyTorch (Debian: python3-torch).
"""

import math

import torch
import torch.nn.functional as F

from figures import page, text

X = torch.tensor([1.5 * math.sin(1.3 * i + 0.4) for i in range(12)],
                 dtype=torch.float64).reshape(3, 4)
T = torch.tensor([0.5 + 0.45 * math.cos(0.9 * i) for i in range(12)],
                 dtype=torch.float64).reshape(3, 4)
LABELS = torch.tensor([2, 0, 3])
SOME = torch.tensor([2, -100, 3])
WEIGHTS = torch.tensor([1.0, 2.0, 0.5, 3.0], dtype=torch.float64)


def logs(x):
    return F.log_softmax(x, 1)


CASES = [
    ("kMse", lambda x: F.mse_loss(x, T)),
    ("kMseSum", lambda x: F.mse_loss(x, T, reduction="sum")),
    ("kL1", lambda x: F.l1_loss(x, T)),
    ("kHuber", lambda x: F.huber_loss(x, T, delta=0.6)),
    ("kSmoothL1", lambda x: F.smooth_l1_loss(x, T, beta=0.6)),
    ("kBce", lambda x: F.binary_cross_entropy(torch.sigmoid(x), T)),
    ("kBceEdges", lambda x: F.binary_cross_entropy(
        (x > 0).double() + 0 * x, T)),
    ("kBceLogits", lambda x: F.binary_cross_entropy_with_logits(x, T)),
    ("kBceLogitsFar", lambda x: F.binary_cross_entropy_with_logits(60 * x, T)),
    ("kBceWeighted", lambda x: F.binary_cross_entropy_with_logits(
        x, T, pos_weight=WEIGHTS)),
    ("kKlDiv", lambda x: F.kl_div(logs(x), T)),
    ("kKlDivLog", lambda x: F.kl_div(logs(x), logs(T), reduction="sum",
                                     log_target=True)),
    ("kNll", lambda x: F.nll_loss(logs(x), LABELS)),
    ("kNllSum", lambda x: F.nll_loss(logs(x), LABELS, reduction="sum")),
    ("kCrossEntropy", lambda x: F.cross_entropy(x, LABELS)),
    ("kCrossEntropySmooth",
     lambda x: F.cross_entropy(x, LABELS, label_smoothing=0.15)),
    ("kCrossEntropySome",
     lambda x: F.cross_entropy(x, SOME, label_smoothing=0.15)),
    ("kCrossEntropySum",
     lambda x: F.cross_entropy(x, SOME, reduction="sum")),
    ("kCrossEntropyWeights",
     lambda x: F.cross_entropy(x, LABELS, weight=WEIGHTS)),
    ("kCrossEntropyWeightsSome",
     lambda x: F.cross_entropy(x, SOME, weight=WEIGHTS, label_smoothing=0.15)),
    ("kCrossEntropySoft", lambda x: F.cross_entropy(x, T)),
    ("kCrossEntropySoftWeights",
     lambda x: F.cross_entropy(x, T, weight=WEIGHTS, label_smoothing=0.15)),
    ("kCrossEntropySoftImages",
     lambda x: F.cross_entropy(x.reshape(1, 3, 4), T.reshape(1, 3, 4),
                               weight=WEIGHTS[:3])),
    ("kGelu", F.gelu),
    ("kGeluTanh", lambda x: F.gelu(x, approximate="tanh")),
    ("kSilu", F.silu),
    ("kMish", F.mish),
    ("kElu", lambda x: F.elu(x, alpha=0.7)),
    ("kLeakyRelu", lambda x: F.leaky_relu(x, 0.2)),
    ("kSoftplus", lambda x: F.softplus(x, beta=2, threshold=2)),
    ("kLogSigmoid", F.logsigmoid),
    ("kSoftsign", F.softsign),
    ("kSoftmax", lambda x: F.softmax(x, 1) * T),
]


def record(f):
    x = X.clone().requires_grad_(True)
    value = f(x).sum()
    value.backward()
    return value.item(), x.grad.flatten().tolist()


def main():
    for name, f in CASES:
        value, slope = record(f)
        print("constexpr Figures %s{%.17g, {{" % (name, value))
        for row in range(0, 12, 4):
            print("    %s," % text(slope[row:row + 4]))
        print("}}};")


page(main)
