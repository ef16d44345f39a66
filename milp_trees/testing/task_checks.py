"""Checks of tasks.

The value of a task must be that of its definition, its views must agree with it, its description
must restore it, and the order of rows must not matter.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.errors import MilpTreesError, NoView, UnknownName
from milp_trees.models.nodes import Leaf
from milp_trees.models.tree import Tree
from milp_trees.problem import Problem
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.base import Task
from milp_trees.tasks.count_views import LeafCounts, PairCounts
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.pruning_view import NodeGains
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.stored import from_spec
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.definitions import DEFINITIONS, Definition
from milp_trees.testing.definitions_of_constraints import broken
from milp_trees.testing.describe import expression
from milp_trees.testing.grouped import difference
from milp_trees.testing.suite import Report
from milp_trees.testing.task_data import (
    described,
    in_order,
    random_datasets,
    rows_of,
    see,
    some_trees,
)

#: Number of datasets that are drawn at a level, and of trees on each.
DRAWS = {"quick": (4, 6), "thorough": (40, 20)}
#: What is claimed of every task.
CLAIMS = ("definition", "views", "order", "spec", "sense", "no view", "weights", "counts")
#: Every kind of view.
VIEWS = (CostMatrix, LeafOracle, Ratio, PairCounts, LeafCounts, NodeGains)


def check_task(
    task: Task | type[Task],
    datasets: Mapping[str, Dataset] | None = None,
    definition: Definition | None = None,
    *,
    level: str = "quick",
) -> Report:
    """Run every check of tasks on random trees.

    Parameters
    ----------
    task : Task, or a class of tasks without required options
        The task.
    datasets : mapping of name to Dataset, optional
        By default random ones with two and three classes, five groups, and everything else that a
        task may need. A dataset for which the task raises an error with a sentence is skipped.
    definition : callable (spec, rows, seen) → float, optional
        Value of the task, independent of its code (see `milp_trees.testing.definitions`). By
        default that of the registered task of this name.
    level : {"quick", "thorough"}
        The level.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        For the first check that fails, or if every dataset was skipped.
    UnknownName
        There is no such level, or no definition.
    """
    asked = task() if isinstance(task, type) else task
    meaning = definition or DEFINITIONS.get(asked.name)
    if meaning is None:
        raise AssertionError(
            f"There is no definition of the task {asked.name}; give definition=, a function (spec, rows, seen) that uses none of its code."
        )
    if level not in DRAWS:
        raise UnknownName(f"There is no level {level!r}; known are {', '.join(DRAWS)}.")
    report, (draws, trees) = Report(), DRAWS[level]
    weighed = has_weights = False
    for name, dataset in (random_datasets(draws) if datasets is None else datasets).items():
        problem = Problem(dataset, asked, Trees(3))
        try:
            asked.value(Tree(Leaf(0), asked.actions(dataset)).routes(dataset), dataset)
        except MilpTreesError as why:
            report.skipped[name] = str(why)
            continue
        sample = some_trees(problem, trees)
        for tree in sample:
            _means(problem, tree, meaning, name)
            _views_agree(problem, tree, name)
            _counts_agree(problem, tree, name)
            _order_is_nothing(problem, tree, name)
        _reads_back(problem, sample, name)
        _senses(problem, sample, name)
        _says_why_not(problem, name)
        counted = difference(problem, sample)
        _demand(counted is None, problem, name, sample[0], counted or "")
        weighed |= _weights_are_duplicates(problem, sample, name)
        has_weights |= dataset.weights is not None
        report.passed += [(claim, name) for claim in CLAIMS]
    if not report.passed:
        raise AssertionError(
            f"The task {asked.name} refused every dataset: {'; '.join(sorted(set(report.skipped.values())))}"
        )
    if asked.weighs_rows and has_weights and not weighed:
        raise AssertionError(
            f"The task {asked.name} says that it weighs rows, but weights change no value."
        )
    return report


# -- the checks ------------------------------------------------------------------------------------


def _means(problem: Problem, tree: Tree, meaning: Definition, name: str) -> None:
    """Value and side constraints agree with the definition."""
    spec, rows, seen = described(problem.task), rows_of(problem.dataset), see(tree, problem.dataset)
    value, expected = problem.value(tree), meaning(spec, rows, seen)
    _demand(
        abs(value.number - expected) <= 1e-9 * max(1.0, abs(expected)),
        problem,
        name,
        tree,
        f"the value is {value}; by definition it is {expected}",
    )
    if value.exact is not None:
        _demand(
            float(value.exact) == value.number,
            problem,
            name,
            tree,
            f"the value is {value.number}, and exactly {value.exact}",
        )
    wrong = problem.task.violations(tree.routes(problem.dataset), problem.dataset)
    against = broken(spec, rows, seen)
    _demand(
        bool(wrong) == bool(against),
        problem,
        name,
        tree,
        f"the task finds {wrong or 'nothing'} violated, the definition {against or 'nothing'}",
    )


def _views_agree(problem: Problem, tree: Tree, name: str) -> None:
    """Objectives of views equal the value, and side rows hold iff the constraints hold.

    The same is true after presolve.
    """
    value = problem.value(tree)
    number = value.exact if value.exact is not None else Fraction(value.number)
    views: list[Any] = [
        problem.view(kind) for kind in (CostMatrix, LeafOracle) if problem.task.offers(kind)
    ]
    if problem.task.offers(CostMatrix):
        views.append(problem.presolved_view())
    for view in views:
        if isinstance(view, LeafOracle) and not tree.actions:
            continue
        Z = view.objective(tree)
        off = abs(view.from_value(number) - Fraction(Z))
        _demand(
            off <= view.tolerance,
            problem,
            name,
            tree,
            f"the view {type(view).__name__} has {Z} units, the value is {float(view.from_value(number))}",
        )
        if isinstance(view, CostMatrix):
            routes = view.canonical(tree).routes(view)
            holds = all(
                row.holds(total)
                for row, total in zip(view.side, view.side_totals(tree), strict=True)
            ) and all(part.holds(routes, view) for part in view.structure)
            wrong = problem.task.violations(tree.routes(problem.dataset), problem.dataset)
            _demand(
                holds == (not wrong),
                problem,
                name,
                tree,
                f"the side rows {'hold' if holds else 'do not hold'}, the task finds {wrong or 'nothing'}",
            )


def _counts_agree(problem: Problem, tree: Tree, name: str) -> None:
    """Views of counts give the value, and turn it back into their units.

    They compute it from the counts of the leaves and of the errors.
    """
    task, value = problem.task, problem.value(tree)
    number = Fraction(value.number) if value.exact is None else value.exact
    seen, n_leaves = (
        see(tree, problem.dataset),
        sum(isinstance(node, Leaf) for node in in_order(tree.root)),
    )
    if task.offers(LeafCounts):
        view = problem.view(LeafCounts)
        leaves = Counter((t, bool(up)) for t, up in zip(seen.leaf, view.is_positive, strict=True))
        units = view.units([(leaves[t, True], leaves[t, False]) for t in range(n_leaves)])
        _demand(
            view.to_value(units) == number,
            problem,
            name,
            tree,
            f"the leaves give {view.to_value(units)}, the value is {value}",
        )
        back = view.from_value(number)
        _demand(
            back == -units, problem, name, tree, f"the leaves give {units} units, the value {-back}"
        )
    with contextlib.suppress(NoView):  # for row weights and side constraints
        pairs = problem.view(PairCounts)
        said = [
            (bool(up), k == pairs.positive)
            for up, k in zip(pairs.is_positive, seen.said, strict=True)
        ]
        metric = float(
            pairs.to_value(
                pairs.units(said.count((False, True)), said.count((True, False)), n_leaves)
            )
        )
        _demand(
            abs(metric - value.number) <= 1e-9,
            problem,
            name,
            tree,
            f"the errors give {metric}, the value is {value}",
        )
    if task.offers(Ratio):
        ratio = problem.view(Ratio)
        loss = ratio.from_value(number) / ratio.unit
        _demand(
            ratio.to_value(loss) == number,
            problem,
            name,
            tree,
            f"{value} is a loss of {loss}, which is a value of {ratio.to_value(loss)}",
        )


def _order_is_nothing(problem: Problem, tree: Tree, name: str) -> None:
    """Rows in another order have the same value, and violate the same constraints."""
    order = np.random.default_rng(1).permutation(problem.dataset.n_rows)
    other = Problem(problem.dataset.subset(order), problem.task, problem.space)
    a, b = problem.value(tree), other.value(tree)
    _demand(
        abs(a.number - b.number) <= 1e-9 * max(1.0, abs(a.number)),
        problem,
        name,
        tree,
        f"the value is {a}, with the rows in another order {b}",
    )
    broken_here, broken_there = bool(problem.violations(tree)), bool(other.violations(tree))
    _demand(
        broken_here == broken_there,
        problem,
        name,
        tree,
        "whether it is feasible depends on the order of the rows",
    )


def _reads_back(problem: Problem, trees: Sequence[Tree], name: str) -> None:
    """The description, through JSON, gives an equal task.

    It has the same description, values and constraints.
    """
    spec = json.loads(json.dumps(problem.task.spec()))
    again = from_spec(spec)
    _demand(
        json.loads(json.dumps(again.spec())) == spec,
        problem,
        name,
        None,
        f"its description {spec} reads back as {again.spec()}",
    )
    for tree in trees:
        routes = tree.routes(problem.dataset)
        here, there = (t.value(routes, problem.dataset) for t in (problem.task, again))
        _demand(
            here == there,
            problem,
            name,
            tree,
            f"the value is {here}, of the task that was read back {there}",
        )
        same = problem.task.violations(routes, problem.dataset) == again.violations(
            routes, problem.dataset
        )
        _demand(same, problem, name, tree, "the task that was read back has other constraints")


def _senses(problem: Problem, trees: Sequence[Tree], name: str) -> None:
    """Values have the task's unit and sense, and `better_than` follows it."""
    task = problem.task
    _demand(
        task.sense in ("min", "max") and bool(task.unit),
        problem,
        name,
        None,
        f"its sense is {task.sense!r}, its unit {task.unit!r}",
    )
    values = [problem.value(tree) for tree in trees]
    for value in values:
        _demand(
            (value.unit, value.sense) == (task.unit, task.sense),
            problem,
            name,
            None,
            f"a value has {value.unit!r} and {value.sense!r}",
        )
    for a in values:
        for b in values:
            less = a.number < b.number if task.sense == "min" else a.number > b.number
            _demand(
                a.better_than(b) == less or a.number == b.number,
                problem,
                name,
                None,
                f"{a} and {b} are compared wrongly",
            )


