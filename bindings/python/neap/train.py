# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a run that is resumed has the bits of one that was never
interrupted."""

import os as _os

from neap._core import _train


class Checkpoint:
    """All state that passes from step to step, in one safetensors file: the
    model, the optimizer, the random generator, averages and a plateau where
    they are given, and the position in the data.

    step, epoch, batch: where the run continues; the caller's to set and use.
    facts: texts that a run must share with the file that it resumes from.
    """

    def __init__(self, model, optimizer, *, average=None, plateau=None,
                 facts=None):
        self.model, self.optimizer = model, optimizer
        self.average, self.plateau = average, plateau
        self.facts = {key: str(value) for key, value in (facts or {}).items()}
        self.step = self.epoch = self.batch = 0

    def _parts(self):
        return (self.model, self.optimizer, self.average, self.plateau,
                self.facts)

    def save(self, path):
        """Writes the file whole or not at all."""
        _train._save(_os.fspath(path), *self._parts(), self.step, self.epoch,
                     self.batch)

    def load(self, path, *, verify=True):
        """Restores all of it, or, after an error, nothing. An IoError says what
        differs."""
        self.step, self.epoch, self.batch = _train._load(
            _os.fspath(path), *self._parts(), verify)
