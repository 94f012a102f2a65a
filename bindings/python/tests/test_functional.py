# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Derivatives of functions: against closed forms, and against torch.func."""

import gc

import numpy as np
import pytest

import neap

rng = np.random.default_rng(11)
X = rng.uniform(0.3, 0.9, (3,))
V = rng.normal(size=(3,))
A = rng.normal(size=(2, 3))
B = rng.normal(size=(4,))


def t(array):
    return neap.tensor(np.asarray(array, np.float64))


def near(got, want, rtol=1e-12):
    np.testing.assert_allclose(got.numpy(), want, rtol=rtol, atol=1e-13)


def cube(x):
    return (x * x * x).sum()


def test_vjp_gives_value_and_products_with_the_jacobian():
    value, pullback = neap.vjp(lambda x, y: x * y.exp(), t(X), t(V))
    near(value, X * np.exp(V))
    for cotangent in (np.ones(3), V):
        by_x, by_y = pullback(t(cotangent))
        near(by_x, cotangent * np.exp(V))
        near(by_y, cotangent * X * np.exp(V))


def test_vjp_keeps_the_structure_of_inputs_and_results():
    def f(pair, named):
        return {"sum": pair[0] + named["b"], "all": (pair[1] * 2.0,)}

    value, pullback = neap.vjp(f, (t(X), t(V)), {"b": t(X)})
    near(value["all"][0], 2 * V)
    pair, named = pullback({"sum": t(V), "all": (t(X),)})
    near(pair[0], V)
    near(pair[1], 2 * X)
    near(named["b"], V)
    with pytest.raises(TypeError, match="structure"):
        pullback(t(V))
    with pytest.raises(neap.ShapeError):
        pullback({"sum": t(V), "all": (t(np.ones(4)),)})


def test_inputs_need_not_require_a_gradient_and_none_accumulates():
    x = t(X).requires_grad_()
    w = t(V).requires_grad_()
    value, pullback = neap.vjp(lambda x: x * w, x)
    near(pullback(t(np.ones(3)))[0], V)
    assert x.grad is None and w.grad is None


def test_jvp_is_the_derivative_in_a_direction():
    value, tangent = neap.jvp(lambda x: x.sin(), t(X), t(V))
    near(value, np.sin(X))
    near(tangent, np.cos(X) * V)
    value, tangent = neap.jvp(lambda a, b: (a @ b, b * b), (t(A), t(X)),
                              (t(2 * A), t(V)))
    near(value[0], A @ X)
    near(tangent[0], 2 * A @ X + A @ V)
    near(tangent[1], 2 * X * V)


def test_jvp_refuses_tangents_unlike_the_inputs():
    with pytest.raises(neap.ShapeError):
        neap.jvp(cube, t(X), t(B))
    with pytest.raises(neap.DTypeError):
        neap.jvp(cube, t(X), t(V).to(neap.f32))
    with pytest.raises(TypeError, match="structure"):
        neap.jvp(cube, (t(X),), (t(V), t(V)))
    with pytest.raises(TypeError, match="float"):
        neap.jvp(cube, (2.0,), (1.0,))


def test_hvp_is_value_gradient_and_product():
    found = neap.hvp(cube, t(X), t(V))
    near(found.value, (X**3).sum())
    near(found.gradient, 3 * X**2)
    near(found.product, 6 * X * V)
    _, gradients, products = neap.hvp(lambda a, b: (a * b).sum(),
                                      (t(X), t(V)), (t(V), t(X)))
    near(gradients[0], V)
    near(products[0], X)
    near(products[1], V)
    with pytest.raises(neap.ShapeError):
        neap.hvp(lambda x: x * x, t(X), t(V))
    with pytest.raises(TypeError, match="one tensor"):
        neap.hvp(lambda x: (cube(x), x), t(X), t(V))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobian_in_every_mode(mode):
    near(neap.jacobian(lambda x: t(A) @ x, t(X), mode=mode), A)
    by_a, by_x = neap.jacobian(lambda a, x: a @ x, (t(A), t(X)), mode=mode)
    near(by_a, np.einsum("ij,k->ijk", np.eye(2), X))
    near(by_x, A)
    product, square = neap.jacobian(lambda x: (t(A) @ x, x * x), t(X),
                                    mode=mode)
    near(product, A)
    near(square, np.diag(2 * X))
    with pytest.raises(TypeError):
        neap.jacobian(cube, t(X), mode="other")


def test_hessian():
    near(neap.hessian(cube, t(X)), np.diag(6 * X))
    rows = neap.hessian(lambda a, x: (a @ x).square().sum(), (t(A), t(X)))
    near(rows[1][1], 2 * A.T @ A)
    assert rows[0][1].shape == (2, 3, 3) and rows[1][0].shape == (3, 2, 3)
    near(rows[0][1], np.moveaxis(rows[1][0].numpy(), 0, -1))


