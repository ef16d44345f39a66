"""Limits of tasks, constraints and spaces, at the amount where they begin to bind and beside it.

For a tree the definitions say how much it has of what a constraint limits. With that limit the tree
keeps the constraint, with one that is a little tighter it does not: tasks, their views and what
presolve leaves of them must say so. Groups have from one row to a thousand, so that products of
their sizes go to a million, and there are two to six of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy
from milp_trees.tasks.constraints import constraint
from milp_trees.tasks.ranking import PartialAUC
from milp_trees.tasks.ratio import Precision
from milp_trees.testing.definitions import confusion, definitions
from milp_trees.testing.definitions_of_constraints import SLICES, amounts
from milp_trees.testing.generate import any_tree
from milp_trees.testing.task_checks import means
from milp_trees.testing.task_data import rows_of, see
from milp_trees.testing.view_checks import counts_agree, demand, views_agree

#: Sizes of the groups, number of classes and of features, by name. Few features make many equal
#: rows.
SIZES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "two groups of a thousand": ((1000, 1000), 2, 6),
    "three groups": ((7, 60, 31), 2, 5),
    "four groups, one of one row": ((1, 5, 21, 40), 3, 6),
    "five small groups": ((3, 3, 4, 2, 1), 5, 5),
    "six groups of equal rows": ((30, 25, 20, 15, 9, 2), 2, 3),
}
#: Depths of the trees by turn; in small trees a limit binds at one place only.
DEPTHS = (3, 1, 2)
#: How much tighter or looser a limit is made: less than any two rates differ by.
CLOSE = Fraction(1, 10**9)
#: Options of constraints without their limits; the favourable class is named or the last.
CONSTRAINTS: list[dict[str, Any]] = [
    *({"name": name} for name in SLICES),
    {"name": "statistical-parity", "favourable": "class 0"},
    {"name": "equalised-odds", "favourable": "class 0"},
    {"name": "parity-in-subtrees"},
    {"name": "parity-in-subtrees", "favourable": "class 0"},
    {"name": "parity-in-leaves"},
    {"name": "error-rates"},
    {"name": "error-rates", "favourable": "class 0"},
    {"name": "capacity", "action": "class 0"},
    {"name": "capacity", "action": "class 1"},
    {"name": "feature-budget"},
]
#: Limits that count something.
WHOLE = ("at_most", "at_least")


@cache
def sized_datasets() -> dict[str, Dataset]:
    """Datasets with groups of the `SIZES`, with everything that a task may need."""
    out = {}
    for name, (sizes, K, F) in SIZES.items():
        rng, n = np.random.default_rng(sum(sizes)), sum(sizes)
        names = tuple(f"class {k}" for k in range(K))
        groups = rng.permutation(np.repeat([f"group {g}" for g in range(len(sizes))], sizes))
        out[f"sized_datasets()[{name}]"] = Dataset(
            rng.integers(0, 2, (n, F)),
            [BinaryFeature(f"t{j}") for j in range(F)],
            y=rng.permutation(np.concatenate([np.arange(K), rng.integers(0, K, n - K)])),
            classes=names,
            weights=rng.integers(1, 9, n) / 4,
            groups=groups,
            factor=rng.integers(0, 3, n),
            treatments=np.array(names)[rng.integers(0, K, n)],
            values=rng.integers(-90_000, 90_000, (n, K)) / 2,
            actions=names,
        )
    return out


def check_at_limits(
    only: Callable[[str], bool] = lambda name: True,
    datasets: Mapping[str, Dataset] | None = None,
    trees: int = 2,
) -> int:
    """Raise AssertionError if a limit binds too early or too late.

    Parameters
    ----------
    only : callable name → bool, optional
        Which constraints, tasks ("precision", "partial-auc") and spaces ("trees") are tried; all by
        default.
    datasets : mapping of name to Dataset, optional
        By default `sized_datasets()`.
    trees : int, default=2
        Number of random trees on each dataset.

    Returns
    -------
    int
        Number of limits that were tried.
    """
    tried = 0
    for name, dataset in (sized_datasets() if datasets is None else datasets).items():
        rng = np.random.default_rng(dataset.n_rows)
        for number in range(trees):
            space = Trees(DEPTHS[number % len(DEPTHS)])
            tree = any_tree(Problem(dataset, Accuracy(), space), rng)
            for task in _tasks(tree, dataset, only):
                problem = Problem(dataset, task, Trees(3))
                means(problem, tree, definitions()[task.name], name)
                views_agree(problem, tree, name)
                counts_agree(problem, tree, name)
                tried += 1
            if only("trees"):
                tried += _spaces(tree, dataset, name)
            _smaller_limits(tree, dataset, only)
    return tried


def _smaller_limits(tree: Tree, dataset: Dataset, only: Callable[[str], bool]) -> None:
    """Constraints that are traded against a value say what a tree has, and the next smaller limit.

    The tree breaks that limit, and it is so close that no actions have an amount between.
    """
    rows, seen, names = rows_of(dataset), see(tree, dataset), tuple(dataset.classes or ())
    for options in filter(lambda o: only(o["name"]), CONSTRAINTS):
        (limit, amount), *more = amounts(options, rows, seen).items()
        if limit not in ("max_disparity", "at_most") or options["name"] not in (
            *SLICES,
            "capacity",
        ):
            continue
        given: dict[str, Any] = {**options, limit: 1}
        rule = constraint(**given)
        assert limit != "at_most" or rule.below(Fraction(1), dataset) == 0, (
            "no row is less than one"
        )
        found = rule.amount(np.array(seen.said), dataset, names)[1]
        assert found == amount, f"The task has {found} of {options}; by definition it is {amount}"
        below = rule.below(amount, dataset)
        least = 1 if limit == "at_most" else Fraction(1, dataset.n_rows**4)
        right = (
            below is None
            if amount == 0
            else below is not None
            and (
                amount - least <= below < amount
                if limit == "at_most"
                else amount - 1 < below < amount
            )
        )
        assert right, f"The task says that {below} is the next limit of {options} below {amount}"


def _tasks(tree: Tree, dataset: Dataset, only: Callable[[str], bool]) -> Iterator[Any]:
    """Tasks with a limit that the tree just keeps, or just does not keep."""
    rows, seen = rows_of(dataset), see(tree, dataset)
    for options in filter(lambda o: only(o["name"]), CONSTRAINTS):
        for limit, amount in amounts(options, rows, seen).items():
            for at in _beside(limit, amount):
                yield Accuracy(constraints=(constraint(**options, **{limit: at}),))
    for at in _beside("at_most", Fraction(sum(map(_wrong, rows, seen.said)))):
        if only("task-value"):
            yield Accuracy(constraints=(constraint("task-value", task=Accuracy(), at_most=at),))
    for positive in seen.actions[:2] if only("precision") else ():
        n = confusion({"positive": positive}, rows, seen)
        for at in _beside("min_recall", n["TP"] / (n["TP"] + n["FN"])):
            yield Precision(min_recall=at, positive=positive)
    if len(seen.actions) == 2 and only("partial-auc"):
        negatives = [leaf for row, leaf in zip(rows, seen.leaf, strict=True) if row["y"] == 0]
        for leaf in sorted(set(negatives))[:2]:
            share = Fraction(negatives.count(leaf), len(negatives))
            half = Fraction(1, 2 * len(negatives))  # larger denominators are refused
            yield from (
                PartialAUC(theta=at) for at in (share - half, share, share + half) if at < 1
            )


def _wrong(row: Mapping[str, Any], said: int) -> bool:
    return bool(row["y"] != said)


def _beside(limit: str, amount: Fraction) -> list[Any]:
    """Limits at, below and above an amount, as far as there are such limits."""
    if limit in WHOLE:
        return [n for n in (int(amount) - 1, int(amount), int(amount) + 1) if n >= 0]
    return [x for x in (amount - CLOSE, amount, amount + CLOSE) if 0 <= x <= 1]


# -- spaces ----------------------------------------------------------------------------------------


def _spaces(tree: Tree, dataset: Dataset, name: str) -> int:
    """Every limit of trees at and beside what the tree has; the number of limits."""
    found = _of_space(tree, dataset)
    for limit, amount in found.items():
        step = CLOSE if limit == "min_weight_leaf" else 1
        for at in (amount - step, amount, amount + step):
            if at < (1 if limit in ("max_leaf_nodes", "min_samples_leaf") else 0):
                continue
            space = Trees(**{"max_depth": None, limit: at})
            keeps = at >= amount if limit.startswith("max") else at <= amount
            problem = Problem(dataset, Accuracy(), space)
            wrong = space.violations(tree, dataset)
            message = (
                f"with {limit} = {at} the space finds {wrong or 'nothing'}; the tree has {amount}"
            )
            demand(keeps == (not wrong), problem, name, tree, message)
            for view in (problem.presolved_view(), problem.presolved_view(False, False)):
                held = [
                    sums.min() >= least
                    for sums, least in _minima(view, tree, space.min_samples_leaf)
                ]
                message = f"with {limit} = {at} the view finds minima {held}; the tree has {amount}"
                demand(
                    all(held) == (keeps or limit.startswith("max")), problem, name, tree, message
                )
    return len(found)


def _minima(view: Any, tree: Tree, rows: int) -> Iterator[tuple[np.ndarray, int]]:
    """What every leaf holds by a view, and the least that it may hold."""
    leaf, n = view.canonical(tree).routes(view).leaf, tree.n_leaves
    for amount, least in ((view.counts, rows), *view.leaf_minima):
        sums = np.zeros(n, dtype=np.int64)
        np.add.at(sums, leaf, amount)
        yield sums, least


def _of_space(tree: Tree, dataset: Dataset) -> dict[str, Any]:
    """What spaces limit of a tree, by the name of the limit, as plain loops over rows."""
    rows, seen = rows_of(dataset), see(tree, dataset)
    leaves: list[list[Any]] = [[] for _ in range(seen.leaves)]
    for row, leaf in zip(rows, seen.leaf, strict=True):
        leaves[leaf].append(row)
    kinds = {row["treatment"] for row in rows}
    return {
        "max_depth": max(len(path) for path in seen.paths),
        "max_leaf_nodes": seen.leaves,
        "min_samples_leaf": min(map(len, leaves)),
        "min_weight_leaf": min(sum(Fraction(row["weight"]) for row in leaf) for leaf in leaves),
        "min_samples_treatment": min(
            sum(row["treatment"] == kind for row in leaf) for leaf in leaves for kind in kinds
        ),
    }
