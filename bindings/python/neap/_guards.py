# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Guards: the numbers, texts, bools and None that a traced function read from
its closure, its defaults, the globals that it names, and the attributes of the
modules among those; and the same of the functions of its own package that these
lead to. A program holds for these values; where one differs, the step is traced
anew. Values that the function itself changes, such as a count of calls, are not
guarded: they change while it is traced, and stay in its runs."""

import types

from neap import _core

_PLAIN = (int, float, str, bool, type(None))
_MOST = 1000  # values; a larger model has further ones unguarded


def _code_names(code):
    """Names of globals that a function's code reads, with those of functions
    inside it."""
    names, queue = set(), [code]
    while queue:
        at = queue.pop()
        names.update(at.co_names)
        queue += [c for c in at.co_consts if isinstance(c, types.CodeType)]
    return names


class _Cell:
    """Reads a closure's variable."""

    def __init__(self, cell):
        self.cell = cell

    def read(self):
        return self.cell.cell_contents


class _Item:
    """Reads an entry of a dictionary: globals, attributes."""

    def __init__(self, home, name):
        self.home, self.name = home, name

    def read(self):
        return self.home[self.name]


class _Default:
    def __init__(self, function, position):
        self.function, self.position = function, position

    def read(self):
        return self.function.__defaults__[self.position]


def _read(reader):
    """A missing name is a value like any other."""
    try:
        return reader.read()
    except (KeyError, ValueError, IndexError, TypeError):
        return _read


def _package_of(function):
    function = getattr(function, "__func__", function)
    return (getattr(function, "__module__", None) or "").split(".")[0]


def _is_same(one, other):
    return type(one) is type(other) and (
        one == other or (one != one and other != other))


class Guards:
    """LIFETIME: they hold the function and the modules that they look at."""

    def __init__(self, function):
        self.guards = []  # (reader, value)
        self._seen = set()
        self._packages = {_package_of(function)}
        queue = [function]
        while queue and len(self.guards) < _MOST:
            queue += self._look(queue.pop())
        del self._seen

    def _look(self, value):
        """Notes the readers of a function's or module's values; returns what is
        to be looked at next."""
        if id(value) in self._seen:
            return []
        self._seen.add(id(value))
        if isinstance(value, types.MethodType):
            return [value.__func__, value.__self__]
        if isinstance(value, types.FunctionType):
            if _package_of(value) not in self._packages:
                return []
            readers = self._function_readers(value)
        elif isinstance(value, _core._Module):
            return self._look_into_module(value)
        elif isinstance(value, (list, tuple)) and all(
                isinstance(each, _core._Module) for each in value):
            return list(value)
        else:
            return []
        return self._note(readers)

    def _look_into_module(self, module):
        forward = getattr(type(module), "forward", None)
        following = self._note([_Item(vars(module), name)
                                for name in vars(module)])
        if isinstance(forward, types.FunctionType) and (
                _package_of(forward) != "neap"):
            self._packages.add(_package_of(forward))
            following.append(forward)
        return following

    @staticmethod
    def _function_readers(function):
        readers = [_Cell(cell) for cell in function.__closure__ or ()]
        readers += [_Default(function, position) for position in
                    range(len(function.__defaults__ or ()))]
        names = _code_names(function.__code__)
        home = function.__globals__
        return readers + [_Item(home, name) for name in names if name in home]

    def _note(self, readers):
        following = []
        for reader in readers:
            value = _read(reader)
            if value is _read:
                continue
            if isinstance(value, _PLAIN):
                self.guards.append((reader, value))
            else:
                following.append(value)
        return following

    def leave_out_changed(self):
        """Forgets values that are no longer what they were: called at the end
        of a trace."""
        self.guards = [(reader, value) for reader, value in self.guards
                       if _is_same(_read(reader), value)]

    def hold(self):
        """Whether all values are what they were."""
        for reader, value in self.guards:
            now = _read(reader)
            if now is not value and not _is_same(now, value):
                return False
        return True
