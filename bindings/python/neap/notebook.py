# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Plans, steps and modules as notebooks show them, and a cell's memory.

    %load_ext neap.notebook
    %%neap
    loss = step(x, y)

prints what the cell left, its peak, and who holds what it left.
"""

from neap import _core, memory
from neap._compile import Compiled


# Imports in functions are of modules that only notebooks need.
def _escape(text):
    import html
    return html.escape(text)


def _table(text):
    return f"<pre style='line-height:1.2'>{_escape(text)}</pre>"


def _picture(step):
    """The drawing of a traced step, without a script; "" where it is gone."""
    if step is None:
        return ""
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.svg")
        step.write(path, "svg")
        with open(path, encoding="utf-8") as file:
            text = file.read()
    return text[text.index("<svg"):]


def _plan_html(prediction):
    step = getattr(prediction, "_step", None)
    return _table(str(prediction)) + _picture(step and step())


def _step_html(step):
    if step._latest is None:
        return _table(f"{step.__name__}: a compiled step, not traced yet")
    return _plan_html(step.plan())


def _module_html(module):
    rows = "".join(
        f"<tr><td style='text-align:left'>{_escape(name)}</td>"
        f"<td>{t.dtype.name}</td><td>{list(t.shape)}</td>"
        f"<td>{memory.format_bytes(t.nbytes)}</td></tr>"
        for name, t in module.named_parameters())
    total = sum(t.nbytes for _, t in module.named_parameters())
    return (f"<table><caption>{_escape(type(module).__name__)}: "
            f"{memory.format_bytes(total)} of parameters</caption>"
            f"<tr><th>name</th><th>dtype</th><th>shape</th><th>bytes</th></tr>"
            f"{rows}</table>")


_core.Prediction._repr_html_ = _plan_html
Compiled._repr_html_ = _step_html
_core._Module._repr_html_ = _module_html


def report_of(run):
    """Runs a function; says what it left, its peak, and who holds that."""
    with memory.TrackHandles():
        before = memory.Baseline()
        live = memory.stats()["live"]
        memory.reset_peak()
        run()
        after = memory.stats()
        leaks = before.leaks()
    left = after["live"] - live
    text = (f"peak {memory.format_bytes(after['peak'])}, "
            f"{'+' if left >= 0 else '-'}{memory.format_bytes(abs(left))} left\n")
    return text + leaks


def load_ipython_extension(ipython):
    """The magic %%neap: a cell's memory."""

    def cell(line, body):
        print(report_of(lambda: ipython.run_cell(body)), end="")

    ipython.register_magic_function(cell, magic_kind="cell",
                                    magic_name="neap")
