#!/usr/bin/env python3
# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""An operation with derivatives of its own: x / (1 + |x|), which keeps x alone
where its formula, as three operations, would keep three tensors.

    python custom_op.py
"""

import neap


def forward(x):
    return x / (x.abs() + 1), x  # the result, and what the derivatives need


def vjp(x, dy):
    return dy / (x.abs() + 1).square()


def jvp(x, dx):
    return dx / (x.abs() + 1).square()


soft_sign = neap.custom_op(forward, vjp, jvp=jvp)


def plain(x):
    return x / (x.abs() + 1)


def kept_by(function):
    """The bytes that a graph of sixteen calls keeps for its backward."""
    x = neap.randn((256, 256)).requires_grad_()
    before = neap.memory.stats()["live"]
    y = x
    for _ in range(16):
        y = function(y)
    kept = neap.memory.stats()["live"] - before
    y.sum().backward()
    return kept, x.grad


def main():
    neap.seed(7)
    most, want = kept_by(plain)
    neap.seed(7)
    least, gradient = kept_by(soft_sign)
    print(f"as operations {neap.memory.format_bytes(most)}, "
          f"as one of its own {neap.memory.format_bytes(least)}")
    difference = (gradient - want).abs().amax().item()
    print(f"the gradients differ by {difference:.1e}")
    curvature = neap.hessian(lambda x: soft_sign(x).sum(),
                             neap.tensor([0.5, 2.0], neap.f64))
    print(f"second derivatives {[row[i] for i, row in enumerate(curvature.tolist())]}")


if __name__ == "__main__":
    main()
