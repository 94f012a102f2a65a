# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping
from typing import Any

from neap._core import _Module
from neap.nn import Module

def load_torch(module: _Module, state_dict: Mapping[str, Any]) -> None: ...
def import_module(module: Any, example: Any, *, dynamic_shapes: Any = None) -> Module: ...
