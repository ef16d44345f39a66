"""Writes docs/reference/formulations.md from the registry: what each formulation says about
itself, and the models it builds.

Run it from the project's folder: `python docs/build_formulations.py`. A test compares the page with
what this prints.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyomo.environ as pyo

from milp_trees.by_name import registry
from milp_trees.errors import Unsupported
from milp_trees.mip.formulation import Formulation
from milp_trees.spaces.pruned import PrunedEnsembles
from milp_trees.spaces.rule_lists import RuleLists
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.captured_share import DefaultOnly
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.leaf_order import LeafOrder
from milp_trees.tasks.pruning_view import NodeGains
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.decision_problems import decision_problem
from milp_trees.testing.list_problems import list_problems
from milp_trees.testing.problems import problem
from milp_trees.testing.pruning_examples import EXAMPLES

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
PAGE = Path(__file__).parent / "reference" / "formulations.md"

INTRODUCTION = """\
# Formulations

This page is written by `python docs/build_formulations.py` from the formulations themselves; do not edit it. Every variable and constraint
carries its own description, and the conformance suite builds, solves and checks every formulation listed here.

## Trees

All formulations of this section take the same instance, the view `CostMatrix` (see [nouns.md](../project/nouns.md)): candidate tests with value 0 or 1 per row, integer
costs per row and action, penalties, side rows. Trees are numbered like a heap: node 1 is the root, node v has the children 2v (test false) and
2v + 1 (test true). All objectives are minimised and in integer units.

Two options are common to all: `merge_rows` merges rows with equal tests, `drop_tests` drops constant, equal and complementary tests; both are
on. An option is written into the method's name: `flow-oct:merge_rows=off@highs`.
"""
DECISIONS = """\
## Trees that decide

Formulations of trees whose leaves decide take the view `LeafOracle`: cost vectors of the rows and the set of decisions with its oracle. The objective is
the loss beyond what every row costs at least, and penalties, in steps of the tolerance in which losses are told apart; values are measured, so nothing is
proven closer than that. Where the set of decisions is listed, all formulations above take the task as well, in exact integers if its costs are exact. The option `merge_rows` is theirs.
"""
LISTS = """\
## Rule lists

Formulations of rule lists take the view `CostMatrix`, too; its candidate tests are antecedents ([rule_lists.md](../guide/rule_lists.md)). Complementary antecedents
are not interchangeable in a list, so `drop_tests` keeps them. The minimum leaf size is `min_samples_rule`, of rules and not of the default rule.
"""
PRUNINGS = """\
## Prunings of ensembles

Formulations of prunings take the view `NodeGains`: errors at every node of the unpruned trees, and what the splits need to be evaluated. Nodes of all
trees are numbered in preorder, one tree after the other. The objective is the mean error of the trees + λ · the mean cost of a row, in whole units, and
minimised. `min-cut` solves the same problem without a solver, for every λ at once; with a budget (`max_cost`) the programs are what is exact.
"""


DERIVED = """\
## Derived by dynamic programming

