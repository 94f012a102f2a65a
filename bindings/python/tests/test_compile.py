# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import collections
import dataclasses
import gc
import math
import threading
import types
import weakref

import numpy as np
import pytest

import neap
from neap import nn, optim

FACTOR = 2.0
GAIN = 1.0


def make(lr=1e-2, width=16):
    neap.seed(7)
    net = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))
    return net, optim.AdamW(net.parameters(), lr=lr)


def training(net, adam):
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss
    return step


def batches(count=6):
    neap.seed(1)
    return [(neap.randn((8, 4)), neap.randint(0, 3, (8,)))
            for _ in range(count)]


def test_a_compiled_step_has_the_bits_of_the_plain_one():
    data = batches()
    plain_net, plain_adam = make()
    plain = training(plain_net, plain_adam)
    want = [plain(x, y).item() for x, y in data]
    net, adam = make()
    step = neap.compile(training(net, adam))
    assert [step(x, y).item() for x, y in data] == want
    neap.seed(0)
    expected = optim.state_hash(plain_net, plain_adam)
    assert optim.state_hash(net, adam) == expected


def test_it_is_traced_twice_and_runs_no_python_after():
    calls = []
    net, adam = make()
    inner = training(net, adam)

    @neap.compile
    def step(x, y):
        calls.append(1)
        return inner(x, y)

    for x, y in batches():
        step(x, y)
    assert len(calls) == step.traces <= 2


def test_a_settled_step_allocates_nothing():
    net, adam = make()
    step = neap.compile(training(net, adam))
    data = batches()
    for x, y in data:
        step(x, y)
    with neap.testing.no_allocations():
        for x, y in data:
            step(x, y)


def test_the_plan_is_known_before_the_first_step():
    net, adam = make()
    step = neap.compile(training(net, adam))
    plan = step.plan(neap.spec((8, 4)), neap.spec((8,), neap.i64))
    assert plan.peak > net.parameter_bytes() and plan.arena > 0
    assert "arena" in str(plan) and plan.to_json().startswith("{")
    assert adam.step_count == 0
    assert "test_compile.py" in plan.to_json()


def test_a_page_shows_a_step_that_never_ran(tmp_path):
    net, adam = make()
    step = neap.compile(training(net, adam))
    with pytest.raises(ValueError):
        step.page(tmp_path / "early.html")
    step.prepare(neap.spec((8, 4)), neap.spec((8,), neap.i64))
    step.page(tmp_path / "step.html")
    step.snapshot(tmp_path / "step.neapmem")
    assert "test_compile.py" in (tmp_path / "step.html").read_text()
    assert (tmp_path / "step.neapmem").stat().st_size > 100
    with pytest.raises(OSError):
        step.page("/nowhere/step.html")


def test_arrays_numbers_and_structures_are_arguments():
    @dataclasses.dataclass
    class Batch:
        x: object
        scale: float

    step = neap.compile(lambda batch, extra, flag=True: {
        "sum": batch.x * batch.scale + extra[0]["y"], "flag": flag})
    a = np.ones(3, np.float32)
    out = step(Batch(a, 3.0), [{"y": a}])
    assert out["sum"].tolist() == [4, 4, 4] and out["flag"] is True
    assert step(Batch(a, 5.0), [{"y": a}])["sum"].tolist() == [6, 6, 6]
    assert step(Batch(a, 5.0), [{"y": a}], flag=False)["flag"] is False
    with pytest.raises(TypeError):
        step(Batch(object(), 1.0), [{"y": a}])


def test_a_branch_on_a_tensor_is_refused_at_its_line():
    @neap.compile
    def step(x):
        if x.sum() > 0:
            return x
        return x + 1

    with pytest.raises(neap.TraceError, match=r"test_compile.py:\d+"):
        step(neap.ones((2,)))


def test_a_users_exception_comes_out_and_nothing_has_changed():
    class Own(Exception):
        pass

    net, adam = make()
    before = [p.tolist() for p in net.parameters()]

    @neap.compile
    def step(x, y):
        neap.cross_entropy(net(x), y).backward()
        adam.step()
        raise Own("mine")

    with pytest.raises(Own, match="mine"):
        step(*batches()[0])
    assert [p.tolist() for p in net.parameters()] == before
    assert all(p.grad is None for p in net.parameters())


def test_a_tensor_that_outlives_the_step_is_refused_at_its_line():
    kept = []

    @neap.compile
    def step(x):
        kept.append(x * 2)
        return x

    with pytest.raises(neap.TraceError, match="test_compile.py:.*outlives"):
        step(neap.ones((2,)))
    assert "traced" in repr(kept[0])


