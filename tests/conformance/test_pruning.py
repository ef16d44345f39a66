"""Every registered formulation of prunings under its conformance checks, with solvers, and against
what is known of the paper's programs.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from solver_params import solver_params
from taken_problems import taken_problems

import milp_trees as mt
from milp_trees.by_name import registry
from milp_trees.limits import Limits
from milp_trees.linear.matrix import compile_model
from milp_trees.mip.method import FormulationMethod
from milp_trees.tasks.pruning_view import NodeGains
from milp_trees.testing.pruning_checks import (
    PRUNING_CHECKS,
    best_pruning,
    check_pruning_formulation,
    default_pruning_problems,
    example,
    scored,
    unnoticed_constraints,
)
from milp_trees.testing.pruning_examples import EXAMPLES, random_problem
from milp_trees.testing.solve import built, minimise
from milp_trees.unimodular import (
    check_network_certificate,
    decide_by_consecutive_ones,
    decide_by_difference_rows,
    total_unimodularity,
)

FORMULATIONS = registry.formulations_for(example("figure-1").space)
LABELS = [*FORMULATIONS, "ip3-closure:merge_pairs=off"]
WITH_FEATURES = [label for label in LABELS if label != "ip0"]
LIMITS = Limits(time=60.0)


def make(label):
    """A formulation by its label: `ip3-closure:merge_pairs=off`."""
    return registry.method(f"{label}@highs").formulation


def relaxed(label, name):
    """The relaxation's optimum by variable, and its value in errors."""
    b, (a, _, _) = built(make(label), example(name)), example(name).view(NodeGains).step
    point = minimise(b.matrix, relax=True)
    return {
        v.name: x for v, x in zip(b.matrix.columns, point.x.tolist(), strict=True)
    }, point.objective / a


# -- the suite ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "label, name",
    [
        pytest.param(label, name, marks=() if (k + number) % 3 == 0 else pytest.mark.slow)
        for k, label in enumerate(LABELS)
        for number, name in enumerate(taken_problems("prunings", label))
    ],
)
def test_a_formulation_on_a_tiny_ensemble(label, name):
    """Documented, repeatable, sized, optimum as all prunings say, relaxation a bound (or the
    optimum), every pruning in and out.
    """
    formulation, problem = make(label), default_pruning_problems()[name]
    assert formulation.unsupported(problem) is None
    for check in PRUNING_CHECKS.values():
        check(formulation, problem)


def test_the_four_programs_are_registered():
    assert FORMULATIONS == ["ip0", "ip1", "ip3", "ip3-closure"]


@pytest.mark.parametrize("label", WITH_FEATURES)
def test_programs_with_features_take_every_problem(label):
    assert not [
        name
        for name, problem in default_pruning_problems().items()
        if make(label).unsupported(problem)
    ]


def test_ip0_refuses_features_that_cost_and_budgets():
    assert "ip0 has no features" in make("ip0").unsupported(example("figure-1"))
    assert "budget" in make("ip0").unsupported(example("two-items"))
    with pytest.raises(mt.errors.Unsupported, match="ip3-closure"):
        make("ip0").build(example("figure-1"))


@pytest.mark.slow
@pytest.mark.parametrize("label", LABELS)
def test_a_formulation_on_many_random_ensembles(label):
    """Sixty more (two hundred at the level `thorough`), with every kind of price, and budgets in a
    third of them.
    """
    several = range(200 if os.environ.get("MILP_TREES_CONFORMANCE") == "thorough" else 60)
    many = {
        str(s): random_problem(
            np.random.default_rng(1000 + s), 1 + s % 3, 2, 2 + s % 3, 2 + s % 5, budget=s % 3 == 0
        )
        for s in several
    }
    many |= {f"free {s}": random_problem(np.random.default_rng(s), 2, 3, lam=0) for s in range(30)}
    check_pruning_formulation(make(label), many)


@pytest.mark.parametrize("label", LABELS)
def test_no_constraint_can_be_deleted_unnoticed(label):
    """Deleting any named constraint changes an optimum, or the formulation declares it redundant
    (none does).
    """
    assert unnoticed_constraints(make(label)) == sorted(make(label).redundant)


# -- wrong models are caught ----------------------------------------------------------------------------------------


class FreeFeatures(type(make("ip3"))):
    """Purchases are free for all rows but one."""

    def declare(self, m, view, space):
        super().declare(
            m, replace(view, price=np.where(view.purchase_row == 0, view.price, 0)), space
        )


class OneArcMissing(type(make("ip3-closure"))):
    """The last split buys nothing."""

    def _items(self, view):
        items = super()._items(view)
        return (
            items._replace(needs=items.needs[items.needs[:, 0] != items.needs[-1, 0]])
            if len(items.needs)
            else items
        )


