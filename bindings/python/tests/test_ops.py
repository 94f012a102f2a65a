# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Values of every operation with a twin in NumPy, gradients of all that have one
against differences."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import neap

FOLDER = pathlib.Path(__file__).resolve().parents[1]
rng = np.random.default_rng(5)
A = rng.uniform(0.2, 0.9, (3, 4))
B = rng.uniform(0.3, 0.8, (3, 4))
SQUARE = A[:3, :3] + 3 * np.eye(3)


def t(array, dtype=neap.f64):
    return neap.tensor(np.asarray(array)).to(dtype)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


UNARY = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "sqrt": np.sqrt, "square": np.square,
    "abs": np.abs, "neg": np.negative, "reciprocal": np.reciprocal,
    "expm1": np.expm1, "log1p": np.log1p, "log2": np.log2, "log10": np.log10,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)), "rsqrt": lambda x: 1 / np.sqrt(x),
    "softmax": softmax, "log_softmax": lambda x: np.log(softmax(x)),
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "cumsum": None,
}
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "pow": np.power, "maximum": np.maximum, "minimum": np.minimum,
    "atan2": np.arctan2, "fmod": np.fmod, "remainder": np.remainder,
}


def differences(function, x, h=1e-6):
    """d sum(function(x)) / dx by central differences."""
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        out[i] = (function(up) - function(down)) / (2 * h)
    return out


def check_gradient(function, x):
    leaf = t(x).requires_grad_()
    (function(leaf) * function(leaf)).sum().backward()
    value = lambda at: float((function(t(at)) * function(t(at))).sum().item())
    np.testing.assert_allclose(leaf.grad.numpy(), differences(value, x),
                               rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    reference = UNARY[name]
    function = getattr(neap, name)
    if reference is None:
        assert neap.cumsum(t([1.0, 2.0, 3.0]), 0).tolist() == [1, 3, 6]
        return
    np.testing.assert_allclose(function(t(A)).numpy(), reference(A), rtol=1e-10)
    np.testing.assert_array_equal(function(t(A)).numpy(),
                                  getattr(t(A), name)().numpy())
    check_gradient(function, A)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    function, reference = getattr(neap, name), BINARY[name]
    np.testing.assert_allclose(function(t(A), t(B)).numpy(), reference(A, B))
    np.testing.assert_allclose(function(t(A), t(B[0])).numpy(),
                               reference(A, B[0]))
    np.testing.assert_allclose(function(t(A), 0.5).numpy(), reference(A, 0.5))
    check_gradient(lambda x: function(x, t(B)), A)


REDUCTIONS = {"sum": np.sum, "mean": np.mean, "amax": np.max, "amin": np.min,
              "prod": np.prod}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [0, 1, -1, (0, 1), [0]])
def test_reductions(name, axes):
    key = tuple(axes) if isinstance(axes, list) else axes
    got = getattr(neap, name)(t(A), axes, keepdim=True)
    want = REDUCTIONS[name](A, axis=key, keepdims=True)
    np.testing.assert_allclose(got.numpy(), want)
    check_gradient(lambda x: getattr(neap, name)(x, axes), A)


def test_results_of_several_tensors_are_tuples():
    values, indices = neap.sort(t([3.0, 1.0, 2.0]))
    assert values.tolist() == [1, 2, 3] and indices.tolist() == [1, 2, 0]
    parts = neap.split(neap.arange(6), 2)
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3], [4, 5]]
    sign, log = neap.slogdet(t(SQUARE))
    np.testing.assert_allclose(sign.item() * np.exp(log.item()),
                               np.linalg.det(SQUARE))


def test_linear_algebra():
    np.testing.assert_allclose((t(A) @ t(B.T)).numpy(), A @ B.T)
    np.testing.assert_allclose(neap.inverse(t(SQUARE)).numpy(),
                               np.linalg.inv(SQUARE))
    np.testing.assert_allclose(
        neap.einsum("ij,kj->ik", [t(A), t(B)]).numpy(), A @ B.T)
    check_gradient(lambda x: neap.matmul(x, t(B.T)), A)


