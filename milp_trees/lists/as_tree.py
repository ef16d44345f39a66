"""The tree of a rule list: conjunctions become nested tests of binary features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree

if TYPE_CHECKING:
    from milp_trees.data.antecedent import Literal

#: Largest number of leaves of the tree of a list.
MOST_LEAVES = 2**14


def tree_of(rules: Any) -> Tree:
    """The tree that predicts what a rule list predicts, on every row.

    A list over single literals becomes a one-sided tree. Where a conjunction fails, the rest of
    the list follows after each of its literals, so the tree may be much larger than the list; a
    test whose answer follows from tests above it is left out.
    """
    leaves = 0

    def leaf(action: int) -> Leaf:
        nonlocal leaves
        leaves += 1
        if leaves > MOST_LEAVES:
            raise DataError(
                f"The tree of this rule list has more than {MOST_LEAVES} leaves, because what follows a conjunction is repeated for each of its literals; use the list itself."
            )
        return Leaf(action)

    def rule(k: int, known: dict[BinaryFeature, bool]) -> Node:
        """The tree of the rules from number k on, where some answers are known."""
        if k == rules.length:
            return leaf(rules.default)
        return literal(k, rules.rules[k].antecedent.literals, known)

    def literal(k: int, rest: tuple[Literal, ...], known: dict[BinaryFeature, bool]) -> Node:
        """The tree of rule k, of whose literals the rest must still hold."""
        if not rest:
            return leaf(rules.rules[k].action)
        requested = rest[0]
        answer = _follows(requested.feature, known)
        if answer is not None:
            return literal(k, rest[1:], known) if answer == requested.value else rule(k + 1, known)
        holds = literal(k, rest[1:], {**known, requested.feature: requested.value})
        fails = rule(k + 1, {**known, requested.feature: not requested.value})
        left, right = (fails, holds) if requested.value else (holds, fails)
        return Branch(requested.feature, left, right)

    return Tree(rule(0, {}), rules.actions)


def _follows(test: BinaryFeature, known: dict[BinaryFeature, bool]) -> bool | None:
    """The answer of a test that follows from one known answer, or None."""
    if test in known:
        return known[test]
    for other, answer in known.items():
        if other.column != test.column:
            continue
        left = {test.answer(v) for v in _representatives(test, other) if other.answer(v) == answer}
        if len(left) == 1:
            return left.pop()
    return None


def _representatives(a: BinaryFeature, b: BinaryFeature) -> list[Any]:
    """Values of a column that give each pair of answers that two of its tests can give."""
    kinds = {a.kind, b.kind}
    absent = [None] if all(t.kind == "missing" or t.missing for t in (a, b)) else []
    if "is" in kinds:  # the column holds 0 and 1 only
        return [0, 1, *absent]
    if "<=" not in kinds:
        texts = [c for t in (a, b) for c in (t.accepted or (str(t.value),)) if t.kind != "missing"]
        return [*texts, "".join(texts) + "?", *absent]
    order = a.order or b.order
    if order:
        return [*order, *absent]
    values: list[Any] = [t.value for t in (a, b) if t.kind == "<="]
    if a.dated or b.dated:
        values = [np.datetime64(t, "us") for t in values]
        return [*values, max(values) + np.timedelta64(1, "us"), *absent]
    above = np.nextafter(max(float(t) for t in values), np.inf)
    return [*values, *([float(above)] if np.isfinite(above) else []), *absent]
