# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Random sequences of calls that share their tensors: operations, views, hooks
that refer to their own tensors, graphs that are kept or cut, scopes, budgets,
compiled steps, threads, collections in between. Nothing may crash, raise
anything but a documented error, or be left at the end.

    python random_sequences.py --calls 100000 --seed 1

Under AddressSanitizer: LD_PRELOAD its library, with an extension that was built
by it.
"""

import argparse
import gc
import random
import threading

import numpy as np

import neap

DOCUMENTED = (neap.Error, TypeError, ValueError, IndexError, BufferError)
MOST = 24  # tensors that are kept


class World:
    """The tensors of a sequence, and what else it has open."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tensors = [neap.ones((3, 4))]
        self.arrays, self.hooks, self.blocks, self.steps = [], [], [], []
        self.refused = 0

    def tensor(self):
        return self.random.choice(self.tensors)

    def keep(self, value):
        for each in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(each, neap.Tensor):
                self.tensors.append(each)
        while len(self.tensors) > MOST:
            self.tensors.pop(self.random.randrange(len(self.tensors)))

    def run(self, calls):
        for _ in range(calls):
            try:
                self.random.choice(CALLS)(self)
            except DOCUMENTED:
                self.refused += 1

    def end(self):
        while self.blocks:
            self.blocks.pop().__exit__(None, None, None)
        self.__init__(0)
        self.tensors.clear()


def create(world):
    shape = world.random.choice([(), (4,), (3, 4), (2, 3, 4), (0, 4), (64, 64)])
    made = world.random.choice([neap.ones, neap.randn, neap.zeros])(shape)
    if world.random.random() < 0.6:
        made.requires_grad_()
    world.keep(made)


def unary(world):
    name = world.random.choice(["exp", "tanh", "relu", "neg", "abs", "sum",
                                "square", "detach", "copy", "sin"])
    world.keep(getattr(world.tensor(), name)())


def binary(world):
    a, b = world.tensor(), world.tensor()
    world.keep(world.random.choice([
        lambda: a + b, lambda: a * 2.5, lambda: a @ b, lambda: a - b,
        lambda: neap.maximum(a, b), lambda: neap.concat([a, b])])())


def view(world):
    t = world.tensor()
    world.keep(world.random.choice([
        lambda: t[0], lambda: t[..., None], lambda: t.T, lambda: t[1:, ::2],
        lambda: t.reshape((-1,)), lambda: neap.expand(t, (5, 4))])())


def write(world):
    t, source = world.tensor(), world.tensor()
    with neap.NoGrad():
        world.random.choice([lambda: t.copy_(source), lambda: t.fill_(0.5),
                             lambda: t.__setitem__(0, 1.0)])()


def lend(world):
    array = np.full((3, 4), world.random.random(), np.float32)
    world.keep(neap.from_dlpack(array))
    world.arrays.append(world.tensor().numpy())
    del world.arrays[:-4]


def hook(world):
    """On a tensor of its own: the collector sees cycles of one tensor."""
    t = world.tensor() * 1.5
    world.keep(t)
    world.hooks.append(t.register_hook(lambda g: g * (t.ndim + 1)))
    if world.random.random() < 0.5:
        world.hooks.pop()  # the cycle is the collector's
    elif world.random.random() < 0.5:
        world.hooks.pop(0).remove()
    del world.hooks[:-4]


def backward(world):
    t = world.tensor()
    t.sum().backward(retain_graph=world.random.random() < 0.3)


def gradient(world):
    a, b = world.tensor(), world.tensor()
    world.keep(neap.grad((a * a).sum(), [a, b], allow_unused=True,
                         create_graph=world.random.random() < 0.5))


def custom(world):
    t = world.tensor()
    op = neap.custom_op(lambda x: (x.sin(), x), lambda x, dy: dy * x.cos())
    world.keep(op(t))


def scope(world):
    if world.blocks and world.random.random() < 0.6:
        world.blocks.pop().__exit__(None, None, None)
    elif len(world.blocks) < 3:
        block = world.random.choice([
            neap.Scope("random"), neap.NoGrad(), neap.EnableGrad()])
        block.__enter__()
        world.blocks.append(block)


def budget(world):
    with neap.Budget(world.random.choice([1, "20GiB"])):
        create(world)


def refuse(world):
    with neap.testing.fail_allocation(world.random.randrange(1, 6)):
        world.random.choice([unary, binary, backward, view])(world)


def compiled(world):
    if not world.steps or world.random.random() < 0.05:
        weight = neap.randn((4, 4)).requires_grad_()
        sgd = neap.optim.SGD([weight], lr=0.01)

        @neap.compile
        def step(x):
            loss = (x @ weight).square().sum()
            loss.backward()
            sgd.step()
            sgd.zero_grad()
            return loss

        world.steps = [step]
    world.keep(world.steps[0](world.tensor()))


def collect(world):
    gc.collect(world.random.randrange(3))


def traceback(world):
    """An exception that keeps its frame, and so its tensors."""
    def fail():
        kept = world.tensor() + 1
        return kept.nothing

    try:
        fail()
    except AttributeError as error:
        world.errors = [error]


def threads(world):
    """Two threads build on and differentiate through the same leaf."""
    leaf = neap.ones((16,)).requires_grad_()
    leaf.register_hook(lambda g: g * (leaf.ndim + 0.0))
    tasks = [threading.Thread(target=lambda: neap.grad(
        leaf.exp().sum(), [leaf])) for _ in range(2)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()


def show(world):
    repr(world.tensor())
    neap.memory.stats()


CALLS = [create, unary, unary, binary, binary, view, view, write, lend, hook,
         hook, backward, gradient, custom, scope, budget, refuse, compiled,
         collect, traceback, threads, show]


def run(calls, seed, length=400):
    """Runs sequences until there were so many calls; returns how many of them
    were refused, and the bytes that each sequence left."""
    done, refused, left = 0, 0, []
    while done < calls:
        gc.collect()
        before = neap.memory.stats()["live"]
        world = World(f"{seed}, {done}")
        world.run(min(length, calls - done))
        refused += world.refused
        done += length
        world.end()
        del world
        for _ in range(4):  # a graph goes before what it was computed from
            gc.collect()
        left.append(neap.memory.stats()["live"] - before)
    return refused, left


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    refused, left = run(options.calls, options.seed)
    print(f"{options.calls} calls, {refused} refused; bytes left by sequences "
          f"{sorted(set(left))}")


if __name__ == "__main__":
    main()