def test_option_structs_are_keywords():
    x = neap.randn((1, 2, 5, 5), neap.f64)
    w = neap.randn((3, 2, 3, 3), neap.f64)
    y = neap.conv2d(x, w, stride=2, padding=(1, 1))
    assert y.shape == (1, 3, 3, 3)
    b = neap.ones((3,), neap.f64)
    np.testing.assert_allclose(
        neap.conv2d(x, w, b, stride=2, padding=1).numpy(), y.numpy() + 1)
    assert neap.max_pool2d(x, 2).shape == (1, 2, 2, 2)
    with pytest.raises(TypeError):
        neap.conv2d(x, w, b, 2)
    loss = neap.cross_entropy(neap.zeros((2, 4)), neap.tensor([0, 3]),
                              reduction="none")
    np.testing.assert_allclose(loss.numpy(), np.log([4, 4]), rtol=1e-6)
    with pytest.raises(TypeError):
        neap.gelu(x, form="other")


def test_shapes():
    x = neap.arange(24).reshape((2, 3, 4))
    assert x.permute((2, 0, 1)).shape == (4, 2, 3)
    assert x.flatten(1).shape == (2, 12)
    assert x.unsqueeze(0).squeeze(0).shape == (2, 3, 4)
    assert neap.concat([x, x], 1).shape == (2, 6, 4)
    assert neap.stack([x, x]).shape == (2, 2, 3, 4)
    assert x.expand((5, 2, 3, 4)).shape == (5, 2, 3, 4)
    with pytest.raises(neap.ShapeError):
        x.reshape((5, 5))


def test_every_operation_is_there_and_documented():
    names = subprocess.run(
        [sys.executable, FOLDER / "generate_ops.py", "/nowhere", "--list"],
        check=True, capture_output=True, text=True).stdout.split()
    assert len(names) > 150
    for name in names:
        assert callable(getattr(neap, name)), name
        assert name in getattr(neap, name).__doc__, name


def test_large_and_random_calls_equal_numpys():
    names = [*BINARY][:4] + ["maximum", "minimum"]
    for _ in range(300):
        shape = tuple(rng.integers(1, 5, rng.integers(0, 4)))
        a, b = rng.normal(size=shape), rng.normal(size=shape)
        name = names[rng.integers(len(names))]
        np.testing.assert_array_equal(getattr(neap, name)(t(a), t(b)).numpy(),
                                      BINARY[name](a, b))
    big = rng.normal(size=(300, 300))
    np.testing.assert_array_equal((t(big) + t(big)).numpy(), big + big)


def test_a_last_layer_with_its_loss_has_the_bits_of_both():
    x = t(rng.normal(size=(6, 4))).requires_grad_()
    w = t(rng.normal(size=(9, 4))).requires_grad_()
    labels = neap.tensor(np.array([0, 1, -100, 8, 3, 2]))
    for bias in None, t(rng.normal(size=9)):
        def both(loss):
            return [loss, *neap.grad([loss], [x, w])]
        here = both(neap.linear_cross_entropy(x, w, bias, labels,
                                              label_smoothing=0.1))
        there = both(neap.cross_entropy(neap.linear(x, w, bias), labels,
                                        label_smoothing=0.1))
        for a, b in zip(here, there):
            np.testing.assert_array_equal(a.detach().numpy(),
                                          b.detach().numpy())
    weights = t(rng.uniform(size=9))
    options = dict(weight=weights, label_smoothing=0.1)
    np.testing.assert_allclose(
        neap.linear_cross_entropy(x, w, bias, labels, **options)
        .detach().numpy(),
        neap.cross_entropy(neap.linear(x, w, bias), labels, **options)
        .detach().numpy(), rtol=1e-5)
    with pytest.raises(neap.DTypeError, match="use cross_entropy"):
        neap.linear_cross_entropy(x, w, None, neap.linear(x, w).detach())
