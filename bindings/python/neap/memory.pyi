# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import os

from neap._core import _memory, exported_bytes as exported_bytes
from neap._core._memory import (
    Baseline as Baseline,
    Growth as Growth,
    TrackHandles as TrackHandles,
    UseDomain as UseDomain,
    by_category as by_category,
    format_bytes as format_bytes,
    line as line,
    recount as recount,
    reset_peak as reset_peak,
    stats as stats,
    trim as trim,
)

def parse_bytes(size: int | str) -> int: ...

class Budget(_memory._Budget):
    def __init__(self, size: int | str) -> None: ...
    async def __aenter__(self) -> None: ...
    async def __aexit__(self, *_: object) -> None: ...

class Domain(_memory._Domain):
    def __init__(self, name: str = "domain", *, budget: int | str | None = None, events: int = 0) -> None: ...

def page(path: str | os.PathLike[str]) -> None: ...
def snapshot(path: str | os.PathLike[str]) -> None: ...
def table(*, at_peak: bool = False, rows: int = 16, width: int = 0) -> str: ...
