# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Leak reports that end in Python names."""

import sys

import neap

history = []


class Run:
    pass


def leaks_of(make):
    """The report on what make() keeps."""
    with neap.memory.TrackHandles():
        before = neap.memory.Baseline()
        kept = make()
        text = before.leaks()
        del kept
    return text


def loss():
    return (neap.ones((100,)).requires_grad_() * 2).exp().sum()


def test_a_list_of_a_module():
    def make():
        history.append(loss())

    try:
        text = leaks_of(make)
    finally:
        history.clear()
    assert ("<- element 0 of a list of 1, `history` in "
            f"{__name__}; keep its .item() instead") in text
    assert "1 handle of the 'reshape' made at" in text


def test_a_variable_of_a_function_that_runs():
    text = leaks_of(loss)
    assert "<- `kept` of leaks_of (" in text
    assert "in a dict" not in text and "of a list" not in text  # the look's own


def test_an_attribute():
    def make():
        run = Run()
        run.best = loss()
        return run

    text = leaks_of(make)
    assert "attribute `best` of a Run, `kept` of leaks_of (" in text


def test_a_closure():
    def make():
        value = loss()
        return lambda: value

    assert "a variable of a closure of " in leaks_of(make)


def test_a_generator():
    def make():
        def numbers():
            value = loss()
            yield 1
            yield value

        run = numbers()
        next(run)
        return run

    assert "numbers" in leaks_of(make)


def test_a_traceback():
    def fail():
        value = loss()
        raise KeyError(value.ndim)

    def make():
        try:
            fail()
        except KeyError as error:
            return error

    text = leaks_of(make)
    assert "`value` of " in text and "a traceback keeps it" in text


def test_a_dict_and_a_set_of_a_local():
    assert "the value of 'loss' in a dict" in leaks_of(lambda: {"loss": loss()})
    assert "an element of a set" in leaks_of(lambda: {loss()})


def test_growth_names_holders_too():
    kept = []
    with neap.memory.TrackHandles():
        growth = neap.memory.Growth()
        for _ in range(10):
            kept.append(loss())
            growth.step()
        text = growth.format()
    assert "of a list of 10" in text and "`kept` of " in text
    del kept


def test_the_notebooks_last_result():
    main = sys.modules["__main__"]
    main._ = None

    def make():
        main._ = loss()

    try:
        text = leaks_of(make)
    finally:
        del main._
    assert "`_` in __main__ (the notebook's last result)" in text
