# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Data sets, and loaders that make batches of them."""

import atexit as _atexit
import os as _os
import weakref as _weakref

from neap._arrays import asarray
from neap._core import Tensor, _data
from neap._core import contiguous as _contiguous
from neap._errors import InvalidValue
from neap._errors import ThreadError as _ThreadError
from neap._core._data import (Augmented, CsvSet, ImageSet,  # noqa: F401
                              TextSet, Vocabulary, read_cifar10,
                              read_cifar100, read_csv, read_mnist, read_text)

FASHION_MNIST = "/usr/share/datasets/fashion-mnist"  # of the Debian package

_SETS = (_data.TensorSet, CsvSet, ImageSet, Augmented, TextSet)


class TensorSet(_data.TensorSet):
    """Samples that are in memory: sample i is row i of both, which are arrays
    or tensors of as many rows. Elements are shared, not copied."""

    def __init__(self, inputs, targets):
        super().__init__(_dense(inputs), _dense(targets))


def _dense(values):
    tensor = values if isinstance(values, Tensor) else asarray(values)
    return tensor if tensor.is_contiguous() else _contiguous(tensor)


class _Samples:
    """Samples of a Python data set, each as two dense tensors. When it is
    collected while a loader's thread still calls it, it raises."""

    __slots__ = ("dataset",)

    def __init__(self, dataset):
        self.dataset = dataset

    def __call__(self, index):
        sample = self.dataset[index]
        if not isinstance(sample, (tuple, list)) or len(sample) != 2:
            raise TypeError("a data set's sample is a pair: input, target")
        return _dense(sample[0]), _dense(sample[1])


_open = _weakref.WeakSet()
_is_over = False


@_atexit.register
def _close_all():
    """A thread that loads samples of Python's has to end before Python does."""
    global _is_over
    _is_over = True
    for loader in list(_open):
        loader.close()


class Loader:
    """Batches of a data set: one of Neap's, or any object with a length and
    samples by index, `dataset[i] -> (input, target)` of arrays, numbers or
    tensors.

        loader = neap.data.Loader(dataset, batch=64, shuffle=True, seed=7)
        for epoch in range(10):
            for x, y in loader.epoch(epoch): ...

    The order of an epoch is a function of seed and number alone. `for x, y in
    loader` is the epoch after the one before.
    prefetch: batches that a thread fills ahead (at most 6).
    reuse: a batch is in memory of the loader, which keeps its values until two
    further ones were asked for; without it a batch is the caller's own.
    """

    def __init__(self, dataset, batch=64, *, shuffle=False, seed=0,
                 drop_last=False, prefetch=0, reuse=False):
        if _is_over and prefetch:
            raise _ThreadError("loader: Python ends, and no thread that would "
                              "read ahead can begin")
        self._dataset, self._batch = dataset, batch
        self._order = (f"shuffle {bool(shuffle)}, seed {seed}, "
                       f"drop_last {bool(drop_last)}")
        if not isinstance(dataset, _SETS):
            dataset = _data._PythonSet(_Samples(dataset), len(dataset))
        self._batches = _data._Batches(dataset, batch, shuffle, seed, drop_last,
                                       prefetch, reuse)
        self._following = 0
        _open.add(self)

    dataset = property(lambda self: self._dataset)
    batch = property(lambda self: self._batch)

    def __setattr__(self, name, value):
        if not name.startswith("_"):
            raise AttributeError(f"Loader has no {name} to be set: make another")
        object.__setattr__(self, name, value)

    def close(self):
        """Ends the loader's thread and frees its memory; it gives no further
        batch."""
        self._batches.close()

    def __del__(self):
        """Ends the thread before the collector takes its data set apart."""
        if batches := getattr(self, "_batches", None):
            batches.close()

    def __len__(self):
        """Batches of an epoch."""
        return self._batches.batches_per_epoch()

    def __iter__(self):
        return self.epoch(self._following)

    def epoch(self, number, first_batch=0):
        """The batches of an epoch, from one of them on. Another loop that
        begins meanwhile ends this one with an error."""
        if number < 0 or not 0 <= first_batch <= len(self):
            raise InvalidValue(
                f"loader: epoch {number} from batch {first_batch} on, expected "
                f"an epoch from 0 on, and one of its {len(self)} batches")
        self._following = number + 1
        loop = self._batches.start(number, first_batch)
        while (batch := self._batches.next(loop)) is not None:
            yield batch

    @property
    def position(self):
        """The epoch, and the number of its next batch: where a run that is
        interrupted now continues, by epoch(*position)."""
        return self._batches.position()


def read_fashion_mnist(folder=FASHION_MNIST):
    """The training and the test part of Fashion-MNIST, standardised."""
    return read_mnist(_os.fspath(folder))
