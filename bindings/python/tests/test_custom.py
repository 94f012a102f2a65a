# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Operations of the user's own."""

import numpy as np
import pytest

import neap

soft_sign = neap.custom_op(
    lambda x: (x / (x.abs() + 1), x),
    lambda x, dy: dy / (x.abs() + 1).square(),
    jvp=lambda x, dx: dx / (x.abs() + 1).square(), name="soft_sign")


def plain(x):
    return x / (x.abs() + 1)


def f64(values):
    return neap.tensor(values, neap.f64).requires_grad_()


def same(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-15)


def test_values_and_gradients_are_those_of_its_functions():
    x = f64([-2.0, 0.5, 3.0])
    y = soft_sign(x)
    same(y, plain(x))
    (g,) = neap.grad(y.sum(), [x])
    same(g, neap.grad(plain(x).sum(), [x])[0])


def test_both_modes_agree_and_nest():
    x = f64([-2.0, 0.5, 3.0])
    d = neap.tensor([1.0, -1.0, 2.0], neap.f64)
    same(neap.jvp(soft_sign, (x,), (d,))[1], neap.jvp(plain, (x,), (d,))[1])
    ours = neap.hvp(lambda x: soft_sign(x).square().sum(), (x,), (d,))
    want = neap.hvp(lambda x: plain(x).square().sum(), (x,), (d,))
    same(ours.product[0], want.product[0])
    same(neap.hessian(lambda x: soft_sign(x).sum(), x),
         neap.hessian(lambda x: plain(x).sum(), x))


def test_a_gradient_may_be_another_than_that_of_the_forward():
    reverse = neap.custom_op(lambda x: (x, None), lambda _, dy: -dy,
                             name="reverse_gradient")
    x = f64([1.0, 2.0])
    y = reverse(x)
    same(y, x)
    assert not y.is_alias_of(x)
    (y * y).sum().backward()
    assert x.grad.tolist() == [-2.0, -4.0]


def test_several_inputs_results_and_options():
    def forward(a, b, *, power):
        total, product = a + b, a * b ** power
        return (total, product), {"a": a, "b": b, "power": power}

    def vjp(saved, d_total, d_product):
        a, b, power = saved["a"], saved["b"], saved["power"]
        assert power == 3
        d_total = 0.0 if d_total is None else d_total
        d_product = neap.zeros_like(a) if d_product is None else d_product
        return (d_total + d_product * b ** power,
                d_total + d_product * a * b ** (power - 1) * power)

    op = neap.custom_op(forward, vjp)
    a, b = f64([1.0, 2.0]), f64([3.0, -1.0])
    total, product = op(a, b, power=3)
    ours = neap.grad((total * product).sum(), [a, b])
    want = neap.grad(((a + b) * (a * b ** 3)).sum(), [a, b])
    for g, w in zip(ours, want):
        same(g, w)
    _, product = op(a, b, power=3)
    same(neap.grad(product.sum(), [b])[0], neap.grad((a * b ** 3).sum(), [b])[0])


def test_results_may_be_saved_and_differentiated_again():
    exp = neap.custom_op(lambda x: ((y := x.exp()), y), lambda y, dy: dy * y,
                         jvp=lambda y, dx: dx * y, name="my_exp")
    x = f64([0.5, -1.0])
    (g,) = neap.grad(exp(x).sum(), [x], create_graph=True)
    (h,) = neap.grad(g.sum(), [x])
    same(h, x.exp())


def test_a_result_takes_over_the_memory_of_the_forward():
    x = neap.ones((1 << 16,)).requires_grad_()
    op = neap.custom_op(lambda x: (x * 2, None), lambda _, dy: dy * 2)
    neap.memory.trim()
    live = neap.memory.stats()["live"]
    neap.memory.reset_peak()
    y = op(x)
    assert neap.memory.stats()["live_peak"] - live < 1.5 * x.nbytes
    del y


