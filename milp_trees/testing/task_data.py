"""Datasets and trees for the checks of tasks, and their form in definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.testing.definitions import Row, Seen
from milp_trees.testing.generate import any_tree, choices

#: Largest number of single leaves among the trees of a check.
MOST_LEAVES = 8


def random_datasets(n: int) -> dict[str, Dataset]:
    """Datasets with everything that a task may need.

    They have two and three classes in turn, weights that are short decimals, and five groups.
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


def target_datasets(n: int) -> dict[str, Dataset]:
    """Datasets with numeric targets: one as `y`, with zeros and without, and times with events.

    Weights are short decimals; some targets are equal, and in some leaves nothing happens.
    """
    out = {}
    for seed in range(n):
        rng, rows = np.random.default_rng(seed), 14 + seed % 5
        fields: dict[str, Any] = {
            "X": rng.integers(0, 2, (rows, 5)),
            "features": [BinaryFeature(f"t{j}") for j in range(5)],
            "weights": rng.integers(1, 9, rows) / 4,
            "groups": np.arange(rows) % 5,
        }
        y = rng.integers(0, 9, rows) / 4 + (seed % 2) / 2
        out[f"target_datasets({n})[{seed}, number]"] = Dataset(**fields, y=y)
        event = rng.random(rows) < 0.6 if seed % 4 != 3 else np.full(rows, seed % 8 == 3)
        time = rng.integers(seed % 2, 7, rows)
        out[f"target_datasets({n})[{seed}, time]"] = Dataset(
            **fields, targets=np.column_stack([time, event]), target_names=("time", "event")
        )
    return out


def some_trees(problem: Problem, n: int, seed: int = 0) -> list[Tree]:
    """Single leaves, and random trees.

    Parameters
    ----------
    problem : Problem
        The problem of the trees.
    n : int
        Number of random trees.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    list of Tree
    """
    rng = np.random.default_rng(seed)
    actions = choices(problem)[1]
    return [
        *(Tree(Leaf(k), actions) for k in range(min(len(actions), MOST_LEAVES))),
        *(any_tree(problem, rng) for _ in range(n)),
    ]


def see(tree: Tree, dataset: Dataset) -> Seen:
    """The actions and leaves that a tree gives the rows, found by following the tests."""
    where = {test: j for j, test in enumerate(dataset.features)}
    leaves = [node for node in in_order(tree.root) if isinstance(node, Leaf)]
    ends = [_end(tree.root, dataset.X[i].tolist(), where) for i in range(dataset.n_rows)]
    number = {id(leaf): t for t, leaf in enumerate(leaves)}
    splits = [node for node in in_order(tree.root) if isinstance(node, Branch)]
    below = [{number[id(n)] for n in in_order(s) if isinstance(n, Leaf)} for s in splits]
    return Seen(
        [leaf.action for leaf in ends],
        [number[id(leaf)] for leaf in ends],
        len(leaves),
        [split.test.column for split in splits],
        list(tree.actions),
        [split.test.name for split in splits],
        below,
        list(_ways(tree.root)),
        [leaf.action for leaf in leaves],
        [_asked(tree.root, dataset.X[i].tolist(), where) for i in range(dataset.n_rows)],
    )


def _ways(node: Node) -> Iterator[list[tuple[BinaryFeature, bool]]]:
    if isinstance(node, Leaf):
        yield []
        return
    for side, answer in ((node.left, False), (node.right, True)):
        for way in _ways(side):
            yield [(node.test, answer), *way]


def in_order(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Branch):
        yield from in_order(node.left)
        yield from in_order(node.right)


def _end(node: Node, row: Sequence[int], where: Mapping[BinaryFeature, int]) -> Leaf:
    while isinstance(node, Branch):
        node = node.right if row[where[node.test]] else node.left
    return node


def _asked(node: Node, row: Sequence[int], where: Mapping[BinaryFeature, int]) -> list[str]:
    columns = []
    while isinstance(node, Branch):
        columns.append(node.test.column)
        node = node.right if row[where[node.test]] else node.left
    return columns


def rows_of(dataset: Dataset) -> list[Row]:
    """The rows as dictionaries of their known parts.

    `label` is the class, of which `y` is the number, and `targets` the numeric targets by name.
    `answers` are those of all features, and `numbers` the numeric columns by name.
    """
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
    if dataset.y is not None:
        given["label"] = [(dataset.classes or ())[k] for k in dataset.y.tolist()]
    if dataset.targets is not None:
        names = dataset.target_names or ()
        given["targets"] = [
            dict(zip(names, values, strict=True)) for values in np.asarray(dataset.targets).tolist()
        ]
    answers = dataset.X.tolist()
    given["answers"] = [dict(zip(dataset.features, row, strict=True)) for row in answers]
    if dataset.numeric is not None:
        names = dataset.columns or ()
        given["numbers"] = [
            dict(zip(names, row, strict=True)) for row in np.asarray(dataset.numeric).tolist()
        ]
    return [{name: column[i] for name, column in given.items()} for i in range(dataset.n_rows)]


def described(task: Any) -> dict[str, Any]:
    """The task's description; a set of decisions is described by its labelled vertices."""
    spec = dict(task.spec())
    if "decisions" in spec:
        S = task.decisions
        spec["vertices"] = {S.label(w): w.tolist() for w in S.vertices()}
    return spec
