# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Tensors from lists, NumPy's arrays and other libraries' tensors, and back."""

import sys

from neap import _core
from neap._core import DType, Tensor

_NUMBERS = (bool, int, float)


def _capsule(array):
    """The DLPack capsule of an array, in the newest form that it offers."""
    try:
        return array.__dlpack__(max_version=(1, 0))
    except TypeError:  # the producer is older than max_version
        return array.__dlpack__()


def _dense_copy(array):
    """A copy that can be borrowed, by the array's own library."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        if not array.dtype.isnative:
            raise BufferError("from_dlpack: elements in the byte order of "
                              "another machine; astype() converts them")
        return numpy.array(array, order="C", copy=True)
    if hasattr(array, "contiguous"):  # torch
        return array.detach().clone().contiguous()
    if numpy is not None:
        return numpy.array(array, order="C", copy=True)
    raise BufferError("from_dlpack: the array is not dense, or read-only, and "
                      "its library has no copy() that is known")


def _is_refused_by_old_numpy(array):
    """NumPy before 2.1 exports neither what is read-only, nor, before 1.25,
    bools."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray):
        return False
    version = tuple(int(part) for part in numpy.__version__.split(".")[:2])
    return (version < (2, 1) and not array.flags.writeable) or (
        version < (1, 25) and array.dtype == bool)


def from_dlpack(array, *, copy=None):
    """A tensor on the elements of another library's array, which lives for as
    long as the tensor does.

    copy: None: a copy is made of what cannot be borrowed (other layouts than
    dense, read-only elements); True: always; False: BufferError there.
    """
    if isinstance(array, Tensor):
        return array.detach().copy() if copy else array
    if getattr(array, "requires_grad", False):
        array = array.detach()
    try:
        borrowed = _core._borrow_dlpack(_capsule(array))
    except (BufferError, TypeError):
        if not _is_refused_by_old_numpy(array):
            raise
        borrowed = None
    if borrowed is None:
        if copy is False:
            raise BufferError("from_dlpack: elements that are read-only or not "
                              "dense cannot be borrowed")
        dense = _dense_copy(array)
        if _is_refused_by_old_numpy(dense):  # bools
            return _core._borrow_dlpack(_capsule(dense.view("u1"))).to(
                getattr(DType, "bool"))
        return _core._borrow_dlpack(_capsule(dense))
    return borrowed.copy() if copy else borrowed


def from_numpy(array):
    """The same as from_dlpack()."""
    return from_dlpack(array)


def from_torch(array):
    """The same as from_dlpack(): a torch tensor's elements, without a copy."""
    return from_dlpack(array)


def _flatten(values):
    """Leaves in row-major order, and the shape, of nested sequences."""
    shape = []
    level = values
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        if not level or len(shape) > 8:
            break
        level = level[0]
    leaves = [values]
    for axis, extent in enumerate(shape):
        for part in leaves:
            if not isinstance(part, (list, tuple)) or len(part) != extent:
                raise _errors().ShapeError(
                    f"tensor: a list of axis {axis} has another length than "
                    f"{extent}, the first one's")
        leaves = [leaf for part in leaves for leaf in part]
    return leaves, shape


def _errors():
    from neap import _errors
    return _errors


_RANGES = {DType.u8: (0, 255), DType.i32: (-2**31, 2**31 - 1)}


def _from_list(values, dtype):
    leaves, shape = _flatten(values)
    leaves = [leaf.item() if hasattr(leaf, "item") else leaf for leaf in leaves]
    for leaf in leaves:
        if not isinstance(leaf, _NUMBERS):
            raise TypeError(f"tensor: a number is expected, not {leaf!r}")
    if any(isinstance(leaf, float) for leaf in leaves) or not leaves:
        return _core._from_floats([float(leaf) for leaf in leaves], shape,
                                  dtype or DType.f32)
    if dtype is None:
        is_bool = all(isinstance(leaf, bool) for leaf in leaves)
        dtype = getattr(DType, "bool") if is_bool else DType.i64
    integers = [int(leaf) for leaf in leaves]
    low, high = _RANGES.get(dtype, (-2**63, 2**63 - 1))
    for each in (min(integers), max(integers)):
        if not low <= each <= high:
            raise _errors().InvalidValue(f"tensor: {each} is beyond the numbers "
                                         f"of {dtype.name}")
    return _core._from_integers(integers, shape, dtype)


def tensor(data, dtype=None, *, requires_grad=False):
    """A new tensor of numbers, nested lists or an array, which is copied.

    Floats become f32, integers i64, bools bool, unless `dtype` says otherwise;
    an array keeps its dtype.
    """
    if isinstance(data, Tensor) or hasattr(data, "__dlpack__"):
        made = from_dlpack(data, copy=True)
        made = made if dtype is None else made.to(dtype)
    else:
        made = _from_list(data, dtype)
    return made.requires_grad_() if requires_grad else made


def asarray(data, dtype=None):
    """A tensor of whatever tensor() takes, without a copy where that is safe."""
    if hasattr(data, "__dlpack__"):
        made = from_dlpack(data)
        return made if dtype is None else made.to(dtype)
    return tensor(data, dtype)


def _numpy(self, *, writable=False, copy=None):
    """The elements as an array of NumPy's, without a copy unless `copy`.

    It is read-only unless `writable`, which leaves and tensors without a graph
    may be. A result of a compiled step that lies in the step's arena is copied:
    the next call of the step would change it.
    """
    import numpy
    return numpy.asarray(_core._export(self, writable, copy))


def _torch(self):
    """The elements as a tensor of torch's, without a copy."""
    import torch
    return torch.from_dlpack(self)


def _array(self, dtype=None, copy=None):
    array = _numpy(self, copy=True if copy else None)
    if dtype is None or dtype == array.dtype:
        return array
    if copy is False:
        raise ValueError(f"a tensor of {self.dtype} as {dtype} is a copy")
    return array.astype(dtype)


Tensor.view = Tensor.reshape
Tensor.numpy = _numpy
Tensor.torch = _torch
Tensor.__array__ = _array
# NumPy's functions have no derivatives: np.float64(2) * t is the tensor's
# business, and np.exp(t) an error, not an array that has lost its graph.
Tensor.__array_ufunc__ = None
