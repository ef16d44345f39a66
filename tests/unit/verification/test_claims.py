"""What solvers claim, where it was once taken for more or for less than it is."""

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.results.result import Status

MIP = ("oct", "oct-binary", "bin-oct", "flow-oct", "state-flow")


def solvers(*names):
    return [n for n in names if registry.solver(n).availability().found]


def presolve_victim():
    """Two tests, three classes, leaves of three rows: HiGHS 1.15 presolves it to a problem without
    solutions.
    """
    X = [[1, 0], [1, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1], [1, 1]]
    data = mt.Dataset(X, y=[2, 2, 0, 1, 0, 0, 1, 2], classes=(0, 1, 2))
    return mt.Problem(data, mt.Accuracy(), mt.Trees(2, min_samples_leaf=3))


def test_highs_presolve_that_changes_the_problem_is_not_believed():
    result = mt.solve(presolve_victim(), "oct-binary@highs")
    assert result.optimal
    assert result.objective == mt.solve(presolve_victim(), "enumerate").objective == 3


def test_a_cut_loop_out_of_time_does_not_speak_of_digits():
    problem = mt.Problem(
        mt.load("planted:rows=1500,tests=60,depth=3,noise=0.2"), mt.Accuracy(), mt.Trees(3)
    )
    result = mt.solve(problem, "benders-oct@highs", start="cart", time_limit=1.0)
    assert not result.optimal
    assert "digits" not in result.message


def rational(digits):
    """Six rows whose weights have so many decimals."""
    rng = np.random.default_rng(3)
    weights = [round(w, digits) for w in rng.uniform(0.2, 0.9, 6).tolist()]
    data = mt.Dataset(
        [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1]], y=[0, 1, 1, 0, 1, 0], weights=weights
    )
    return mt.Problem(data, mt.tasks.WeightedError(), mt.Trees(2))


@each_row("formulation", MIP)
@each_row("solver", solvers("highs", "cbc"))
def test_costs_of_many_digits_are_proven(formulation, solver):
    """A relative margin of 1e-6 on the bound is more than a unit here, and used to leave every gap
    open.
    """
    requested = rational(6)
    assert 10**5 < requested.view(mt.plugins.CostMatrix).costs.sum() < 10**7
    result = mt.solve(requested, f"{formulation}@{solver}", reference="enumerate")
    assert (result.status, result.agrees) == (Status.OPTIMAL, True)


@pytest.mark.parametrize("formulation", ["oct", "flow-oct"])
def test_more_digits_than_solvers_tell_apart_are_not_called_proven(formulation):
    data = mt.Dataset([[0], [1], [0], [1]], y=[0, 1, 0, 1], weights=[1, 10**9 + 7, 10**9 + 9, 4])
    requested = mt.Problem(data, mt.tasks.WeightedError(), mt.Trees(0))
    result = mt.solve(requested, f"{formulation}@highs", reference="dp")
    assert (result.status, result.agrees) == (Status.FEASIBLE, None)
    assert "digits" in result.message


@each_row("formulation", MIP)
@each_row("solver", solvers("highs", "cbc"))
def test_measured_costs_are_proven(formulation, solver):
    """Costs on a grid of 2^31 steps: big-M rows in whole steps were beyond what solvers print."""
    rng = np.random.default_rng(5)
    requested = mt.Problem(
        mt.Dataset(rng.integers(0, 2, (6, 2)), values=rng.normal(size=(6, 3))),
        mt.tasks.ActionValues(),
        mt.Trees(2),
    )
    assert not requested.view(mt.plugins.CostMatrix).exact
    result = mt.solve(requested, f"{formulation}@{solver}", reference="enumerate")
    assert (result.status, result.agrees) == (Status.OPTIMAL, True)


# -- starts --------------------------------------------------------------------------------------------------------

STARTED = ("dp", "cart", "enumerate", "flow-oct@highs", "oct@highs", "state-flow@highs")


