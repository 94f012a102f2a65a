#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Trains a network on Fashion-MNIST within a budget that is known to suffice
before the first step. The data are Debian's dataset-fashion-mnist.

    python train_fashion.py [--epochs N] [--data DIR]
"""

import argparse
import gzip
import pathlib

import neap
import numpy as np

DATA = "/usr/share/datasets/fashion-mnist"
BATCH = 128


def read_idx(path):
    """The elements of a file in the format of MNIST."""
    with gzip.open(path) as file:
        data = file.read()
    extents = np.frombuffer(data, ">i4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(extents)


def read_set(folder, name):
    """Images in [0, 1], a row each, and their labels."""
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz")
    rows = images.reshape(len(images), -1).astype(np.float32) / 255
    return rows, labels.astype(np.int64)


def batches(images, labels, order):
    for first in range(0, len(order) - BATCH + 1, BATCH):
        rows = order[first:first + BATCH]
        yield images[rows], labels[rows]


def accuracy(net, images, labels):
    right = 0
    for first in range(0, len(images), BATCH):
        rows = slice(first, first + BATCH)
        with neap.NoGrad():
            scores = net(neap.from_numpy(images[rows]))
        right += int((scores.numpy().argmax(1) == labels[rows]).sum())
    return right / len(images)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    options = parser.parse_args()
    folder = pathlib.Path(options.data)
    images, labels = read_set(folder, "train")
    tests = read_set(folder, "t10k")

    neap.seed(7)
    net = neap.nn.Sequential(neap.nn.Linear(784, 256), neap.nn.ReLU(),
                             neap.nn.Linear(256, 10))
    steps = options.epochs * (len(images) // BATCH)
    adam = neap.optim.AdamW(net, lr=1e-3)
    adam.set_schedule(neap.optim.cosine(1e-3, max(steps, 1)))

    @neap.compile
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    plan = step.plan(neap.spec((BATCH, 784)), neap.spec((BATCH,), neap.i64))
    print(f"a step needs {neap.memory.format_bytes(plan.peak)}")
    random = np.random.default_rng(7)
    for epoch in range(options.epochs):
        losses = [step(x, y).item() for x, y in
                  batches(images, labels, random.permutation(len(images)))]
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, "
              f"test accuracy {accuracy(net, *tests):.4f}")
    measured = neap.memory.stats()["peak"]
    print(f"the peak was {neap.memory.format_bytes(measured)}")


if __name__ == "__main__":
    main()