def _says_why_not(problem: Problem, name: str) -> None:
    """If there is no view, an error gives the reason."""
    for kind in VIEWS:
        try:
            problem.task.view(kind, problem.dataset, problem.space)
        except NoView as why:
            said = str(why)
            _demand(
                said.endswith(".") and len(said.split()) > 3,
                problem,
                name,
                None,
                f"it has no view {kind.__name__} and says {said!r}",
            )


def _weights_are_duplicates(problem: Problem, trees: Sequence[Tree], name: str) -> bool:
    """If row weights change the value, a row of weight w counts as w rows of weight 1.

    The class of the task must then declare that it weighs rows. Nothing is checked if constraints
    count rows. Returns whether weights may change the value.
    """
    data, task = problem.dataset, problem.task
    whole = data.row_weights * 4
    if "constraints" in task.spec() or (whole != whole.astype(int)).any():
        return True
    heavy, light = (
        data.with_(weights=whole, classes=data.classes),
        data.with_(weights=None, classes=data.classes),
    )
    values = [[task.value(tree.routes(d), d).number for tree in trees] for d in (heavy, light)]
    if values[0] == values[1]:
        return False
    said = "weights change the value, but the class does not say that it weighs rows"
    _demand(task.weighs_rows, problem, name, None, said)
    many = light.subset(np.repeat(np.arange(data.n_rows), whole.astype(int)))
    for tree, value in zip(trees, values[0], strict=True):
        other = task.value(tree.routes(many), many).number
        near = abs(value - other) <= 1e-9 * max(1.0, abs(other))
        _demand(
            near,
            problem,
            name,
            tree,
            f"with whole weights the value is {value}, with so many rows of weight 1 {other}",
        )
    return True


def _demand(holds: bool, problem: Problem, name: str, tree: Tree | None, claim: str) -> None:
    if not holds:
        where = f"The task {problem.task.spec()} on {name}"
        raise AssertionError(
            f"{where}: {claim}{f' at the tree {expression(tree)}' if tree else ''}."
        )
