"""Checks of tasks.

The value of a task must be that of its definition, its views must agree with it, its description
must restore it, and the order of rows must not matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from milp_trees.common.errors import MilpTreesError, NoView, UnknownName
from milp_trees.common.registering import families
from milp_trees.data.dataset import Dataset
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.base import Task
from milp_trees.tasks.count_views import LeafCounts, PairCounts
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.stored import from_spec
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.definitions import Definition, definitions
from milp_trees.testing.definitions_of_constraints import broken
from milp_trees.testing.grouped import difference
from milp_trees.testing.suite import Report
from milp_trees.testing.task_data import (
    described,
    random_datasets,
    rows_of,
    see,
    some_trees,
    target_datasets,
)
from milp_trees.testing.view_checks import (
    counts_agree,
    demand,
    splits_cost_nothing,
    views_agree,
)

#: Number of datasets that are drawn at a level, and of trees on each.
DRAWS = {"quick": (4, 6), "thorough": (40, 20)}
#: What is claimed of every task.
CLAIMS = ("definition", "views", "order", "spec", "sense", "no view", "weights", "counts")
#: Kinds of views of the core.
VIEWS = (CostMatrix, LeafSums, LeafOracle, Ratio, PairCounts, LeafCounts)


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
        task may need; for tasks whose leaves predict numbers also some with numeric targets. A dataset for which the task raises an error with a sentence is skipped.
    definition : callable (spec, rows, seen) → float, optional
        Value of the task, independent of its code. `spec` is the description of the task, `rows`
        are dictionaries with the known parts of each row (`y`, `weight`, …), and `seen` is what the
        tree does with them (`milp_trees.testing.seen.Seen`). By default the attribute `definition`
        of the task's class, or that of the package's task of this name.
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
    requested = task() if isinstance(task, type) else task
    meaning = definition or type(requested).definition or definitions().get(requested.name)
    if meaning is None:
        raise AssertionError(
            f"There is no definition of the task {requested.name}; its class needs a static method definition(spec, rows, seen) that uses none of its code."
        )
    if level not in DRAWS:
        raise UnknownName(f"There is no level {level!r}; known are {', '.join(DRAWS)}.")
    report, (draws, trees) = Report(), DRAWS[level]
    weighed = has_weights = False
    for name, dataset in (_drawn(requested, draws) if datasets is None else datasets).items():
        problem = Problem(dataset, requested, Trees(3))
        try:
            requested.value(_leaf(problem).routes(dataset), dataset)
        except MilpTreesError as why:
            report.skipped[name] = str(why)
            continue
        sample = some_trees(problem, trees)
        if requested.offers(LeafSums):
            splits_cost_nothing(problem, name)
            report.passed.append(("splits", name))
        for tree in sample:
            means(problem, tree, meaning, name)
            views_agree(problem, tree, name)
            counts_agree(problem, tree, name)
            _order_is_nothing(problem, tree, name)
        _reads_back(problem, sample, name)
        _senses(problem, sample, name)
        _says_why_not(problem, name)
        counted = difference(problem, sample)
        demand(counted is None, problem, name, sample[0], counted or "")
        weighed |= _weights_are_duplicates(problem, sample, name)
        has_weights |= dataset.weights is not None
        report.passed += [(claim, name) for claim in CLAIMS]
    if not report.passed:
        raise AssertionError(
            f"The task {requested.name} refused every dataset: {'; '.join(sorted(set(report.skipped.values())))}"
        )
    if requested.weighs_rows and has_weights and not weighed:
        raise AssertionError(
            f"The task {requested.name} says that it weighs rows, but weights change no value."
        )
    return report


def _drawn(task: Task, draws: int) -> dict[str, Dataset]:
    """Random datasets; those with numeric targets too if leaves of the task predict numbers.

    They do if it adds up sums, or refuses classes that are words.
    """
    drawn = random_datasets(draws)
    numeric = task.offers(LeafSums) or not _takes(task, next(iter(drawn.values())))
    return drawn | (target_datasets(draws) if numeric else {})


def _takes(task: Task, dataset: Dataset) -> bool:
    """Whether a task has actions on a dataset."""
    try:
        task.actions(dataset)
    except MilpTreesError:
        return False
    return True


def _leaf(problem: Problem) -> Tree:
    """A single leaf, with the first action or with what it predicts best."""
    leaf = Tree(Leaf(0), problem.task.actions(problem.dataset))
    return problem.first_view((LeafSums,)).decided(leaf) if problem.task.offers(LeafSums) else leaf


# -- the checks ------------------------------------------------------------------------------------


def means(problem: Problem, tree: Tree, meaning: Definition, name: str) -> None:
    """Value and side constraints agree with the definition, or AssertionError is raised.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    meaning : callable (spec, rows, seen) → float
        The definition.
    name : str
        Name of the dataset, for the sentence.
    """
    spec, rows, seen = described(problem.task), rows_of(problem.dataset), see(tree, problem.dataset)
    value, expected = problem.value(tree), meaning(spec, rows, seen)
    demand(
        abs(value.number - expected) <= 1e-9 * max(1.0, abs(expected)),
        problem,
        name,
        tree,
        f"the value is {value}; by definition it is {expected}",
    )
    if value.exact is not None:
        demand(
            float(value.exact) == value.number,
            problem,
            name,
            tree,
            f"the value is {value.number}, and exactly {value.exact}",
        )
    wrong = problem.task.violations(tree.routes(problem.dataset), problem.dataset)
    against = broken(spec, rows, seen)
    demand(
        bool(wrong) == bool(against),
        problem,
        name,
        tree,
        f"the task finds {wrong or 'nothing'} violated, the definition {against or 'nothing'}",
    )


def _order_is_nothing(problem: Problem, tree: Tree, name: str) -> None:
    """Rows in another order have the same value, and violate the same constraints."""
    order = np.random.default_rng(1).permutation(problem.dataset.n_rows)
    other = Problem(problem.dataset.subset(order), problem.task, problem.space)
    a, b = problem.value(tree), other.value(tree)
    demand(
        abs(a.number - b.number) <= 1e-9 * max(1.0, abs(a.number)),
        problem,
        name,
        tree,
        f"the value is {a}, with the rows in another order {b}",
    )
    broken_here, broken_there = bool(problem.violations(tree)), bool(other.violations(tree))
    demand(
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
    demand(
        json.loads(json.dumps(again.spec())) == spec,
        problem,
        name,
        None,
        f"its description {spec} reads back as {again.spec()}",
    )
    less, removed = problem.task.without_rows()
    same_spec = json.loads(json.dumps(less.spec())) == spec
    message = f"without rows it has lost {list(removed)} and is {less.spec()}"
    demand(same_spec == (not removed), problem, name, None, message)
    for tree in trees:
        routes = tree.routes(problem.dataset)
        here, there = (t.value(routes, problem.dataset) for t in (problem.task, again))
        demand(
            here == there,
            problem,
            name,
            tree,
            f"the value is {here}, of the task that was read back {there}",
        )
        same = problem.task.violations(routes, problem.dataset) == again.violations(
            routes, problem.dataset
        )
        demand(same, problem, name, tree, "the task that was read back has other constraints")


def _senses(problem: Problem, trees: Sequence[Tree], name: str) -> None:
    """Values have the task's unit and sense, and `better_than` follows it."""
    task = problem.task
    demand(
        task.sense in ("min", "max") and bool(task.unit),
        problem,
        name,
        None,
        f"its sense is {task.sense!r}, its unit {task.unit!r}",
    )
    values = [problem.value(tree) for tree in trees]
    for value in values:
        demand(
            (value.unit, value.sense) == (task.unit, task.sense),
            problem,
            name,
            None,
            f"a value has {value.unit!r} and {value.sense!r}",
        )
    for a in values:
        for b in values:
            less = a.number < b.number if task.sense == "min" else a.number > b.number
            demand(
                a.better_than(b) == less or a.number == b.number,
                problem,
                name,
                None,
                f"{a} and {b} are compared wrongly",
            )


def _says_why_not(problem: Problem, name: str) -> None:
    """If there is no view, an error gives the reason."""
    for kind in (*VIEWS, *families.parts("views")):
        try:
            problem.task.view(kind, problem.dataset, problem.space)
        except NoView as why:
            message = str(why)
            demand(
                message.endswith(".") and len(message.split()) > 3,
                problem,
                name,
                None,
                f"it has no view {kind.__name__} and says {message!r}",
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
    message = "weights change the value, but the class does not say that it weighs rows"
    demand(task.weighs_rows, problem, name, None, message)
    many = light.subset(np.repeat(np.arange(data.n_rows), whole.astype(int)))
    for tree, value in zip(trees, values[0], strict=True):
        other = task.value(tree.routes(many), many).number
        near = abs(value - other) <= 1e-9 * max(1.0, abs(other))
        demand(
            near,
            problem,
            name,
            tree,
            f"with whole weights the value is {value}, with so many rows of weight 1 {other}",
        )
    return True
