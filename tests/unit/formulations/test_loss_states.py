"""State-flow where leaves cost a function of sums: values, bounds and sizes beside enumeration."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from plain_regression import leaves, package_tree, random_problem
from solver_params import solver_params

import milp_trees as mt
from milp_trees.engines.hypergraph import dual
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.tasks import loss_sums

FORMULATIONS = ("state-flow", "state-flow-reduced")
#: What a claim "optimal" may leave open.
TOLERANCE = Fraction(1, 10**9)


def check_optimum(result, best, plain, few_digits=False):
    """The result claims the best value, to the tolerance, and no bound above it.

    Some solvers print so `few_digits` of the bound of an integer program that it proves no optimum.
    """
    open_part = TOLERANCE * plain.whole
    if not (few_digits and "leaves a gap" in result.message):
        assert result.status.value == "optimal", result.message
    assert result.problem.value(result.predictor).exact == result.value.exact
    assert best <= result.value.exact <= best + open_part
    exact = result.certificate.bound_exact
    assert result.certificate.bound <= float(best + open_part)
    assert exact is None or best - open_part <= exact <= best


@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_optimum_is_that_of_enumeration(name):
    """With and without penalties, weights, several outputs and smallest leaves; the bound is a
    rational that holds.
    """
    for seed in range(25):
        problem, plain = random_problem(np.random.default_rng(seed))
        result = mt.solve(problem, method=f"{name}@highs")
        check_optimum(result, plain.best(), plain)
        assert result.certificate.bound_exact is not None


@pytest.mark.parametrize("solver", solver_params("lp"))
@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_solver_finds_the_optimum(name, solver):
    """Also under a limit on the leaves, where the relaxation need not be integral."""
    for seed in range(100, 104):
        problem, plain = random_problem(np.random.default_rng(seed), depth=2)
        check_optimum(mt.solve(problem, method=f"{name}@{solver}"), plain.best(), plain)
        few = mt.Problem(problem.dataset, problem.task, replace(problem.space, max_leaf_nodes=3))
        best = min(value for value, tree in plain.trees() if leaves(tree) <= 3)
        check_optimum(mt.solve(few, method=f"{name}@{solver}"), best, plain, solver != "highs")


def test_every_tree_is_a_point_of_the_model():
    """Its point keeps the rows, costs no more than the tree, and is decoded to what it costs."""
    formulation = registry.method("state-flow@highs").formulation
    for seed in range(200, 208):
        problem, plain = random_problem(np.random.default_rng(seed), depth=2)
        model = formulation.build(problem)
        view, matrix = model.view, compile_model(model)
        unit = formulation.objective_unit(view)
        for value, nodes in plain.trees():
            tree = problem.space.simplify(package_tree(nodes, problem.dataset), view)
            formulation.encode(tree, model)
            point = matrix.values()
            assert matrix.violation(point) == 0
            decoded = formulation.decode(model)
            assert problem.value(decoded).exact <= value + TOLERANCE * plain.whole
            assert view.objective(decoded) == round(matrix.objective(point) * unit)
            assert problem.violations(decoded) == []


def test_the_model_has_its_stated_size():
    """Formulas count variables, rows and nonzeros, also under a limit on the leaves."""
    formulation = registry.method("state-flow@highs").formulation
    for seed, most in ((300, None), (301, 3), (302, None)):
        problem, _ = random_problem(np.random.default_rng(seed), depth=3)
        problem = mt.Problem(
            problem.dataset, problem.task, replace(problem.space, max_leaf_nodes=most)
        )
        matrix = compile_model(formulation.build(problem))
        size = formulation.model_size(formulation.presolved_view(problem), problem.space)
        assert (size.variables, size.rows) == (matrix.n_variables, matrix.n_rows)
        assert size.nonzeros == matrix.A.nnz


def test_any_duals_give_a_bound_and_good_ones_the_optimum():
    """The pass over the states repairs whatever a solver returns."""
    formulation = registry.method("state-flow@highs").formulation
    for seed in range(400, 406):
        rng = np.random.default_rng(seed)
        problem, _ = random_problem(rng)
        view = formulation.presolved_view(problem)
        h = formulation._states(view, problem.space)
        values = dual.largest(h, h.cost)
        best = int(values[0])
        assert dual.bound_of(h, values.astype(float), 1000) == best
        assert dual.bound_of(h, values - 0.4, 1) == best
        for _ in range(20):
            wrong = values + rng.normal(0, rng.choice([10.0, 1e6, 1e18]), h.n_states)
            assert dual.bound_of(h, wrong, 1000) <= best


def test_a_claim_within_floats_is_no_proof(monkeypatch):
    """With hardly any tolerance left, a solver's own bound closes nothing; duals in integers do."""
    monkeypatch.setattr(loss_sums, "TOLERANCE", Fraction(1, 10**12))
    problem, plain = random_problem(np.random.default_rng(11), rows=9, depth=2, penalties=False)
    proven = mt.solve(problem, method="state-flow@highs")
    assert proven.status.value == "optimal"
    assert "duals in integers" in proven.certificate.proved_by
    monkeypatch.setattr(type(registry.method("state-flow@highs").formulation), "bound_from", _none)
    claimed = mt.solve(problem, method="state-flow@highs")
    assert claimed.value.exact == proven.value.exact
    assert claimed.status.value == "feasible"
    assert "leaves a gap" in claimed.message
    assert claimed.certificate.bound <= float(plain.best())


