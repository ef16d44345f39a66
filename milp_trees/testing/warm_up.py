"""Compile ahead: methods solve tiny problems, and compiled code is kept for later processes."""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace

import numpy as np

from milp_trees.common.compiling.notices import compile_seconds
from milp_trees.common.errors import MilpTreesError, UnknownName
from milp_trees.common.limits import Limits
from milp_trees.data.dataset import Dataset
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import ByPrice, BySize, NearBest
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.testing.family_suites import suites

#: Whether costs fit into 16 bits, into 32, or into neither; each case has code of its own.
_SCALES = (1, 1000, 10**9)


@dataclass(frozen=True)
class Compiled:
    """What a method has compiled.

    Parameters
    ----------
    name : str
        Name of the method.
    problems : int
        Number of tiny problems that it solved.
    seconds : float
        Time of these solves.
    compiling : float
        Part of this time in which code was compiled; 0 if all of it was there.
    """

    name: str
    problems: int
    seconds: float
    compiling: float


def compiled_methods() -> list[str]:
    """Names of the methods that may compile: all engines, and formulations that declare it."""
    from milp_trees.mip.formulation import Formulation

    own = [
        name
        for name, cls in registry.classes("formulations").items()
        if cls.warm_up is not Formulation.warm_up  # type: ignore[attr-defined]
    ]
    return sorted([*registry.classes("methods"), *own])


def warm_up(names: Sequence[str] = (), processes: int | None = None) -> Iterator[Compiled]:
    """Compile the code of methods in several processes; yields each method at its end.

    Parameters
    ----------
    names : sequence of str, optional
        Names from `compiled_methods`; by default all.
    processes : int, optional
        By default one per core, at most one per method.

    Raises
    ------
    UnknownName
        There is no method of this name that compiles.
    """
    known = compiled_methods()
    for name in names:
        if name not in known:
            raise UnknownName(
                f"Nothing is compiled for {name!r}; the methods that compile are {', '.join(known)}."
            )
    return _compiled(list(names) or known, processes or os.cpu_count() or 1)


def _compiled(wanted: Sequence[str], processes: int) -> Iterator[Compiled]:
    """The methods, each when it is compiled."""
    workers = min(processes, len(wanted))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_silent) as pool:
        for done in as_completed([pool.submit(_compile, name) for name in wanted]):
            yield done.result()


def _silent() -> None:
    """Switch off the message of compilation, which the caller gives instead."""
    logging.getLogger("milp_trees").setLevel(logging.ERROR)


def problems_for(name: str) -> Iterator[Problem]:
    """Tiny problems of every kind, and of every question that a method answers."""
    from milp_trees.testing.sets import default_problems

    requested = registry.classes("methods")[name].questions  # type: ignore[attr-defined]
    for problem in [
        *map(_costly, _SCALES),
        *default_problems("quick").values(),
        *(problem for suite in suites() for problem in suite.tiny()),
    ]:
        yield problem
        if BySize.name in requested:
            yield replace(problem, question=BySize(4))
        if NearBest.name in requested:
            yield replace(problem, question=NearBest(relative="0.1"))
        if ByPrice.name in requested:
            yield replace(problem, question=ByPrice())


def _costly(scale: int) -> Problem:
    """A problem of depth four whose costs are multiples of a number, with leaves of three rows."""
    rng = np.random.default_rng(0)
    X, costs = rng.integers(0, 2, (60, 6)), rng.integers(0, 30, (60, 3)) * scale + 1
    return Problem(Dataset(X, values=costs), ActionCostMatrix(), Trees(4, min_samples_leaf=3))


def _compile(name: str) -> Compiled:
    """One method solves every tiny problem that it takes; runs in a process of its own."""
    began, before, solved = time.perf_counter(), compile_seconds(), 0
    if name in registry.classes("formulations"):
        registry.formulation(name).warm_up()
        return Compiled(name, 0, time.perf_counter() - began, compile_seconds() - before)
    method = registry.method(name)
    for problem in problems_for(name):
        try:
            if method.unsupported(problem) is None:
                method.run(problem, Limits(time=20))
                solved += 1
        except MilpTreesError:
            continue
    return Compiled(name, solved, time.perf_counter() - began, compile_seconds() - before)
