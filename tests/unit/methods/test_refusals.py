"""Sentences of methods that cannot take a problem name every method that can."""

import re

from row_tests import each_row

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import BySize

DATA = mt.load("planted:rows=40,tests=4,depth=2,noise=0.1")
GROUPED = DATA.with_(groups=DATA.X[:, 0])
PARITY = mt.tasks.StatisticalParity("0.1")
ERRORS = mt.tasks.ErrorRates(max_false_positive_rate="1/2")
SUBTREES = mt.tasks.ParityInSubtrees("1/5")
BUDGET = mt.tasks.FeatureBudget(2)


def problem(*constraints, data=GROUPED, space=None, **more):
    return mt.Problem(data, mt.Accuracy(constraints=constraints), space or mt.Trees(2), **more)


PROBLEMS = {
    "parity": problem(PARITY),
    "error rates": problem(ERRORS),
    "capacity": problem(mt.tasks.Capacity(1, at_most=20)),
    "parity in subtrees": problem(SUBTREES),
    "a budget of features": problem(BUDGET),
    "a budget, parity and small leaves": problem(BUDGET, PARITY, space=mt.Trees(2, None, 3)),
    "a weight of leaves": problem(space=mt.Trees(2, min_weight_leaf=2)),
    "parity and a weight of leaves": problem(PARITY, space=mt.Trees(2, min_weight_leaf=2)),
    "parity by size": problem(PARITY, question=BySize(4)),
    "parity of lists": problem(PARITY, space=mt.RuleLists(max_length=2)),
}


def takers(asked):
    """Methods and formulations by name that take a problem."""
    return {
        name
        for group in ("methods", "formulations")
        for name in registry.classes(group)
        if getattr(registry, group[:-1])(name).unsupported(asked) is None
    }


@each_row("name", PROBLEMS)
def test_a_refusal_names_every_method_that_can(name):
    """Wherever one sentence names others, these are all that take the problem, and no more."""
    requested, named = PROBLEMS[name], 0
    able = takers(requested)
    methods = able & set(registry.classes("methods"))
    for group in ("methods", "formulations"):
        for other in registry.classes(group):
            why = getattr(registry, group[:-1])(other).unsupported(requested) or ""
            if found := re.search(r"; ([a-z0-9, -]+?) can\.$", why):
                listed = set(re.split(r", | and ", found[1]))
                assert listed in (able, methods), (other, why)
                named += 1
    assert named or not able


def test_parity_and_error_rates_are_taken_by_engines():
    """`lagrangian` and `side-fronts` are dynamic programmes that take side rows."""
    for name in ("parity", "error rates"):
        why = registry.method("dp").unsupported(PROBLEMS[name])
        assert "lagrangian" in why
        assert "side-fronts" in why
        assert mt.solve(PROBLEMS[name], "side-fronts").optimal
