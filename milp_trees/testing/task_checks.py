"""What every task owes: its value is what it means, its views say the same, its description reads
back, and it does not look at the order of rows.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.errors import MilpTreesError, NoView, UnknownName
from milp_trees.models.nodes import Branch, Leaf, Node
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
from milp_trees.testing.definitions import DEFINITIONS, Definition, Row, Seen, broken
from milp_trees.testing.describe import expression
from milp_trees.testing.generate import any_tree, choices
from milp_trees.testing.suite import Report

#: Datasets that are drawn at a level, and trees on each.
DRAWS = {"quick": (4, 6), "thorough": (40, 20)}
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
    datasets : mapping of name to Dataset, optional
        Default: random ones with two and three classes, five groups, and everything else that a
        task may ask for. Those that the task refuses with a sentence are skipped.
    definition : callable (spec, rows, seen) → float, optional
        What the task means, written without its code (see `milp_trees.testing.definitions`).
        Default: that of the registered task of this name.
    level : {"quick", "thorough"}

    Raises
    ------
    AssertionError
        The first check that fails, the fact that every dataset was refused, or that there is no
        definition.
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
        _weights_are_duplicates(problem, sample, name)
        report.passed += [
            (claim, name)
            for claim in ("definition", "views", "order", "spec", "sense", "no view", "weights")
        ]
    if not report.passed:
        raise AssertionError(
            f"The task {asked.name} refused every dataset: {'; '.join(sorted(set(report.skipped.values())))}"
        )
    return report


# -- the checks ------------------------------------------------------------------------------------


def _means(problem: Problem, tree: Tree, meaning: Definition, name: str) -> None:
    """Value and side constraints are what the definition says."""
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
    """Objectives of views are the value; their side rows hold where the task's constraints do; the
    same after presolve.
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
            holds = all(
                row.holds(total)
                for row, total in zip(view.side, view.side_totals(tree), strict=True)
            )
            wrong = problem.task.violations(tree.routes(problem.dataset), problem.dataset)
            _demand(
                holds == (not wrong),
                problem,
                name,
                tree,
                f"the side rows {'hold' if holds else 'do not hold'}, the task finds {wrong or 'nothing'}",
            )


def _counts_agree(problem: Problem, tree: Tree, name: str) -> None:
    """Views of counts say the value, from the counts of the leaves and of the errors, and lead back
    from it to their units.
    """
    task, value = problem.task, problem.value(tree)
    number = Fraction(value.number) if value.exact is None else value.exact
    seen, n_leaves = (
        see(tree, problem.dataset),
        sum(isinstance(node, Leaf) for node in _in_order(tree.root)),
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
    with contextlib.suppress(NoView):  # row weights, side constraints
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
    """Rows in another order have the same value, and the same constraints are broken."""
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
    """The description, through JSON, gives a task with the same description, values and
    constraints.
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
    """Where there is no view there is a sentence."""
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


def _weights_are_duplicates(problem: Problem, trees: Sequence[Tree], name: str) -> None:
    """If row weights enter the value, a row of weight w counts as w rows of weight 1; not where
    constraints count rows.
    """
    data, task = problem.dataset, problem.task
    whole = data.row_weights * 4
    if "constraints" in task.spec() or (whole != whole.astype(int)).any():
        return
    heavy, light = (
        data.with_(weights=whole, classes=data.classes),
        data.with_(weights=None, classes=data.classes),
    )
    values = [[task.value(tree.routes(d), d).number for tree in trees] for d in (heavy, light)]
    if values[0] == values[1]:
        return
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


def _demand(holds: bool, problem: Problem, name: str, tree: Tree | None, claim: str) -> None:
    if not holds:
        where = f"The task {problem.task.spec()} on {name}"
        raise AssertionError(
            f"{where}: {claim}{f' at the tree {expression(tree)}' if tree else ''}."
        )


# -- data and trees --------------------------------------------------------------------------------


def random_datasets(n: int) -> dict[str, Dataset]:
    """Datasets with everything that a task may ask for; two and three classes in turn, weights that
    are short decimals, and five groups.
    """
    out = {}
    for seed in range(n):
        rng, rows, K = np.random.default_rng(seed), 15 + seed % 7, 2 + seed % 2
        y = rng.permutation(np.concatenate([np.arange(K), rng.integers(0, K, rows - K)]))
        out[f"random_datasets({n})[{seed}]"] = Dataset(
            rng.integers(0, 2, (rows, 5)),
            [BinaryFeature(f"t{j}") for j in range(5)],
            y=y,
            classes=tuple(f"class {k}" for k in range(K)),
            weights=rng.integers(1, 9, rows) / 4,
            groups=rng.permutation(np.arange(rows) % 5),
            factor=rng.integers(0, 2, rows),
            treatments=np.array([f"class {k}" for k in rng.integers(0, K, rows)]),
            outcomes=rng.integers(-5, 6, rows) / 2,
            propensities=rng.choice([0.25, 0.5, 0.75], rows),
            values=rng.integers(-9, 10, (rows, K)) / 2,
            actions=tuple(f"class {k}" for k in range(K)),
        )
    return out


def some_trees(problem: Problem, n: int, seed: int = 0) -> list[Tree]:
    """Single leaves, and random trees."""
    rng = np.random.default_rng(seed)
    actions = choices(problem)[1]
    return [
        *(Tree(Leaf(k), actions) for k in range(len(actions))),
        *(any_tree(problem, rng) for _ in range(n)),
    ]


def see(tree: Tree, dataset: Dataset) -> Seen:
    """What a tree does with the rows, by walking down."""
    where = {test: j for j, test in enumerate(dataset.features)}
    leaves = [node for node in _in_order(tree.root) if isinstance(node, Leaf)]
    ends = [_end(tree.root, dataset.X[i].tolist(), where) for i in range(dataset.n_rows)]
    number = {id(leaf): t for t, leaf in enumerate(leaves)}
    columns = [node.test.column for node in _in_order(tree.root) if isinstance(node, Branch)]
    return Seen(
        [leaf.action for leaf in ends],
        [number[id(leaf)] for leaf in ends],
        len(leaves),
        columns,
        list(tree.actions),
    )


def _in_order(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Branch):
        yield from _in_order(node.left)
        yield from _in_order(node.right)


def _end(node: Node, row: Sequence[int], where: Mapping[BinaryFeature, int]) -> Leaf:
    while isinstance(node, Branch):
        node = node.right if row[where[node.test]] else node.left
    return node


def rows_of(dataset: Dataset) -> list[Row]:
    """The rows as dictionaries of what is known of them."""
    fields = {
        "y": dataset.y,
        "weight": dataset.row_weights,
        "group": dataset.groups,
        "factor": dataset.factor,
        "treatment": dataset.treatments,
        "outcome": dataset.outcomes,
        "propensity": dataset.propensities,
        "values": dataset.values,
    }
    given = {name: array.tolist() for name, array in fields.items() if array is not None}
    return [{name: column[i] for name, column in given.items()} for i in range(dataset.n_rows)]


def described(task: Any) -> dict[str, Any]:
    """The task's description; where it has a set of decisions, with the vertices by their labels."""
    spec = dict(task.spec())
    if "decisions" in spec:
        S = task.decisions
        spec["vertices"] = {S.label(w): w.tolist() for w in S.vertices()}
    return spec
