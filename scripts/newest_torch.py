#!/usr/bin/env python3
"""The newest PyTorch of the package index in an environment of its own.

    scripts/newest_torch.py FOLDER

Makes FOLDER a virtual environment with torch and what its CPU part imports. The
wheel names CUDA's libraries, two gigabytes of them, which no CPU needs: small
ones of the same names stand in, made by the C compiler, whose functions say that
there is no device. FOLDER/ready says that
all is there; a second call returns at once. Fails (status 1) where the index
cannot be reached: who compares takes the distribution's PyTorch then.
"""

import collections
import pathlib
import re
import subprocess
import sys
import venv

NEEDED = ("typing_extensions", "filelock", "sympy", "networkx", "jinja2",
          "fsspec", "numpy", "setuptools")
NO_DEVICE = 100  # cudaErrorNoDevice
GPU_LIBRARY = re.compile(r"lib(cu|nv|nccl)")
GPU_SYMBOL = re.compile(r"(cu|nv|nccl)")
VERSION = re.compile(r" +0x\S+ 0x\S+ \d+ (\S+)$")
UNDEFINED = re.compile(r"0+ .*\*UND\*\s+0+\s+(?:Base|\(?([^\s()]+)\)?)?\s*(\S+)$")


class Wanted:
    """What the libraries of a folder ask of libraries that are not there."""

    def __init__(self, folder):
        self.needed = set()
        self.versions = collections.defaultdict(set)  # of a library
        self.symbols = collections.defaultdict(set)  # of a version; None: any
        files = sorted(folder.glob("*.so*"))
        for path in files:
            self.read(path)
        have = {path.name for path in files}
        self.missing = sorted(name for name in self.needed - have
                              if GPU_LIBRARY.match(name))

    def read(self, path):
        dump = subprocess.run(["objdump", "-p", "-T", path], check=True,
                              capture_output=True, text=True).stdout
        self.needed.update(re.findall(r"NEEDED +(\S+)", dump))
        library = None
        for line in dump.splitlines():
            if match := re.match(r" +required from (\S+):", line):
                library = match[1]
            elif library and (match := VERSION.match(line)):
                self.versions[library].add(match[1])
            elif match := UNDEFINED.match(line):
                self.symbols[match[1]].add(match[2])


def stand_in(folder, wanted, name, further):
    """An empty library of that name, with the symbols of its versions."""
    versions = sorted(wanted.versions[name])
    symbols = [s for v in versions for s in sorted(wanted.symbols[v])]
    source = "".join(f"int {s}(void) {{ return {NO_DEVICE}; }}\n"
                     for s in symbols + further)
    script = "".join(
        v + " { global: " + " ".join(s + ";" for s in wanted.symbols[v])
        + " };\n" for v in versions)
    (folder / "stand_in.c").write_text(source, encoding="ascii")
    (folder / "stand_in.map").write_text(script, encoding="ascii")
    command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{name}", "-o",
               str(folder / name), str(folder / "stand_in.c")]
    if versions:
        command.append(f"-Wl,--version-script={folder / 'stand_in.map'}")
    subprocess.run(command, check=True)


def make_stand_ins(folder):
    wanted = Wanted(folder)
    # Symbols without a version are put where PyTorch's own part looks first.
    further = sorted(s for s in wanted.symbols[None] if GPU_SYMBOL.match(s))
    for name in wanted.missing:
        is_first = name.startswith("libcufile")
        stand_in(folder, wanted, name, further if is_first else [])


def main():
    folder = pathlib.Path(sys.argv[1])
    if (folder / "ready").exists():
        return
    venv.create(folder, with_pip=True, clear=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet",
           "--disable-pip-version-check"]
    try:
        subprocess.run([*pip, "--no-deps", "torch"], check=True)
        subprocess.run([*pip, *NEEDED], check=True)
        libraries = next(folder.glob("lib/python*/site-packages/torch/lib"))
        make_stand_ins(libraries)
        subprocess.run([folder / "bin/python", "-c",
                        "import torch; torch.ones(9, 9) @ torch.ones(9); "
                        "torch.cuda.is_available()"],
                       check=True)
    except (OSError, StopIteration, subprocess.CalledProcessError) as error:
        raise SystemExit(f"no newer PyTorch: {error}")
    (folder / "ready").touch()


if __name__ == "__main__":
    main()
