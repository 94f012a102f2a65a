# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Gradients as values."""

from neap import _core
from neap._core import Tensor


def _list(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def grad(outputs, inputs, *, cotangents=(), retain_graph=False,
         create_graph=False, allow_unused=False):
    """The gradients of `outputs` by `inputs`, which accumulate nowhere: a tuple,
    or one tensor for one input. Inputs that no output depends on are refused,
    or with `allow_unused` have zeros."""
    found = _core._grad(_list(outputs), _list(inputs), _list(cotangents),
                        retain_graph, create_graph, allow_unused)
    return found[0] if isinstance(inputs, Tensor) else found
