# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Mapping

from neap._core import _Module
from neap.optim import Ema, Optimizer, ReduceOnPlateau

class Checkpoint:
    model: _Module
    optimizer: Optimizer
    average: Ema | None
    plateau: ReduceOnPlateau | None
    facts: dict[str, str]
    step: int
    epoch: int
    batch: int
    def __init__(self, model: _Module, optimizer: Optimizer, *, average: Ema | None = None, plateau: ReduceOnPlateau | None = None, facts: Mapping[str, object] | None = None) -> None: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def load(self, path: str | os.PathLike[str], *, verify: bool = True) -> None: ...
