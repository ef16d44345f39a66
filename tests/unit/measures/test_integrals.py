"""Primal, dual and primal-dual integrals, and times to a target."""

import numpy as np
import pytest
from measure_frames import frame, traces

from milp_trees.studies.measures import (
    dual_integral,
    integrals,
    primal_dual_integral,
    primal_integral,
    target_distribution,
    time_to_target,
)
from milp_trees.studies.measures.integrals import gap

#: Nothing for 2 s, then the value 8 and from 5 s on 4, the optimum; bounds 0, from 3 s on 2, 4 at 6.
TRACE = [(0.0, None, 0.0), (2.0, 8.0, None), (3.0, None, 2.0), (5.0, 4.0, None), (6.0, 4.0, 4.0)]


def test_gaps_by_hand():
    assert gap(0, 0) == 0
    assert gap(5, 5) == 0
    assert gap(8, 4) == gap(4, 8) == gap(-8, -4) == 0.5
    assert gap(-1, 1) == gap(np.nan, 3) == gap(0, 3) == gap(np.inf, 3) == 1


def test_integrals_by_hand():
    """Primal 2·1 + 3·½; dual 3·1 + 3·½; both 2·1 + 1·1 + 2·¾ + 1·½, each then 0 up to T = 10."""
    assert primal_integral(TRACE, 4.0, 10.0) == pytest.approx(2 + 3 * 0.5)
    assert dual_integral(TRACE, 4.0, 10.0) == pytest.approx(3 + 3 * 0.5)
    assert primal_dual_integral(TRACE, 10.0) == pytest.approx(2 + 1 + 2 * 0.75 + 0.5)


def test_the_last_gap_holds_to_the_end_and_nothing_counts_after_it():
    assert primal_integral([(1.0, 8.0, None)], 4.0, 10.0) == pytest.approx(1 + 9 * 0.5)
    assert primal_integral(TRACE, 4.0, 4.0) == pytest.approx(2 + 2 * 0.5)
    assert primal_integral([], 4.0, 7.0) == 7.0
    assert primal_integral([(9.0, 4.0, None)], 4.0, 7.0) == 7.0


def test_integrals_are_sums_over_small_steps():
    """Random traces against the mean gap at a million midpoints; events lie on the grid."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        at = np.sort(rng.integers(0, 100, 6)) / 10
        points = [
            (t, *(None if rng.random() < 0.3 else rng.integers(-3, 9) for _ in "ab")) for t in at
        ]
        best, end = float(rng.integers(-3, 9)), float(rng.integers(1, 100)) / 10
        total = {"primal": 0.0, "dual": 0.0, "both": 0.0}
        step = 0.1
        for k in range(round(end / step)):
            middle = (k + 0.5) * step
            value = bound = np.nan
            for t, x, y in points:
                if t <= middle:
                    value, bound = value if x is None else x, bound if y is None else y
            total["primal"] += step * float(gap(value, best))
            total["dual"] += step * float(gap(bound, best))
            total["both"] += step * float(gap(value, bound))
        assert primal_integral(points, best, end) == pytest.approx(total["primal"])
        assert dual_integral(points, best, end) == pytest.approx(total["dual"])
        assert primal_dual_integral(points, end) == pytest.approx(total["both"])


RUNS = frame(
    {
        "name": "p",
        "variant": "a",
        "seconds": 6.0,
        "time_limit": 10.0,
        "objective": 4,
        "bound": 3.2,  # integrality closes the rest
    },
    {
        "name": "p",
        "variant": "b",
        "seconds": 10.5,
        "time_limit": 10.0,
        "status": "feasible",
        "objective": 8,
        "bound": None,
    },
    {"name": "p", "variant": "c", "seconds": 0.0, "status": "unsupported"},
    {"name": "q", "variant": "a", "seconds": 1.0, "time_limit": 10.0, "status": "infeasible"},
)
POINTS = traces(*((0, *point) for point in TRACE[:4]), (1, 1.0, 8.0, None))


def test_integrals_of_a_frame():
    """A proven run has no dual gap after its end, although its bound is weaker."""
    found = integrals(RUNS, POINTS)
    assert found.loc[0].tolist() == pytest.approx([3.5, 3 + 3 * 0.5, 2 + 1 + 2 * 0.75 + 0.5])
    assert found.loc[1].tolist() == pytest.approx([1 + 9 * 0.5, 10, 10])
    assert found.loc[2:].isna().all(axis=None)


def test_values_of_maximisation_and_of_contradicted_runs():
    """The best value is the largest one, without that of a run that contradicts a reference."""
    runs = frame(
        {"name": "p", "variant": "a", "seconds": 1.0, "time_limit": 4.0, "objective": 0.8},
        {"name": "p", "variant": "b", "seconds": 1.0, "time_limit": 4.0, "objective": 0.4},
        {"name": "p", "variant": "c", "seconds": 1.0, "objective": 0.9, "agrees": False},
    ).assign(sense="max")
    found = integrals(runs, traces())["primal_integral"]
    assert found[:2].tolist() == pytest.approx([1.0, 1 + 3 * 0.5])


def test_times_to_a_target():
    assert time_to_target(RUNS, POINTS).tolist()[:2] == [5.0, np.inf]
    assert time_to_target(RUNS, POINTS, 0.5).tolist()[:2] == [2.0, 1.0]
    assert time_to_target(RUNS, POINTS)[2:].isna().all()
    ecdf = target_distribution(RUNS, POINTS, 0.5)
    assert ecdf.index.tolist() == [0.0, 1.0, 2.0]
    assert ecdf["a"].tolist() == [0, 0, 1]
    assert ecdf["b"].tolist() == [0, 1, 1]


def test_the_traces_of_a_study_fit_its_frame():
    import milp_trees as mt

    problem = mt.Problem(
        mt.load("planted:rows=40,tests=5,depth=2,noise=0.1,seed=4"), mt.Accuracy(), mt.Trees(2)
    )
    study = mt.compare(problem, ["cart", "dp"])
    found = integrals(study.frame(), study.traces())
    assert set(study.traces()["run"]) <= set(study.frame().index)
    assert (found["primal_integral"] <= study.frame()["seconds"].max() + 1e-9).all()
    assert found["primal_dual_integral"].notna().all()
