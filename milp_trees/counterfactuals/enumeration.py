"""The least distance to a wanted prediction, by trying all leaves: the check of the search.

It shares with the search the prices of single values, and nothing else: every column tries values
around all thresholds, which are answered by the tests themselves, in their original form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.counterfactuals.columns import Column
from milp_trees.counterfactuals.target import Target, of_action
from milp_trees.data.checks import as_array
from milp_trees.data.feature import BinaryFeature
from milp_trees.models.nodes import Leaf


def least_distance(model: Any, columns: Mapping[str, Column], target: Target) -> Fraction | None:
    """The least distance of a row with a wanted prediction; None if there is no such row.

    Parameters
    ----------
    model : Tree or RuleList
    columns : mapping of str to Column
    target : Target

    Returns
    -------
    Fraction or None
    """
    tests: dict[str, list[BinaryFeature]] = {name: [] for name in columns}
    for feature in model.features:
        tests[feature.column].append(feature)
    prices: dict[str, list[Fraction]] = {}
    answers: dict[BinaryFeature, np.ndarray] = {}
    for name, column in columns.items():
        found = column.candidates(tests[name])
        prices[name] = [one.price for one in found]
        for feature in tests[name]:
            answers[feature] = np.array(
                [_answer(feature, one.value) for one in found], dtype=object
            )
    least = None
    for literals, action in _paths(model):
        if not target.wants(of_action(model, action)):
            continue
        total = Fraction(0)
        for name in columns:
            fits = np.ones(len(prices[name]), dtype=bool)
            for feature, holds in literals:
                if feature.column == name:
                    fits &= answers[feature] == holds
            if not fits.any():
                break
            total += min(p for p, fit in zip(prices[name], fits, strict=True) if fit)
        else:
            least = total if least is None else min(least, total)
    return least


def _answer(feature: BinaryFeature, value: Any) -> bool | None:
    """The answer of a test for one value; None if it has none, as for some missing values."""
    if value is None and feature.kind != "missing" and feature.missing is None:
        return None
    return bool(feature.evaluate(as_array([value]))[0])


def _paths(model: Any) -> Iterator[tuple[list[tuple[BinaryFeature, bool]], int]]:
    """The literals on the way to every leaf, and its action; a rule has several ways."""
    if hasattr(model, "rules"):
        yield from _ways(list(model.rules), model.default, [])
        return

    def walk(node: Any, path: list[tuple[BinaryFeature, bool]]) -> Any:
        if isinstance(node, Leaf):
            yield path, node.action
            return
        yield from walk(node.left, [*path, (node.test, False)])
        yield from walk(node.right, [*path, (node.test, True)])

    yield from walk(model.root, [])


def _ways(rules: list[Any], default: int, path: list[tuple[BinaryFeature, bool]]) -> Any:
    """All ways through a list: an earlier rule fails by one of its literals."""
    if not rules:
        yield path, default
        return
    literals = rules[0].antecedent.literals
    yield [*path, *((x.feature, x.value) for x in literals)], rules[0].action
    for x in literals:
        yield from _ways(rules[1:], default, [*path, (x.feature, not x.value)])
