# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Stubs: every public name has one, and mypy accepts a program that uses them."""

import ast
import functools
import importlib
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

import neap

PACKAGE = pathlib.Path(neap.__file__).parent
PROGRAM = pathlib.Path(__file__).parent / "typed_program.py"
MODULES = ["neap", "neap.data", "neap.memory", "neap.models", "neap.nn",
           "neap.notebook", "neap.optim", "neap.testing", "neap.torch", "neap.train"]
# Imported by modules for themselves: public names of neap.
USED_INSIDE = {"Tensor", "DType", "DTypeError", "InvalidValue",
               "NameNotFound", "ShapeError", "TraceError", "asarray", "memory",
               "from_dlpack", "Compiled"}
CLASSES = ["Tensor", "Compiled", "ParameterList", "Prediction", "Scope", "Spec",
           "OutOfMemory", "nn.Module", "nn.Sequential", "nn.Linear",
           "optim.AdamW", "optim.Optimizer", "optim.Ema", "optim.Muon", "optim.LBFGS",
           "optim.ReduceOnPlateau", "train.Checkpoint", "memory.Baseline",
           "memory.Growth", "memory.Domain", "Budget", "data.Loader",
           "data.TensorSet", "FitPoint"]


@functools.cache
def stub_of(module):
    """The parsed stub of a module of the package."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    return ast.parse(path.read_text())


def imported(node):
    """Names that an import re-exports: from x import *, and a as a."""
    for name in node.names:
        if name.name == "*":
            yield from (n for n in names_of(node.module) if n[0] != "_")
        elif name.asname == name.name:
            yield name.name


def names_of(module):
    """Names that the stub of a module declares."""
    found = set()
    for node in stub_of(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets)
        elif isinstance(node, ast.ImportFrom):
            found.update(imported(node))
    return found


def is_of_the_package(name, value):
    """Neither private, nor a module or class of Python's own."""
    if name.startswith("_"):
        return False
    if isinstance(value, types.ModuleType):
        return value.__name__.startswith("neap.")
    return getattr(value, "__module__", "neap").startswith("neap")


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_a_stub(name):
    module = importlib.import_module(name)
    names = {each for each, value in vars(module).items()
             if is_of_the_package(each, value)}
    used = set() if name == "neap" else USED_INSIDE
    assert names - used - names_of(name) == set()
    assert len(names) > (200 if name == "neap" else 0)


def classes_of(module):
    """Class definitions that a stub has or re-exports, by name."""
    found = {}
    for node in stub_of(module).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = node
        elif (isinstance(node, ast.ImportFrom) and
              node.module.startswith("neap.") and node.module != module):
            theirs = classes_of(node.module)
            found.update(theirs if node.names[0].name == "*" else {
                n.name: theirs[n.name] for n in node.names if n.name in theirs})
    return found


def members(node):
    """Names that a class in a stub declares."""
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield part.name
        elif isinstance(part, ast.AnnAssign):
            yield part.target.id
        elif isinstance(part, ast.Assign):
            yield from (target.id for target in part.targets)


@pytest.mark.parametrize("path", CLASSES)
def test_every_public_method_has_a_stub(path):
    module, _, name = f"neap.{path}".rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    public = {each for each in vars(cls) if not each.startswith("_")}
    assert public - set(members(classes_of(module)[name])) == set()


def test_signatures_name_types():
    text = (PACKAGE / "_core" / "__init__.pyi").read_text()
    assert "def max(x: Tensor, axis: int, keepdim: bool = False) -> " \
        "tuple[Tensor, Tensor]:" in text
    public = re.findall(r"^ *def ([a-z]\w*)\(.*\) -> (?:tuple|list|dict|object)"
                        r":", text, re.MULTILINE)
    assert public == []
    assert (PACKAGE / "py.typed").exists()


def mypy(*arguments, folder):
    pytest.importorskip("mypy")
    environment = dict(os.environ)
    if PACKAGE.parent.name != "site-packages":  # which mypy looks into anyway
        environment["MYPYPATH"] = str(PACKAGE.parent)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}",
         *arguments], capture_output=True, text=True,
        env=environment)


def test_mypy_accepts_a_typed_program_and_finds_its_errors(tmp_path):
    done = mypy(PROGRAM, folder=tmp_path)
    assert done.returncode == 0, done.stdout
    bad = tmp_path / "bad.py"
    bad.write_text("import neap\n"
                   "a: int = neap.ones((2,)).sum()\n"
                   "neap.conv2d(neap.ones((1,)), stride=2)\n"
                   "neap.ones((2,)).sun()\n"
                   "neap.optim.AdamW([], learning=1.0)\n")
    done = mypy(bad, folder=tmp_path)
    lines = re.findall(r"bad.py:(\d+): error", done.stdout)
    assert sorted(set(lines)) == ["2", "3", "4", "5"], done.stdout


def test_the_typed_program_runs():
    done = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})
    assert done.returncode == 0, done.stderr
