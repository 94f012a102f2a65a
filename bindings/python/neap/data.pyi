# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Iterator
from typing import Any

from neap._core import Tensor, _data
from neap._core._data import (
    Augmented as Augmented,
    CsvSet as CsvSet,
    ImageSet as ImageSet,
    TextSet as TextSet,
    Vocabulary as Vocabulary,
    read_cifar10 as read_cifar10,
    read_cifar100 as read_cifar100,
    read_csv as read_csv,
    read_mnist as read_mnist,
    read_text as read_text,
)

FASHION_MNIST: str

class TensorSet(_data.TensorSet):
    def __init__(self, inputs: Any, targets: Any) -> None: ...

class Loader:
    dataset: Any
    batch: int
    def __init__(self, dataset: Any, batch: int = 64, *, shuffle: bool = False, seed: int = 0, drop_last: bool = False, prefetch: int = 0, reuse: bool = False) -> None: ...
    def close(self) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]: ...
    def epoch(self, number: int, first_batch: int = 0) -> Iterator[tuple[Tensor, Tensor]]: ...
    @property
    def position(self) -> tuple[int, int]: ...

def read_fashion_mnist(folder: str | os.PathLike[str] = ...) -> tuple[ImageSet, ImageSet]: ...
