# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""The training loop that most programs want."""

import contextlib
import math
import os
import sys
import time

from neap import _core
from neap._compile import compile as _compile
from neap._compile import spec
from neap._core import DType
from neap._errors import InvalidValue
from neap.data import Loader
from neap.optim import clip_grad_norm
from neap.train import Checkpoint


def fit(model, optimizer, loader, *, epochs=1, loss=None, test=None,
        clip_norm=0.0, average=None, plateau=None, budget=None, spill="",
        checkpoint=None, facts=None, progress=None):
    """Trains a model for some epochs over a loader, by a compiled step.

    loss(output, target): the mean over the batch; cross_entropy where it is
    left out. test: a loader that the model is evaluated on after each epoch
    (its averages, where there are any; a plateau is told of that loss).
    clip_norm: the largest norm of all gradients together; 0: no bound.
    budget: a size ("1.5GiB") that the step is made to fit, with `spill` in a
    folder. checkpoint: a file that is written after each epoch; a run that
checkpoint: a file that is written after each epoch; a run that
    finds it continues there, to the same bits, if its loader has as many samples,
    the same batch, order and seed (`facts` as Checkpoint's).
    progress: a text stream; None: stderr; False: none.

    Returns a list with a dict for each epoch that was run: epoch, steps, loss,
    seconds, and with `test` also test_loss and, where targets are labels,
    test_accuracy.
    """
    if not clip_norm >= 0 or epochs < 0:
        raise InvalidValue(f"fit: clip_norm is {clip_norm} and epochs {epochs}, "
                           "expected numbers from 0 on")
    loss = loss or _core.cross_entropy
    run = checkpoint and Checkpoint(
        model, optimizer, average=average, plateau=plateau,
        facts={**_facts_of(loader), **(facts or {})})
    first = 0
    if run and os.path.exists(checkpoint):
        run.load(checkpoint)
        first = run.epoch
    step = _compile(_step(model, optimizer, loss, clip_norm, average),
                    budget=budget, spill=spill)
    with _mode(model, True):
        _prepare(step, loader)
    shown = _Progress(progress, epochs, len(loader))
    history = []
    for epoch in range(first, epochs):
        with _mode(model, True):
            row = _train(step, loader, epoch, shown)
        if test is not None:
            row.update(evaluate(model, test, loss=loss, average=average))
            if plateau is not None:
                plateau.step(row["test_loss"])
        if run:
            run.step, run.epoch = optimizer.step_count, epoch + 1
            run.save(checkpoint)
        shown.end_of_epoch(row)
        history.append(row)
    return history


def _facts_of(loader):
    """What a run that is resumed shares with the one before: its batches."""
    if not isinstance(loader, Loader):
        return {}
    return {"fit.samples": len(loader.dataset), "fit.batch": loader.batch,
            "fit.order": loader._order}


def _step(model, optimizer, loss, clip_norm, average):
    def step(x, y):
        value = loss(model(x), y)
        value.backward()
        if clip_norm > 0:
            clip_grad_norm(model, clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        if average is not None:
            average.update()
        return value
    return step


def _prepare(step, loader):
    """Plans before the first step, so that a step that cannot fit is refused
    while nothing has changed."""
    data = getattr(loader, "dataset", None)
    batch = getattr(loader, "batch", 0)
    if isinstance(loader, Loader) and hasattr(data, "input") and len(data) > 0:
        count = min(batch, len(data))
        step.prepare(spec((count, *data.input.shape), data.input.dtype),
                     spec((count, *data.target.shape), data.target.dtype))


def _epoch_of(loader, number):
    return loader.epoch(number) if hasattr(loader, "epoch") else iter(loader)


def _train(step, loader, epoch, shown):
    start = time.perf_counter()
    total, samples, steps = 0.0, 0, 0
    for x, y in _epoch_of(loader, epoch):
        value = step(x, y).item()
        if not math.isfinite(value):
            raise InvalidValue(f"fit: the loss of step {steps + 1} of epoch "
                               f"{epoch + 1} is {value}")
        total += value * len(x)
        samples += len(x)
        steps += 1
        shown.after_step(epoch, steps, total / samples)
    if steps == 0:
        raise InvalidValue("fit: the loader has no batch")
    return {"epoch": epoch + 1, "steps": steps, "loss": total / samples,
            "seconds": time.perf_counter() - start}


def evaluate(model, loader, *, loss=None, average=None):
    """The mean loss of a model in evaluation mode over a loader's first epoch,
    as test_loss, and, where targets are labels, test_accuracy."""
    loss = loss or _core.cross_entropy
    if average is not None:
        with average.averaged():
            return evaluate(model, loader, loss=loss)
    with _mode(model, False), _core.NoGrad():
        return _evaluate(model, loader, loss)


@contextlib.contextmanager
def _mode(model, is_training):
    """A model in training or evaluation, for a block of code. Where it is so
    already, parts that are not stay in theirs: a batch norm frozen by eval()."""
    modes = model._modes()
    if modes[0] != is_training:
        model.train(is_training)
    try:
        yield
    finally:
        model._set_modes(modes)


def _is_labels(output, target):
    return (target.dtype in (DType.i64, DType.i32) and
            target.ndim + 1 == output.ndim and
            target.shape == output.shape[:1] + output.shape[2:])


def _evaluate(model, loader, loss):
    total, right, samples, labels = 0.0, 0, 0, 0
    for x, y in _epoch_of(loader, 0):
        output = model(x)
        total += loss(output, y).item() * len(x)
        samples += len(x)
        if _is_labels(output, y):
            right += (output.argmax(1).to(y.dtype) == y).sum().item()
            labels += y.numel()
    if samples == 0:
        raise InvalidValue("evaluate: the loader has no batch")
    found = {"test_loss": total / samples}
    return {**found, "test_accuracy": right / labels} if labels else found


class _Progress:
    """A line that is written over on a terminal; elsewhere one an epoch."""

    _SHORTEST = 0.1  # seconds between two lines

    def __init__(self, stream, epochs, steps):
        self._stream = sys.stderr if stream is None else stream
        self._epochs, self._steps = epochs, steps
        self._is_live = bool(self._stream) and self._stream.isatty()
        self._width, self._latest = 0, 0.0

    def after_step(self, epoch, step, loss):
        now = time.perf_counter()
        if self._is_live and now - self._latest > self._SHORTEST:
            self._latest = now
            self._write(f"epoch {epoch + 1}/{self._epochs}  step {step}/"
                        f"{self._steps}  loss {loss:.4f}", "")

    def end_of_epoch(self, row):
        if not self._stream:
            return
        text = (f"epoch {row['epoch']}/{self._epochs}  loss {row['loss']:.4f}")
        if "test_loss" in row:
            text += f"  test loss {row['test_loss']:.4f}"
        if "test_accuracy" in row:
            text += f"  test accuracy {row['test_accuracy']:.4f}"
        self._write(text + f"  {row['seconds']:.1f} s", "\n")

    def _write(self, text, end):
        if self._is_live:
            padding = " " * max(0, self._width - len(text))
            self._width = len(text) if not end else 0
            text = f"\r{text}{padding}"
        self._stream.write(text + end)
        self._stream.flush()
