"""Points that solvers get while they search: trees with the best subtrees below their upper tests."""

from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
import pytest
from milp_trees.formulations.flow_oct import FlowOCT
from solver_params import solver_params

import milp_trees as mt
from milp_trees.methods.finish import Clock
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry
from milp_trees.mip.rounding import Rounding
from milp_trees.mip.run import Run
from milp_trees.testing.checks import check_every_tree_can_be_encoded
from milp_trees.testing.generate import random_cost_problem

WITH_WEIGHTS = ("flow-oct", "benders-oct", "cut", "cut-w", "mcf1", "mcf2", "path-cut", "oct-binary")
PROBLEMS = {
    "plain": {"seed": 1},
    "three-actions": {"seed": 2, "n_actions": 3},
    "numeric": {"seed": 0, "numeric": True, "n_rows": 7},
    "leaf-size": {"seed": 1, "min_leaf": 2, "n_rows": 8},
    "penalty": {"seed": 4, "penalty": True},
}


def least(view, rows, levels, smallest, must_split=None):
    """The least objective of trees of some rows, by trying all of them; None if there is none."""
    if view.counts[rows].sum() < smallest:
        return None
    found = [] if must_split else [int(view.costs[rows].sum(axis=0).min()) + view.leaf_cost]
    for f in range(view.n_features) if must_split is None and levels else must_split or ():
        sides = [
            least(view, rows[view.X[rows, f] == side], levels - 1, smallest) for side in (0, 1)
        ]
        if None not in sides:
            found.append(int(view.split_costs[f]) + sum(sides))
    return min(found, default=None)


def run_of(formulation, problem):
    """A run whose model is built."""
    run = Run(problem, mt.Limits(time=None), Clock())
    run.view = formulation.presolved_view(problem)
    run.stage = next(formulation.stages(problem))
    run.compiled = compile_model(run.m)
    return run


@pytest.mark.parametrize("name", PROBLEMS)
def test_trees_of_points_have_the_best_subtrees(name):
    """Of a point with values at all tests all are tried at the root, of another one only these."""
    problem, rng = random_cost_problem(**PROBLEMS[name]), np.random.default_rng(0)
    for formulation in map(registry.formulation, WITH_WEIGHTS):
        if formulation.unsupported(problem):
            continue
        for single in (False, True):
            run = run_of(formulation, problem)
            model, view = run.matrix, run.view
            x = model.lower + rng.random(model.n_variables)
            f = int(rng.integers(view.n_features))
            if single:
                at = [view.features[f] == t for t in view.features]
                model.load(x)
                for g, here in enumerate(at):
                    variable = run.m.a[g, 1] if formulation.name == "oct-binary" else run.m.b[1, g]
                    variable.set_value(float(here), skip_validation=True)
                x = model.values()
            roots = [f] if single else list(range(view.n_features))
            smallest = problem.space.min_samples_leaf
            best = least(view, np.arange(view.n_rows), problem.space.depth, smallest, roots)
            rounding = Rounding(formulation, run)
            point = rounding(x)
            assert (point is None) == (best is None)
            if point is not None:
                assert run.incumbent_cost == view.objective(run.incumbent) == best
                assert model.violation(point) <= 1e-9
                assert run.exchanged == {"points": 1, "better_points": 1}
            assert rounding(x) is None  # nothing is better than what was found


@dataclass(frozen=True)
class Own(FlowOCT):
    """FlowOCT with a row of the user: the root tests the last feature."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.own = pyo.Constraint(expr=m.b[1, view.n_features - 1] == 1)


@dataclass(frozen=True)
class RefusesTheStart(FlowOCT):
    """It has no point for the first tree, which it gets as the start and as the incumbent."""

    def encode(self, tree, m):
        m.asked = getattr(m, "asked", 0) + 1
        if m.asked <= 2:
            raise LookupError("It lacks this tree.")
        super().encode(tree, m)


def noise(n=40, features=5):
    """A problem whose optimum takes some nodes to find."""
    rng = np.random.default_rng(3)
    data = mt.Dataset(rng.integers(0, 2, (n, features)), y=rng.integers(0, 2, n))
    return mt.Problem(data, mt.tasks.Accuracy(), mt.Trees(2))


@pytest.mark.parametrize("solver", solver_params("points"))
def test_a_row_of_the_user_holds_in_every_tree_of_a_point(solver):
    problem = noise()
    method = FormulationMethod(Own(), registry.solver(solver), {"round_points": True})
    result = method.run(problem, mt.Limits(time=60))
    view = problem.view(mt.plugins.CostMatrix)
    last = view.n_features - 1
    assert result.optimal, result.message
    assert result.value.number == least(view, np.arange(view.n_rows), 2, 1, [last])
    assert result.model_size["points"] >= 1
    assert result.model_size["better_points"] >= 1


def test_points_are_exchanged_where_the_model_lacks_the_start():
    problem = noise()
    start = registry.method("cart").run(problem).tree
    solver = registry.solver("highs")
    lacking = FormulationMethod(RefusesTheStart(), solver).run(problem, start=start)
    having = FormulationMethod(FlowOCT(), solver).run(problem, start=start)
    assert lacking.optimal
    assert having.optimal
    assert lacking.value.exact == having.value.exact
    assert lacking.model_size["points"] >= 1
    assert "points" not in having.model_size


@dataclass(frozen=True)
class NextNode(FlowOCT):
    """The values of tests are those of the root, whatever the node."""

    def weights_of_tests(self, m):
        weights = super().weights_of_tests(m)
        return dict.fromkeys(weights, weights[1])


def test_values_of_other_nodes_are_found_by_the_suite():
    check_every_tree_can_be_encoded(FlowOCT(), noise(12, 3))
    with pytest.raises(AssertionError, match="of node 2 has the value 0, the others 1"):
        check_every_tree_can_be_encoded(NextNode(), noise(12, 3))


@pytest.mark.parametrize(("name", "most"), [("bin-oct", 1), ("bin-oct", 2), ("flow-oct", 1)])
def test_points_of_trees_with_few_leaves(name, most):
    """A point may hold more nodes than leaves are allowed: tests in all nodes, or at the root."""
    data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=[0, 0, 1, 1])
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(3, max_leaf_nodes=most))
    run = run_of(registry.formulation(name), problem)
    best = mt.solve(problem, "enumerate").tree
    registry.formulation(name).encode(problem.space.simplify(best, run.view), run.m)
    point = run.matrix.values()
    rounding = Rounding(registry.formulation(name), run)
    assert rounding(point) is not None
    assert (run.incumbent.n_leaves, run.incumbent_cost) == (most, 4 - 2 * most)
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert rounding(run.matrix.lower + rng.random(run.matrix.n_variables)) is None