def test_a_compiled_step_runs_it_without_python():
    calls = []

    def forward(x):
        calls.append("forward")
        return x.sin(), x

    def vjp(x, dy):
        calls.append("vjp")
        return dy * x.cos()

    op = neap.custom_op(forward, vjp, name="my_sin")
    w = neap.randn((8, 8)).requires_grad_()
    sgd = neap.optim.SGD([w], lr=0.1)

    def step(x):
        loss = op(x @ w).square().sum()
        loss.backward()
        sgd.step()
        sgd.zero_grad()
        return loss

    start = w.numpy().copy()
    eager = [step(neap.full((4, 8), i / 7)).item() for i in range(5)]
    with neap.NoGrad():
        w.copy_(neap.tensor(start))
    for verify in (0, 1):
        compiled = neap.compile(step, verify=verify)
        with neap.NoGrad():
            w.copy_(neap.tensor(start))
        calls.clear()
        assert [compiled(neap.full((4, 8), i / 7)).item()
                for i in range(5)] == eager
        if not verify:
            assert len(calls) == 2 * compiled.traces


def test_what_would_be_lost_in_silence_is_refused():
    w = f64([2.0])
    op = neap.custom_op(lambda x: (x * w, None), lambda _, dy: dy, name="lost")
    with pytest.raises(neap.GraphError, match="none of its inputs"):
        op(f64([1.0]))
    op = neap.custom_op(lambda x: (x * 2, w), lambda w, dy: dy, name="lost")
    with pytest.raises(neap.GraphError, match="make it an input"):
        op(f64([1.0]))


def test_second_derivatives_through_constants_are_refused():
    op = neap.custom_op(lambda x: (x * x, x * 2), lambda twice, dy: dy * twice,
                        jvp=lambda twice, dx: dx * twice, name="square")
    x = f64([3.0])
    (g,) = neap.grad(op(x).sum(), [x])
    assert g.item() == 6.0
    with pytest.raises(neap.GraphError, match="second derivatives"):
        neap.grad(op(x).sum(), [x], create_graph=True)
    with pytest.raises(neap.GraphError, match="second derivatives"):
        neap.jvp(lambda x: neap.grad(op(x).sum(), [x])[0], (x,),
                 (neap.ones((1,), neap.f64),))
    with pytest.raises(neap.GraphError, match="second derivatives"):
        neap.hvp(lambda x: op(x).sum(), (x,), (neap.ones((1,), neap.f64),))


def test_without_a_jvp_forward_mode_is_refused():
    op = neap.custom_op(lambda x: (x * 2, None), lambda _, dy: dy * 2,
                        name="doubled")
    with pytest.raises(neap.Error, match="doubled"):
        neap.jvp(op, (f64([1.0]),), (neap.ones((1,), neap.f64),))


@pytest.mark.parametrize("vjp, error", [
    (lambda _, dy: (dy, dy), neap.InvalidValue),
    (lambda _, dy: dy.sum(), neap.ShapeError),
    (lambda _, dy: dy.to(neap.f32), neap.DTypeError)])
def test_a_cotangent_that_does_not_fit_is_an_error(vjp, error):
    x = f64([1.0, 2.0])
    loss = neap.custom_op(lambda x: (x * 2, None), vjp)(x).sum()
    with pytest.raises(error):
        loss.backward()
    assert x.grad is None


def test_an_exception_of_the_users_comes_out_unchanged():
    def vjp(saved, dy):
        raise KeyError("mine")

    x = f64([1.0])
    loss = neap.custom_op(lambda x: (x * 2, None), vjp)(x).sum()
    with pytest.raises(KeyError, match="mine"):
        loss.backward()


def test_wrong_forwards_are_typed_errors():
    x = neap.ones((2,))
    def vjp(saved, dy):
        return dy

    with pytest.raises(TypeError, match="are functions"):
        neap.custom_op(lambda x: (x, None), None)
    with pytest.raises(TypeError, match="keyword"):
        neap.custom_op(lambda x: (x, None), vjp)(1.0)
    with pytest.raises(TypeError, match="result, saved"):
        neap.custom_op(lambda x: x, vjp)(x)
    with pytest.raises(TypeError, match="a result is a tensor"):
        neap.custom_op(lambda x: ((x, 1), None), vjp)(x)
    with pytest.raises(neap.InvalidValue, match="at most"):
        neap.custom_op(lambda *x: (x[0] + 1, None), vjp)(*[x] * 40)


def test_it_leaves_nothing():
    def run():
        x = f64([1.0, 2.0])
        soft_sign(x).sum().backward()

    run()
    with neap.testing.no_leaks():
        run()