def _none(self, view, space, duals):
    """No bound follows from duals."""


def test_far_and_tiny_targets():
    """Offsets of a billion, units of a billionth, constant targets and one row."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], dtype=np.uint8)
    y = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    for targets, best in (
        (y + 1e9, Fraction(8)),
        (y / 2**30, Fraction(8) / 2**60),
        (np.full(5, 0.1), Fraction(0)),
    ):
        data = mt.Dataset(X, targets=targets[:, None])
        problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=2))
        result = mt.solve(problem, method="state-flow@highs")
        assert result.status.value == "optimal"
        # A prediction is a double, and 0.1 is none.
        assert abs(result.value.exact - best) <= Fraction(1, 10**12) * best + Fraction(1, 10**32)
        assert result.certificate.bound_exact <= best
    one = mt.Dataset(X[:1], targets=y[:1, None])
    problem = mt.Problem(one, mt.tasks.SquaredError(), mt.Trees(max_depth=2))
    assert mt.solve(problem, method="state-flow@highs").value.number == 0


@pytest.mark.parametrize("name", FORMULATIONS)
def test_rule_lists_are_refused_in_a_sentence(name):
    """Rules have actions, and a number that is predicted is none of a list of them."""
    problem, _ = random_problem(np.random.default_rng(0), penalties=True)
    lists = mt.Problem(problem.dataset, problem.task, mt.RuleLists(max_length=2))
    assert "choose among actions" in registry.method(f"{name}@highs").unsupported(lists)


def test_words_of_columns_name_no_action():
    """A stop is a stop: its prediction is found when the tree is read."""
    problem, _ = random_problem(np.random.default_rng(5), depth=2)
    formulation = registry.method("state-flow@highs").formulation
    model = formulation.build(problem)
    words = formulation.meanings(model, problem)["columns"]
    assert words(0) == "state 0: stop"


@pytest.mark.parametrize(
    "name, best",
    [("airfoil-binary.csv", 56081.917667), ("seoul-bike-binary.csv.gz", 1868102153.078)],
)
def test_public_data_without_the_dynamic_programme(data_folder, name, best):
    """Depth 3, proven by the duals of the linear programme."""
    table = pd.read_csv(data_folder / "regression" / name)
    X, y = table.iloc[:, :-1].to_numpy(np.uint8), table.iloc[:, -1:].to_numpy(float)
    problem = mt.Problem(mt.Dataset(X, targets=y), mt.tasks.SquaredError(), mt.Trees(max_depth=3))
    result = mt.solve(problem, method="state-flow@highs")
    assert result.status.value == "optimal"
    assert result.value.number == pytest.approx(best, rel=1e-11)
    assert result.certificate.bound_exact >= result.value.exact * (1 - TOLERANCE)
