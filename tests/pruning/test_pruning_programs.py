"""The programs of prunings: a variant, wrong models, starts, solvers and their options."""

from dataclasses import replace

import numpy as np
import pytest
from pruning_programs import LABELS, make
from solver_params import solver_params
from taken_problems import taken_problems

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.checks import (
    best_pruning,
    check_pruning_formulation,
    default_pruning_problems,
    example,
    scored,
    unnoticed_constraints,
)
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.view import NodeGains
from milp_trees.testing.solve import built

WITH_FEATURES = [label for label in LABELS if label != "ip0"]


LIMITS = Limits(time=60.0)


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
def test_a_variant_passes_the_checks():
    """And none of its constraints can be deleted unnoticed."""
    check_pruning_formulation(make(LABELS[-1]))
    assert not unnoticed_constraints(make(LABELS[-1]))


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "cls", [FreeFeatures, OneArcMissing, NoChildLeaves, DecodesTooMuch], ids=lambda c: c.__name__
)
def test_a_wrong_formulation_is_rejected(cls):
    with pytest.raises(AssertionError, match="ip3"):
        check_pruning_formulation(cls())


# -- with solvers ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
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
    budget, free = (
        (example(n).view(NodeGains), example(n).space) for n in ("two-items", "figure-1")
    )
    assert ip3.options_for("highs", *budget) == {"presolve": "off"}
    assert ip3.options_for("highs", *free) == {"presolve_rule_off": 32768}
    assert ip3.relaxation_options_for("highs", *free)["solver"] == "simplex"
    assert [ip3.has_integral_relaxation(*there) for there in (budget, free)] == [False, True]
    assert ip3.options_for("cbc", *free) == {}


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
