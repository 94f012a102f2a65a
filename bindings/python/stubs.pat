# What the stub of neap._core says more exactly than the extension does: see
# nanobind's documentation of pattern files. Everything else is as bound.

\.__enter__$:
    \from typing_extensions import Self
    def __enter__(self) -> Self: ...

\.__exit__$:
    def __exit__(self, type: object | None, value: object | None, traceback: object | None) -> None: ...

neap\._core\.call_site$:
    def call_site() -> tuple[str, int, str]:
        \doc

neap\._core\.Tensor\.__(eq|ne)__$:
    def __\1__(self, arg: Tensor | float, /) -> Tensor: ...  # type: ignore[override]

neap\._core\.Tensor\.item$:
    def item(self) -> int | float:
        \doc

neap\._core\.Tensor\.tolist$:
    \from typing import Any
    def tolist(self) -> Any:
        \doc

neap\._core\.Tensor\.__iter__$:
    \from collections.abc import Iterator
    def __iter__(self) -> Iterator[Tensor]: ...

neap\._core\.Tensor\.__dlpack_device__$:
    def __dlpack_device__(self) -> tuple[int, int]: ...

neap\._core\.Tensor\.grad$:
    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward has added up, or None."""
    @grad.setter
    def grad(self, gradient: Tensor | None) -> None: ...

neap\._core\.Tensor\.(register_hook|register_post_accumulate_grad_hook)$:
    \from collections.abc import Callable
    def \1(self, function: Callable[[Tensor], Tensor | None]) -> HookHandle:
        \doc

neap\._core\.Tensor\.numpy$:
    \from typing import Any
    def numpy(self, *, writable: bool = False, copy: bool | None = None) -> Any:
        \doc

neap\._core\.Tensor\.torch$:
    \from typing import Any
    def torch(self) -> Any:
        \doc

neap\._core\.Tensor\.__array__$:
    \from typing import Any
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...

neap\._core\.Export\.__array_interface__$:
    \from typing import Any
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

neap\._core\.ParameterList\.__iter__$:
    \from collections.abc import Iterator
    def __iter__(self) -> Iterator[Tensor]: ...

neap\._core\.ParameterList\.items$:
    def items(self) -> list[tuple[str, Tensor]]:
        \doc

neap\._core\._Module\.named_parameters$:
    def named_parameters(self) -> list[tuple[str, Tensor]]: ...

neap\._core\._Module\.eval$:
    \from typing_extensions import Self
    def eval(self) -> Self: ...

neap\._core\._Module\.train$:
    \from typing_extensions import Self
    def train(self, mode: bool = True) -> Self: ...

neap\._core\._Module\.state_dict$:
    def state_dict(self) -> dict[str, Tensor]:
        \doc

neap\._core\._Module\.load_state_dict$:
    \from typing import Any
    \from collections.abc import Mapping
    def load_state_dict(self, state: Mapping[str, Any], *, strict: bool = True) -> tuple[list[str], list[str]]:
        \doc

neap\._core\._PythonModule\.__call__$:
    \from typing import Any
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

neap\._core\._hvp$:
    def _hvp(arg0: object, arg1: Sequence[Tensor], arg2: Sequence[Tensor], arg3: bool, /) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]: ...

neap\._core\._vjp$:
    def _vjp(arg0: object, arg1: Sequence[Tensor], arg2: bool, /) -> tuple[tuple[Tensor, ...], _Pullback]: ...

neap\._core\._jvp$:
    def _jvp(arg0: object, arg1: Sequence[Tensor], arg2: Sequence[Tensor], arg3: bool, /) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]: ...

neap\._core\._hessian$:
    def _hessian(arg0: object, arg1: Sequence[Tensor], arg2: bool, /) -> tuple[tuple[Tensor, ...], ...]: ...

neap\._core\._Step\.call$:
    \from typing import Any
    def call(self, arg: list[Any], /) -> list[Tensor]: ...

neap\._core\._memory\.(stats|by_category)$:
    def \1() -> dict[str, int]:
        \doc

neap\._core\._layers\.(RNN|GRU)\.__call__$:
    def __call__(self, x: neap._core.Tensor, h: neap._core.Tensor | None = None) -> tuple[neap._core.Tensor, neap._core.Tensor]: ...  # type: ignore[override]

neap\._core\._layers\.LSTM\.__call__$:
    def __call__(self, x: neap._core.Tensor, state: tuple[neap._core.Tensor, neap._core.Tensor] | None = None) -> tuple[neap._core.Tensor, tuple[neap._core.Tensor, neap._core.Tensor]]: ...  # type: ignore[override]

neap\._core\._models\.from_pretrained$:
    \from typing import Any
    def from_pretrained(folder: str, *, dtype: neap._core.DType = ..., dropout: float | None = None, block: int = 0, classes: int = 0, keep_layers: bool = True, pass_over: Sequence[str] = ()) -> neap._core._layers.Layer:
        \doc

neap\._core\._Module\.__setattr__$:
    def __setattr__(self, name: str, value: Any, /) -> None: ...

neap\._core\._Module\.__delattr__$:
    def __delattr__(self, name: str, /) -> None: ...

neap\._core\._Module\.__init_subclass__$:
    \doc

neap\._core\._Module\.save$:
    \import os
    def save(self, path: str | os.PathLike[str]) -> None:
        \doc

neap\._core\._Module\.load$:
    \import os
    def load(self, path: str | os.PathLike[str], *, strict: bool = True) -> None:
        \doc
