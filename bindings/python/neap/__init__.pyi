# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from neap import memory as memory, nn as nn, optim as optim, testing as testing, torch as torch, train as train
from neap._core import *
from neap._core import DType as DType, Prediction, Spec as Spec, Tensor as Tensor
from neap._errors import (
    DeviceError as DeviceError,
    DTypeError as DTypeError,
    Error as Error,
    GraphError as GraphError,
    InternalError as InternalError,
    InvalidValue as InvalidValue,
    IoError as IoError,
    NameNotFound as NameNotFound,
    OutOfMemory as OutOfMemory,
    PlanError as PlanError,
    PlanFileError as PlanFileError,
    ReadError as ReadError,
    ShapeError as ShapeError,
    ThreadError as ThreadError,
    TornStep as TornStep,
    TraceError as TraceError,
    UseAfterRelease as UseAfterRelease,
)
from neap.memory import Budget as Budget
from neap.torch import load_torch as load_torch

_R = TypeVar("_R")

__version__: str
f32: DType
f64: DType
bf16: DType
i32: DType
i64: DType
u8: DType
bool_: DType

# Arrays.
def tensor(data: Any, dtype: DType | None = None, *, requires_grad: bool = False) -> Tensor: ...
def asarray(data: Any, dtype: DType | None = None) -> Tensor: ...
def from_dlpack(array: Any, *, copy: bool | None = None) -> Tensor: ...
def from_numpy(array: Any) -> Tensor: ...
def from_torch(array: Any) -> Tensor: ...

# Derivatives.
@overload
def grad(outputs: Tensor | Iterable[Tensor], inputs: Tensor, *, cotangents: Tensor | Iterable[Tensor] = (), retain_graph: bool = False, create_graph: bool = False, allow_unused: bool = False) -> Tensor: ...
@overload
def grad(outputs: Tensor | Iterable[Tensor], inputs: Sequence[Tensor], *, cotangents: Tensor | Iterable[Tensor] = (), retain_graph: bool = False, create_graph: bool = False, allow_unused: bool = False) -> tuple[Tensor, ...]: ...

class Pullback(Generic[_R]):
    def __call__(self, cotangent: _R) -> tuple[Any, ...]: ...

class HvpResult(NamedTuple):
    value: Tensor
    gradient: Any
    product: Any

def vjp(f: Callable[..., _R], *inputs: Any, create_graph: bool = False) -> tuple[_R, Pullback[_R]]: ...
def jvp(f: Callable[..., _R], inputs: Any, tangents: Any, *, create_graph: bool = True) -> tuple[_R, _R]: ...
def directional_derivative(f: Callable[..., Tensor], inputs: Any, directions: Sequence[Any], *, create_graph: bool = True) -> Tensor: ...
def hvp(f: Callable[..., Tensor], inputs: Any, directions: Any, *, create_graph: bool = False) -> HvpResult: ...
@overload
def jacobian(f: Callable[[Tensor], Tensor], inputs: Tensor, *, mode: Literal["auto", "forward", "reverse"] = "auto", create_graph: bool = False) -> Tensor: ...
@overload
def jacobian(f: Callable[..., Any], inputs: Any, *, mode: Literal["auto", "forward", "reverse"] = "auto", create_graph: bool = False) -> Any: ...
@overload
def hessian(f: Callable[[Tensor], Tensor], inputs: Tensor, *, create_graph: bool = False) -> Tensor: ...
@overload
def hessian(f: Callable[..., Tensor], inputs: Any, *, create_graph: bool = False) -> Any: ...

# Compiled steps.
class Compiled(Generic[_R]):
    def __init__(self, function: Callable[..., _R], settings: Any) -> None: ...
    # Arrays and numbers may be given for tensors: the types of the arguments are
    # not those of the function.
    def __call__(self, *arguments: Any, **keywords: Any) -> _R: ...
    def prepare(self, *specs: Any, **keywords: Any) -> Compiled[_R]: ...
    def plan(self, *specs: Any, **keywords: Any) -> Prediction: ...
    def page(self, path: str | os.PathLike[str]) -> None: ...
    def snapshot(self, path: str | os.PathLike[str]) -> None: ...
    @property
    def traces(self) -> int: ...
    @property
    def why(self) -> str: ...
    @property
    def arena_bytes(self) -> int: ...
    def reset(self) -> None: ...

def spec(shape: int | Sequence[int], dtype: DType = ...) -> Spec: ...
@overload
def compile(function: Callable[..., _R], *, max_batch: int = 0, budget: int | str | None = None, arena_limit: int | str | None = None, paged: bool = False, recompute: bool = True, keep: bool | Iterable[int] = (), programs: int = 8, verify: int = 0, plan_file: str | os.PathLike[str] = "") -> Compiled[_R]: ...
@overload
def compile(function: None = None, *, max_batch: int = 0, budget: int | str | None = None, arena_limit: int | str | None = None, paged: bool = False, recompute: bool = True, keep: bool | Iterable[int] = (), programs: int = 8, verify: int = 0, plan_file: str | os.PathLike[str] = "") -> Callable[[Callable[..., _R]], Compiled[_R]]: ...
