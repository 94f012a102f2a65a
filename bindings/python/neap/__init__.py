# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Neap: train neural networks within the memory you give them."""

import os as _os

from neap import _core, _errors
from neap._core import *  # noqa: F401,F403
from neap._core import DType, Spec, Tensor, __version__  # noqa: F401
from neap._errors import (DeviceError, DTypeError, Error,  # noqa: F401
                          GraphError, InternalError, InvalidValue, IoError,
                          NameNotFound, OutOfMemory, PlanError, PlanFileError,
                          ReadError, ShapeError, ThreadError, TornStep,
                          TraceError, UseAfterRelease)

_core.set_package_folder(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)
_core.set_leak_warnings(bool(_os.environ.get("NEAP_PYTHON_LEAKS")))

f32, f64, bf16 = DType.f32, DType.f64, DType.bf16
i32, i64, u8, bool_ = DType.i32, DType.i64, DType.u8, getattr(DType, "bool")

from neap import data, memory, models, nn, optim, testing, torch, train  # noqa: E402,F401
from neap._arrays import (asarray, from_dlpack, from_numpy,  # noqa: E402,F401
                          from_torch, tensor)
from neap._autograd import grad  # noqa: E402,F401
from neap._compile import Compiled, compile, spec  # noqa: E402,F401
from neap._custom import custom_op  # noqa: E402,F401
from neap._functional import (directional_derivative, hessian,  # noqa: E402,F401
                              hvp, jacobian, jvp, vjp)
from neap._fit import evaluate, fit  # noqa: E402,F401
from neap.torch import load_torch  # noqa: E402,F401
from neap.memory import Budget  # noqa: E402,F401
from neap import notebook  # noqa: E402,F401
