# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import gc
import weakref

import numpy as np
import pytest

import neap

DTYPES = [("f32", np.float32), ("f64", np.float64), ("i32", np.int32),
          ("i64", np.int64), ("u8", np.uint8), ("bool", np.bool_)]


class Holder(np.ndarray):
    """An array that can be watched."""


def watched(count=1000):
    array = np.zeros(count, np.float32).view(Holder)
    return array, weakref.ref(array)


@pytest.mark.parametrize("name,dtype", DTYPES)
def test_arrays_are_borrowed_without_a_copy(name, dtype):
    a = np.ones((2, 3), dtype)
    x = neap.from_dlpack(a)
    assert x.dtype == getattr(neap.DType, name) and x.shape == (2, 3)
    if dtype is np.bool_ and np.__version__.startswith("1."):
        return  # copied: NumPy's DLPack had no bools
    a[0, 0] = 0
    assert x[0, 0].item() == 0


def test_the_holder_is_freed_with_the_last_tensor():
    array, alive = watched()
    x = neap.from_dlpack(array)
    y = x.reshape((10, 100))
    del array, x
    gc.collect()
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_what_is_lent_is_counted_as_lent():
    before = neap.memory.stats()["lent"]
    x = neap.from_dlpack(np.zeros(1000, np.float32))
    assert neap.memory.stats()["lent"] - before == 4000
    del x
    assert neap.memory.stats()["lent"] == before


def test_other_layouts_and_read_only_arrays_are_copied():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (a.T, a[:, ::2], a[::-1]):
        x = neap.from_dlpack(view)
        np.testing.assert_array_equal(x.numpy(), view)
        with pytest.raises(BufferError):
            neap.from_dlpack(view, copy=False)
    a.flags.writeable = False
    x = neap.from_dlpack(a)
    x[0] = 7
    assert a[0, 0] == 0


def test_empty_and_rank_0_arrays_go_both_ways():
    for a in (np.zeros((0, 3), np.float32), np.float64(2.5).reshape(())):
        a = np.array(a)
        x = neap.from_dlpack(a)
        assert x.shape == a.shape
        np.testing.assert_array_equal(x.numpy(), a)
        np.testing.assert_array_equal(np.from_dlpack(x), a)


def test_other_element_types_and_byte_orders_are_refused():
    with pytest.raises((neap.DTypeError, BufferError)):
        neap.from_dlpack(np.zeros(3, np.complex64))
    with pytest.raises((BufferError, TypeError)):
        neap.from_dlpack(np.zeros(3, ">f4"))


def test_numpy_sees_the_tensors_own_elements_read_only():
    x = neap.arange(6).reshape((2, 3))
    a = x.numpy()
    assert not a.flags.writeable and a.tolist() == [[0, 1, 2], [3, 4, 5]]
    x[0, 0] = 9
    assert a[0, 0] == 9
    t = x.transpose().numpy()
    assert t.shape == (3, 2) and t.base is not None and t[0, 0] == 9


def test_a_view_keeps_the_elements_alive():
    x = neap.ones((1000,))
    before = neap.memory.exported_bytes()
    a = x.numpy()
    assert neap.memory.exported_bytes() - before == 4000
    del x
    gc.collect()
    assert a.sum() == 1000
    del a
    gc.collect()
    assert neap.memory.exported_bytes() == before


def test_writing_through_a_view_is_asked_for_and_noted():
    x = neap.ones((3,)).requires_grad_()
    y = (x * x).sum()
    a = x.numpy(writable=True)
    a[0] = 5
    assert x[0].item() == 5
    with pytest.raises(neap.GraphError):
        y.backward()
    with pytest.raises(neap.GraphError):
        (x * 2).numpy(writable=True)


def test_an_unused_capsule_frees_what_it_holds():
    before = neap.memory.exported_bytes()
    for arguments in ({}, {"max_version": (1, 0)}):
        capsule = neap.ones((1000,)).__dlpack__(**arguments)
        assert neap.memory.exported_bytes() - before == 4000
        del capsule
        assert neap.memory.exported_bytes() == before


def test_a_capsule_is_used_once():
    from neap import _core
    capsule = np.zeros(4, np.float32).__dlpack__()
    _core._borrow_dlpack(capsule)
    with pytest.raises(BufferError):
        _core._borrow_dlpack(capsule)


def test_dlpack_says_copy_and_device():
    x = neap.ones((3,))
    assert x.__dlpack_device__() == (1, 0)
    assert neap.from_dlpack(x) is x
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))


def test_bf16_is_not_numpys():
    with pytest.raises(neap.DTypeError):
        neap.ones((2,)).to(neap.bf16).numpy()


def test_views_of_compiled_results_are_copies():
    step = neap.compile(lambda x: x * 2)
    first = step(neap.ones((100,)))
    view = first.numpy()
    with pytest.raises(BufferError):
        first.__dlpack__(copy=False)
    step(neap.zeros((100,)))
    assert view[0] == 2


def test_kept_results_are_exported_without_a_copy():
    step = neap.compile(lambda x: x * 2, keep=True)
    first = step(neap.ones((100,)))
    view = np.from_dlpack(first)
    step(neap.zeros((100,)))
    assert view[0] == 2 and first[0].item() == 2
    assert view.__array_interface__["data"][0] == (
        first.numpy().__array_interface__["data"][0])


def test_torch_tensors_go_both_ways():
    torch = pytest.importorskip("torch")
    t = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    x = neap.from_torch(t)
    t[0, 0] = 8
    assert x[0, 0].item() == 8
    assert x.torch().shape == (2, 3)
    half = neap.from_torch(torch.ones(3, dtype=torch.bfloat16))
    assert half.dtype == neap.bf16


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0, 2)])
def test_an_empty_tensor_is_an_array(shape):
    """NumPy 2.2 took the export itself for an element, as its address was 0."""
    array = neap.zeros(shape, neap.i64).numpy()
    assert array.shape == shape and array.dtype == np.int64
