"""What is said while kernels are compiled: only when they are, and with a time that fits the load."""

import logging
import os
import time

import pytest

from milp_trees import compiling as module
from milp_trees.compiling import compiling, forecast


@pytest.fixture
def said(caplog, monkeypatch):
    """The warnings; everything that lasts is worth one."""
    monkeypatch.setattr(module, "_NOTICED", 0.0)
    caplog.set_level(logging.WARNING, logger="milp_trees")
    return lambda: [record.getMessage() for record in caplog.records]


def test_a_slow_block_that_compiles_nothing_says_nothing(said):
    """Reading a cache on a loaded machine is slow too."""
    with compiling("the search"):
        time.sleep(0.1)
    assert said() == []


def test_what_numba_compiles_is_said_once(said):
    from numba import njit

    def add(a, b):
        return a + b

    with compiling("the sum"):
        njit(add)(1, 2)
        njit(add)(1.0, 2.0)
        time.sleep(0.1)  # the sentence comes from a thread of its own
    (sentence,) = said()
    assert sentence.startswith("Compiling the sum for this machine, once; this takes 5 to 60 s")


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="this system does not tell its load")
def test_the_forecast_grows_with_the_load(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0.5, 0.5))
    assert forecast() == "this takes 5 to 60 s where a core is free"
    monkeypatch.setattr(os, "getloadavg", lambda: (8.0, 0.5, 0.5))
    assert forecast().endswith("here 8 processes want 2 cores, so it may take up to 300 s")
