"""Memory limits and signals end a run of an engine with its incumbent."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from engine_limits_cases import (
    GREEDY,
    LONG,
    method_of,
    noise,
)

import milp_trees as mt
from milp_trees.cli.signals import interrupts
from milp_trees.common.limits import Limits
from milp_trees.methods import watch as watching
from milp_trees.methods.watch import Watch
from milp_trees.mip import process
from milp_trees.mip.registry import registry
from milp_trees.results.result import Limit, Status

# -- memory ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        c
        for c in LONG
        if c.split(",")[0] not in (*GREEDY, "min-cut", "enumerate-prunings") and c != "dp, wide"
    ],
)
def test_a_process_that_grows_beyond_the_limit_ends_the_run(case, monkeypatch):
    """With an incumbent, a status that claims nothing, and `memory` as the reason; the growth is
    made up here.
    """
    grown = [0]

    def resident() -> int:
        grown[0] += 2**30
        return grown[0]

    monkeypatch.setattr(watching, "_resident", resident)
    monkeypatch.setattr(watching, "MEMORY_POLL", 0.0)
    result = method_of(case).run(LONG[case](), Limits(time=30.0, memory_mb=900))
    assert result.limit is Limit.MEMORY, repr(result)
    assert result.status is Status.FEASIBLE
    assert result.seconds < 20


@pytest.mark.parametrize("name", ["flow-oct@highs", "state-flow@highs"])
def test_a_process_that_grows_while_a_model_is_built_ends_the_run(name, monkeypatch):
    """The solver's process is watched by itself; before it sees the model it is this one that
    grows.
    """
    grown = [0]

    def resident() -> int:
        grown[0] += 2**30
        return grown[0]

    monkeypatch.setattr(watching, "_resident", resident)
    monkeypatch.setattr(watching, "MEMORY_POLL", 0.0)
    problem = mt.Problem(noise(60, 8), mt.Accuracy(), mt.Trees(2))
    start = mt.solve(problem, "cart").tree
    result = registry.method(name).run(problem, Limits(time=60.0, memory_mb=900), start)
    assert result.limit is Limit.MEMORY, repr(result)
    assert result.status is Status.FEASIBLE
    assert "memory_mb=" in result.message


@pytest.mark.slow
def test_memory_is_this_process_and_counted_from_the_beginning():
    watch = Watch(Limits(memory_mb=100))
    assert watch.over() is None
    held = np.ones(40 * 2**20)  # 320 MB, written to
    time.sleep(watching.MEMORY_POLL * 1.5)
    assert watch.over() is Limit.MEMORY
    assert held[-1] == 1
    assert Watch(Limits(memory_mb=100)).over() is None


# -- signals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    ["dp", "dp, leaves", "dp-sorted", "dp-oracle", "near-best", "pareto", "enumerate-counts"],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
# The signal may come in the middle of a finaliser or of a callback of the garbage collector: Python
# then prints and forgets its exception.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signals_end_a_run_with_its_incumbent(case, number):
    """Also while compiled code runs; SIGTERM makes another exit code of it."""
    method, problem = method_of(case), LONG[case]()
    method.run(problem, Limits(time=0.05))
    with interrupts() as code:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), number))
        timer.start()
        result = method.run(problem, Limits(time=60.0))
        timer.join()
        sys.exit(130)
    assert result.limit is Limit.INTERRUPTED
    assert result.tree is not None
    assert result.seconds < 20
    assert code() == (143 if number == signal.SIGTERM else 130)


@pytest.mark.slow
def test_sigterm_ends_a_solver_process_with_the_best_so_far(monkeypatch):
    """The signal comes when the solver has had the model for half a second."""
    problem = mt.Problem(noise(200, 20), mt.Accuracy(), mt.Trees(4))
    method = registry.method("flow-oct@highs")
    start = mt.solve(problem, "cart").tree
    method.warm_up()
    begin = process.Worker.begin
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))

    def begin_and_wait(self, *given):
        begin(self, *given)
        timer.start()

    monkeypatch.setattr(process.Worker, "begin", begin_and_wait)
    with interrupts() as code:
        result = method.run(problem, Limits(time=120.0), start)
        timer.join()
        sys.exit(130)
    assert result.limit is Limit.INTERRUPTED, repr(result)
    assert result.tree is not None
    assert code() == 143


def test_exit_codes_other_than_interrupted_are_left_alone():
    before = signal.getsignal(signal.SIGTERM)
    with interrupts() as code:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        except KeyboardInterrupt:
            sys.exit(4)
    assert code() == 4
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_the_program_loads_gives_one_sentence(number, code):
    """From its first line on, whatever is being imported: the signal comes with the import of
    `typer`.
    """
    program = f"""
import importlib.abc, os, signal, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.{number})
sys.meta_path.insert(0, Finder())
from milp_trees.__main__ import main
main()
"""
    found = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, timeout=60
    )
    assert found.returncode == code
    assert found.stderr == "Error: Interrupted before there was an answer.\n"
