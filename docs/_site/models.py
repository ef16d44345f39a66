"""The variables and constraints of every formulation, read from tiny models that it builds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyomo.environ as pyo

from _site import text
from milp_trees.common.errors import Unsupported
from milp_trees.decisions.testing.problems import decision_problem
from milp_trees.lists.space import RuleLists
from milp_trees.lists.testing.problems import list_problems
from milp_trees.mip.formulation import Formulation
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.oblique.testing import oblique_problems
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.view import NodeGains
from milp_trees.robust.testing.problems import robust_problem
from milp_trees.robust.view import WorstCase
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.problems import problem

#: What is asked → the tiny problem on which the model is built; the first is the plain case.
CASES = {
    "accuracy": "majority_of_three",
    "numeric columns": "adjacent_thresholds",
    "other costs": "cost_matrix",
    "a penalty": "split_penalty",
    "a minimum leaf size": "min_leaf",
    "a largest number of leaves": "max_leaves",
    "side constraints": "parity",
    "constraints on features": "feature_budget",
    "constraints on nodes": "parity_below",
}
DECISION_CASES = {
    "a grid": "grid-ties",
    "a list": "listed-with-shares",
    "whole numbers": "knapsack",
    "a penalty": "penalties",
    "a minimum leaf size": "min-leaf",
    "a minimum leaf weight": "min-weight",
    "a largest number of leaves": "leaf-limit",
}
PRUNING_CASES = {
    "features that cost": "figure-1",
    "features for nothing": "free-features",
    "groups of features": "groups",
    "a budget": "all-prices-and-a-budget",
}
LIST_CASES = {
    "accuracy": "order_matters",
    "one rule": "two_rules_in_one",
    "a penalty": "no_limit",
    "a smallest number of rows": "large_rules",
    "side constraints": "parity",
    "a black box": "before_a_black_box",
}
SHIFTED_CASES = {
    "boxes": "boxes-of-two-columns",
    "a budget": "budget-on-a-line",
    "penalties": "boxes-penalties",
    "a largest number of leaves": "boxes-leaf-limit",
}
OBLIQUE_CASES = {
    "accuracy": "diagonal",
    "other costs": "costs",
    "prices of columns": "priced_columns",
    "a minimum leaf size": "large_leaves",
    "a largest number of leaves": "few_leaves",
    "side constraints": "capacity",
}


def tables(formulation: Formulation) -> list[str]:
    """What the variables and the constraints of a formulation mean."""
    models = dict(built(formulation))
    return [
        table("variable", pyo.Var, models, {}),
        table("constraint", pyo.Constraint, models, dict(formulation.redundant)),
    ]


def built(formulation: Formulation) -> Iterator[tuple[str, Any]]:
    """The models of the cases that the formulation supports."""
    cases: dict[type, tuple[dict[str, str], Any]] = {
        CostMatrix: (CASES, problem),
        LeafOracle: (DECISION_CASES, decision_problem),
        NodeGains: (PRUNING_CASES, lambda name: EXAMPLES[name]()),
        WorstCase: (SHIFTED_CASES, robust_problem),
    }
    needs = formulation.needs  # of several kinds of views the first is shown
    names, make = cases[needs[0] if isinstance(needs, tuple) else needs]
    if formulation.space is RuleLists:
        names, make = LIST_CASES, lambda name: list_problems()[name]
    if formulation.space is ObliqueTrees:
        names, make = OBLIQUE_CASES, lambda name: oblique_problems()[name]
    for case, name in names.items():
        try:
            yield case, formulation.build(make(name), incomplete=True)
        except Unsupported:
            continue


def table(kind: str, ctype: Any, models: dict[str, Any], redundant: dict[str, str]) -> str:
    """Components of a kind with their descriptions and the cases in which the model has them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for case, model in models.items():
        for component in model.component_objects(ctype, active=True):
            if len(component):
                found.setdefault(component.local_name, (component.doc or "", []))[1].append(case)
    rows = []
    for name, (doc, cases) in found.items():
        why = f" *Redundant: {redundant[name]}*" if name in redundant else ""
        when = "always" if len(cases) == len(models) else "with " + ", ".join(cases)
        rows.append([f"`{name}`", text.cell(doc + why), when])
    return text.table([kind, "meaning", "when"], rows)
