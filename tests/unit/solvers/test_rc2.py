"""RC2: what becomes of rows, and what it refuses. What every solver must keep is in
`tests/conformance/test_solvers.py`.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pysat", reason="python-sat is not installed")
pytest.importorskip("pindakaas", reason="pindakaas is not installed")

from milp_trees.solvers._clauses import COUNTED, clauses_of

from milp_trees import Limits
from milp_trees.common.registering import plugins
from milp_trees.mip.registry import registry
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.results.result import Limit, Status
from milp_trees.testing.matrices import INFINITY, assignment, knapsacks, least_value, model


def feasible(m):
    """All 0/1 points of a program that satisfy it."""
    points = np.array(list(itertools.product((0.0, 1.0), repeat=m.n_variables)))
    activity = points @ m.A.toarray().T
    inside = ((activity >= m.row_lower) & (activity <= m.row_upper)).all(axis=1)
    return points[inside & ((points >= m.lower) & (points <= m.upper)).all(axis=1)]


def models(clauses):
    """All points of which the clauses have a model."""
    from pysat.solvers import Glucose4

    n = int((clauses.variable > 0).sum())
    with Glucose4(bootstrap_with=clauses.hard) as solver:
        return {
            tuple(clauses.point(list(signs)).tolist())
            for signs in itertools.product(*((-v, v) for v in range(1, n + 1)))
            if solver.solve(assumptions=list(signs))
        }


def random_row(rng):
    """A row with a right side that a random point meets or nearly meets."""
    n, big = int(rng.integers(1, 9)), int(rng.choice([1, 2, 7, 1000]))
    a = rng.integers(-big, big + 1, n)
    side = float(a @ rng.integers(0, 2, n) + rng.integers(-1, 2))
    lower, upper = ((side, INFINITY), (-INFINITY, side), (side, side), (side, side + big))[
        rng.integers(4)
    ]
    low = np.zeros(n)
    low[0] = rng.integers(0, 2)
    return model(rng.integers(-9, 10, n), [a], [lower], [upper], low=low)


@pytest.mark.parametrize("seed", range(300))
def test_the_clauses_of_a_row_have_its_points(seed):
    m = random_row(np.random.default_rng(seed))
    assert models(clauses_of(m, lambda: None)) == {tuple(x) for x in feasible(m).tolist()}


def test_a_soft_literal_costs_what_its_column_costs():
    m = model([3, -2, 0, 5], [[0, 0, 0, 0]], [0], [0], low=[0, 0, 0, 1])
    clauses = clauses_of(m, lambda: None)
    assert clauses.soft == {-1: 3, 2: 2}
    for x in feasible(m):
        broken = set(clauses.soft) - set(clauses.literals(x))
        assert clauses.constant + sum(clauses.soft[b] for b in broken) == m.objective(x)


def test_rows_of_formulations_become_clauses():
    """An implication, a conservation of flow, and a big-M over a set need no further variables."""
    rows = [[-1, 1, 1, 0, 0], [1, -1, -1, -1, 0], [3, 0, 1, 1, 1]]
    m = model([0] * 5, rows, [0, 0, -INFINITY], [INFINITY, 0, 3])
    clauses = clauses_of(m, lambda: None)
    assert clauses.top == 5
    assert sorted(map(sorted, clauses.hard))[:3] == [[-5, -1], [-4, -3], [-4, -2]]


def test_a_long_row_with_large_weights_is_added_up_in_binary():
    rng = np.random.default_rng(0)
    a = rng.integers(1000, 5000, 14)
    m = model(-rng.integers(1, 30, 14), [a], [-INFINITY], [float(a.sum() // 2)])
    assert len(a) * a.sum() // 2 > COUNTED
    assert len(clauses_of(m, lambda: None).hard) < 2_000
    answer = run("rc2", Job(m, Limits(time=60)))
    assert (answer.status, answer.objective) == (Status.OPTIMAL, least_value(m))


def test_many_literals_of_weight_one_are_counted():
    m = model(range(1, 31), [[1] * 30], [11], [INFINITY])
    assert run("rc2", Job(m, Limits(time=60))).objective == 66.0


def test_it_says_what_it_cannot_take():
    rc2 = registry.solver("rc2")
    assert rc2.unsupported(model([1, 1], [[1, 1]], [1], [2])) is None
    flows = model([1, 1], [[1, 1]], [1], [2], integer=[True, False])
    assert "1 continuous" in rc2.unsupported(flows)
    assert rc2.unsupported(replace(flows, implied_integer=True)) is None
    assert "two values only" in rc2.unsupported(model([1, 1], [[1, 1]], [1], [2], up=[1, 2]))
    assert "fractional" in rc2.unsupported(model([0.5], [[1]], [1], [2]))
    assert (
        run("rc2", Job(model([1], [[1]], [0], [3], up=[3]), Limits())).status is Status.UNSUPPORTED
    )


def test_columns_between_other_whole_numbers_are_taken():
    m = model([2, -3], [[1, 1]], [-INFINITY], [8], low=[-4, 7], up=[-3, 8], offset=0.5)
    answer = run("rc2", Job(m, Limits(time=20)))
    assert (answer.status, answer.objective, answer.x.tolist()) == (
        Status.OPTIMAL,
        -31.5,
        [-4.0, 8.0],
    )


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "g3"},
        {"solver": "m22", "minz": False},
        {"blo": "full", "exhaust": True},
        {"adapt": True, "trim": 3},
    ],
)
def test_options_change_no_optimum(options):
    rng = np.random.default_rng(4)
    A = rng.random((15, 12)) < 0.25
    A[np.arange(15), rng.integers(0, 12, 15)] = True
    m = model(rng.integers(-4, 20, 12), A, np.ones(15), np.full(15, 3.0))
    answer = run("rc2", Job(m, Limits(time=60, abs_gap=0.0), options=options))
    value = least_value(m)
    assert (answer.status, answer.objective, answer.bound) == (Status.OPTIMAL, value, value)


def test_a_core_raises_the_bound():
    """Of 25 columns one per row and column is needed: every core costs something."""
    m = assignment(5)
    answer = run("rc2", Job(m, Limits(time=60, abs_gap=0.0)))
    assert answer.bound == answer.objective == run("highs", Job(m, Limits(time=20))).objective
    bounds = [e.bound for e in answer.events if e.bound is not None]
    assert (bounds[0], len(bounds) > 2) == (7.0, True)


def test_encoding_ends_at_the_time_limit(monkeypatch):
    """Rows are written in Python; the clock is looked at before each."""
    looked = []

    def ended():
        looked.append(1)
        if len(looked) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        clauses_of(knapsacks(), ended)


def test_without_python_sat_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = plugins.get("solvers", "rc2")().availability()
    assert not found.found
    assert "pip install 'milp-trees[maxsat]'" in found.reason


def test_an_ended_search_keeps_the_best_point():
    answer = run("rc2", Job(knapsacks(), Limits(time=4), start=np.zeros(150)))
    assert (answer.limit, answer.start_accepted) == (Limit.TIME, True)
    assert answer.objective <= 0.0
