"""The models of clauses and of constraint programming: what was repaired, and optima by RC2."""

import numpy as np
import pyomo.environ as pyo
import pytest
from milp_trees.formulations import maxsat
from milp_trees.formulations.cp import ConstraintProgram
from milp_trees.formulations.maxsat import MaxSAT, neighbours
from milp_trees.formulations.maxsat_hu import MaxSATHu, child_pairs, n_nodes

import milp_trees as mt
from milp_trees import Dataset, Problem, Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.results.result import Status
from milp_trees.tasks.classification import Accuracy
from milp_trees.testing import brute_force
from milp_trees.testing.generate import random_cost_problem, random_dataset
from milp_trees.testing.problems import numeric_dataset
from milp_trees.testing.solve import minimise

rc2 = pytest.mark.skipif(
    not registry.solver("rc2").availability().found, reason="python-sat is not installed"
)


def optimum_of(model):
    return minimise(compile_model(model))


def true_value(problem):
    """The optimum in integer units, by trying all trees."""
    return problem.presolved_view().from_value(brute_force(problem)[1].exact)


def labelled(seed, depth, **more):
    """A problem of three classes, on binary features or on two numeric columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 9)
    y[:2] = 0, 1
    return Problem(random_dataset(rng, 9, 3, bool(seed % 2), y=y), Accuracy(**more), Trees(depth))


# -- what is repaired -----------------------------------------------------------------------------


def test_the_printed_clauses_have_no_tree_where_no_column_separates_rows(monkeypatch):
    """(9) sends the first row left and (10) the last right; (4) says that they go together."""
    problem = Problem(Dataset(np.ones((3, 1)), y=[0, 1, 1]), Accuracy(), Trees(1))
    formulation = MaxSAT(drop_tests=False)
    assert optimum_of(formulation.build(problem)).objective == 1
    every = maxsat.numeric_columns
    monkeypatch.setattr(maxsat, "splitting_columns", every)
    assert optimum_of(formulation.build(problem)).status == "infeasible"


def test_a_column_that_separates_no_rows_is_left_out_beside_others():
    """A tree that tests it is placed without this test."""
    X = np.array([[1, 0], [1, 0], [1, 1], [1, 1]])
    problem = Problem(Dataset(X, y=[0, 0, 1, 1]), Accuracy(), Trees(2))
    m = MaxSAT(drop_tests=False).build(problem)
    assert len(m.columns) == 1
    assert optimum_of(m).objective == 0


def test_the_printed_clauses_forbid_that_the_root_is_a_leaf():
    """(1): with a leaf penalty of one row a single leaf is best here."""
    data = Dataset(np.array([[0], [0], [1], [1]]), y=[0, 0, 0, 1])
    problem = Problem(data, Accuracy(leaf_penalty=2), Trees(1))
    m = MaxSATHu().build(problem)
    best = optimum_of(m).objective
    assert best == true_value(problem)
    m.printed = pyo.Constraint(expr=m.v[1] == 0)
    assert optimum_of(m).objective > best


# -- parts ----------------------------------------------------------------------------------------


def test_left_children_are_even_and_come_after_their_parents():
    assert child_pairs(1) == []
    assert child_pairs(3) == [(1, 2)]
    assert child_pairs(7) == [(1, 2), (2, 4), (3, 4), (3, 6), (4, 6), (5, 6)]


def test_the_number_of_nodes_follows_from_depth_and_leaf_limit():
    view = labelled(0, 2).presolved_view()
    assert [n_nodes(view, Trees(d)) for d in (0, 1, 2, 3)] == [1, 3, 7, 15]
    assert n_nodes(view, Trees(3, max_leaf_nodes=4)) == 7


def test_depth_is_a_clause_only_where_the_nodes_can_be_deeper():
    deep, wide = labelled(0, 2), labelled(0, 1)
    assert MaxSATHu().build(deep).component("h") is not None
    assert MaxSATHu().build(wide).component("h") is None


def test_neighbours_are_in_the_order_of_the_column():
    data = numeric_dataset({"c": [3.0, 1.0, 2.0, 1.0]}, y=[0, 1, 0, 1])
    view = Problem(data, Accuracy(), Trees(1)).presolved_view(merge_rows=False)
    (column,) = maxsat.numeric_columns(view)
    assert neighbours(column) == ([(1, 3), (3, 2), (2, 0)], [(1, 3)])


def test_leaves_that_are_not_counted_are_not_taken():
    """The sentence names methods that take it."""
    for more, space in (({"leaf_penalty": 1}, Trees(2)), ({}, Trees(2, max_leaf_nodes=3))):
        problem = Problem(labelled(0, 2).dataset, Accuracy(**more), space)
        why = registry.formulation("maxsat").unsupported(problem)
        assert "maxsat-hu take" in why
        assert registry.formulation("maxsat-hu").unsupported(problem) is None


def test_a_minimum_leaf_size_holds_below_decisions_and_at_the_root():
    data = Dataset(np.array([[0], [1], [1], [1]]), y=[0, 1, 1, 1])
    sizes = {
        least: optimum_of(ConstraintProgram().build(Problem(data, Accuracy(), space)))
        for least, space in ((k, Trees(1, min_samples_leaf=k)) for k in (1, 2, 5))
    }
    assert (sizes[1].objective, sizes[2].objective) == (0, 1)
    assert sizes[5].status == "infeasible"


# -- optima ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cp", "maxsat", "maxsat-hu"])
@pytest.mark.parametrize("seed", range(5))
def test_three_classes_and_any_costs_have_the_optimum_of_all_trees(name, seed):
    costs = random_cost_problem(seed, n_rows=6, n_features=2, n_actions=3, numeric=bool(seed % 2))
    for problem in (labelled(seed, 1 + seed % 2), costs):
        m = registry.formulation(name).build(problem)
        assert optimum_of(m).objective == pytest.approx(float(true_value(problem)))


@rc2
@pytest.mark.parametrize("name", ["maxsat", "maxsat-hu", "flow-oct"])
@pytest.mark.parametrize("seed", range(2))
def test_rc2_proves_the_optimum_of_clauses(name, seed):
    problem = labelled(seed, 2)
    result = mt.solve(problem, f"{name}@rc2", start=None, reference=None)
    assert result.status is Status.OPTIMAL
    assert result.value == mt.solve(problem, "dp", reference=None).value
