"""`spot`, the program of trees that decide: the conformance checks on its own problems, solvers,
starts, and what the paper says of it.
"""

from dataclasses import replace

import numpy as np
import pytest
from solver_params import solver_params
from spot_cases import SOME, SPOT, OneDecision

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.decisions.generated import DecisionData
from milp_trees.decisions.generated_problems import generated_problem
from milp_trees.decisions.testing.problems import (
    DECISION_PROBLEMS,
    decision_problem,
)
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry
from milp_trees.testing import METAMORPHIC_CHECKS, brute_force
from milp_trees.testing.checks import CHECKS, sample_trees
from milp_trees.testing.deletion import check_deletable_constraints
from milp_trees.testing.pairs import reference
from milp_trees.testing.sets import get
from milp_trees.testing.solve import built, minimise

LIMITS = Limits(time=60.0)


VARIANTS = [
    "spot:rows_m=off",
    "spot:lower_cut=off",
    "spot:leaf_cut=on",
    "spot:merge_rows=off",
    "spot:rows_m=off,lower_cut=off,merge_rows=off",
    "spot:rows_m=off,leaf_cut=on,merge_rows=off",
]


def make(label):
    """A formulation by its label."""
    return registry.method(f"{label}@highs").formulation


def relaxed(label, problem):
    """The relaxation's optimum in units."""
    return minimise(built(make(label), problem).matrix, relax=True).objective


# -- the suite ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_the_program_does_not_depend_on_how_the_problem_is_written(name):
    """Rows and tests in another order, one more constant test, one more level, built twice."""
    for claim in (
        "permute_rows",
        "permute_tests",
        "add_constant_test",
        "deeper_is_never_worse",
        "repeatable_build",
    ):
        METAMORPHIC_CHECKS[claim](SPOT(), decision_problem(name))


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_a_variant_has_the_same_optimum(label):
    """On every second problem; the next variant takes the others."""
    for name in SOME[VARIANTS.index(label) % 2 :: 2]:
        for check in CHECKS.values():
            check(make(label), decision_problem(name))


@pytest.mark.slow
@pytest.mark.parametrize("label", ["spot:leaf_cut=on", "spot:lower_cut=off"])
def test_no_constraint_of_a_variant_can_be_deleted_unnoticed(label):
    """Deleting any named constraint makes a check fail, or the formulation declares it redundant."""
    check_deletable_constraints(
        make(label),
        {
            name: decision_problem(name)
            for name in (*SOME[::2], "min-leaf", "min-leaf-forces-one", "leaf-limit")
        },
    )


def test_what_is_redundant_depends_on_the_options():
    assert sorted(SPOT().redundant) == ["cut", "hierarchy"]
    assert (
        sorted(SPOT(leaf_cut=True).redundant)
        == sorted(SPOT(lower_cut=False).redundant)
        == ["hierarchy"]
    )


@pytest.mark.parametrize("name", SOME)
def test_a_tree_is_encoded_with_its_own_objective(name):
    """Not only no dearer: the point's objective is the tree's, whatever its leaves decide."""
    problem = decision_problem(name)
    view, b = SPOT().presolved_view(problem), built(SPOT(), problem)
    for tree in sample_trees(problem):
        SPOT().encode(tree, b.model)
        assert b.matrix.objective(b.matrix.values()) == pytest.approx(view.objective(tree), abs=0.1)


# -- the relaxation -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["grid", "news", "grid-not-listed", "two-resources", "simplex-of-both-signs"]
)
def test_smaller_constants_and_cuts_only_raise_the_relaxation(name):
    """Global big-M without cut <= row-wise without cut <= with (cut) <= with the strengthened cut
    <= optimum.
    """
    problem = decision_problem(name)
    ladder = [
        relaxed(label, problem)
        for label in (
            "spot:rows_m=off,lower_cut=off",
            "spot:lower_cut=off",
            "spot",
            "spot:leaf_cut=on",
        )
    ]
    best = SPOT().presolved_view(problem).objective(brute_force(problem)[0])
    for low, high in zip([*ladder], [*ladder[1:], best], strict=True):
        assert low <= high + 1.0


def test_without_the_cut_the_relaxation_of_costs_is_below_nothing():
    """The paper's Appendix B: far below zero without it, about zero with it."""
    problem = decision_problem("grid")
    assert (
        relaxed("spot:rows_m=off,lower_cut=off", problem) < -1e5 < -1.0 <= relaxed("spot", problem)
    )


