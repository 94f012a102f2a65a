#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Trains a network on Fashion-MNIST, whose peak is known before the first step.
The data are Debian's dataset-fashion-mnist.

    python train_fashion.py [--epochs N] [--data DIR] [--budget SIZE]
"""

import argparse

import neap

BATCH = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--data", default=neap.data.FASHION_MNIST)
    parser.add_argument("--budget", help='such as "256MiB"')
    options = parser.parse_args()

    train, test = neap.data.read_fashion_mnist(options.data)
    loader = neap.data.Loader(train, BATCH, shuffle=True, seed=7, reuse=True)
    tests = neap.data.Loader(test, BATCH, reuse=True)

    neap.seed(7)
    net = neap.nn.Sequential(neap.nn.Flatten(), neap.nn.Linear(784, 256),
                             neap.nn.ReLU(), neap.nn.Linear(256, 10))
    adam = neap.optim.AdamW(net, lr=1e-3)
    steps = options.epochs * len(loader)
    adam.set_schedule(neap.optim.cosine(1e-3, max(steps, 1)))

    history = neap.fit(net, adam, loader, epochs=options.epochs, test=tests,
                       budget=options.budget)
    print(f"test accuracy {history[-1]['test_accuracy']:.4f}")
    print("where the memory was at its peak:")
    print(neap.memory.table(at_peak=True))


if __name__ == "__main__":
    main()