def test_a_tensor_in_a_cycle_outlives_no_step():
    @neap.compile
    def step(x):
        cycle = [x * 2]
        cycle.append(cycle)
        return cycle[0] + 1

    assert step(neap.ones((2,))).tolist() == [3, 3]


def test_cycles_of_before_do_not_end_in_a_trace():
    cycle = [neap.ones((2,))]
    cycle.append(cycle)
    del cycle
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.set_threshold(1)
    try:
        step = neap.compile(lambda x: [x + number for number in range(50)])
        assert step(neap.ones((1,)))[2].item() == 3
        assert gc.isenabled() and gc.get_freeze_count() <= frozen
    finally:
        gc.set_threshold(*threshold)


def test_a_late_result_says_so():
    step = neap.compile(lambda x: x * 2)
    first = step(neap.ones((2,)))
    second = step(neap.ones((2,)))
    with pytest.raises(neap.UseAfterRelease):
        first.item()
    assert second.tolist() == [2, 2]


def test_changed_numbers_are_noticed():
    global FACTOR
    local, net = 3.0, nn.Sequential(nn.ReLU())
    net.gain = 1.0

    @neap.compile
    def step(x):
        return net(x) * FACTOR * local * net.gain

    x = neap.ones((1,))
    assert step(x).item() == 6
    try:
        FACTOR = 5.0
        assert step(x).item() == 15
        local = 1.0
        assert step(x).item() == 5
        net.gain = 2.0
        assert step(x).item() == 10
        FACTOR = math.nan
        assert math.isnan(step(x).item())
    finally:
        FACTOR = 2.0
    net.gain, local = 1.0, 3.0
    traces = step.traces
    assert step(x).item() == 6 and step.traces == traces


def test_a_forwards_globals_are_guarded():
    class Scale(nn.Module):
        def forward(self, x):
            return x * GAIN

    global GAIN
    net, x = Scale(), neap.ones((1,))
    step = neap.compile(lambda x: net(x))
    assert step(x).item() == 1
    GAIN = 4.0
    try:
        assert step(x).item() == 4
    finally:
        GAIN = 1.0


def test_a_count_of_calls_does_not_trace_anew():
    count, net = 0, nn.Sequential(nn.ReLU())
    net.calls = 0

    @neap.compile
    def step(x):
        nonlocal count
        count += 1
        net.calls += 1
        return net(x) * 2

    with pytest.warns(RuntimeWarning, match="changes count, net.calls:"):
        step(neap.ones((1,)))
    for _ in range(5):
        step(neap.ones((1,)))
    assert step.traces == count == net.calls == 1


def test_a_container_that_the_step_changes_is_refused():
    @dataclasses.dataclass
    class State:
        h: neap.Tensor

    def assign(state, x):
        state.h = x

    x = neap.ones((1,))
    for state, change in (
            ({"h": x}, lambda state, x: state.update(h=x * 2)),
            ({"h": x}, lambda state, x: state.update(other=x)),
            ([x], lambda state, x: state.append(x)),
            (State(x), assign)):
        def plain(state, x):
            change(state, x)
            return x * 2

        step = neap.compile(plain)
        with pytest.raises(neap.TraceError, match="return the new value"):
            step(state, x)


def test_containers_come_as_they_are():
    @dataclasses.dataclass(frozen=True)
    class Pair:
        a: neap.Tensor
        b: neap.Tensor
        made: list = dataclasses.field(default_factory=list, init=False)

        def __post_init__(self):
            self.made.append(neap.ones((1,)))

    @dataclasses.dataclass
    class More:
        a: neap.Tensor

        def __post_init__(self):
            self.twice = 2

    x = neap.ones((1,))
    step = neap.compile(lambda p: (p.a + p.b + p.made[0], len(p.made)) [0])
    assert step(Pair(x, x)).item() == 3
    with pytest.raises(TypeError, match="also has twice"):
        step(More(x))
    ordered = collections.OrderedDict(a=x)
    assert neap.compile(lambda d: d["a"] if isinstance(
        d, collections.OrderedDict) else -d["a"])(ordered).item() == 1
    with pytest.raises(TypeError, match="defaultdict"):
        step(collections.defaultdict(list, a=x))
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        step(endless)


