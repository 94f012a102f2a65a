# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Guards: what a traced function read of Python's world. A program holds for
these values; where one differs, the step is traced anew.

From the function on, everything is looked at that it names: variables of its
closure, defaults, globals, attributes (of modules, objects, classes, Python
modules), and from there the same of functions, methods, partials, and what is
in tuples, lists and dicts. A number, text, bool or None is compared by value,
anything else by identity. Not looked at: functions of the standard library and
of the packages below, lists and dicts of more than _LONG elements, what is
reached by a computed name, elements of arrays. Values that the function itself
changes, such as a count of calls, are left out: they change while it is traced,
and stay in its runs."""

import functools
import sys
import types

from neap import _core

_PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex))
_MOST = 10000  # guards; a larger model has further values unguarded
_LONG = 256
MISSING = object()
_NOT_LOOKED_AT = frozenset(sys.stdlib_module_names - {"__main__"} | {
    "neap", "numpy", "scipy", "torch"})
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
# Kinds of guards: how `home` is read.
_ITEM, _ATTR, _ELEMENTS = range(3)


@functools.lru_cache(maxsize=1024)
def _names_of(code):
    """The globals and the attributes that a function's code names, with those
    of functions inside it."""
    import dis  # a slow import that not every program needs
    globals_, attributes, queue = set(), set(), [code]
    while queue:
        at = queue.pop()
        queue += [c for c in at.co_consts if isinstance(c, types.CodeType)]
        for each in dis.get_instructions(at):
            if each.opname in _GLOBAL:
                globals_.add(each.argval)
            elif each.opname in _ATTRIBUTE:
                attributes.add(each.argval)
    return frozenset(globals_), frozenset(attributes)


def _is_looked_at(value):
    package = (getattr(value, "__module__", None) or "").split(".")[0]
    return package not in _NOT_LOOKED_AT


def _in_class(kind, name):
    """What a class or one above it has under a name, as it stands there."""
    for each in kind.__mro__:
        if name in vars(each):
            return vars(each)[name]
    return MISSING


class Guards:
    """LIFETIME: they hold what they look at."""

    def __init__(self, function):
        self.guards = []  # (kind, home, key, value)
        self._cells = {}  # names of a closure's variables, by the cell's id
        self._seen = {}  # by id; the objects are kept, so that ids stay theirs
        self._attributes = {"__call__", "__wrapped__", "forward"}
        self._objects = []
        self._queue = [function]
        while self._queue and len(self.guards) < _MOST:
            value = self._queue.pop()
            if id(value) not in self._seen:
                self._seen[id(value)] = value
                self._look(value)
        del self._seen, self._attributes, self._objects, self._queue

    def _add(self, kind, home, key, value):
        """Guards a value, and looks at it later."""
        self.guards.append((kind, home, key, value))
        if type(value) not in _PLAIN and value is not MISSING:
            self._queue.append(value)

    def _look(self, value):
        if isinstance(value, types.FunctionType):
            if _is_looked_at(value):
                self._look_into_function(value)
        elif isinstance(value, types.MethodType):
            self._queue += [value.__func__, value.__self__]
        elif isinstance(value, functools.partial):
            self._queue += [value.func, value.args, value.keywords]
        elif isinstance(value, property):
            self._queue.append(value.fget)
        elif isinstance(value, (staticmethod, classmethod)):
            self._queue.append(value.__func__)
        elif isinstance(value, (tuple, list)):
            self._look_into_sequence(value)
        elif isinstance(value, dict):
            if len(value) <= _LONG:
                self._add(_ELEMENTS, value, None, tuple(value))
                for key in value:
                    self._add(_ITEM, value, key, value[key])
        elif isinstance(value, types.ModuleType):
            if value.__name__.split(".")[0] not in _NOT_LOOKED_AT:
                self._look_into_object(value)
        elif isinstance(value, _core._Module):
            for name in vars(value):
                self._add(_ITEM, vars(value), name, vars(value)[name])
            self._look_into_object(value)
        elif not isinstance(value, type) or _is_looked_at(value):
            self._look_into_object(value)

    def _look_into_sequence(self, value):
        if isinstance(value, list) and len(value) <= _LONG:
            self.guards.append((_ELEMENTS, value, None, tuple(value)))
        if len(value) <= _LONG:
            self._queue += [each for each in value if type(each) not in _PLAIN]

    def _look_into_function(self, function):
        for name, cell in zip(function.__code__.co_freevars,
                              function.__closure__ or ()):
            self._cells[id(cell)] = name
            self._add(_ATTR, cell, "cell_contents",
                      getattr(cell, "cell_contents", MISSING))
        self._add(_ATTR, function, "__defaults__", function.__defaults__)
        self._add(_ATTR, function, "__kwdefaults__", function.__kwdefaults__)
        names, attributes = _names_of(function.__code__)
        home = function.__globals__
        for name in names:
            self._add(_ITEM, home, name, home.get(name, MISSING))
        new = attributes - self._attributes
        self._attributes |= new
        for each in self._objects:
            self._look_at_attributes(each, new)

    def _look_into_object(self, value):
        self._objects.append(value)
        self._look_at_attributes(value, self._attributes)

    def _look_at_attributes(self, value, names):
        if isinstance(value, type):
            for name in names:
                self._look_into_class(value, name)
            return
        kind, own = type(value), getattr(value, "__dict__", None)
        for name in names:
            if type(own) is dict and name in own:
                self._add(_ITEM, own, name, own[name])
            elif (found := _in_class(kind, name)) is not MISSING:
                if type(own) is dict:
                    self._add(_ITEM, own, name, MISSING)
                if isinstance(found, types.MemberDescriptorType):  # a slot
                    self._add(_ATTR, value, name,
                              getattr(value, name, MISSING))
                else:
                    self._look_into_class(kind, name)

    def _look_into_class(self, kind, name):
        """An attribute of a class, where reading it gives what stands there."""
        found = _in_class(kind, name)
        if not _is_looked_at(kind) or found is MISSING:
            return
        if getattr(kind, name, MISSING) is found:
            self._add(_ATTR, kind, name, found)
        else:
            self._queue.append(found)

    def unchanged(self):
        """Guards of the values that are what they were: asked at the end of a
        trace."""
        rest = Guards.__new__(Guards)
        rest.guards = [guard for guard in self.guards
                       if _core._guards_hold([guard], MISSING)]
        return rest

    def changed_numbers(self):
        """Names of plain values that are no longer what they were."""
        names = {}
        for guard in self.guards:
            _, home, key, value = guard
            if type(value) in _PLAIN and not _core._guards_hold([guard],
                                                                MISSING):
                names[str(self._cells.get(id(home), key))] = None
        return list(names)

    def put_back(self):
        """Tensors that a trace which failed has replaced are what they were:
        it has left tensors without elements in their places."""
        for kind, home, key, value in self.guards:
            if kind == _ITEM and isinstance(value, _core.Tensor):
                home[key] = value
            elif kind == _ATTR and isinstance(value, _core.Tensor):
                setattr(home, key, value)
            elif kind == _ELEMENTS and isinstance(home, list) and any(
                    isinstance(each, _core.Tensor) for each in value):
                home[:] = value
