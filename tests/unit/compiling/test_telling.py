"""What is said while kernels are compiled: only when they are, and with a time that fits the load."""

import logging
import os
import time

import pytest

from milp_trees.common.compiling import compiling
from milp_trees.common.compiling import notices as telling
from milp_trees.common.compiling.notices import forecast


@pytest.fixture
def said(caplog, monkeypatch, tmp_path):
    """The warnings; everything that lasts is worth one, and nothing is compiled already."""
    from milp_trees.common.compiling import inside

    monkeypatch.setattr(inside.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(telling, "_NOTICED", 0.0)
    monkeypatch.setattr(telling, "_told", telling._Told())
    caplog.set_level(logging.WARNING, logger="milp_trees")

    def sentences():
        time.sleep(0.1)  # the sentence comes from a thread of its own
        return [record.getMessage() for record in caplog.records]

    return sentences


def _sum():
    from milp_trees.common.compiling.kernels import kernel

    def add(a, b):
        return a + b

    return kernel(add)


def test_a_slow_block_that_compiles_nothing_says_nothing(said):
    """Reading a cache on a loaded machine is slow too."""
    with compiling("the search"):
        time.sleep(0.1)
    assert said() == []


def test_what_is_compiled_is_said_once(said):
    with compiling("the sum"):
        add = _sum()
        add(1, 2)
        add(1.0, 2.0)
    (sentence,) = said()
    assert sentence.startswith("Compiling kernels (first use on this machine, about ")
    assert sentence.endswith(" s); not counted against the time limit.")


def test_what_is_compiled_outside_of_a_block_is_said_too(said):
    _sum()(1, 2)
    assert len(said()) == 1


def test_one_process_says_it_once_whatever_it_compiles(said):
    for what in ("the sum", "the other sum"):
        with compiling(what):
            _sum()(1, 2)
    assert len(said()) == 1


def test_what_is_read_from_files_is_not_said(said, caplog):
    _sum()(1, 2)
    said()
    caplog.clear()
    with compiling("the sum"):
        assert _sum()(3, 4) == 7
    assert said() == []


def test_no_time_limit_is_charged_for_compilation(said):
    apart = time.perf_counter() - telling.run_clock()
    began = time.perf_counter()
    _sum()(1, 2)
    more = time.perf_counter() - telling.run_clock() - apart
    assert 0.001 < more <= time.perf_counter() - began


@pytest.mark.skipif(not hasattr(os, "getloadavg"), reason="this system does not tell its load")
def test_the_forecast_grows_with_the_load(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0.5, 0.5))
    assert forecast() == 7
    monkeypatch.setattr(os, "getloadavg", lambda: (8.0, 0.5, 0.5))
    assert forecast() == 28
