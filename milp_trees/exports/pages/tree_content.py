"""What the page of one model holds: its nodes with their rows, and its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.models.draw import action_colour, edge_labels, leaf_counts
from milp_trees.models.nodes import Leaf
from milp_trees.models.predicted import leaf_rows, leaf_words
from milp_trees.results.json import json_safe

#: Longest text of a model on the page.
LONGEST_TEXT = 200_000


def tree_nodes(model: Any, dataset: Any) -> list[dict[str, Any]]:
    """The nodes of a tree, parents first, or the rules of a list and its default rule last."""
    if dataset is None:
        counts = None
    elif model.predicts is None:
        counts = leaf_counts(model, dataset)
    else:
        counts = leaf_rows(model, dataset).rows
    if hasattr(model, "rules"):
        return _rules(model, counts)
    out: list[dict[str, Any]] = []
    leaves = 0

    def add(node: Any) -> Any:
        nonlocal leaves
        at: dict[str, Any] = {}
        out.append(at)
        if isinstance(node, Leaf):
            at["label"] = node.action if model.predicts is None else leaves
            found = None if counts is None else counts[leaves]
            leaves += 1
        else:
            at |= {"test": [literal(node.test, True)], "name": node.test.name}
            at["edges"] = list(edge_labels(node.test))
            at["no"] = len(out)
            found = add(node.left)
            at["yes"] = len(out)
            below = add(node.right)
            found = None if found is None else found + below
        _count(at, found)
        return found

    add(model.root)
    return out


def _rules(model: Any, counts: Any) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [
        {
            "test": [literal(x.feature, x.value) for x in rule.antecedent.literals],
            "name": rule.antecedent.name,
            "label": rule.action,
        }
        for rule in model.rules
    ]
    out.append({"label": model.default})
    for k, one in enumerate(out):
        _count(one, None if counts is None else counts[k])
    return out


def _count(at: dict[str, Any], found: Any) -> None:
    if found is None:
        return
    at["rows"] = int(np.sum(found))
    if np.ndim(found):
        at["counts"] = [int(n) for n in found]


def literal(feature: Any, holds: bool) -> dict[str, Any]:
    """A question with the answer that is wanted, as the page's script reads it."""
    return {
        "column": feature.column,
        "kind": "in" if feature.accepted else feature.kind,
        "value": list(feature.accepted)
        if feature.accepted
        else str(feature.value)
        if feature.kind == "=="
        else json_safe(feature.value),
        "missing": feature.missing,
        "holds": holds,
        "name": feature.name,
        "negation": feature.negation,
    }


def labels(model: Any, dataset: Any) -> dict[str, Any]:
    """The labels of the actions with their colours; of predicted numbers those of the leaves."""
    if model.predicts is not None:
        known = None if dataset is None else leaf_rows(model, dataset)
        actions = [model.actions[n.action] for n in model.nodes() if isinstance(n, Leaf)]
        words = leaf_words(model.predicts, actions, known, action_colour)
        return {
            "labels": [", ".join(one.lines) for one in words],
            "colours": [one.colour for one in words],
        }
    return {
        "labels": [str(a) for a in model.actions],
        "colours": [action_colour(k) for k in range(len(model.actions))],
    }


def outline(model: Any) -> str:
    """The model as text, for paper and for readers without the drawing."""
    text: str = model.to_text()
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}\n[cut]"
