# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Domains, pages, profiles, fit curves, and what notebooks show."""

import json

import pytest

import neap
from neap import nn, notebook, optim


def trained(width=64, depth=4):
    neap.seed(7)
    layers = [layer for _ in range(depth)
              for layer in (nn.Linear(width, width), nn.Tanh())]
    net = nn.Sequential(*layers, nn.Linear(width, 3))
    sgd = optim.SGD(net, lr=1e-2)

    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        sgd.step()
        sgd.zero_grad()
        return loss

    return net, sgd, step


SPECS = (neap.spec((256, 64)), neap.spec((256,), neap.i64))


def test_a_domain_counts_what_is_asked_for_inside():
    domain = neap.memory.Domain("mine")
    live = neap.memory.stats()["live"]
    with neap.memory.UseDomain(domain):
        x = neap.ones((1000,))
        assert neap.memory.stats()["live"] >= 4000
    assert domain.stats()["live"] >= 4000
    assert neap.memory.stats()["live"] == live
    del x
    assert domain.stats()["live"] == 0


def test_a_domain_has_a_budget_of_its_own():
    process = neap.memory.recount()  # counts in every budget
    domain = neap.memory.Domain(budget=process + (64 << 20))
    with neap.memory.UseDomain(domain):
        with pytest.raises(neap.OutOfMemory):
            neap.ones((1 << 25,))
    neap.ones((1 << 25,))


def test_a_domain_outlives_its_object_with_a_tensor():
    domain = neap.memory.Domain()
    with neap.memory.UseDomain(domain):
        x = neap.arange(5)
    del domain
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_pages_of_a_domain(tmp_path):
    domain = neap.memory.Domain("eager", events=1000)
    with neap.memory.UseDomain(domain):
        x = neap.ones((500,))
        for _ in range(3):
            x = x.exp()
        neap.memory.page(tmp_path / "run.html")
        neap.memory.snapshot(tmp_path / "run.neapmem")
    assert "<html" in (tmp_path / "run.html").read_text()
    assert (tmp_path / "run.neapmem").stat().st_size > 100
    with pytest.raises(neap.IoError):
        neap.memory.page("/nowhere/run.html")


def test_a_profile_says_where_the_time_went(tmp_path):
    net, sgd, step = trained()
    step = neap.compile(step)
    x, y = neap.randn((256, 64)), neap.randint(0, 3, (256,))
    steps = sgd.step_count
    profile = step.profile(x, y, runs=3)
    assert profile.runs == 3 and profile.whole > 0
    assert any(ns > 0 for ns in profile.ns)
    assert "GFLOP/s" in str(profile)
    assert sgd.step_count == steps + 4
    step.page(tmp_path / "step.html", profile=profile)
    step.trace(tmp_path / "step.json", profile=profile)
    assert json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    with pytest.raises(neap.InvalidValue):
        step.profile(x, y, runs=0)


def test_a_fit_curve_has_every_arena_and_its_price():
    _, sgd, step = trained()
    step = neap.compile(step)
    curve = step.fit_curve(*SPECS)
    assert len(curve) > 3 and sgd.step_count == 0
    arenas = [point.arena for point in curve]
    prices = [point.extra_percent for point in curve]
    assert arenas == sorted(arenas, reverse=True) and prices == sorted(prices)
    assert curve[0].calls_again == 0 and curve[0].micro_batches == 0
    assert curve[-1].calls_again + curve[-1].micro_batches > 0
    at = curve[len(curve) // 2]
    net, _, fitted = trained()
    fitted = neap.compile(fitted, arena_limit=at.arena)
    assert fitted.plan(*SPECS).arena <= at.arena
    assert "MiB" in repr(curve[0]) or "KiB" in repr(curve[0])


def test_a_step_spills_to_a_folder_with_the_same_bits(tmp_path):
    def run(**options):
        net, sgd, step = trained(depth=8)
        step = neap.compile(step, **options)
        for i in range(3):
            neap.seed(i)
            step(neap.randn((1024, 64)), neap.randint(0, 3, (1024,)))
        return optim.state_hash(net, sgd), step.arena_bytes

    want, whole = run()
    try:
        found, arena = run(arena_limit=whole // 2, recompute=False,
                           spill=tmp_path)
    except neap.Error as error:
        pytest.skip(f"no disk to spill to: {error}")
    assert found == want and arena <= whole // 2


def test_a_plan_is_a_table_and_a_picture_in_a_notebook():
    _, _, step = trained()
    step = neap.compile(step)
    assert "not traced yet" in step._repr_html_()
    plan = step.plan(*SPECS)
    shown = plan._repr_html_()
    assert shown.startswith("<pre") and "<svg" in shown
    assert "<script" not in shown
    assert "<svg" in step._repr_html_()
    del step
    assert "<svg" not in plan._repr_html_()  # its step is gone


def test_a_module_is_a_table_of_its_parameters():
    net, _, _ = trained()
    shown = net._repr_html_()
    assert "0.weight" in shown and "16.0 KiB" in shown


def test_a_cell_says_its_peak_and_who_holds_what_it_left():
    kept = []

    def cell():
        kept.append(neap.ones((100,)).requires_grad_().exp().sum())

    text = notebook.report_of(cell)
    assert text.startswith("peak ") and "left" in text
    assert "element 0 of a list of 1" in text
    kept.clear()


class Shell:
    """As much of IPython as the magic uses."""

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magic = {(magic_kind, magic_name): function}

    def run_cell(self, body):
        exec(body, {"neap": neap})


def test_the_magic_of_notebooks(capsys):
    shell = Shell()
    notebook.load_ipython_extension(shell)
    shell.magic["cell", "neap"]("", "neap.ones((10,))")
    assert capsys.readouterr().out.startswith("peak ")
