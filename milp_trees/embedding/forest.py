"""`Forest`: a fitted model as binary trees of questions about columns, and what its leaves give.

Trees, rule lists, pruned ensembles and boosted trees all have this one form. A split asks a
conjunction, which is a single question except in rule lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.errors import DataError

#: What a column holds, by the kind of a question about it.
NUMBER, DATE, ORDERED, YES_NO, TEXT = "number", "date", "ordered", "yes-no", "text"


class Question(NamedTuple):
    """A yes/no question about a column.

    Parameters
    ----------
    column : str
    holds : str
        What the column holds; empty if only missing values are asked for.
    value : float, str or None
        The largest number that answers yes, or a category; None asks whether the value is missing.
    missing : bool or None
        The answer where the value is missing; None if a missing value is an error.
    order : tuple of str
        The categories of an ordered column, the lowest first; `value` is a place among them.
    """

    column: str
    holds: str
    value: Any
    missing: bool | None = None
    order: tuple[str, ...] = ()


class Split(NamedTuple):
    """A branch node: rows on which all literals hold go to `yes`.

    Parameters
    ----------
    literals : tuple of (Question, bool)
        Questions, and the answers with which they hold.
    no, yes : Split or int
        What follows; a leaf is its number, from left to right.
    """

    literals: tuple[tuple[Question, bool], ...]
    no: Any
    yes: Any


@dataclass(frozen=True)
class Output:
    """What the leaves of a forest add up to.

    Parameters
    ----------
    kind : {"action", "value", "probability", "score"}
        What the sums are; of `"action"` there are none.
    names : tuple
        Names of the sums: actions, classes or targets.
    leaf_values : tuple of float arrays of shape (leaves, C)
        What each leaf of each tree adds.
    base : float array of shape (C,)
        What is added to all sums.
    actions : tuple
        Labels that may be predicted; empty if the sums themselves are predicted.
    leaf_action : int array of shape (leaves,) or None
        The action of each leaf of a single tree. None: the action follows from the sums.
    """

    kind: str
    names: tuple[Any, ...] = ()
    leaf_values: tuple[np.ndarray, ...] = ()
    base: np.ndarray | None = None
    actions: tuple[Any, ...] = ()
    leaf_action: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Forest:
    """A fitted model in one form.

    Parameters
    ----------
    roots : tuple of Split or int
        The root of every tree.
    output : Output
    model : object
        The model itself, which predicts.
    columns : tuple of str
        The columns of a table that the model takes; only those that are asked matter.
    """

    roots: tuple[Any, ...]
    output: Output
    model: Any
    columns: tuple[str, ...] = ()

    @cached_property
    def questions(self) -> dict[str, list[Question]]:
        """The questions of every column, each once, by the columns in their order."""
        found: dict[str, dict[Question, None]] = {}
        for root in self.roots:
            for split in splits_of(root):
                for question, _ in split.literals:
                    found.setdefault(question.column, {})[question] = None
        return {column: list(one) for column, one in found.items()}

    @cached_property
    def n_leaves(self) -> tuple[int, ...]:
        """Number of leaves of every tree."""
        return tuple(1 + sum(1 for _ in splits_of(root)) for root in self.roots)

    def holds(self, column: str) -> str:
        """What a column holds; empty if the model only asks whether its value is missing."""
        found = {q.holds for q in self.questions[column]} - {""}
        if len(found) > 1:
            raise DataError(
                f"The column {column!r} is asked as {' and as '.join(sorted(found))}; rename one of both."
            )
        return found.pop() if found else ""

    def leaves_below(self, tree: int) -> dict[int, tuple[int, int]]:
        """First and last leaf below every node of a tree, by the node's identity."""
        out: dict[int, tuple[int, int]] = {}
        stack: list[tuple[Any, bool]] = [(self.roots[tree], False)]
        while stack:
            node, done = stack.pop()
            if not isinstance(node, Split):
                continue
            if not done:
                stack += [(node, True), (node.yes, False), (node.no, False)]
                continue
            spans = [out[id(n)] if isinstance(n, Split) else (n, n) for n in (node.no, node.yes)]
            out[id(node)] = min(s[0] for s in spans), max(s[1] for s in spans)
        return out


def splits_of(root: Any) -> Iterator[Split]:
    """The branch nodes of a tree, parents first."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Split):
            yield node
            stack += [node.yes, node.no]