def test_verify_finds_what_guards_do_not_see():
    box = np.array([2.0])
    step = neap.compile(lambda x: x * float(box[0]))
    checked = neap.compile(lambda x: x * float(box[0]), verify=2)
    x = neap.ones((1,))
    assert step(x).item() == checked(x).item() == 2
    box[0] = 3.0
    assert step(x).item() == 2  # a constant of the first call
    with pytest.raises(neap.TraceError):
        for _ in range(4):
            checked(x)
    assert checked(x).item() == 3


def test_a_mode_is_noticed():
    net = nn.Sequential(nn.Dropout(0.5))
    step = neap.compile(lambda x: net(x))
    x = neap.ones((100,))
    assert step(x).tolist() != x.tolist()
    net.eval()
    assert step(x).tolist() == x.tolist()


@pytest.mark.parametrize("way", ["reset", "del"])
def test_a_step_ends_without_the_collector(way):
    before = neap.memory.stats()["live"]
    gc.collect()
    gc.disable()
    try:
        step = neap.compile(lambda x: (x * 2, {"sum": x.sum()}))
        x = neap.ones((100, 100))
        step(x)
        with_arena = neap.memory.stats()["live"]
        if way == "reset":
            step.reset()
        else:
            del step
        assert with_arena - neap.memory.stats()["live"] > 40_000
        del x
        step = None
        assert neap.memory.stats()["live"] == before
    finally:
        gc.enable()


def test_a_step_keeps_the_optimizer_that_its_programs_refer_to():
    net, adam = make()
    holder, name = types.SimpleNamespace(adam=adam), "adam"

    @neap.compile
    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        optimizer = getattr(holder, name)  # guards do not see it
        optimizer.step()
        optimizer.zero_grad()
        return loss

    data = batches()
    for x, y in data:
        step(x, y)
    alive = weakref.ref(adam) if hasattr(type(adam), "__weakref__") else None
    del adam, holder.adam
    gc.collect()
    for x, y in data:
        step(x, y)
    assert alive is None or alive() is not None
    step.reset()


def test_a_budget_makes_a_step_fit():
    def make_deep():
        net = nn.Sequential(*[layer for _ in range(6) for layer in
                              (nn.Linear(4, 4), nn.ReLU(), nn.Tanh())])
        return net, optim.SGD(net, lr=1e-2)

    net, adam = make_deep()
    x, y = neap.randn((4096, 4)), neap.randint(0, 3, (4096,))
    free = neap.compile(training(net, adam))
    free(x, y)
    whole = free.plan().arena
    net, adam = make_deep()
    fitted = neap.compile(training(net, adam), arena_limit=whole * 3 // 4)
    fitted(x, y)
    assert fitted.plan().arena <= whole * 3 // 4


def test_shards_cut_the_batch():
    data = batches()

    def losses(**options):
        net, adam = make()
        step = neap.compile(training(net, adam), **options)
        return [step(x, y).item() for x, y in data]

    whole, parts = losses(), losses(shards=4)
    assert parts == pytest.approx(whole, rel=1e-5)
    assert losses(shards=4) == parts
    with pytest.raises(neap.InvalidValue, match="shards"):
        neap.compile(training(*make()), shards=0)(*data[0])


def test_nested_steps_are_inlined():
    inner = neap.compile(lambda x: x * 2)
    outer = neap.compile(lambda x: inner(x) + 1)
    assert outer(neap.ones((2,))).tolist() == [3, 3]


def test_a_step_in_a_cycle_is_collected(no_leak):
    class Trainer:
        def __init__(self):
            self.net = nn.Linear(4, 4)
            self.step = neap.compile(self.run)

        def run(self, x):
            return self.net(x)

    trainer = Trainer()
    trainer.step(neap.ones((2, 4)))
    alive = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert alive() is None


def test_results_of_another_structure_are_refused():
    flip = [0]

    @neap.compile
    def step(x):
        flip[0] += 1
        return x if flip[0] == 1 else (x, x)

    with pytest.warns(RuntimeWarning, match="the step changes flip"):
        step(neap.ones((2,)))
    with pytest.raises(neap.TraceError, match="structure"):
        step(neap.ones((3,)))


def test_other_threads_run_while_a_step_does():
    x = neap.randn((512, 512))

    @neap.compile
    def step(x):
        for _ in range(20):
            x = (x @ x).tanh()
        return x.sum()

    step(x)
    running = threading.Thread(target=lambda: step(x))
    before = step(x).item()
    running.start()
    count = 0
    while running.is_alive():
        count += 1
    running.join()
    assert count > 10  # of a loop that would stand still
    assert step(x).item() == before
