# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Guards: what a trace read of Python's world. A program holds for these
values; where one differs, the step is traced anew.

While the step is traced, each Python function that runs is looked at as it
begins: the chains of names that its code reads (_reads.py), from globals, from
variables of its closure, and from arguments that were reached before. A value
that is the end of a chain is compared by value where it is plain, a tuple of
such or a number of NumPy's, and by its elements where it is a list, set or dict
of at most _LONG; anything else by identity, as is all that a chain goes through.

What a trace itself changes is left out. A tensor that it leaves in a place that
was looked at, or that it puts in another's place, is an error: runs would not."""

import functools
import gc
import sys
import threading
import types

from neap import _core

_PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex))
_MOST = 10000  # guards; a larger model has further values unguarded
_LONG = 256
MISSING = object()
_tracing = threading.local()  # guards: of the trace of a thread
_LIBRARIES = frozenset(("neap", "numpy", "scipy", "torch", "nanobind"))
_STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}
# Kinds of guards: how `home` is read.
_ITEM, _ATTR, _ELEMENTS, _TYPE, _MAPPING, _INDEX, _EQUAL = range(7)
_UNKNOWN = object()
_CACHED = type(functools.lru_cache(lambda: None))


def _package_of(value):
    name = getattr(value, "__module__", None)
    return name.split(".")[0] if type(name) is str else ""


def _dict_of(value):
    try:
        own = object.__getattribute__(value, "__dict__")
    except Exception:  # whatever the object's class does
        return None
    return own if type(own) is dict else None


def _is_class(value):
    return issubclass(type(value), type)  # isinstance() asks the object


def _is_traced(value):
    """Whether a value is, or holds at one level, a tensor of a trace."""
    if type(value) is _core.Tensor:
        return _core._is_traced(value)
    if type(value) in (list, tuple):
        return any(type(each) is _core.Tensor and _core._is_traced(each)
                   for each in value)
    if type(value) is dict:
        return _is_traced(list(value.values()))
    return False


def look_at(function):
    """A function that C++ keeps, such as a hook's, is about to run: no chain
    of names leads to the variables of its closure."""
    guards = getattr(_tracing, "guards", None)
    if guards is not None:
        guards.add_function(function)