def test_directional_derivatives_of_higher_order():
    third = neap.directional_derivative(cube, t(X), [t(V)] * 3)
    near(third, (6 * V**3).sum())
    mixed = neap.directional_derivative(
        lambda a, b: (a * b).sum(), (t(X), t(V)),
        [(t(V), t(0 * V)), (t(0 * V), t(X))])
    near(mixed, (V * X).sum())


def test_the_transforms_nest_in_any_order():
    near(neap.jacobian(lambda x: neap.vjp(cube, x)[1](t(1.0))[0], t(X),
                       mode="forward"), np.diag(6 * X))
    near(neap.jvp(lambda x: neap.jvp(cube, x, t(V))[1], t(X), t(V))[1],
         (6 * X * V * V).sum())
    inner = lambda x: neap.hvp(cube, x, t(V), create_graph=True).product
    near(neap.vjp(inner, t(X))[1](t(np.ones(3)))[0], 6 * V)


def test_create_graph_reaches_parameters():
    w = t(V).requires_grad_()
    derivative = neap.jacobian(lambda x: (w * x * x).sum(), t(X),
                               create_graph=True)
    derivative.sum().backward()
    near(w.grad, 2 * X)
    plain = neap.jacobian(lambda x: (w * x * x).sum(), t(X))
    assert not plain.requires_grad


def test_what_the_function_raises_comes_out():
    class Own(Exception):
        pass

    def fail(x):
        raise Own("mine")

    for call in (lambda: neap.vjp(fail, t(X)), lambda: neap.hessian(fail, t(X)),
                 lambda: neap.jvp(fail, t(X), t(V)),
                 lambda: neap.jacobian(fail, t(X))):
        with pytest.raises(Own, match="mine"):
            call()
    with pytest.raises(TypeError, match="results are tensors"):
        neap.vjp(lambda x: 1.0, t(X))


def test_they_run_in_compiled_steps():
    @neap.compile
    def step(x, v):
        found = neap.hvp(cube, x, v)
        return neap.jvp(cube, x, v)[1], found.gradient, found.product

    for _ in range(2):
        slope, gradient, product = step(X, V)
        near(slope, (3 * X**2 * V).sum())
        near(gradient, 3 * X**2)
        near(product, 6 * X * V)
    assert step.traces == 1


def test_they_leave_nothing(no_leak):
    x, v = t(X), t(V)
    value, pullback = neap.vjp(lambda x: x.exp() * x, x)
    pullback(v)
    neap.jvp(cube, x, v), neap.hvp(cube, x, v)
    neap.jacobian(lambda x: x * x, x), neap.hessian(cube, x)
    del x, v, value, pullback
    gc.collect()


def test_errors_name_the_line_in_the_function():
    with pytest.raises(neap.ShapeError):
        neap.vjp(lambda x: x + t(B), t(X))
    with neap.memory.TrackHandles():
        baseline = neap.memory.Baseline()
        _, pullback = neap.vjp(lambda x: x.exp() * 2.0, t(np.ones(1000)))
        assert "test_functional.py" in baseline.leaks()
    del pullback


# --- the same as torch.func --------------------------------------------------


def net(lib, x, w, b):
    """A layer with tanh and the square of its norm, in torch's or neap's ops."""
    h = lib.tanh(x @ w + b)
    return (h * h).sum() + lib.exp(x).sum()


def test_torch_func_gives_the_same():
    torch = pytest.importorskip("torch")
    func = torch.func
    arrays = [rng.normal(size=s) for s in ((4, 3), (3, 2), (2,))]
    moves = [rng.normal(size=a.shape) for a in arrays]
    ours, theirs = map(t, arrays), map(torch.tensor, arrays)
    ours, theirs = tuple(ours), tuple(theirs)
    our_moves, their_moves = tuple(map(t, moves)), tuple(map(torch.tensor, moves))
    mine = lambda *a: net(neap, *a)
    other = lambda *a: net(torch, *a)
    numbers = tuple(range(3))

    value, tangent = neap.jvp(mine, ours, our_moves)
    want = func.jvp(other, theirs, their_moves)
    near(value, want[0].numpy(), 1e-10)
    near(tangent, want[1].numpy(), 1e-10)
    _, pullback = neap.vjp(mine, *ours)
    _, their_pullback = func.vjp(other, *theirs)
    one = torch.tensor(2.0, dtype=torch.float64)
    for a, b in zip(pullback(t(2.0)), their_pullback(one)):
        near(a, b.numpy(), 1e-10)
    for a, b in zip(neap.jacobian(mine, ours),
                    func.jacrev(other, numbers)(*theirs)):
        near(a, b.numpy(), 1e-10)
    product = func.jvp(func.grad(other, numbers), theirs, their_moves)[1]
    for a, b in zip(neap.hvp(mine, ours, our_moves).product, product):
        near(a, b.numpy(), 1e-10)
    for row, want in zip(neap.hessian(mine, ours),
                         func.hessian(other, numbers)(*theirs)):
        for a, b in zip(row, want):
            near(a, b.numpy(), 1e-9)
