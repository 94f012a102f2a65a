# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Who holds a tensor in Python: the end of a chain in leak reports."""

import gc
import sys
import types

from neap._core import Tensor, _memory

_MOST_NAMES = 4  # of one tensor
_CURES = {"_": "the notebook's last result", "Out": "the notebook's results"}


def names_of(body):
    """A line for each holder of a tensor's Python objects, by the address of
    what its handles share. Tensors are found that were made while handles were
    tracked."""
    tensors = [each for each in gc.get_objects()
               if type(each) is Tensor and _memory._body(each) == body]
    names = []
    while tensors:
        names += _holders_of(tensors.pop())
    return names[:_MOST_NAMES]


def _holders_of(tensor):
    names = _locals_of_running_frames(tensor)
    looks = {id(frame.f_locals) for frame in _frames()  # made by looking
             if frame.f_locals is not frame.f_globals}
    for holder in gc.get_referrers(tensor):
        if id(holder) in looks or _is_of_this_file(holder):
            continue
        name = _name_in(holder, tensor)
        if name is not None:
            names.append(name + _cure(tensor, holder))
    return names


def _is_of_this_file(holder):
    return (isinstance(holder, types.FrameType) and
            holder.f_code.co_filename == __file__)


def _cure(tensor, holder):
    """What to keep instead, where a result of training is collected."""
    is_number = (not tensor.is_released and tensor.ndim == 0 and
                 not tensor.is_leaf)
    if is_number and isinstance(holder, (list, dict, tuple)):
        return "; keep its .item() instead"
    return ""


def _frames():
    """The frames that run now, of all threads, without the package's own, whose
    variables are not asked for: that would be one more holder."""
    package = __file__.rpartition("_holders.py")[0]
    for frame in sys._current_frames().values():
        while frame is not None:
            if not frame.f_code.co_filename.startswith(package):
                yield frame
            frame = frame.f_back


def _locals_of_running_frames(value):
    """Variables of running functions have no referrer."""
    return [f"`{name}` of {_place(frame)}" for frame in _frames()
            if frame.f_code.co_name != "<module>"
            for name, each in list(frame.f_locals.items()) if each is value]


def _place(frame):
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    return f"{name} ({code.co_filename}:{frame.f_lineno})"


def _name_in(holder, value):
    """What `holder` calls `value`; None: it is none of the program's."""
    if isinstance(holder, dict):
        return _name_in_dict(holder, value)
    if isinstance(holder, (list, tuple)):
        at = next(i for i, each in enumerate(holder) if each is value)
        kind = type(holder).__name__
        return f"element {at} of a {kind} of {len(holder)}{_owner(holder)}"
    if isinstance(holder, (set, frozenset)):
        return f"an element of a {type(holder).__name__}{_owner(holder)}"
    if isinstance(holder, types.CellType):
        return f"a variable of a closure{_closure(holder)}"
    if isinstance(holder, types.FrameType):
        names = [n for n, each in holder.f_locals.items() if each is value]
        return (f"`{names[0]}` of {_place(holder)}, which has ended: a "
                "traceback keeps it") if names else None
    if isinstance(holder, types.GeneratorType):
        return f"a variable of the generator {holder.__qualname__}"
    if isinstance(holder, (types.FunctionType, types.MethodType)):
        return f"the function {getattr(holder, '__qualname__', holder)}"
    return _attribute_of(holder, value)


def _module_of(namespace):
    """The name of the module whose variables these are; None: no module's."""
    name = namespace.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    is_its_own = module is not None and vars(module) is namespace
    return name if is_its_own else None


def _name_in_dict(holder, value):
    key = next(k for k, each in holder.items() if each is value)
    module = _module_of(holder)
    if module is not None:
        note = f" ({_CURES[key]})" if key in _CURES else ""
        return f"`{key}` in {module}{note}"
    for owner in gc.get_referrers(holder):
        if getattr(owner, "__dict__", None) is holder:
            return f"attribute `{key}` of a {type(owner).__name__}{_owner(owner)}"
    return f"the value of {key!r} in a dict{_owner(holder)}"


def _attribute_of(holder, value):
    for name, each in list(getattr(holder, "__dict__", {}).items()):
        if each is value:
            return f"attribute `{name}` of a {type(holder).__name__}{_owner(holder)}"
    return f"a {type(holder).__name__}{_owner(holder)}"


def _owner(container):
    """The variable that names a container, one step further; or nothing."""
    names = _locals_of_running_frames(container)
    if names:
        return f", {names[0]}"
    for holder in gc.get_referrers(container):
        if isinstance(holder, dict):
            for key, each in list(holder.items()):
                if each is container and _module_of(holder) is not None:
                    note = f" ({_CURES[key]})" if key in _CURES else ""
                    return f", `{key}` in {_module_of(holder)}{note}"
    for holder in gc.get_referrers(container):
        for name, each in list(getattr(holder, "__dict__", {}).items()):
            if each is container:
                return f", attribute `{name}` of a {type(holder).__name__}"
    return ""


def _closure(cell):
    for cells in gc.get_referrers(cell):
        if isinstance(cells, tuple):
            for function in gc.get_referrers(cells):
                if getattr(function, "__closure__", None) is cells:
                    return f" of {function.__qualname__}"
    return ""
