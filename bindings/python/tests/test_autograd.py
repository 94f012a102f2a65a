# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import gc
import threading

import pytest

import neap


def leaf(values):
    return neap.tensor(values, neap.f64).requires_grad_()


def test_backward_accumulates_into_leaves():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    x.grad = None
    assert x.grad is None


def test_backward_takes_a_cotangent_and_inputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (x * y).backward(neap.tensor([1.0, 10.0], neap.f64), inputs=[x])
    assert x.grad.tolist() == [3, 40] and y.grad is None


def test_grad_returns_values_of_any_order():
    x = leaf([2.0])
    first = neap.grad((x * x * x).sum(), x, create_graph=True)
    second = neap.grad(first.sum(), [x])
    assert first.tolist() == [12] and second[0].tolist() == [12]
    assert x.grad is None


def test_a_consumed_graph_says_so():
    x = leaf([2.0])
    y = (x * x).sum()
    y.backward()
    with pytest.raises(neap.GraphError):
        y.backward()


def test_no_grad_and_enable_grad():
    x = leaf([2.0])
    with neap.NoGrad():
        assert not (x * x).requires_grad and not neap.is_grad_enabled()
        with neap.EnableGrad():
            assert (x * x).requires_grad
    assert (x * x).requires_grad and neap.is_grad_enabled()


def test_hooks_replace_gradients_and_may_be_removed():
    x = leaf([2.0])
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    hook = x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    assert seen == [[4]] and x.grad.tolist() == [40]
    hook.remove()
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.tolist() == [4]


def test_what_a_hook_raises_comes_out_and_gradients_stay():
    class Own(Exception):
        pass

    def fail(_):
        raise Own("mine")

    x = leaf([2.0])
    x.register_hook(fail)
    with pytest.raises(Own, match="mine"):
        (x * x).sum().backward()
    assert x.grad is None


def test_a_hook_that_returns_something_else_is_refused():
    x = leaf([2.0])
    x.register_hook(lambda g: "text")
    with pytest.raises((TypeError, RuntimeError)):
        (x * x).sum().backward()


def test_a_hooks_function_is_freed_with_its_tensor():
    class Watched:
        alive = 0

        def __init__(self):
            Watched.alive += 1

        def __del__(self):
            Watched.alive -= 1

        def __call__(self, gradient):
            return None

    x = leaf([2.0])
    x.register_hook(Watched())
    gc.collect()
    assert Watched.alive == 1
    del x
    gc.collect()
    assert Watched.alive == 0


def test_backwards_of_several_threads_run_with_hooks():
    failures = []

    def work():
        try:
            for _ in range(50):
                x = leaf([1.0] * 100)
                x.register_hook(lambda g: g * 2)
                (x * x).sum().backward()
                assert x.grad[0].item() == 4
        except Exception as error:  # shown by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_step_leaves_nothing(no_leak):
    x = leaf([1.0] * 1000)
    for _ in range(3):
        (x.exp() * x).sum().backward()
    del x
