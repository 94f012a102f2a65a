#!/usr/bin/python3
"""Records PyTorch's attention, for neap/nn/attention_test.cpp.

    python3 tests/reference/record_attention.py > neap/nn/attention_figures.inc

f64. torch.nn.MultiheadAttention of dim 6 with 3 heads, batches first; element i
of its p-th parameter (in_proj_weight, in_proj_bias, out_proj.weight,
out_proj.bias) is 0.3 sin(1.7 i + 0.9 p). x (2, 4, 6) has sin(0.8 i), the other
sequence (2, 5, 6) cos(0.5 i). Self: x to itself, each position those before it
and itself. Cross: x to the other, position i not to key j where i + j is 3. The
loss is the mean of the squares. Recorded: the result, and for x, the other and
each parameter the sum of its gradient times cos(0.3 i). Rotary: x as (2, 4, 6)
turned by RoFormer's formula, both pairings. Needs PyTorch (Debian:
python3-torch).
"""

import math

import torch

from figures import page, projection, show, wave

DIM, HEADS = 6, 3
NAMES = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")


def layer():
    attention = torch.nn.MultiheadAttention(DIM, HEADS, batch_first=True)
    attention.double()
    parameters = dict(attention.named_parameters())
    for p, name in enumerate(NAMES):
        parameters[name].data = wave(
            parameters[name].shape, lambda i: 0.3 * math.sin(1.7 * i + 0.9 * p))
    return attention, [parameters[name] for name in NAMES]


def record(name, inputs, hidden):
    attention, parameters = layer()
    leaves = [x.requires_grad_() for x in inputs]
    y, _ = attention(leaves[0], leaves[-1], leaves[-1], attn_mask=hidden)
    (y * y).mean().backward()
    show("k%sResult" % name, y)
    show("k%sGradients" % name,
         [projection(x.grad) for x in leaves + parameters])


def rotary(x, interleaved):
    width = x.shape[-1]
    rates = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * rates
    first, second = ((x[..., 0::2], x[..., 1::2]) if interleaved
                     else x.chunk(2, dim=-1))
    a = first * angles.cos() - second * angles.sin()
    b = second * angles.cos() + first * angles.sin()
    return (torch.stack((a, b), dim=-1).flatten(-2) if interleaved
            else torch.cat((a, b), dim=-1))


def main():
    x = wave((2, 4, DIM), lambda i: math.sin(0.8 * i))
    other = wave((2, 5, DIM), lambda i: math.cos(0.5 * i))
    record("Self", [x.clone()], torch.ones(4, 4, dtype=torch.bool).triu(1))
    crossed = torch.tensor([[i + j == 3 for j in range(5)] for i in range(4)])
    record("Cross", [x.clone(), other], crossed)
    show("kHalves", rotary(x, False))
    show("kInterleaved", rotary(x, True))


page(main)
