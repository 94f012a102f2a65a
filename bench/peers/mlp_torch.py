#!/usr/bin/env python3
"""PyTorch's training step of a multi-layer perceptron, as a worker
(torch_worker.py).

usage: mlp_torch.py THREADS BLAS

    model BATCH OPTIMIZER   makes the 784-512-256-10 network
"""

import torch_worker


def make_steps(torch, batch, optimizer):
    nn = torch.nn
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
        nn.Linear(256, 10))
    x = torch.rand(int(batch), 784)
    labels = torch.randint(0, 10, (int(batch),))

    def make_optimizer(parameters, foreach):
        if optimizer == "sgd":
            return torch.optim.SGD(parameters, lr=0.01, foreach=foreach)
        return torch.optim.Adam(parameters, lr=0.001, foreach=foreach)

    return torch_worker.Steps(
        torch, model, make_optimizer,
        lambda: nn.functional.cross_entropy(model(x), labels))


if __name__ == "__main__":
    torch_worker.serve(make_steps)
