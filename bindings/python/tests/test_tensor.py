# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

import neap


def test_lists_become_tensors_of_the_python_kind():
    assert neap.tensor([1.0, 2.0]).dtype == neap.f32
    assert neap.tensor([[1, 2], [3, 4]]).dtype == neap.i64
    assert neap.tensor([True]).dtype == neap.bool_
    assert neap.tensor(3.5, neap.f64).shape == ()
    assert neap.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]


def test_ragged_lists_are_refused():
    with pytest.raises(neap.ShapeError):
        neap.tensor([[1, 2], [3]])
    with pytest.raises(TypeError):
        neap.tensor(["a"])


def test_repr_shows_elements_and_never_throws():
    assert repr(neap.tensor([1.0, 2.0])) == "Tensor([1. 2.], f32 [2])"
    with neap.Scope("here") as _:
        x = neap.ones((2,))
    assert "released" in repr(x)


def test_numbers_take_the_tensors_dtype_and_dtypes_do_not_mix():
    x = neap.ones((2,), neap.f64)
    assert (x + 1).dtype == neap.f64
    assert (2 - x).tolist() == [1.0, 1.0]
    assert (1 / (x + x)).tolist() == [0.5, 0.5]
    assert (2 ** (x + x)).tolist() == [4.0, 4.0]
    with pytest.raises(neap.DTypeError):
        x + neap.ones((2,))
    with pytest.raises(TypeError):
        x + "a"


def test_an_integer_that_no_double_is_is_refused():
    with pytest.raises(ValueError):
        neap.ones((1,), neap.i64) + (2**53 + 1)


def test_comparisons_are_masks_and_hash_is_identity():
    x = neap.tensor([1.0, 2.0])
    assert (x == 2).tolist() == [False, True]
    assert (x < 2).tolist() == [True, False]
    assert len({x, x, neap.tensor([1.0, 2.0])}) == 2


def test_one_element_is_a_python_number():
    assert neap.tensor(3).item() == 3 and isinstance(neap.tensor(3).item(), int)
    assert float(neap.tensor(2.5)) == 2.5
    assert bool(neap.tensor(0)) is False
    with pytest.raises(ValueError):
        bool(neap.ones((2,)))


def test_indexing_is_numpys():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    x = neap.tensor(a)
    for key in [0, -1, (1, 2, 3), slice(None), (slice(None), 1),
                (..., 0), (0, ..., slice(1, 3)), (None, 0), (..., None),
                (slice(None), slice(0, 3, 2)), (slice(-2, None), -1)]:
        np.testing.assert_array_equal(x[key].numpy(), a[key], str(key))
    with pytest.raises(IndexError):
        x[2]
    with pytest.raises(neap.ShapeError):
        x[0, 0, 0, 0]
    with pytest.raises(ValueError):
        x[::-1]


def test_index_tensors_and_masks_are_numpys():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = neap.tensor(a)
    np.testing.assert_array_equal(x[neap.tensor([2, 0, 2])].numpy(),
                                  a[[2, 0, 2]])
    np.testing.assert_array_equal(x[:, neap.tensor([3, 1])].numpy(),
                                  a[:, [3, 1]])
    np.testing.assert_array_equal(
        x[neap.tensor([0, 2]), neap.tensor([1, 3])].numpy(), a[[0, 2], [1, 3]])
    np.testing.assert_array_equal(x[x > 5].numpy(), a[a > 5])


def test_assignment_writes_into_the_tensor():
    x = neap.zeros((2, 3))
    x[1] = 5
    x[:, 0] = neap.tensor([1.0, 2.0])
    assert x.tolist() == [[1, 0, 0], [2, 5, 5]]


def test_assignment_into_a_graph_is_refused_with_the_functional_form():
    x = neap.ones((3,)).requires_grad_()
    y = x * 2
    with pytest.raises(neap.GraphError, match="where"):
        y[0] = 1
    with pytest.raises(neap.GraphError):
        x[0] = 1
    with neap.NoGrad():
        x[0] = 4
    assert x.tolist() == [4, 1, 1]


def test_a_tensor_is_iterated_over_its_first_axis():
    x = neap.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert len(x) == 2
    with pytest.raises(TypeError):
        iter(neap.tensor(1))


def test_random_tensors_repeat_with_the_seed():
    neap.seed(3)
    first = neap.randn((4,)).tolist()
    neap.seed(3)
    assert neap.randn((4,)).tolist() == first
    assert all(math.isfinite(value) for value in first)


def test_a_tensor_costs_what_it_says(no_leak):
    before = neap.memory.stats()["live"]
    x = neap.zeros((1000,))
    assert neap.memory.stats()["live"] - before >= x.nbytes == 4000
    del x


def test_integers_beyond_a_dtype_are_refused():
    whole = neap.tensor([1, 2])
    for call in (lambda: whole == 2**63, lambda: whole != 10**30,
                 lambda: whole + 2**64, lambda: whole < 1.5):
        with pytest.raises(neap.DTypeError, match="no number of i64"):
            call()
    for values, dtype in (([300, -1], neap.u8), ([2**31], neap.i32),
                          ([300.0], neap.u8)):
        with pytest.raises(neap.Error, match="beyond"):
            neap.tensor(values, dtype)
    assert (neap.ones((1,)) + 2**64).item() == 2.0**64
