"""Checks of stops, threads, and of what the capabilities of a solver claim."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from scipy import sparse

from milp_trees.common.limits import Limit, Limits
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.runner import STOPPING, run
from milp_trees.mip.solver import Job
from milp_trees.results.result import Status
from milp_trees.testing.matrices import (
    INFINITY,
    KNAPSACKS_VALUE,
    assignment,
    knapsacks,
    least_value,
    market_split,
    set_cover,
)
from milp_trees.testing.solver_claims import ENOUGH, check_claims, demand, near


class Rows:
    """Finds the rows of a matrix that a point violates."""

    def __init__(self, A: sparse.csr_matrix, lower: np.ndarray) -> None:
        self.A, self.lower = A, lower

    def separate(
        self, x: np.ndarray, integral: bool
    ) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
        wrong = np.flatnonzero(self.A @ x < self.lower - 1e-6)
        return self.A[wrong], self.lower[wrong], np.full(len(wrong), INFINITY)


def ends_when_told(name: str) -> None:
    """Once `stop` says so, it ends with what it has, and is not ended from outside."""
    for _ in range(2):  # a busy machine may hold up one
        stop = partial(_passed, time.perf_counter() + 0.6)
        answer = run(name, Job(knapsacks(), Limits(time=30)), stop=stop)
        ended = "ended from outside" not in answer.message and answer.seconds < 0.6 + STOPPING
        if ended:
            break
    check_claims(knapsacks(), answer)
    demand(answer.limit is Limit.INTERRUPTED, f"It was to stop: {answer.status} {answer.limit}.")
    demand(ended, f"`stop` is ignored: it ended after {answer.seconds:.1f} s. {answer.message}")
    best = min((e.incumbent for e in answer.events if e.incumbent is not None), default=INFINITY)
    value = INFINITY if answer.objective is None else answer.objective
    demand(best == INFINITY or value <= best + 1e-6 * abs(best), f"It had {best}, not {value}.")


def _passed(at: float) -> bool:
    """Whether a reading of the clock has passed."""
    return time.perf_counter() > at


def two_threads(name: str) -> None:
    """The optimum is the same, whatever it does with a second thread."""
    m = knapsacks(18, 3)
    answer = check_claims(m, run(name, Job(m, Limits(time=20, threads=2))))
    demand(near(answer.objective, least_value(m)), f"{answer.objective} is not the optimum.")


def gaps(name: str) -> None:
    """Within an allowed gap a solution is optimal, and its bound says how far the proof went.

    A proof of the optimum takes hours, and one within the gaps a moment.
    """
    for limits in (Limits(time=10, rel_gap=0.2, abs_gap=0.0), Limits(time=10, abs_gap=13000.0)):
        answer = check_claims(knapsacks(), run(name, Job(knapsacks(), limits)))
        allowed = f"the gaps {limits.rel_gap:g} and {limits.abs_gap:g}"
        ended = (answer.status, answer.limit) == (Status.OPTIMAL, None)
        demand(ended, f"With {allowed} it is {answer.status} {answer.limit}. {answer.message}")
        honest = answer.bound is not None and answer.bound <= KNAPSACKS_VALUE + 1e-3
        demand(honest, f"With {allowed} the bound {answer.bound} is above {KNAPSACKS_VALUE}.")


def start(name: str) -> None:
    """A feasible start is accepted where that is known, an infeasible one is not."""
    m = set_cover(5)
    best = check_claims(m, run(name, Job(m, ENOUGH)))
    demand(best.start_accepted is None, "Without a start nothing is said of one.")
    seen, ones = set(), np.ones(m.n_variables)
    for point in (ones if best.x is None else m.rounded(best.x), ones, np.zeros(m.n_variables)):
        answer = check_claims(m, run(name, Job(m, ENOUGH, start=point)))
        demand(near(answer.objective, best.objective), f"With a start it is {answer.objective}.")
        wrong = answer.start_accepted is (m.violation(point) > 1e-6)
        demand(
            not wrong,
            f"A start that violates the model by {m.violation(point):g} is accepted: {answer.start_accepted}.",
        )
        seen.add(answer.start_accepted)
    demand(True in seen, "No start is said to be accepted.")


def held_start(name: str) -> None:
    """At a limit the incumbent is not worse than an accepted start, where no other is found."""
    m, point = market_split(), np.arange(50) % 2.0
    m.row_lower = m.row_upper = m.A @ point
    answer = check_claims(m, run(name, Job(m, Limits(time=0.5), start=point)))
    demand(answer.start_accepted is not False, "It is feasible and was not accepted.")
    if answer.start_accepted:
        held = answer.objective is not None and answer.objective <= m.objective(point) + 1e-6
        demand(held or (answer.x is None and answer.message), f"It is lost: {answer.objective}.")


def points_on_the_way(name: str) -> None:
    """A point that comes during the search is taken where it finds none, and is not lost."""
    m, point = market_split(), np.arange(50) % 2.0
    m.row_lower = m.row_upper = m.A @ point
    sent: list[float] = []

    def better(x: np.ndarray) -> np.ndarray:
        demand(x.shape == m.c.shape, f"A point of {x.shape} columns was sent.")
        sent.append(time.perf_counter())
        return point

    def stop() -> bool:
        return bool(sent) and time.perf_counter() > sent[0] + 1.0

    answer = check_claims(m, run(name, Job(m, Limits(time=20)), stop=stop, better=better))
    demand(bool(sent), "It sent no point.")
    held = answer.objective is not None and answer.objective <= m.objective(point) + 1e-6
    demand(held, f"It got a point of {m.objective(point):g}, and returns {answer.objective}.")


def root_bound(name: str) -> None:
    """It lies between relaxation and optimum, also where presolve solves the program."""
    m = knapsacks(18, 3)
    relaxation, answer = run(name, Job(m, ENOUGH, relax=True)), run(name, Job(m, ENOUGH))
    demand(answer.status is Status.OPTIMAL and answer.nodes, f"It is {answer.status}.")
    low, high = (relaxation.bound or -INFINITY) - 1e-3, (answer.objective or 0.0) + 1e-6
    between = answer.root_bound is not None and low <= answer.root_bound <= high
    demand(between, f"{answer.root_bound} is not between {low} and {high}.")
    small = check_claims(assignment(2), run(name, Job(assignment(2), ENOUGH)))
    demand(near(small.root_bound, small.objective, 1e-3), f"{small.root_bound} at the root.")


def repeated_search(name: str) -> None:
    """With the same seed the search is the same."""
    job = Job(knapsacks(25, 4), Limits(time=20, seed=3))
    first, second = (run(name, job) for _ in range(2))
    demand(first.status is Status.OPTIMAL and first.x is not None, f"Not optimal: {first}.")
    same = (first.nodes, first.root_bound) == (second.nodes, second.root_bound)
    demand(same and np.array_equal(first.x, second.x), f"{first} and {second}")  # type: ignore[arg-type]


def lazy_rows(name: str) -> None:
    """A program with two of its rows, the others found on the way, has the whole one's optimum."""
    m = set_cover(7, 14, 30)
    whole = (m.lower, m.upper, m.integer)
    part = MatrixModel("part", m.c, m.offset, m.A[:2], m.row_lower[:2], m.row_upper[:2], *whole)
    rows = Rows(m.A.tocsr(), m.row_lower)
    job = Job(part, ENOUGH, start=np.ones(m.n_variables), lazy=rows)
    answer = check_claims(m, run(name, job))
    demand(answer.status is Status.OPTIMAL, f"Not optimal: {answer}.")
    demand(near(answer.objective, least_value(m)), f"{answer.objective} is not the optimum.")
    demand(answer.cuts > 0 and answer.start_accepted is not False, f"{answer.cuts} rows found.")
    cut_off = run(name, Job(part, ENOUGH, start=np.zeros(m.n_variables), lazy=rows))
    demand(not cut_off.start_accepted, "It accepts a start that the missing rows cut off.")


