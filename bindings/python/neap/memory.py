# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Where the memory is: budgets, domains, tables, leaks, growth."""

import os

from neap._core import exported_bytes  # noqa: F401
from neap._core import _memory
from neap._core._memory import (Baseline, Growth, TrackHandles,  # noqa: F401
                               UseDomain, by_category, format_bytes, line, recount,
                               reset_peak, stats, trim)

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9,
          "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def parse_bytes(size):
    """Bytes of a number, or of a text such as "1.5GiB"."""
    if isinstance(size, int):
        if size < 0:
            raise ValueError(f"a size is a number of bytes from 0 on, not {size}")
        return size
    import re
    match = re.fullmatch(r"\s*([0-9][0-9 _]*(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*",
                         str(size))
    unit = match and _UNITS.get(match.group(2).lower())
    if not unit:
        raise ValueError(f"a size is a number and one of B, KiB, MiB, GiB, KB, "
                         f"MB, GB, not {size!r}")
    return int(float(re.sub("[ _]", "", match.group(1))) * unit)


class Budget(_memory._Budget):
    """Bounds what the library holds, together with the process: inside the
    block, OutOfMemory is raised before the bound is passed. Blocks may overlap
    and end in any order; the least one holds."""

    def __init__(self, size):
        super().__init__(parse_bytes(size))

    async def __aenter__(self):
        raise TypeError("a budget is of the whole process, not of a coroutine: "
                        "use `with`")

    async def __aexit__(self, *_):
        return None


class Domain(_memory._Domain):
    """An allocator of its own: what is asked for within UseDomain(domain) is
    counted here, and bounded by `budget`, together with the process
    (recount()). events: of so many of its latest
    allocations and releases the domain keeps a log, which page() shows.
    It ends with its last block."""

    def __init__(self, name="domain", *, budget=None, events=0):
        most = 2**63 - 1 if budget is None else parse_bytes(budget)
        super().__init__(name, most, events)


def page(path):
    """Writes one HTML file that shows what the current domain holds, and, where
    it keeps a log, where each byte was and when."""
    _memory._write(os.fspath(path), True)


def snapshot(path):
    """The same as a file, which `neap report` shows and compares."""
    _memory._write(os.fspath(path), False)


def table(*, at_peak=False, rows=16, width=0):
    """Live bytes by layer and purpose, now or at their peak, as a text."""
    return _memory._table(at_peak, rows, width)