These models leave out what optimal values of subproblems exclude, so part of the work is done before a solver sees them. They are compared apart from the
formulations above, and a certificate names the methods that a bound rests on beside the solver.
"""


def page() -> str:
    """The whole page."""
    of_trees, of_decisions, of_prunings = (
        _formulations(Trees, CostMatrix),
        _formulations(Trees, LeafOracle),
        _formulations(PrunedEnsembles, NodeGains),
    )
    of_lists = _formulations(RuleLists, CostMatrix)
    derived = [f for f in of_trees if f.dp_derived]
    of_trees = [f for f in of_trees if not f.dp_derived]
    decisions = ["| name | model | decisions |", "|---|---|---|"]
    for f in of_decisions:
        decisions.append(
            f"| [`{f.name}`](#{f.name}) | {f.title} | any set with a linear or mixed-integer program |"
        )
    prunings = ["| name | model | relaxation |", "|---|---|---|"]
    for f in of_prunings:
        prunings.append(
            f"| [`{f.name}`](#{f.name}) | {f.title} | {'integral without a budget' if f.integral_relaxation else 'weak'} |"
        )
    sections = [
        *map(section, of_trees),
        DERIVED,
        *_table_of_trees(derived),
        "",
        *map(section, derived),
        LISTS,
        *_table_of_trees(of_lists, "list"),
        "",
        *map(section, [f for f in of_lists if f not in of_trees and f not in derived]),
        DECISIONS,
        *decisions,
        "",
        *map(section, of_decisions),
        PRUNINGS,
        *prunings,
        "",
        *map(section, of_prunings),
    ]
    return "\n".join([INTRODUCTION, *_table_of_trees(of_trees), "", *sections])


def _table_of_trees(formulations: list[Formulation], model: str = "tree") -> list[str]:
    others = {"tree": DefaultOnly.kind, "list": LeafOrder.kind}[model]
    rows = [
        f"| name | model | costs | side constraints | constraints on the {model} | minimum leaf size |",
        "|---|---|---|---|---|---|",
    ]
    for f in formulations:
        costs = "any" if f.takes_any_costs else "equal for all wrong actions of a row"
        on_trees = ", ".join(sorted(f.takes_structure - {others})) or "no"
        rows.append(
            f"| [`{f.name}`](#{f.name}) | {f.title} | {costs} | {_yes(f.takes_side_rows)} | {on_trees} | {_yes(f.takes_min_leaf)} |"
        )
    return rows


def _formulations(space: type, view: type) -> list[Formulation]:
    """The formulations that search a space and model a view, in alphabetical order."""
    classes: dict[str, Any] = registry.classes("formulations")
    return [
        registry.formulation(name)
        for name, cls in classes.items()
        if issubclass(space, cls.space) and cls.needs is view
    ]


def section(formulation: Formulation) -> str:
    """What one formulation says about itself."""
    models = dict(built(formulation))
    reference = f" ({formulation.reference})" if formulation.reference.startswith("http") else ""
    parts = [
        f"### {formulation.name}",
        "",
        f"**{formulation.title}**{reference}",
        "",
        markdown(_module_text(formulation)),
        "",
    ]
    if formulation.dp_derived:
        parts += [
            "Its coefficients are optimal values of subproblems of a dynamic programme (`dp-derived`): it is compared apart.",
            "",
        ]
    parts += options(formulation)
    parts += table("variable", pyo.Var, models, {})
    parts += table("constraint", pyo.Constraint, models, dict(formulation.redundant))
    return "\n".join(parts)


def built(formulation: Formulation) -> Iterator[tuple[str, Any]]:
    """The models of the cases that the formulation supports."""
    cases: dict[type, tuple[dict[str, str], Any]] = {
        CostMatrix: (CASES, problem),
        LeafOracle: (DECISION_CASES, decision_problem),
        NodeGains: (PRUNING_CASES, lambda name: EXAMPLES[name]()),
    }
    names, make = cases[formulation.needs]
    if formulation.space is RuleLists:
        names, make = LIST_CASES, lambda name: list_problems()[name]
    for case, name in names.items():
        try:
            yield case, formulation.build(make(name))
        except Unsupported:
            continue


def table(kind: str, ctype: Any, models: dict[str, Any], redundant: dict[str, str]) -> list[str]:
    """Components of a kind with their descriptions and the cases in which the model has them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for case, model in models.items():
        for component in model.component_objects(ctype, active=True):
            if len(component):
                found.setdefault(component.local_name, (component.doc or "", []))[1].append(case)
    if not found:
        return []
    lines = [f"| {kind} | meaning | when |", "|---|---|---|"]
    for name, (doc, cases) in found.items():
        why = f" *Redundant: {redundant[name]}*" if name in redundant else ""
        when = "always" if len(cases) == len(models) else "with " + ", ".join(cases)
        lines.append(f"| `{name}` | {_cell(doc + why)} | {when} |")
    return [*lines, ""]


def options(formulation: Formulation) -> list[str]:
    """The options it has beside the common ones, as its docstring describes them."""
    own = [f for f in dataclasses.fields(formulation) if f.name not in ("merge_rows", "drop_tests")]
    if not own:
        return []
    described = _parameters(inspect.getdoc(type(formulation)) or "")
    lines = ["| option | default | meaning |", "|---|---|---|"]
    lines += [
        f"| `{f.name}` | `{f.default}` | {_cell(markdown(described.get(f.name, '')))} |"
        for f in own
    ]
    return [*lines, ""]


# -- text --------------------------------------------------------------------------------------------------------


def _parameters(doc: str) -> dict[str, str]:
    """Parameter → type and description, from a NumPy docstring."""
    out: dict[str, str] = {}
    block = (
        doc.split("Parameters\n----------\n")[-1].split("\n\n")[0] if "Parameters\n" in doc else ""
    )
    for entry in re.split(r"\n(?=\S)", block):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            out[name] = f"{kind}. {' '.join(body.split())}"
    return out


def _module_text(formulation: Formulation) -> str:
    return inspect.cleandoc(sys.modules[type(formulation).__module__].__doc__ or "")


def markdown(text: str) -> str:
    """Docstring markup (reStructuredText) as Markdown with mathematics between dollar signs."""
    text = re.sub(r":math:`([^`]*)`", lambda m: "$" + " ".join(m[1].split()) + "$", text)
    blocks = re.split(r"\n\s*\n", text)
    return "\n\n".join(_block(b) for b in blocks)


def _block(block: str) -> str:
    found = re.search(r"^\.\. math::[ \t]*(.*)$", block, flags=re.MULTILINE)
    if not found:
        return block.replace("``", "`")
    before, formula = block[: found.start()].rstrip(), (found[1] + block[found.end() :]).strip()
    formula = "\n".join(line.strip() for line in formula.splitlines())
    if "\\\\" in formula or "&" in formula:
        formula = f"\\begin{{aligned}}\n{formula}\n\\end{{aligned}}"
    return "\n\n".join(filter(None, [before, f"$$\n{formula}\n$$"]))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`").replace("<", "&lt;")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