class NoChildLeaves(type(make("ip3"))):
    """Children of the first root may not become leaves of their own: too tight."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if view.left[0] >= 0:
            m.z[int(view.left[0])].fix(0)
            m.z[int(view.left[0])].setub(0)


class DecodesTooMuch(type(make("ip3"))):
    """Every second pruning is decoded as a pile of leaves."""

    def decode(self, m):
        found = super().decode(m)
        return found.pruned(np.zeros_like(found.kept)) if found.n_splits % 2 else found


@pytest.mark.parametrize(
    "cls", [FreeFeatures, OneArcMissing, NoChildLeaves, DecodesTooMuch], ids=lambda c: c.__name__
)
def test_a_wrong_formulation_is_rejected(cls):
    with pytest.raises(AssertionError, match="ip3"):
        check_pruning_formulation(cls())


# -- the paper ------------------------------------------------------------------------------------------------------


def test_figure_1_has_its_fractional_vertex():
    """The relaxation of IP1 is 1.75 at halves of nodes 3, 4, 5 and of both features of tree 1
    (numbered from 0 here); the optimum is 2.5.
    """
    view = example("figure-1").view(NodeGains)
    assert view.error[:5].tolist() == [3, 0, 1, 0, 0]
    assert [view.step[1] * c / view.step[0] for c in view.price.tolist()] == [2, 0.5]
    x, value = relaxed("ip1", "figure-1")
    assert value == pytest.approx(1.75)
    assert {n: x[n] for n in ("z[2]", "z[3]", "z[4]", "W[0,0]", "W[1,0]")} == pytest.approx(
        dict.fromkeys(("z[2]", "z[3]", "z[4]", "W[0,0]", "W[1,0]"), 0.5)
    )
    assert x["z[0]"] == pytest.approx(0)
    assert float(view.from_value(best_pruning(example("figure-1"))[0])) / view.step[0] == 2.5
    assert relaxed("ip3", "figure-1")[1] == pytest.approx(2.5)


def test_budgets_break_integrality():
    """The corollary on budgets is false: half a split, and 17/3 errors where 6 are best and the
    hull has 7.
    """
    assert relaxed("ip3", "half-a-split")[0]["z[0]"] == pytest.approx(0.5)
    for label in ("ip3", "ip3-closure"):
        assert relaxed(label, "two-items")[1] == pytest.approx(17 / 3)
    problem = example("two-items")
    assert best_pruning(problem)[0] * 10 == 6
    free = replace(problem, task=replace(problem.task, max_cost=None))
    view = free.view(NodeGains)
    hull = {
        min(
            (
                view.totals(p.kept)[0] + lam * float(free.extra_scores(p)["cost"]),
                view.totals(p.kept),
            )
            for _, p in scored(free)
        )[1]
        for lam in np.linspace(0, 5, 400)
    }
    assert sorted(E for E, _ in hull) == [3, 7, 10]


@pytest.mark.parametrize("name", default_pruning_problems())
def test_ip3_is_a_transposed_network_matrix(name):
    """Entry by entry, of the spanning tree that the formulation names; a budget row leaves no such
    tree.
    """
    b = built(make("ip3"), default_pruning_problems()[name])
    tree = make("ip3").network_tree(b.model)
    if b.model.view.budget is not None:
        assert tree is None
        return
    answer = check_network_certificate(b.matrix, tree)
    assert (answer.answer, answer.certificate.transposed) == ("yes", True)


def test_a_wrong_spanning_tree_is_no_proof():
    b = built(make("ip3"), example("figure-1"))
    tree = make("ip3").network_tree(b.model)
    tail, head, name = tree[2]
    assert (
        check_network_certificate(b.matrix, [*tree[:2], (head, tail, name), *tree[3:]]).answer
        == "unknown"
    )


def differenced(b):
    """The equality rows of each tree, in the order of its leaves with w[h,i] between the children
    of h, each less the one before; then w ≤ W.
    """
    A, labels, view = b.matrix.A.toarray(), np.array(b.matrix.row_labels), b.model.view
    column = {v.name: j for j, v in enumerate(b.matrix.columns)}

    def leaves(h):
        if view.left[h] < 0:
            return [column[f"z[{h}]"]]
        return [
            *leaves(view.left[h]),
            *(column[f"w[{u},{i}]"] for u, i in b.model.w if u == h),
            *leaves(view.right[h]),
        ]

    equal = A[labels != "buy"]
    rows = [
        np.array([equal[equal[:, j] != 0][0] for j in leaves(root)]) for root in view.roots
    ]  # only one row has the last variable of a path
    return np.vstack([*(np.vstack([r[:1], np.diff(r, axis=0)]) for r in rows), A[labels == "buy"]])


def test_the_published_proof_is_about_another_matrix():
    """Differenced rows over w ≤ W are not totally unimodular on two mirrored trees, where the rows
    as printed are; for one tree both are.
    """
    b = built(make("ip3"), example("mirrored-trees"))
    answer = total_unimodularity(differenced(b))
    assert (answer.answer, abs(answer.submatrix.determinant)) == ("no", 2)
    assert total_unimodularity(b.matrix).answer == "yes"
    one = built(make("ip3"), example("negative-gain"))
    assert total_unimodularity(differenced(one)).answer == "yes"


def test_ip0_has_consecutive_ones_and_the_closure_difference_rows():
    for name, problem in default_pruning_problems().items():
        if not make("ip0").unsupported(problem):
            assert (
                decide_by_consecutive_ones(built(make("ip0"), problem).matrix, columns=True).answer
                == "yes"
            ), name
        if problem.view(NodeGains).budget is None:
            for label in ("ip3-closure", "ip3-closure:merge_pairs=off"):
                assert (
                    decide_by_difference_rows(built(make(label), problem).matrix).answer == "yes"
                ), name


def test_merging_makes_the_program_smaller_and_not_different():
    for problem in default_pruning_problems().values():
        view = problem.view(NodeGains)
        small, large = (make(label).model_size(view, problem.space) for label in LABELS[-2:])
        assert small.variables <= large.variables
        assert small.nonzeros <= large.nonzeros or len(view.above)
    problem = example("all-prices-and-a-budget")
    small, large = (
        make(label).model_size(problem.view(NodeGains), problem.space) for label in LABELS[-2:]
    )
    assert small.rows < large.rows


# -- with solvers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "label, name",
    [
        (label, name)
        for label in LABELS
        for name in (
            "figure-1",
            "groups",
            "two-items",
            "all-prices-and-a-budget",
            "single-node",
            "keep-cost",
            "regression",
        )
        if name in taken_problems("prunings", label)
    ],
)
def test_highs_proves_the_optimum(label, name):
    method, problem = registry.method(f"{label}@highs"), example(name)
    result = method.run(problem, LIMITS)
    assert result.status is mt.plugins.Status.OPTIMAL, result
    assert float(problem.view(NodeGains).from_value(best_pruning(problem)[0])) == pytest.approx(
        float(problem.view(NodeGains).from_value(result.value.exact or result.value.number)),
        abs=2 * problem.view(NodeGains).tolerance,
    )


@pytest.mark.parametrize("solver", solver_params(names=("cbc", "scip", "cp-sat")))
@pytest.mark.parametrize("label", WITH_FEATURES)
def test_other_solvers_prove_the_optimum(label, solver):
    for name in ("figure-1", "all-prices-and-a-budget"):
        result = registry.method(f"{label}@{solver}").run(example(name), LIMITS)
        assert (result.status, result.value.exact) == (
            mt.plugins.Status.OPTIMAL,
            best_pruning(example(name))[0],
        ), result


@pytest.mark.parametrize("label", WITH_FEATURES)
def test_a_start_is_accepted(label):
    """Models with a budget take a start, the best one and the first; where the relaxation is the
    optimum, the solver has no use for one.
    """
    problem = example("all-prices-and-a-budget")
    for _, start in (scored(problem)[0], best_pruning(problem)):
        result = registry.method(f"{label}@highs").run(problem, LIMITS, start=start)
        assert (result.status, result.start["accepted"]) == (mt.plugins.Status.OPTIMAL, True), (
            result
        )
    for name in ("figure-1", "two-items", "regression"):
        result = registry.method(f"{label}@highs").run(
            example(name), LIMITS, start=scored(example(name))[0][1]
        )
        assert result.status is mt.plugins.Status.OPTIMAL
        assert "reason" not in result.start, result.start


def test_a_wrong_model_is_never_reported_as_a_proof():
    problem = example("figure-1")
    result = FormulationMethod(NoChildLeaves(), registry.solver("highs")).run(
        problem, LIMITS, start=best_pruning(problem)[1]
    )
    assert result.status is mt.plugins.Status.ERROR, result


def test_highs_does_not_probe_ip3():
    """With a budget presolve is off; without one the relaxation comes first, and a tree search
    after it would not probe.
    """
    ip3 = make("ip3")
    with_budget, without = (
        ip3.options_for("highs", example(n).view(NodeGains), example(n).space)
        for n in ("two-items", "figure-1")
    )
    assert with_budget == {"presolve": "off"}
    assert (without["as_lp_first"], without["presolve_rule_off"]) == (True, 32768)
    assert ip3.options_for("cbc", example("figure-1").view(NodeGains), None) == {}


def test_examples_are_made_anew_each_time():
    assert EXAMPLES["figure-1"]() is not EXAMPLES["figure-1"]()
    assert (
        compile_model(make("ip3").build(EXAMPLES["figure-1"]())).n_rows
        == built(make("ip3"), example("figure-1")).matrix.n_rows
    )


def test_an_infeasible_budget_is_said_to_be_one():
    """Where every pruning pays for its leaves, a budget of nothing leaves no pruning."""
    problem = example("keep-cost")
    none = replace(problem, task=replace(problem.task, max_cost="1/1000"))
    assert best_pruning(none) is None
    for label in WITH_FEATURES:
        assert (
            registry.method(f"{label}@highs").run(none, LIMITS).status
            is mt.plugins.Status.INFEASIBLE
        )
