# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Data sets and loaders."""

import gzip
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import neap
from neap import data


def run_program(text):
    package = str(pathlib.Path(neap.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True,
        timeout=60, env={**os.environ, "PYTHONPATH": ":".join(paths)})


def rows_of(loader, epoch):
    return [x.tolist() for x, _ in loader.epoch(epoch)]


@pytest.fixture
def points():
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    return data.TensorSet(x, np.arange(10))


def test_batches_are_rows_in_order(points):
    loader = data.Loader(points, 4)
    assert len(loader) == 3 and len(points) == 10
    batches = list(loader.epoch(0))
    assert [len(x) for x, _ in batches] == [4, 4, 2]
    assert batches[2][0].tolist() == [[16.0, 17.0], [18.0, 19.0]]
    assert batches[2][1].tolist() == [8, 9]
    assert points.input.shape == (2,) and points.target.dtype is neap.i64


def test_batches_are_the_callers_own_unless_reused(points):
    kept = list(data.Loader(points, 2).epoch(0))
    assert [x.tolist()[0][0] for x, _ in kept] == [0.0, 4.0, 8.0, 12.0, 16.0]
    first = next(iter(data.Loader(points, 2, reuse=True)))[0]
    assert first.tolist() == [[0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_order_is_of_seed_and_epoch_alone(points, prefetch):
    a = data.Loader(points, 4, shuffle=True, seed=7, prefetch=prefetch)
    b = data.Loader(points, 4, shuffle=True, seed=7)
    assert rows_of(a, 3) == rows_of(b, 3)
    assert rows_of(a, 3) != rows_of(a, 4)
    assert rows_of(b, 3) != rows_of(data.Loader(points, 4, shuffle=True), 3)
    assert [x.tolist() for x, _ in a] == rows_of(b, 5)  # the one after 4


def test_a_run_continues_in_the_middle_of_an_epoch(points):
    loader = data.Loader(points, 3, shuffle=True, seed=1)
    whole = rows_of(loader, 2)
    loop = loader.epoch(2)
    next(loop), next(loop)
    assert loader.position == (2, 2)
    assert [x.tolist() for x, _ in loader.epoch(*loader.position)] == whole[2:]


def test_a_loop_that_another_one_ended_says_so(points):
    loader = data.Loader(points, 3)
    first = loader.epoch(0)
    next(first)
    next(loader.epoch(1))
    with pytest.raises(neap.InvalidValue, match="another"):
        next(first)


class Squares:
    """A data set of Python's."""

    def __init__(self, count=7):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return np.full((2,), index, np.float32), index * index


@pytest.mark.parametrize("prefetch", [0, 3])
def test_any_object_with_a_length_and_samples_is_a_data_set(prefetch):
    loader = data.Loader(Squares(), 3, prefetch=prefetch)
    batches = list(loader.epoch(0))
    assert [y.tolist() for _, y in batches] == [[0, 1, 4], [9, 16, 25], [36]]
    assert batches[1][0].tolist() == [[3.0, 3.0], [4.0, 4.0], [5.0, 5.0]]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_sample_that_fails_raises_what_it_raised(prefetch):
    class Fails(Squares):
        def __getitem__(self, index):
            if index == 4:
                raise KeyError("sample 4")
            return super().__getitem__(index)

    loop = data.Loader(Fails(), 3, prefetch=prefetch).epoch(0)
    next(loop)
    with pytest.raises(KeyError, match="sample 4"):
        next(loop)


@pytest.mark.parametrize("bad, error", [
    ((np.zeros(3, np.float32), 1), neap.ReadError),
    ((np.zeros(2, np.float64), 1), neap.ReadError),
    ((np.zeros(2, np.float32), 1.5), neap.ReadError),
    (np.zeros(2, np.float32), TypeError)])
def test_samples_of_another_kind_are_refused(bad, error):
    class Odd(Squares):
        def __getitem__(self, index):
            return bad if index == 1 else super().__getitem__(index)

    with pytest.raises(error):
        list(data.Loader(Odd(), 3).epoch(0))


def test_a_loader_ends_with_its_data_set_and_thread(no_leak):
    for _ in range(40):  # whose thread may want the GIL at that moment
        loader = data.Loader(Squares(100), 3, prefetch=4)
        next(iter(loader))
        del loader


def test_a_closed_loader_refuses_further_batches(points):
    loader = data.Loader(points, 2, prefetch=1)
    loop = loader.epoch(0)
    next(loop)
    loader.close()
    loader.close()
    with pytest.raises(neap.InvalidValue, match="closed"):
        next(loop)


@pytest.mark.parametrize("holder", ["", "import sys; sys.modules['x'] = loader"])
def test_python_may_end_while_a_thread_loads(holder):
    program = f'''
import numpy as np, neap
class Slow:
    def __len__(self): return 10_000
    def __getitem__(self, index): return np.full((200,), index, "f4"), index
loader = neap.data.Loader(Slow(), 64, prefetch=6)
loop = loader.epoch(0)
next(loop)
{holder}
print("end")
'''
    for _ in range(3):
        done = run_program(program)
        assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_wrong_options_are_typed_errors(points):
    with pytest.raises(neap.InvalidValue):
        data.Loader(points, 0)
    with pytest.raises(neap.InvalidValue):
        data.Loader(points, 1, prefetch=99)
    with pytest.raises(neap.ShapeError):
        data.TensorSet(np.zeros((3, 2)), np.zeros(4))
    with pytest.raises(neap.IoError, match="nowhere"):
        data.read_csv("/nowhere.csv")


def test_a_loader_refuses_to_run_inside_a_step(points):
    loader = data.Loader(points, 2)
    step = neap.compile(lambda x: x + next(iter(loader))[0].sum())
    with pytest.raises(neap.TraceError):
        step(neap.ones((2,)))


def test_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,label,b\n1,0,2\n3,1,4\n5,1,9\n")
    table = data.read_csv(str(path), target="label")
    assert table.names == ["a", "b"] and table.classes == 2
    table.standardise()
    np.testing.assert_allclose(table.features.numpy().mean(0), 0, atol=1e-6)
    (x, y), = data.Loader(table, 8).epoch(0)
    assert x.shape == (3, 2) and y.tolist() == [0, 1, 1]


def test_text(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("the quick brown fox " * 20)
    train, test = data.read_text(str(path), block=8, validation=0.2)
    vocabulary = train.vocabulary
    assert vocabulary.decode(vocabulary.encode("quick")) == b"quick"
    x, y = next(iter(data.Loader(train, 4)))
    assert x.shape == (4, 8) and x.dtype is neap.i64
    assert x.numpy()[:, 1:].tolist() == y.numpy()[:, :-1].tolist()
    assert len(test) > 0
    with pytest.raises(neap.IoError):
        vocabulary.encode("Z")


def write_idx(path, array):
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(">BBBB", 0, 0, 8, array.ndim))
        file.write(struct.pack(f">{array.ndim}i", *array.shape))
        file.write(array.tobytes())


def test_images(tmp_path):
    random = np.random.default_rng(7)
    for name, count in (("train", 20), ("t10k", 6)):
        write_idx(tmp_path / f"{name}-images-idx3-ubyte.gz",
                  random.integers(0, 256, (count, 28, 28), np.uint8))
        write_idx(tmp_path / f"{name}-labels-idx1-ubyte.gz",
                  random.integers(0, 10, (count,), np.uint8))
    train, test = data.read_mnist(str(tmp_path))
    assert (len(train), len(test), train.classes) == (20, 6, 10)
    x, y = next(iter(data.Loader(train, 20)))
    assert x.shape == (20, 28, 28)
    np.testing.assert_allclose(x.numpy().mean(), 0, atol=1e-5)
    moved = data.Augmented(train, padding=2, random_crop=True, flip=0.5, seed=3)
    loader = data.Loader(moved, 20)
    assert rows_of(loader, 0) != rows_of(loader, 1)
    assert rows_of(loader, 1) == rows_of(loader, 1)
