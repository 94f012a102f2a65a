# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""What a function's code reads and writes by name: chains of attributes and of
constant subscripts that begin with a global, a local variable or a module that
it imports.

    def f(x):                      ("global", "config"), (("attr", "rate"),)
        rate = config.rate         ("local", "x"), ()
        return x * rate * t[0]     ("global", "t"), (("item", 0),)
"""

import dis
import functools

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_PASSED_OVER = ("CACHE", "PUSH_NULL", "PRECALL", "EXTENDED_ARG", "NOP",
                "RESUME", "COPY", "DUP_TOP", "GET_ITER", "FOR_ITER", "KW_NAMES", "NOT_TAKEN")
_OF_COMPREHENSIONS = ("LOAD_FAST_AND_CLEAR", "SWAP", "BUILD_LIST", "BUILD_SET",
                      "BUILD_MAP")  # between GET_ITER and FOR_ITER
_BY_NAME = ("getattr", "hasattr", "setattr", "delattr")


class Reads:
    """reads: (root, path, whether the value itself is used); writes: (root,
    path). A root is a kind and a name; a step of a path is ("attr", name),
    ("item", key) or ("each", None)."""

    def __init__(self, code):
        self.reads, self.writes = {}, {}
        self._aliases = {}  # variables that stand for a chain
        self._chain = None
        self._constant = None  # (value,) after a chain
        self._by_name = None
        self._module = None
        self._is_iterating = False
        self._stored = self._times_stored(code)
        for instruction in dis.get_instructions(code):
            self._see(instruction)
        self._end()
        self.locals = {root[1] for root, _ in (*self.reads, *self.writes)
                       if root[0] == "local"}
        del self._aliases, self._stored

    @staticmethod
    def _times_stored(code):
        times, of_comprehensions = {}, {}
        for instruction in dis.get_instructions(code):
            for name in _stored_by(instruction):
                times[name] = times.get(name, 0) + 1
            if instruction.opname == "LOAD_FAST_AND_CLEAR":  # put back later
                of_comprehensions[instruction.argval] = 1
        return {**times, **of_comprehensions}

    def _see(self, instruction):
        name, value = instruction.opname, instruction.argval
        if self._is_iterating and name in _OF_COMPREHENSIONS:
            return
        if name in _PASSED_OVER:
            self._is_iterating = name == "GET_ITER"
            if name == "FOR_ITER" and self._chain:
                self._extend("each", None)
        elif name in _GLOBAL:
            self._begin(("global", value))
            if value in _BY_NAME:
                self._by_name = value
        elif name.startswith("LOAD_FAST") or name == "LOAD_DEREF":
            for each in value if type(value) is tuple else (value,):
                self._load(each)
        elif name in _ATTRIBUTE and self._chain and not self._constant:
            self._extend("attr", value)
        elif name == "LOAD_CONST" and self._chain and not self._constant:
            self._constant = (value,)
            if self._by_name and type(value) is str:
                self._named(value)
        elif name.startswith("BINARY_SUBSCR") and self._constant and type(
                self._constant[0]) in (int, str):
            self._extend("item", self._constant[0])
            self._constant = None
        elif name == "IMPORT_NAME":
            self._begin(("module", value))
            self._module = self._chain
        elif name == "IMPORT_FROM" and self._module:
            self._chain = self._module
            self._extend("attr", value)
        elif name.startswith("STORE_FAST"):
            self._store(_stored_by(instruction)[0])
            if name == "STORE_FAST_LOAD_FAST":
                self._load(value[1])
        elif name == "STORE_ATTR" and self._chain:
            self._write(("attr", value))
        elif name == "STORE_GLOBAL":
            self._end()
            self.writes[("global", value), ()] = None
        elif name == "IS_OP" or "NONE" in name:
            self._chain = self._constant = None  # which it is, not what it has
        else:
            if name.startswith("CALL"):
                self._by_name = None
            self._end()

    def _begin(self, root):
        self._end()
        self._chain = (root, ())
        self._note(False)

    def _load(self, name):
        self._end()
        self._chain = self._aliases.get(name, (("local", name), ()))
        self._note(False)

    def _extend(self, kind, name):
        root, path = self._chain
        self._chain = (root, path + ((kind, name),))
        self._note(False)

    def _note(self, is_used):
        self.reads[self._chain] = self.reads.get(self._chain, False) or is_used

    def _named(self, name):
        root, path = self._chain
        chain = root, path + (("attr", name),)
        if self._by_name in ("setattr", "delattr"):
            self.writes[chain] = None
        else:
            self.reads.setdefault(chain, True)

    def _write(self, step):
        root, path = self._chain
        self.writes[root, path + (step,)] = None
        self._chain = self._constant = None

    def _store(self, name):
        if self._chain and not self._constant and self._stored[name] == 1:
            self._aliases[name] = self._chain
            self._chain = None
        self._end()

    def _end(self):
        if self._chain:
            self._note(True)
        self._chain = self._constant = None


def _stored_by(instruction):
    """Local variables that an instruction assigns."""
    name, value = instruction.opname, instruction.argval
    if not name.startswith("STORE_FAST"):
        return ()
    if type(value) is not tuple:
        return (value,)
    return value[:1] if name == "STORE_FAST_LOAD_FAST" else value


@functools.lru_cache(maxsize=1024)
def reads_of(code):
    """Those of a function's code, and of functions inside it, whose variables
    are other ones."""
    return Reads(code)