def test_the_constants_are_the_oracles_answers():
    """M1 and M2 of a row are its dearest decision and its largest gain, in the unit that makes the
    largest about 1000; the paper's are their largest.
    """
    problem = decision_problem("simplex-of-both-signs")
    view = SPOT().presolved_view(problem)
    own, paper = SPOT()._costs(view), SPOT(rows_m=False)._costs(view)
    assert own.most * own.unit == pytest.approx(np.maximum(view.vectors.max(axis=1), 0))
    assert own.gain * own.unit == pytest.approx(np.maximum(-view.vectors.min(axis=1), 0))
    assert 512 <= max(own.most.max(), own.gain.max()) <= 1024
    assert set(paper.most.tolist()) == {own.most.max()}
    assert set(paper.gain.tolist()) == {own.gain.max()}


# -- decisions ------------------------------------------------------------------------------------------------------


def test_a_mixture_of_optimal_decisions_is_decoded_as_one_of_them():
    """Two roads cost the same: half of each is optimal in the program, and no decision that a tree
    may name.
    """
    S = mt.decisions.ListedDecisions([[1, 0], [0, 1]], ["a", "b"])
    problem = mt.Problem(
        mt.Dataset([[0], [1]], values=[[1, 3], [3, 1]]),
        mt.decisions.Decision(decisions=S),
        mt.Trees(0),
    )
    b = built(SPOT(), problem)
    SPOT().encode(mt.Tree(mt.plugins.Leaf(0), ("a", "b")), b.model)
    for e in (0, 1):
        b.model.w[e, 1].set_value(0.5)
    tree = SPOT().decode(b.model)
    assert tree == mt.Tree(mt.plugins.Leaf(0), ("a", "b"))
    assert problem.value(tree).exact == 1


def test_decisions_with_variables_beside_them_are_encoded():
    """The hull of a list has a share per point; a decision that is none of them is refused."""
    from milp_trees.formulations._decision_rows import completed

    program = mt.decisions.ListedDecisions([[1, 0], [0, 1], [0.25, 0.25]]).program()
    assert completed(program, np.array([0.25, 0.25])) == pytest.approx([0.25, 0.25, 0, 0, 1])
    with pytest.raises(mt.errors.SolverFailure, match="No point"):
        completed(program, np.array([2.0, 0.0]))


def test_merged_rows_pay_together_and_prove_what_they_cannot_avoid():
    problem = decision_problem("equal-rows")
    whole, merged = SPOT(merge_rows=False).presolved_view(problem), SPOT().presolved_view(problem)
    assert (whole.n_rows, merged.n_rows, merged.counts.tolist()) == (7, 4, [3, 1, 1, 2])
    assert whole.unavoidable == 0
    assert merged.unavoidable > 0
    for tree in sample_trees(problem):
        assert merged.objective(tree) == pytest.approx(whole.objective(tree))
    assert (
        SPOT().model_size(merged, problem.space).rows
        < SPOT(merge_rows=False).model_size(whole, problem.space).rows
    )


def test_weights_of_tenths_stay_tenths_when_rows_merge():
    values = [[1, 2], [2, 1], [1, 2], [3, 1]]
    data = mt.Dataset([[0], [0], [0], [1]], values=values, weights=[0.1, 0.1, 0.1, 0.3])
    for least, leaves in (("0.3", 2), ("0.30001", 1)):
        problem = mt.Problem(
            data,
            mt.decisions.Decision(decisions=mt.decisions.simplex_decisions(2)),
            mt.Trees(1, min_weight_leaf=least),
        )
        assert mt.solve(problem, "spot@highs").predictor.n_leaves == leaves


# -- solvers and starts ---------------------------------------------------------------------------------------------


#: Problems whose proof takes HiGHS too long for a test that is to end on a loaded machine.
LONG_PROOFS = ("cheapest", "three-levels-large-leaves", "three-levels-leaf-limit")


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in DECISION_PROBLEMS if n not in LONG_PROOFS])
def test_highs_proves_the_optimum(name):
    problem = decision_problem(name)
    best = brute_force(problem)
    for start in [None] if best is None else [None, best[0].prune_empty(problem.dataset)]:
        result = registry.method("spot@highs").run(problem, LIMITS, start=start)
        reference(registry.method("spot@highs"), problem, result)
        assert start is None or "reason" not in result.start, result.start


@pytest.mark.parametrize("solver", solver_params(names=("cbc", "scip", "cp-sat")))
def test_other_solvers_prove_the_optimum_or_refuse(solver):
    for name in ("grid-ties", "knapsack", "depth-1"):
        result = registry.method(f"spot@{solver}").run(decision_problem(name), LIMITS)
        if result.status is mt.plugins.Status.UNSUPPORTED:
            assert result.message
            assert solver == "cp-sat", "only a solver of integer programs refuses"
        else:
            reference(registry.method(f"spot@{solver}"), decision_problem(name), result)


