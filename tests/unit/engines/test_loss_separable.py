"""`separable` where leaves cost a function of sums: a second opinion that shares nothing with `dp`."""

import math
from dataclasses import replace

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.engines.separable.losses import _leaf_part, states_of
from milp_trees.problems.questions import Front
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.verification.verdict import Verdict
from tests.unit.engines.leaf_sums_cases import drawn
from tests.unit.engines.test_leaf_sums_fuzz import claimed


@pytest.mark.parametrize("method", ["separable", "separable:compiled=off"])
def test_it_proves_the_optimum_in_fractions(method):
    for seed in range(6000, 6150 if method == "separable" else 6010):
        case = drawn(seed)
        if case.min_weight_leaf:
            continue
        claimed(case if case.max_depth is not None else case.at(3, case.max_leaf_nodes), method)


def test_a_leaf_costs_what_the_view_says():
    """Of every set of rows of some problems, and of the trees that it finds."""
    for seed in range(50):
        view = drawn(seed).problem().first_view((LeafSums,))
        states = states_of(view)
        rng = np.random.default_rng(seed)
        for _ in range(10):
            rows = np.flatnonzero(rng.random(view.n_rows) < 0.6)
            total = view.parts[rows].sum(axis=0)
            units = int(view.leaf_values(total[None])[0]) + view.leaf_cost
            assert states.leaf(states.sums_of(rows), 0, (0,), states.tables) == (units,)


def test_a_logarithm_is_written_out():
    """By mantissa and exponent, as leaf functions ask for it."""

    def leaf(sums):
        mantissa, exponent = (sums[1] / sums[0]).split(0x3FE6A09E667F3BCD)
        return (mantissa * 1000.0 + exponent).where_positive(sums[1])

    part = _leaf_part(leaf, 2)
    tables = np.array([1.0, 0.0]), np.array([0]), np.zeros(1, dtype=np.int64)
    for weight, total in ((1, 1), (3, 17), (1000, 3), (7, 5), (2, 0)):
        mantissa, exponent = math.frexp(total / weight or 1.0)
        if mantissa < math.sqrt(0.5):
            mantissa, exponent = 2 * mantissa, exponent - 1
        expected = math.floor(mantissa * 1000 + exponent) if total else 0
        assert part((1, weight, total, 5), 0, (0,), tables) == (expected + 5,)


def test_dp_is_verified_by_it():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 12))
    y = (X[:, :4].sum(axis=1) ** 2 + rng.normal(size=200)).round(3)
    problem = mt.Problem(mt.Dataset(X, y=y), mt.tasks.SquaredError(), mt.Trees(4))
    verified = mt.verify(mt.solve(problem, method="dp"))
    assert verified.verdict is Verdict.DERIVED
    assert "which shares nothing with dp" in str(verified)


def test_a_loss_has_no_front():
    problem = mt.Problem(
        mt.Dataset([[0], [1]], y=[1.0, 2.0]), mt.tasks.SquaredError(), mt.Trees(1), Front()
    )
    with pytest.raises(mt.errors.Unsupported, match="one value"):
        mt.solve(problem, method="separable")


def test_a_time_limit_leaves_a_tree_and_a_bound():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 25))
    y = (X[:, :6].sum(axis=1) ** 2 + rng.normal(size=300)).round(3)
    problem = mt.Problem(mt.Dataset(X, y=y), mt.tasks.SquaredError(), mt.Trees(5))
    stopped = mt.solve(problem, method="separable", time_limit=0.5)
    best = mt.solve(replace(problem, space=mt.Trees(3)), method="dp").value.exact
    assert stopped.tree is not None
    assert stopped.certificate.bound_exact <= best
