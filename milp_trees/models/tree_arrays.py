"""Trees as parallel arrays: assembled in preorder for an `Ensemble`, and read from lists.

Every list that is read is validated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError


def _upwards(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parent and tree of every node."""
    parent = np.full(len(left), -1, dtype=np.int64)
    split = np.flatnonzero(left >= 0)
    parent[left[split]] = split
    parent[right[split]] = split
    return parent, np.cumsum(parent < 0) - 1


def _check_preorder(left: np.ndarray, right: np.ndarray) -> None:
    """Raise DataError if the nodes are not trees in preorder.

    In preorder the children of a node follow from which nodes are splits.
    """
    M = len(left)
    if not M or len(right) != M:
        raise DataError(
            "The stored ensemble is damaged: it has no trees, or lists of different lengths."
        )
    end = [0] * M  # first node after the subtree of a node
    lefts, rights = left.tolist(), right.tolist()
    for h in range(M - 1, -1, -1):
        if lefts[h] < 0 and rights[h] < 0:
            end[h] = h + 1
        elif lefts[h] == h + 1 < M and rights[h] == end[h + 1] < M:
            end[h] = end[rights[h]]
        else:
            raise DataError(
                f"The stored ensemble is damaged: the children of node {h} are not where preorder has them."
            )


def assemble(trees: Sequence[Mapping[str, np.ndarray]], columns: Sequence[str]) -> dict[str, Any]:
    """Fields of the `Ensemble` of trees given as parallel arrays, brought into preorder.

    Parameters
    ----------
    trees : sequence of mappings
        `left`, `right`, `column`, `threshold` of shape (m,) and `value` of shape (m, C). A node
        whose `left` is negative is a leaf; node 0 is the root.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    dict
        Keyword arguments of `Ensemble`.
    """
    if not trees:
        raise DataError("The ensemble has no trees.")
    parts: dict[str, list[np.ndarray]] = {
        name: [] for name in ("left", "right", "column", "threshold", "value", "original")
    }
    base = 0
    for tree in trees:
        order = _preorder(tree["left"], tree["right"])
        place = np.empty(len(tree["left"]), dtype=np.int64)
        place[order] = np.arange(len(order))
        leaf = np.asarray(tree["left"])[order] < 0
        for name in ("left", "right"):
            parts[name].append(np.where(leaf, -1, place[np.asarray(tree[name])[order]] + base))
        parts["column"].append(np.where(leaf, -1, np.asarray(tree["column"])[order]))
        parts["threshold"].append(np.where(leaf, 0.0, np.asarray(tree["threshold"])[order]))
        parts["value"].append(np.asarray(tree["value"], dtype=float)[order])
        parts["original"].append(order)
        base += len(order)
    a = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    left, right = a["left"].astype(np.int64), a["right"].astype(np.int64)
    parent, member = _upwards(left, right)
    return {
        "parent": parent,
        "left": left,
        "right": right,
        "member": member,
        "column": a["column"].astype(np.int64),
        "threshold": a["threshold"].astype(float),
        "value": a["value"],
        "columns": tuple(map(str, columns)),
        "original": a["original"],
    }


def _preorder(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Nodes of one tree in the order parent, left subtree, right subtree."""
    lefts, rights = np.asarray(left).tolist(), np.asarray(right).tolist()
    out, stack = [], [0]
    while stack:
        node = stack.pop()
        out.append(node)
        if lefts[node] >= 0:
            stack += [rights[node], lefts[node]]
    return np.array(out, dtype=np.int64)


def from_lists(data: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the ensemble that `Ensemble.trees_json` described; see `Ensemble.from_json`."""
    left, right, column, feature_of = (
        np.array(data[name], dtype=np.int64) for name in ("left", "right", "column", "feature_of")
    )
    threshold, value = (np.array(data[name], dtype=float) for name in ("threshold", "value"))
    columns, features = tuple(data["columns"]), tuple(data["features"])
    classes = None if data["classes"] is None else tuple(data["classes"])
    _check_preorder(left, right)
    split = left >= 0
    for what, wrong in {
        "arrays of different lengths": not len(left) == len(column) == len(threshold) == len(value),
        "values that are not one per class": value.ndim != 2
        or value.shape[1] != (1 if classes is None else len(classes)),
        "tests on columns that do not exist": split.any()
        and not ((column[split] >= 0) & (column[split] < len(columns))).all(),
        "a threshold that is no number": not np.isfinite(threshold).all(),
        "columns without a feature": len(feature_of) != len(columns)
        or not ((feature_of >= 0) & (feature_of < len(features))).all(),
    }.items():
        if wrong:
            raise DataError(f"The stored ensemble is damaged: it has {what}.")
    parent, member = _upwards(left, right)
    return {
        "parent": parent,
        "left": left,
        "right": right,
        "member": member,
        "column": column,
        "threshold": threshold,
        "value": value,
        "columns": columns,
        "features": features,
        "feature_of": feature_of,
        "classes": classes,
        "single": bool(data["single"]),
        "normalise": bool(data["normalise"]),
        "source": data["source"],
    }
