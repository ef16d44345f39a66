"""Python's search for garbage pauses while much is imported, and goes on as before."""

import gc

import pytest

from milp_trees.__main__ import collect_rarely
from milp_trees.common.compiling.pausing import collector_paused


def test_the_search_for_garbage_pauses_and_goes_on_even_after_an_error():
    @collector_paused()
    def broken():
        assert not gc.isenabled()
        raise ValueError("broken")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="broken"):
        broken()
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_command_searches_late_at_first_and_then_as_often_as_before():
    """Models that a long command makes and drops must not add up."""
    before, callbacks = gc.get_threshold(), list(gc.callbacks)
    try:
        collect_rarely()
        assert gc.get_threshold()[0] == 500_000
        gc.collect()
        assert gc.get_threshold() == (50_000, 20, 20)
        assert gc.callbacks == callbacks
    finally:
        gc.set_threshold(*before)
