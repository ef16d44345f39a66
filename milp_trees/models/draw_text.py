"""Trees as text, and the rows of each leaf as words.

A branch is named by its condition (`age > 37.5`, `age <= 37.5`), in text and in pictures, because
the labels of leaves may be yes and no, or true and false. Numbers of rows are shown where they are
known.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.plurals import counted
from milp_trees.models.nodes import Leaf, Node
from milp_trees.models.predicted import LeafRows, leaf_row_notes, leaf_words

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


class Counted(Protocol):
    """The parts of a predictor that counting rows needs."""

    @property
    def actions(self) -> tuple[Any, ...]: ...
    def routes(self, rows: Any) -> Any:
        """Leaf and action of every row."""


class Drawable(Counted, Protocol):
    """The parts of a tree that a drawing needs."""

    @property
    def root(self) -> Node: ...
    @property
    def depth(self) -> int: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def nodes(self) -> Any: ...


def leaf_counts(tree: Counted, dataset: Dataset) -> np.ndarray:
    """Number of original rows of a dataset in each leaf, from left to right.

    Rules of a list are in their order. The shape is (leaves, K), counted by class, or (leaves,) if the dataset has no target.
    """
    routes = tree.routes(dataset)
    if dataset.y is None or not set(dataset.classes or ()) <= set(
        tree.actions
    ):  # actions are not classes
        sizes = np.zeros(routes.n_leaves, dtype=np.int64)
        np.add.at(sizes, routes.leaf, dataset.row_counts)
        return sizes
    position = np.array([tree.actions.index(c) for c in dataset.classes or ()])
    counts = np.zeros((routes.n_leaves, len(tree.actions)), dtype=np.int64)
    np.add.at(counts, (routes.leaf, position[dataset.y]), dataset.row_counts)
    return counts


def leaf_notes(actions: list[int], counts: Any) -> list[tuple[str, ...]]:
    """What is said of the rows of each leaf: `("34 rows", "3 errors")`.

    Parameters
    ----------
    actions : list of int
        Action of each leaf.
    counts : int array of shape (leaves,) or (leaves, K), optional
        Rows per leaf, or per leaf and class; errors are the rows of other classes than the leaf's.
        Of a model that predicts numbers `LeafRows`.

    Returns
    -------
    list of tuple of str
        Empty tuples without counts.
    """
    if counts is None:
        return [()] * len(actions)
    if isinstance(counts, LeafRows):
        return leaf_row_notes(counts)
    table = np.asarray(counts)
    if len(table) != len(actions) or table.ndim not in (1, 2):
        raise DataError(
            f"counts must have one entry or row per leaf ({len(actions)}); its shape is {table.shape}. Use leaf_counts(tree, dataset)."
        )
    if table.ndim == 1:
        return [(_sized(n, "row"),) for n in table.tolist()]
    out: list[tuple[str, ...]] = []
    for action, row in zip(actions, table.tolist(), strict=True):
        errors = sum(row) - row[action]
        out.append((_sized(sum(row), "row"), *([_sized(errors, "error")] if errors else [])))
    return out


def tree_text(tree: Drawable, counts: Any = None) -> str:
    """The tree as indented text; every line begins with the condition under which it is reached.

    Parameters
    ----------
    tree : Tree
        The tree.
    counts : int array of shape (leaves,) or (leaves, K), optional
        Rows per leaf (and class), leaves from left to right; see `leaf_counts`.

    Examples
    --------
    >>> from milp_trees import BinaryFeature, Tree
    >>> from milp_trees.models.nodes import Branch, Leaf
    >>> tree = Tree(Branch(BinaryFeature("age", "<=", 37.5), Leaf(1), Leaf(0)), ("low", "high"))
    >>> print(tree_text(tree, [[3, 31], [8, 0]]))
    ├─ age > 37.5: high  (34 rows, 3 errors)
    └─ age <= 37.5: low  (8 rows)
    """
    leaves = [n.action for n in tree.nodes() if isinstance(n, Leaf)]
    notes, names = iter(leaf_notes(leaves, counts)), iter(_names(tree, leaves, counts))
    lines: list[str] = []

    def label(leaf: Leaf) -> str:
        return next(names) + beside(next(notes))

    def walk(node: Node, indent: str) -> None:
        if isinstance(node, Leaf):
            return
        sides = (
            (node.left, node.test.negation, "├─ ", "│  "),
            (node.right, node.test.name, "└─ ", "   "),
        )
        for child, condition, mark, space in sides:
            ending = f": {label(child)}" if isinstance(child, Leaf) else ""
            lines.append(indent + mark + clean(condition) + ending)
            walk(child, indent + space)

    if isinstance(tree.root, Leaf):
        return label(tree.root)
    walk(tree.root, "")
    return "\n".join(lines)


def _names(tree: Drawable, leaves: list[int], counts: Any) -> list[str]:
    """What every leaf predicts, on one line."""
    if predicts := getattr(tree, "predicts", None):
        known = counts if isinstance(counts, LeafRows) else None
        actions = [tree.actions[k] for k in leaves]
        words = leaf_words(predicts, actions, known, str)
        return [clean(", ".join(one.lines)) for one in words]
    return [clean(tree.actions[k]) for k in leaves]


def beside(note: tuple[str, ...]) -> str:
    """A note on one line beside a label: `  (34 rows, 3 errors)`."""
    return f"  ({', '.join(note)})" if note else ""


def clean(value: Any) -> str:
    """One line of text without characters that XML forbids."""
    text = re.sub(r"\s+", " ", str(value)).strip()
    return (
        "".join(
            c
            for c in text
            if unicodedata.category(c) not in ("Cc", "Cs") and ord(c) not in (0xFFFE, 0xFFFF)
        )
        or "(empty)"
    )


def _sized(n: float, noun: str) -> str:
    """`34 rows`; weights may be fractions."""
    return counted(int(n), noun) if n == int(n) else f"{n:g} {noun}s"
