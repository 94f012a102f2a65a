#!/usr/bin/python3
"""Records PyTorch's recurrent layers and language models, for
neap/models/recurrent_figures_test.cpp.

    python3 tests/reference/record_recurrent.py \
        > neap/models/recurrent_figures.inc

f64. Element i of the p-th parameter is 0.3 sin(1.7 i + 0.9 p). The layers
(RNN with tanh and relu, LSTM, GRU): 3 inputs, 4 hidden, 2 layers, both
directions, batch first; x (2, 5, 3) has sin(0.8 i), h0 and c0 (4, 2, 4) have
sin(0.5 i + 1) and sin(0.5 i + 2). The result is the output and the states, one
after the other; the loss is the mean of their squares. The models: embeddings
of 11 tokens in 6 numbers, 2 layers of LSTM or GRU with 6 hidden, a linear layer
whose weight is the embedding's; token i of (2, 5) is (3 i + i^2) mod 11, target
i is (5 i + 2) mod 11; the result is the scores, the loss their cross-entropy.
Recorded: the loss, and of the result and of each parameter's gradient the sum
of element i times cos(0.3 i). Needs PyTorch (Debian: python3-torch).
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from figures import fill, gradients_of, page, projection, show_projections, wave

VOCAB, DIM = 11, 6


class Lm(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.encoder = nn.Embedding(VOCAB, DIM)
        self.rnn = net(DIM, DIM, num_layers=2)
        self.decoder = nn.Linear(DIM, VOCAB)
        self.decoder.weight = self.encoder.weight

    def forward(self, tokens):
        y, _ = self.rnn(self.encoder(tokens.T))
        return self.decoder(y).transpose(0, 1)


def record(name, model, result, loss):
    loss.backward()
    show_projections(name, [("result", projection(result)),
                            ("loss", loss.item())] + gradients_of(model))


def record_layer(name, net, **options):
    model = fill(net(3, 4, num_layers=2, batch_first=True, bidirectional=True,
                     **options))
    x = wave((2, 5, 3), lambda i: math.sin(0.8 * i))
    h0 = wave((4, 2, 4), lambda i: math.sin(0.5 * i + 1))
    c0 = wave((4, 2, 4), lambda i: math.sin(0.5 * i + 2))
    if net is nn.LSTM:
        y, (h, c) = model(x, (h0, c0))
        parts = [y, h, c]
    else:
        parts = model(x, h0)
    result = torch.cat([part.flatten() for part in parts])
    record(name, model, result, (result * result).mean())


def record_lm(name, net):
    model = fill(Lm(net))
    tokens = torch.tensor([(3 * i + i * i) % VOCAB for i in range(10)])
    targets = torch.tensor([(5 * i + 2) % VOCAB for i in range(10)])
    scores = model(tokens.view(2, 5))
    record(name, model, scores,
           F.cross_entropy(scores.reshape(-1, VOCAB), targets))


def main():
    record_layer("Tanh", nn.RNN)
    record_layer("Relu", nn.RNN, nonlinearity="relu")
    record_layer("Lstm", nn.LSTM)
    record_layer("Gru", nn.GRU)
    record_lm("LstmLm", nn.LSTM)
    record_lm("GruLm", nn.GRU)


page(main)
