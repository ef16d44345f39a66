"""OCT-H, S1O and the enumeration of oblique trees: all checks, and an oracle that knows none of them."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.oblique.columns import numeric_columns
from milp_trees.oblique.space import gaps_of
from milp_trees.oblique.testing import oblique_problems, random_oblique_problem
from milp_trees.oblique.testing.exhaustive import (
    all_oblique_trees,
    best_oblique_tree,
    n_oblique_trees,
)
from milp_trees.oblique.testing.problems import points
from milp_trees.results.result import Status
from milp_trees.testing import check_deletable_constraints, check_formulation, check_method
from milp_trees.testing.sets import problems_of
from milp_trees.testing.solve import built, minimise

MODELS = ("oct-h", "s1o")
ObliqueTrees = mt.oblique.ObliqueTrees


#: Named problems on which a plain run tries all checks.
FEW = ("diagonal", "equal_points", "narrow", "wide_enough", "cheap_columns", "quota")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_passes_all_checks_on_some_problems(name):
    some = {label: oblique_problems()[label] for label in FEW}
    report = check_formulation(mt.registry.formulation(name), some, metamorphic=False)
    assert len({problem for _, problem in report.passed}) >= 4
    assert not report.unsolved


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_model_passes_all_checks(name):
    report = check_formulation(mt.registry.formulation(name))
    assert len({problem for _, problem in report.passed}) >= 10
    assert not report.unsolved


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_no_constraint_can_be_deleted_unnoticed(name):
    formulation = mt.registry.formulation(name)
    check_deletable_constraints(formulation, problems_of(formulation.space, "quick"))


def test_the_enumeration_passes_all_checks():
    report = check_method(mt.registry.method("enumerate-oblique"))
    assert {name.partition("-")[0] for _, name in report.passed} == {"oblique"}


def right(problem, name):
    """Whether a method finds what the oracle finds; None if it does not take the problem."""
    taker = mt.registry.method(name)
    if taker.unsupported(problem):
        return None
    best = best_oblique_tree(problem)
    result = mt.solve(problem, method=name, reference=None)
    if best is None:
        return result.status is Status.INFEASIBLE
    return (
        result.status is Status.OPTIMAL
        and result.value.exact == problem.value(best).exact
        and result.certificate.bound_exact == result.value.exact
        and not problem.violations(result.predictor)
    )


@pytest.mark.parametrize("seed", range(12))
def test_methods_find_what_the_oracle_finds(seed):
    """Linear programs over all ways to cut rows in two share no code with directions and models."""
    problem = random_oblique_problem(np.random.default_rng(1000 + seed), 5)
    assert right(problem, "enumerate-oblique")
    assert right(problem, "oct-h@highs")
    assert right(problem, "s1o@highs") in (None, True)


def test_the_recursion_is_the_best_of_all_scores():
    compared = 0
    for problem in oblique_problems().values():
        if n_oblique_trees(problem) > 600:
            continue
        feasible = [t for t in all_oblique_trees(problem) if not problem.violations(t)]
        best = best_oblique_tree(problem)
        assert (best is None) == (not feasible)
        if best is not None:
            assert problem.value(best).exact == min(problem.value(t).exact for t in feasible)
            compared += 1
    assert compared >= 8


# -- what the printed models would do ----------------------------------------------------------------


def test_hard_margins_of_all_rows_at_all_nodes_would_exclude_the_best_tree():
    """S1O asks rows of a node alone for the margin: here a row of another node lies on the split."""
    data = points([[4, 0], [4, 2], [2, 3], [1, 4], [0, 1]], y=[0, 1, 1, 0, 0])
    problem = mt.Problem(data, mt.Accuracy(), ObliqueTrees(2, gap="9/20"))
    formulation = mt.registry.formulation("s1o")
    m = built(formulation, problem).model

    def optimum(model):
        return minimise(compile_model(model)).objective

    assert optimum(m) == pytest.approx(1)
    half = float(problem.space.gap) / 2 - 5e-6

    @m.Constraint(m.rows, m.branch)
    def every_right_margin(m, i, v):
        return m.pp[i, v] >= half * m.e[i, v]

    @m.Constraint(m.rows, m.branch)
    def every_left_margin(m, i, v):
        return m.pm[i, v] >= half * (1 - m.e[i, v])

    assert optimum(m) == pytest.approx(2)


@pytest.mark.parametrize("name", MODELS)
def test_the_weights_of_a_solver_are_not_used(name):
    """What is decoded depends on which rows go where, and its weights have few digits."""
    problem = oblique_problems()["fractions"]
    result = mt.solve(problem, method=f"{name}@highs", reference=None)
    assert result.value.exact == best_value(problem)
    for test in result.predictor.splits:
        assert all(w.denominator <= 1000 for w in test.weights)


def best_value(problem):
    return problem.value(best_oblique_tree(problem)).exact


def test_a_gap_is_met_exactly_or_not_at_all():
    """A split of gap 1/8 is taken where 1/8 is asked for, and not where 1/5 is."""
    for name in ("enumerate-oblique", "oct-h@highs", "s1o@highs"):
        narrow, wide = (
            mt.solve(oblique_problems()[p], method=name, reference=None)
            for p in ("narrow", "wide_enough")
        )
        assert narrow.value.exact > 0
        assert wide.value.exact == 0


@pytest.mark.parametrize("name", MODELS)
def test_a_start_with_too_small_a_gap_is_no_start(name):
    """A tree that the model does not hold is left out, and no fault of the model."""
    problem = oblique_problems()["narrow"]
    wide = mt.solve(oblique_problems()["wide_enough"], method="enumerate-oblique", reference=None)
    formulation = mt.registry.formulation(name)
    with pytest.raises(LookupError, match="smaller gap"):
        formulation.encode(wide.predictor, built(formulation, problem).model)


# -- what they refuse ------------------------------------------------------------------------------


def test_what_a_method_cannot_take_is_a_sentence():
    problems, model = oblique_problems(), mt.registry.formulation
    assert "oct-h" in model("s1o").unsupported(problems["penalised_leaves"])
    assert "oct-h" in model("s1o").unsupported(problems["large_leaves"])
    assert "oct-h" in model("s1o").unsupported(problems["few_leaves"])
    assert "oct-h" in model("s1o").unsupported(problems["capacity"])
    assert "oct-h" in model("s1o").unsupported(problems["costs"])
    data = points(np.arange(400).reshape(100, 4) ** 2 % 97, y=np.arange(100) % 2)
    large = mt.Problem(data, mt.Accuracy(), ObliqueTrees(2))
    assert "small problems" in mt.registry.method("enumerate-oblique").unsupported(large)
    assert model("oct-h").unsupported(large) is None
    blank = mt.Problem(mt.Dataset([[0], [1]], y=[0, 1]), mt.Accuracy(), ObliqueTrees(1))
    assert "load_numeric" in model("oct-h").unsupported(blank)
    assert "oblique-trees" in mt.registry.method("dp").unsupported(problems["cross"])


@pytest.mark.parametrize("name", MODELS)
def test_words_say_what_rows_and_columns_are(name):
    problem, formulation = oblique_problems()["equal_points"], mt.registry.formulation(name)
    words = formulation.meanings(built(formulation, problem).model, problem)
    first = "rows 0, 1, 2" if name == "oct-h" else "row 0"  # s1o keeps classes apart
    assert (words["columns"](1), words["rows"](0)) == ("y", first)


def test_a_column_is_used_as_a_whole():
    """With shares of columns the prices of a split would be too low."""
    import pyomo.environ as pyo

    problem, formulation = oblique_problems()["cheap_columns"], mt.registry.formulation("oct-h")
    model = built(formulation, problem).model
    assert not any(s.domain is not pyo.Binary for s in model.s.values())
    right = minimise(compile_model(model)).objective
    for s in model.s.values():
        s.domain = pyo.UnitInterval
    assert minimise(compile_model(model)).objective < right - 0.5


def test_ratios_are_solved_in_steps():
    """Views of such tasks know nothing of oblique trees, and their rows are merged by others."""
    numbers = [[0, 0], [2, 1], [1, 3], [2, 3], [3, 0], [0, 0]]
    data = points(numbers, y=["a", "b", "b", "a", "b", "b"])
    problem = mt.Problem(data, mt.tasks.F1("b"), ObliqueTrees(1))
    best = max(problem.value(tree).exact for tree in all_oblique_trees(problem))
    for name in ("enumerate-oblique", "oct-h@highs"):
        result = mt.solve(problem, method=name, reference=None)
        assert (result.status, result.value.exact) == (Status.OPTIMAL, best)


def test_any_view_of_a_problem_knows_the_rows_of_a_tree():
    problem = oblique_problems()["equal_points"]
    tree = mt.solve(problem, method="enumerate-oblique", reference=None).predictor
    view = problem.presolved_view()
    assert view.n_rows == 2
    assert view.counts.tolist() == [3, 2]
    assert (
        view.canonical(tree).routes(view).action.tolist()
        == tree.routes(problem.dataset).action[[0, 3]].tolist()
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_start_with_clumsy_weights_is_encoded_by_better_ones(name):
    """Its own gap is 1/397, and that of its rows is 1/5: the model gets weights with the latter."""
    problem = oblique_problems()["diagonal"]
    test = mt.oblique.LinearTest(("x", "y"), (-100, 198), 197)
    leaf = mt.solve(problem, method="enumerate-oblique", reference=None).predictor
    tree = mt.oblique.ObliqueTree(Branch(test, Leaf(1), Leaf(0)), leaf.actions, ("x", "y"))
    clumsy = next(
        gaps_of(tree, numeric_columns(problem.dataset), tree.routes(problem.dataset).leaf)
    )
    assert 0 < clumsy < problem.space.gap
    formulation = mt.registry.formulation(name)
    b = built(formulation, problem)
    formulation.encode(tree, b.model)
    assert b.matrix.violation(b.matrix.values()) < 1e-7
    assert problem.value(formulation.decode(b.model)).exact == problem.value(tree).exact == 0


def test_a_model_asks_for_a_little_less_than_the_gap():
    """By more than solvers' tolerances, so that no tree with the gap is lost."""
    from milp_trees.formulations._oblique import MODEL_SHORT, model_gap

    from milp_trees.oblique.space import SHORT

    assert model_gap(ObliqueTrees(1, "1/8")) == pytest.approx(0.125 - 1e-5, abs=1e-12)
    assert 1e-6 < MODEL_SHORT < SHORT
