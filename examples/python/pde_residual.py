#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A differential equation as a loss: a small network learns the solution of

    u_xx + u_yy = -2 pi^2 sin(pi x) sin(pi y)   inside the unit square,
    u = 0                                       on its border,

which is sin(pi x) sin(pi y). The second derivatives are forward mode over
forward mode, the gradient of the loss reverse mode over both.

    python pde_residual.py [--steps N]
"""

import argparse
import math

import neap
import numpy as np
from neap import nn


def make_net():
    layers = [nn.Linear(2, 16, dtype=neap.f64), nn.Tanh(),
              nn.Linear(16, 16, dtype=neap.f64), nn.Tanh(),
              nn.Linear(16, 1, dtype=neap.f64)]
    return nn.Sequential(*layers)


def solution(net, xy):
    """The network, bent to 0 on the border: (n, 2) to (n, 1)."""
    x, y = neap.chunk(xy, 2, axis=1)
    return x * (1 - x) * y * (1 - y) * net(xy) * 16


def second_derivative(net, xy, direction):
    """Of u along one direction, at every point at once: points do not mix."""
    return neap.directional_derivative(lambda at: solution(net, at), xy,
                                       [direction, direction])


def grid(side):
    line = (np.arange(side) + 0.5) / side
    x, y = (part.reshape(-1, 1) for part in np.meshgrid(line, line))
    exact = np.sin(math.pi * x) * np.sin(math.pi * y)
    return neap.tensor(np.hstack([x, y])), neap.tensor(exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    neap.seed(7)
    net = make_net()
    adam = neap.optim.Adam(net, lr=1e-2)
    adam.set_schedule(neap.optim.cosine(1e-2, options.steps))
    xy, exact = grid(12)
    to_x, to_y = (neap.tensor(np.tile(step, (len(xy.numpy()), 1)))
                  for step in ([1.0, 0.0], [0.0, 1.0]))

    @neap.compile
    def step():
        curvature = (second_derivative(net, xy, to_x) +
                     second_derivative(net, xy, to_y))
        loss = (curvature + 2 * math.pi**2 * exact).square().mean()
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    for number in range(options.steps):
        loss = step().item()
        if number % 200 == 0 or number + 1 == options.steps:
            error = np.abs((solution(net, xy) - exact).numpy()).max()
            print(f"step {number + 1}: residual {loss:.5f}, "
                  f"largest error {error:.5f}")


if __name__ == "__main__":
    main()