def rows_of_relaxations(name: str) -> None:
    """A relaxation that gets the rows that it violates has the value of the whole one."""
    m = set_cover(7, 14, 30)
    whole = (m.lower, m.upper, m.integer)
    part = MatrixModel("part", m.c, m.offset, m.A[:2], m.row_lower[:2], m.row_upper[:2], *whole)
    rows = Rows(m.A.tocsr(), m.row_lower)
    answer = run(name, Job(part, ENOUGH, lazy=rows, relax=True))
    value = run(name, Job(m, ENOUGH, relax=True)).objective
    demand(answer.status is Status.OPTIMAL, f"Not optimal: {answer}.")
    demand(near(answer.objective, value), f"{answer.objective} is not {value}.")
    demand(near(answer.bound, value), f"The bound is {answer.bound}, not {value}.")
    found = answer.rows
    demand(found is not None and len(found.lower) == answer.cuts > 0, "It has not the rows.")
    assert found is not None
    again = run(name, Job(part.with_rows(*found), ENOUGH, relax=True)).objective
    demand(near(again, value), f"With its rows the relaxation has the value {again}.")
    ended = run(name, Job(part, Limits(time=20), lazy=rows, relax=True), stop=lambda: True)
    # So small a relaxation may be solved before the child process is told to stop.
    told = ended.limit is Limit.INTERRUPTED or near(ended.objective, value)
    demand(told, f"It was to stop, or to be right: {ended}.")
