# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import gc
import threading

import pytest

import neap


def test_a_guard_out_of_order_says_so_and_ends_with_the_later_one():
    outer, inner = neap.NoGrad(), neap.EnableGrad()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(ValueError, match="opened after it"):
        outer.__exit__(None, None, None)
    assert neap.is_grad_enabled()
    inner.__exit__(None, None, None)
    assert neap.is_grad_enabled()  # nothing of either is left


def test_a_guard_of_another_thread_is_refused():
    guard = neap.NoGrad()
    caught = []

    def end():
        try:
            guard.__exit__(None, None, None)
        except ValueError as error:
            caught.append(str(error))

    with guard:
        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        assert not neap.is_grad_enabled()
    assert "another thread" in caught[0] and neap.is_grad_enabled()


def test_a_guard_is_for_one_block_at_a_time():
    guard = neap.NoGrad()
    with guard:
        with pytest.raises(ValueError):
            guard.__enter__()
    with guard:
        pass
    with pytest.raises(ValueError):
        guard.__exit__(None, None, None)


def test_budgets_may_end_in_any_order():
    first, second = neap.Budget("10GiB"), neap.Budget("9GiB")
    first.__enter__()
    second.__enter__()
    assert neap.memory.stats()["budget"] == 9 << 30
    first.__exit__(None, None, None)
    assert neap.memory.stats()["budget"] == 9 << 30
    second.__exit__(None, None, None)
    assert neap.memory.stats()["budget"] is None


def test_a_scope_frees_what_is_still_referred_to(no_leak):
    kept = []
    with neap.Scope("step") as scope:
        kept.append(neap.zeros((1000,)))
        result = scope.keep(kept[0] + 1)
    with pytest.raises(neap.UseAfterRelease, match="step"):
        kept[0] + 1
    assert result[0].item() == 1
    del result
    kept.clear()


def test_a_scope_frees_the_tensors_of_a_traceback():
    before = neap.memory.stats()["live"]
    try:
        with neap.Scope("step"):
            big = neap.zeros((100_000,))
            raise KeyError("mine")
    except KeyError as error:
        assert error.__traceback__ is not None
        assert neap.memory.stats()["live"] - before < 10_000
        assert big.is_released


def test_sizes_are_texts_or_numbers():
    parse = neap.memory.parse_bytes
    assert parse("1.5GiB") == 3 << 29 and parse("24 MiB") == 24 << 20
    assert parse(17) == 17 and parse("2kb") == 2000
    for text in ("", "1 XB", "MiB", "-3"):
        with pytest.raises(ValueError):
            parse(text)


def test_tables_leaks_and_growth():
    with neap.memory.TrackHandles():
        baseline = neap.memory.Baseline()
        assert baseline.leaks() == ""
        kept = neap.ones((1000,)).exp()
        assert "4 000 B" in baseline.leaks()
    assert "total" in neap.memory.table()
    growth = neap.memory.Growth(warm_up=1)
    lost = []
    for _ in range(8):
        lost.append(neap.zeros((100,)))
        growth.step()
    assert growth.has_grown() and "test_guards.py" in growth.format()
    del kept


def test_promises_about_memory():
    with neap.testing.no_leaks():
        neap.ones((10,)) + 1
        gc.collect()
    with pytest.raises(AssertionError, match="leak"):
        with neap.testing.no_leaks():
            kept = neap.ones((10,))
    del kept