def xor(space):
    """Tests a, b and the complement of a, which presolve drops; rows are 0 iff a = b."""
    X = [[a, b, 1 - a] for a in (0, 1) for b in (0, 1)] * 2
    data = mt.Dataset(
        X,
        [mt.BinaryFeature("a"), mt.BinaryFeature("b"), mt.BinaryFeature("not a")],
        y=[0, 1, 1, 0] * 2,
    )
    return mt.Problem(data, mt.Accuracy(), space)


def full(first="a"):
    same, other = (
        mt.plugins.Branch(mt.BinaryFeature("b"), mt.plugins.Leaf(0), mt.plugins.Leaf(1)),
        mt.plugins.Branch(mt.BinaryFeature("b"), mt.plugins.Leaf(1), mt.plugins.Leaf(0)),
    )
    return mt.Tree(
        mt.plugins.Branch(
            mt.BinaryFeature(first), *((same, other) if first == "a" else (other, same))
        ),
        (0, 1),
    )


@each_row("method", STARTED)
@each_row(
    "space",
    [mt.Trees(1), mt.Trees(2, max_leaf_nodes=2), mt.Trees(2, min_samples_leaf=3)],
)
def test_a_start_from_another_space_is_left_aside(method, space):
    """It is better than every feasible tree, and the dynamic programme used to return it."""
    result = mt.solve(xor(space), method, start=full())
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert result.objective == 4
    assert result.start["accepted"] is False
    assert "not feasible" in result.start["reason"]


@each_row("method", STARTED)
def test_a_start_may_use_tests_that_presolve_drops(method):
    result = mt.solve(xor(mt.Trees(2)), method, start=full("not a"))
    assert result.objective == 0
    assert result.start["accepted"] is not False


@each_row("method", STARTED)
def test_a_start_for_other_data_gets_a_sentence(method):
    with pytest.raises(mt.DataError, match="the problem's actions are 0, 1"):
        mt.solve(xor(mt.Trees(2)), method, start=mt.Tree(mt.plugins.Leaf(2), (0, 1, 2)))
    with pytest.raises(mt.DataError, match="the data do not have"):
        mt.solve(xor(mt.Trees(2)), method, start=full("c"))


# -- measured costs ------------------------------------------------------------------------------------------------


@each_row("penalty", [0, 0.001])
@each_row("offset", [0.0, 1e6, 1e9])
def test_what_all_actions_of_a_row_cost_does_not_blur_how_they_differ(offset, penalty):
    """The grid once spanned the costs themselves: at 1e9 the "optimum" was off by whole units."""
    rng = np.random.default_rng(1)
    X, values = rng.integers(0, 2, (40, 4)), rng.normal(size=(40, 3))
    values = (values + offset) - offset  # the digits that are left beside the offset
    near, far = (
        mt.Problem(
            mt.Dataset(X, values=v), mt.tasks.ActionCostMatrix(leaf_penalty=penalty), mt.Trees(2)
        )
        for v in (values, values + offset)
    )
    assert not far.view(mt.plugins.CostMatrix).exact
    assert near.value(mt.solve(far, "dp").predictor).number == pytest.approx(
        mt.solve(near, "dp").objective, abs=1e-5
    )
    found = mt.solve(far, "state-flow@highs", reference="dp")
    assert (found.status, found.agrees) == (Status.OPTIMAL, True)


def test_a_root_bound_above_the_incumbent_is_cut_to_it():
    """CBC cuts at the root until its relaxation is dearer than the incumbent; that is a proof, but
    no bound.
    """
    from types import SimpleNamespace

    from milp_trees.mip.run import _root_bound

    answers = [SimpleNamespace(root_bound=None), SimpleNamespace(root_bound=6.5)]
    assert _root_bound(SimpleNamespace(answers=answers, incumbent_cost=5.0)) == 5.0
    assert _root_bound(SimpleNamespace(answers=answers, incumbent_cost=np.inf)) == 6.5
    assert _root_bound(SimpleNamespace(answers=answers[:1], incumbent_cost=5.0)) is None
