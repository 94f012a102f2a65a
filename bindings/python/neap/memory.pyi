# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
from neap._core import _memory, exported_bytes as exported_bytes
from neap._core._memory import (
    Baseline as Baseline,
    Growth as Growth,
    TrackHandles as TrackHandles,
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

def table(*, at_peak: bool = False, rows: int = 16, width: int = 0) -> str: ...
