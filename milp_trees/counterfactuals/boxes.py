"""The nearest box of a tree or rule list, exactly: a best-first search over its nodes.

The rows that reach a leaf form a box: every column is limited by itself, so the distance of a row
to the box is a sum over columns. Below a node a box only shrinks, so the distance to the box of a
node bounds that of every leaf below. Nodes are taken in the order of their distance, and the first
leaf with a wanted prediction is a nearest one; all others that are left are at least as far. All
distances are rationals.

The rule of a list is reached if its antecedent holds and none before it does. That an antecedent
does not hold is a union of disjoint boxes: one literal fails, and those before it hold.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from milp_trees.counterfactuals.columns import Column, Found
from milp_trees.data.feature import BinaryFeature
from milp_trees.models.nodes import Branch, Leaf

#: A literal: a test and the answer with which it holds.
Asked = tuple[BinaryFeature, bool]
#: The values that a box leaves to every column.
Box = Mapping[str, Any]


class Nearest(NamedTuple):
    """The nearest box with a wanted prediction, and how many nodes were looked at."""

    values: dict[str, Found]
    distance: Fraction
    action: int
    nodes: int


def root_of(model: Any) -> Any:
    """The nodes of a tree; of a rule list those of the tree that grows on one side."""
    if not hasattr(model, "rules"):
        return model.root
    root: Any = Leaf(model.default)
    for rule in reversed(model.rules):
        root = Branch(rule.antecedent, root, Leaf(rule.action))
    return root


def sides(node: Branch) -> Iterator[tuple[Any, list[Asked]]]:
    """The children of a node, with the literals of each disjoint part of their rows."""
    test: Any = node.test
    if isinstance(test, BinaryFeature):
        literals = [(test, True)]
    else:
        literals = [(x.feature, x.value) for x in test.literals]
    yield node.right, literals
    for k, (feature, value) in enumerate(literals):
        yield node.left, [*literals[:k], (feature, not value)]


def nearest_box(
    model: Any, columns: Mapping[str, Column], wanted: frozenset[int]
) -> Nearest | None:
    """The nearest row with a wanted prediction; None if no row has one.

    Parameters
    ----------
    model : Tree or RuleList
    columns : mapping of str to Column
        What each column may hold.
    wanted : frozenset of int
        Numbers of the actions that are wanted.

    Returns
    -------
    Nearest or None
        Among rows at the same distance one with few changes.
    """
    ties, nodes = count(), 0
    start: Box = {name: column.whole for name, column in columns.items()}
    heap: list[tuple[Fraction, int, int, Any, Box]] = []

    def put(node: Any, box: Box) -> None:
        found = [columns[name].nearest(held) for name, held in box.items()]
        changed = sum(one.changed for one in found)
        price = sum((one.price for one in found), Fraction(0))
        heapq.heappush(heap, (price, changed, next(ties), node, box))

    put(root_of(model), start)
    while heap:
        distance, _, _, node, box = heapq.heappop(heap)
        nodes += 1
        if isinstance(node, Leaf):
            if node.action in wanted:
                values = {name: columns[name].nearest(held) for name, held in box.items()}
                return Nearest(values, distance, node.action, nodes)
            continue
        for child, literals in sides(node):
            smaller = _within(box, literals, columns)
            if smaller is not None:
                put(child, smaller)
    return None


def _within(box: Box, literals: list[Asked], columns: Mapping[str, Column]) -> Box | None:
    """The part of a box on which literals hold; None if it is empty."""
    out = dict(box)
    for test, answer in literals:
        held = columns[test.column].where(out[test.column], test, answer)
        if held is None:
            return None
        out[test.column] = held
    return out