def test_bounds_of_exact_costs_are_exact_only_where_they_are_proven():
    """Costs are whole numbers, the program counts in floating point: a proof names the fraction, a
    bound on the way does not.
    """
    problem = decision_problem("grid-ties")
    proven = registry.method("spot@highs").run(problem, LIMITS)
    assert proven.certificate.bound_exact == proven.value.exact == brute_force(problem)[1].exact
    stopped = registry.method("spot@highs").run(
        problem, Limits(time=60.0, nodes=1), start=sample_trees(problem)[1]
    )
    assert stopped.status is mt.plugins.Status.OPTIMAL or stopped.certificate.bound_exact is None


@pytest.mark.parametrize(
    ("grid", "exact"), [((3, 3), "dp"), ((3, 3), "dp-oracle"), ((8, 8), "dp-oracle")]
)
def test_exact_incumbent_and_greedy_are_ordered(grid, exact):
    """On 40 rows: exact <= program <= what it starts from, whatever that is and however soon it is
    stopped.
    """
    problem = generated_problem(
        DecisionData("shortest-path", 40, 0, 4.0, grid=grid, thresholds=4, seed=2), 2
    )[0]
    best, greedy = (registry.method(name).run(problem, LIMITS) for name in (exact, "greedy-spo"))
    assert best.status is mt.plugins.Status.OPTIMAL
    near = 1e-6 * greedy.objective
    for start in (greedy, best):
        result = mt.solve(problem, "spot@highs", start=start.predictor, time_limit=0.7)
        assert result.start["accepted"] is not False, result.start
        assert best.objective - near <= result.objective <= start.objective + near
        assert result.bound <= best.objective + near


def test_the_dynamic_programme_is_met_where_the_program_is_proven():
    problem = generated_problem(
        DecisionData("shortest-path", 12, 0, 4.0, grid=(3, 3), thresholds=2, seed=3), 1
    )[0]
    study = mt.compare(
        problem, ["dp", "dp-oracle", "spot@highs", "greedy-spo"], time_limit=60, start="greedy-spo"
    )
    found = {row["method"]: row for row in study.rows}
    assert {found[m]["status"] for m in ("dp", "dp-oracle", "spot@highs")} == {"optimal"}
    assert found["spot@highs"]["objective"] == pytest.approx(found["dp"]["objective"])
    assert found["dp"]["objective"] <= found["greedy-spo"]["objective"] + 1e-9


def test_a_wrong_program_is_never_reported_as_a_proof():
    problem = decision_problem("grid-ties")
    best = brute_force(problem)[0].prune_empty(problem.dataset)
    result = FormulationMethod(OneDecision(), registry.solver("highs")).run(
        problem, LIMITS, start=best
    )
    assert result.status is mt.plugins.Status.ERROR or not result.optimal


# -- what it takes --------------------------------------------------------------------------------------------------


def test_only_decisions_with_a_program_are_taken():
    problem = decision_problem("grid")
    oracle = mt.decisions.Oracle(lambda c: (c == c.min()).astype(float), 12)
    requested = replace(problem, task=mt.decisions.Decision(decisions=oracle))
    assert "linear program" in SPOT().unsupported(requested)
    with pytest.raises(mt.errors.Unsupported, match="dp-oracle"):
        mt.solve(requested, "spot@highs")


def test_other_tasks_and_spaces_are_refused_with_a_sentence():
    problem = decision_problem("grid")
    assert "cannot take the task accuracy" in SPOT().unsupported(get("xor"))
    assert "needs a depth limit" in SPOT().unsupported(replace(problem, space=mt.Trees(None)))


def test_it_is_listed_for_decisions_and_not_for_other_tasks():
    assert "spot" in registry.formulations_for(mt.Trees(2))
    assert "spot" not in registry.formulations_for(get("xor"))
    assert {"spot", "flow-oct"} <= set(registry.formulations_for(decision_problem("grid")))
    assert registry.formulations_for(decision_problem("grid-not-listed")) == ["spot"]
    assert "spot" not in set(mt.estimate(get("xor"))["formulation"])
    frame = mt.estimate(decision_problem("grid-not-listed"))
    assert frame["formulation"].tolist() == ["spot"]
    assert frame["rows"][0] == built(SPOT(), decision_problem("grid-not-listed")).matrix.n_rows


def test_the_model_and_its_optimum_are_exported(tmp_path):
    from milp_trees.exports.model_files.export import export_model

    message = export_model(decision_problem("depth-1"), "spot", tmp_path / "m.mps")
    assert message["value"] == pytest.approx(brute_force(decision_problem("depth-1"))[1].number)
    assert (tmp_path / "m.sol").read_text().startswith("=obj= ")