class Guards:
    """LIFETIME: they hold what they look at."""

    def __init__(self, function):
        self.guards = []  # (kind, home, key, value)
        self.names = []  # of each
        self.is_full = False  # there were more than _MOST
        self.is_blind = False  # another profiler sees the calls
        self._places = []  # (kind, home, key, value): written, not read
        self._caches = []  # of functions, with their sizes
        self._seen = set()  # places that are guarded
        self._known = {}  # values that guards keep, by id
        self._looked_at = set()  # codes with the ids of arguments
        self._own = {_package_of(function)}
        self._thread = threading.get_ident()
        self._add_value(function, "")

    # --- a trace ---

    def __enter__(self):
        self._outer = getattr(_tracing, "guards", None)
        _tracing.guards = self
        self._profiler = sys.getprofile()
        if self._profiler is None:
            sys.setprofile(self._see)
        outer = getattr(self._profiler, "__self__", None)
        self.is_blind = self._profiler is not None and not (
            isinstance(outer, Guards))
        return self

    def __exit__(self, *_):
        _tracing.guards = self._outer
        if self._profiler is None:
            sys.setprofile(None)

    def _see(self, frame, event, argument):
        if event == "call" and len(self.guards) < _MOST:
            self._look_at_frame(frame)
        elif event == "call":
            self.is_full = True

    def add_function(self, function):
        if not any(_is_traced(getattr(cell, "cell_contents", None)) for cell in
                   getattr(function, "__closure__", None) or ()):
            self._add_value(function, getattr(function, "__name__", "hook"))

    def _look_at_frame(self, frame):
        home = frame.f_globals
        module = home.get("__name__") or ""
        package = module.split(".")[0]
        if package in _LIBRARIES and module != "neap.nn":
            return
        reads = _reads_of(frame.f_code)
        values = frame.f_locals if reads.locals else {}
        known = tuple(id(values[name]) if id(values.get(name)) in self._known
                      else None for name in reads.locals)
        if (frame.f_code, known) in self._looked_at:
            return
        self._looked_at.add((frame.f_code, known))
        is_own = package not in _STANDARD | _LIBRARIES or package in self._own
        self._read(reads, home if is_own else None, values)

    def _read(self, reads, home, values):
        for (root, path), is_used in reads.reads.items():
            if root[0] == "global" and home is None:
                continue
            value = self._root(root, home, values)
            for step in path:
                value = self._step(value, step, root[1])
            if is_used and value is not _UNKNOWN:
                self._use(value, root[1])
        for (root, path) in reads.writes:
            value = self._root(root, home, values) if path else _UNKNOWN
            for step in path[:-1]:
                value = self._step(value, step, root[1])
            self._note_place(root, path, home, value)

    def _root(self, root, home, values):
        kind, name = root
        if kind == "global":
            if home is None:
                return _UNKNOWN
            self._add(_ITEM, home, name, home.get(name, MISSING), name)
            return home.get(name, _UNKNOWN)
        if kind == "module":
            return sys.modules.get(name, _UNKNOWN)
        value = values.get(name, _UNKNOWN)
        if type(value).__name__ in ("list_iterator", "tuple_iterator"):
            value = next(iter(gc.get_referents(value)), _UNKNOWN)
        if id(value) in self._known or _is_class(value):
            return value
        return _UNKNOWN if value is _UNKNOWN else _Unknown(value)

    def _step(self, value, step, name):
        kind, key = step
        if value is _UNKNOWN:
            return _UNKNOWN
        if kind == "attr":
            return self._attribute(value, key, f"{name}.{key}")
        if type(value) is _Unknown:
            return _UNKNOWN
        if type(value) is _Each:
            return _Each.of(self._step(each, step, name)
                            for each in value.values)
        if kind == "each":
            self._use(value, name)
            return _Each.of(value) if type(value) in (list, tuple) else _UNKNOWN
        if type(value) is types.MappingProxyType:
            self._add(_MAPPING, value, key, value.get(key, MISSING), name)
            return value.get(key, _UNKNOWN)
        if type(value) is dict:
            self._add(_ITEM, value, key, value.get(key, MISSING), name)
            return value.get(key, _UNKNOWN)
        if type(value) is list and type(key) is int and (
                -len(value) <= key < len(value)):
            self._add(_INDEX, value, key, value[key], name)
            return value[key]
        if type(value) is tuple and type(key) is int:
            return value[key] if -len(value) <= key < len(value) else _UNKNOWN
        return _UNKNOWN

    # --- values ---

    def _add(self, kind, home, key, value, name):
        place = kind, id(home), key
        if place in self._seen or _is_traced(value):
            return
        self._seen.add(place)
        self.guards.append((kind, home, key, value))
        self.names.append(name)
        self._add_value(value, name)

    def _add_value(self, value, name):
        """What is in a place that is guarded: a step may call it."""
        if type(value) in _PLAIN or value is MISSING or id(value) in (
                self._known):
            return
        self._known[id(value)] = value
        if type(value) is types.FunctionType:
            self._look_into_function(value)
        elif type(value) is types.MethodType:
            self._add_value(value.__func__, name)
            self._add_value(value.__self__, name)
        elif type(value) is functools.partial:
            for each in (value.func, *value.args):
                self._add_value(each, name)
            self._use(value.keywords, name)
        elif type(value) in (staticmethod, classmethod):
            self._add_value(value.__func__, name)
        elif type(value) is types.BuiltinMethodType:
            if type(value.__self__) in (dict, list, set):
                self._use(value.__self__, name)
        elif type(value) is _CACHED:
            self._caches.append((value, value.cache_info().currsize))
            self._add_value(getattr(value, "__wrapped__", None), name)
        elif not _is_class(value) and type(value) is not _core.Tensor:
            self.guards.append((_TYPE, value, None, type(value)))
            self.names.append(name)

    def _use(self, value, name):
        """A value itself is used: its elements count."""
        kind = type(value)
        if kind is _Each:
            for each in value.values:
                self._use(each, name)
        elif kind in (list, tuple) and len(value) <= _LONG:
            if kind is list:
                self._add(_ELEMENTS, value, None, tuple(value), name)
            for each in value:
                self._add_value(each, name)
        elif kind is dict and len(value) <= _LONG:
            self._add(_ELEMENTS, value, None, tuple(value), name)
            for key in value:
                self._add(_ITEM, value, key, value[key], name)
        elif kind.__name__ in ("set", "frozenset", "deque", "mappingproxy") and (
                len(value) <= _LONG and all(type(each) in _PLAIN
                                            for each in value)):
            copy = dict(value) if kind is types.MappingProxyType else (
                kind(value))
            if kind is not types.MappingProxyType or all(
                    type(each) in _PLAIN for each in copy.values()):
                self._add(_EQUAL, value, None, copy, name)

    def _look_into_function(self, function):
        if _package_of(function) in _LIBRARIES:
            return
        for name, cell in zip(function.__code__.co_freevars,
                              function.__closure__ or ()):
            self._add(_ATTR, cell, "cell_contents",
                      getattr(cell, "cell_contents", MISSING), name)
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            value = getattr(function, name)
            self._add(_ATTR, function, name, value, function.__name__)
            self._use(value, function.__name__)
        if wrapped := getattr(function, "__wrapped__", None):
            self._add_value(wrapped, function.__name__)

    # --- attributes ---

    def _attribute(self, value, name, path):
        """What an attribute is, without running any code of the object's."""
        if type(value) is _Each:
            return _Each.of(self._attribute(each, name, path)
                            for each in value.values)
        if type(value) is _Unknown:
            return self._in_class(type(value.value), name, path)[1]
        if issubclass(type(value), types.ModuleType):
            return self._of_module(value, name, path)
        if _is_class(value):
            where, found = self._in_class(value, name, path)
            return found if where else self._in_class(type(value), name, path)[1]
        own = _dict_of(value)
        raw = next((vars(each)[name] for each in type(value).__mro__
                    if name in vars(each)), MISSING)
        if type(raw) is types.MemberDescriptorType:
            held = _core._attribute_or(value, name, MISSING)
            self._add(_ATTR, value, name, held, path)
            return _UNKNOWN if held is MISSING else held
        is_data = raw is not MISSING and hasattr(type(raw), "__set__")
        if own is not None and not is_data:
            self._add(_ITEM, own, name, own.get(name, MISSING), path)
            if name in own:
                return own[name]
        return self._in_class(type(value), name, path)[1]

    def _of_module(self, module, name, path):
        own = vars(module)
        package = own.get("__name__")
        if type(package) is str and package.split(".")[0] in (
                _LIBRARIES | _STANDARD) - self._own:
            return own.get(name, _UNKNOWN)
        self._add(_ITEM, own, name, own.get(name, MISSING), path)
        return own.get(name, _UNKNOWN)

    def _in_class(self, kind, name, path):
        """The class that has an attribute, and what reading it gives; the
        classes before it have none of the name."""
        for each in kind.__mro__:
            if each is object or _package_of(each) in _LIBRARIES | _STANDARD:
                if name in vars(each):
                    return each, _UNKNOWN
                continue
            found = vars(each).get(name, MISSING)
            self._add(_MAPPING, vars(each), name, found, path)
            if found is MISSING:
                continue
            if type(found) is staticmethod:
                return each, found.__func__
            if hasattr(type(found), "__get__") and not _is_class(found):
                return each, _UNKNOWN  # what it does is seen as it runs
            return each, found
        return None, _UNKNOWN

    # --- the end of a trace ---

    def _note_place(self, root, path, home, value):
        if not path:
            self._places.append((_ITEM, home, root[1],
                                 home.get(root[1], MISSING)))
            return
        name = path[-1][1]
        if value is _UNKNOWN or type(value) in (_Unknown, _Each):
            return
        own = _dict_of(value)
        if own is not None:
            self._places.append((_ITEM, own, name, own.get(name, MISSING)))
        elif any(type(vars(each).get(name)) is types.MemberDescriptorType
                 for each in type(value).__mro__):
            self._places.append((_ATTR, value, name,
                                 _core._attribute_or(value, name, MISSING)))

    def _now(self, guard):
        kind, home, key, value = guard
        if kind in (_ITEM, _MAPPING):
            return home.get(key, MISSING)
        if kind == _ATTR:
            return _core._attribute_or(home, key, MISSING)
        if kind == _INDEX:
            return home[key] if -len(home) <= key < len(home) else MISSING
        return home

    def _changed(self):
        return [(guard, name) for guard, name in zip(self.guards, self.names)
                if not _core._guards_hold([guard], MISSING)]

    def of_program(self):
        """Guards of the values that are what they were, and of those that the
        trace has made where there were none (caches); and their names."""
        guards, names = [], []
        for guard, name in zip(self.guards, self.names):
            if not _core._guards_hold([guard], MISSING):
                now = self._now(guard)
                if guard[3] is not MISSING or _is_traced(now):
                    continue
                guard = (*guard[:3], now)
            guards.append(guard)
            names.append(name)
        return guards, names

    def misplaced(self):
        """Names of places in which the trace has left a tensor of its own, or
        another one of those that were there."""
        found = [name for guard, name in self._changed()
                 if _is_traced(self._now(guard)) or
                 type(guard[3]) is _core.Tensor]
        found += [str(guard[2]) for guard in self._places
                  if _is_traced(self._now(guard))]
        return sorted(set(found))

    def changed(self):
        """Names of all that is no longer what it was."""
        return sorted({name for guard, name in self._changed()
                       if guard[3] is not MISSING})

    def is_of_this_thread(self):
        return threading.get_ident() == self._thread

    def put_back(self):
        """A trace that failed has left tensors without elements where others
        were: these are put back, and what is in caches is dropped."""
        for guard in self.guards + self._places:
            try:
                self._put_back_one(guard)
            except Exception:
                pass  # an object that refuses; the trace's own error counts
        for function, size in self._caches:
            if function.cache_info().currsize != size:
                function.cache_clear()

    def _put_back_one(self, guard):
        kind, home, key, value = guard
        if not _is_traced(self._now(guard)):
            return
        if kind == _ELEMENTS and type(home) is list:
            home[:] = value
        elif kind == _ELEMENTS:
            for each in set(home) - set(value):
                if _is_traced(home[each]):
                    del home[each]
        elif kind == _ITEM and value is MISSING:
            del home[key]
        elif kind in (_ITEM, _INDEX):
            home[key] = value
        elif kind == _ATTR and value is not MISSING:
            object.__setattr__(home, key, value)


class _Unknown:
    """A value that the trace may have made itself: its class counts."""

    def __init__(self, value):
        self.value = value


class _Each:
    """Any of the elements of a container."""

    def __init__(self, values):
        self.values = values

    @classmethod
    def of(cls, values):
        return cls([each for each in values if each is not _UNKNOWN])


def _reads_of(code):
    from neap._reads import reads_of  # imports what not every program needs
    return reads_of(code)


def first_failing(guards, names):
    """The name of the first guard that does not hold."""
    for guard, name in zip(guards, names):
        if not _core._guards_hold([guard], MISSING):
            return name
    return None
