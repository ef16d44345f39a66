"""Pruned ensembles written back as estimators of the class from which they were read.

Their own `predict` gives what the pruned `Ensemble` predicts. A pruned tree is a new, compact
`tree_` made of the records of the kept nodes, so its memory is that of its nodes, and it can be
pickled like any other.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.read_ensemble import check_prunable

#: Attributes of a fitted ensemble that describe the unpruned trees and would be wrong in a pruned
#: copy.
STALE = (
    "oob_score_",
    "oob_decision_function_",
    "oob_prediction_",
    "validation_costs_",
    "validation_errors_",
)


def write_ensemble(model: Any, ensemble: Ensemble) -> Any:
    """A copy of a fitted model with its trees pruned.

    Parameters
    ----------
    model : estimator
        The one that was read: `read_ensemble(model)`.
    ensemble : Ensemble
        A pruning of it.

    Returns
    -------
    estimator
        Of the model's class; no array of nodes is shared with it. Attributes about out-of-bag or
        validation rows of the unpruned trees are left out.
    """
    check_prunable(model)
    members = [model] if hasattr(model, "tree_") else list(model.estimators_)
    if ensemble.original is None or ensemble.n_trees != len(members):
        raise DataError(
            f"The ensemble was not read from this {type(model).__name__}; read it with mt.read_ensemble(model)."
        )
    kept = [_kept_nodes(ensemble, t) for t in range(ensemble.n_trees)]
    if hasattr(model, "tree_"):
        return _pruned_member(model, *kept[0])
    out = copy.copy(model)
    out.__dict__ = {
        name: copy.deepcopy(value)
        for name, value in vars(model).items()
        if name != "estimators_" and name not in STALE
    }
    out.estimators_ = [_pruned_member(m, *k) for m, k in zip(members, kept, strict=True)]
    return out


def _kept_nodes(ensemble: Ensemble, tree: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of the model's tree that stay, in increasing order, and whether each is a split."""
    assert ensemble.original is not None
    assert ensemble.kept is not None
    end = ensemble.roots[tree + 1] if tree + 1 < ensemble.n_trees else ensemble.n_nodes
    nodes = np.arange(ensemble.roots[tree], end)
    parent = ensemble.parent[nodes]
    nodes = nodes[(parent < 0) | ensemble.kept[parent]]
    order = np.argsort(ensemble.original[nodes])
    return ensemble.original[nodes[order]], ensemble.kept[nodes[order]]


def _pruned_member(member: Any, nodes: np.ndarray, split: np.ndarray) -> Any:
    if hasattr(member, "children_left"):  # a GrownTree has arrays and no compiled tree
        return _pruned_grown(member, nodes, split)
    if nodes[-1] >= member.tree_.node_count:
        raise DataError(
            "The ensemble was read from larger trees than this model has; read it again with mt.read_ensemble(model)."
        )
    out = copy.copy(member)
    out.tree_ = _pruned_tree(member.tree_, nodes, split)
    return out


def _pruned_tree(tree: Any, nodes: np.ndarray, split: np.ndarray) -> Any:
    """scikit-learn's compiled `Tree` with the given nodes only."""
    make, arguments, state = tree.__reduce__()
    records = state["nodes"][nodes]
    records["left_child"] = np.where(
        split, _place(tree.node_count, nodes)[records["left_child"]], -1
    )
    records["right_child"] = np.where(
        split, _place(tree.node_count, nodes)[records["right_child"]], -1
    )
    records["feature"][~split] = -2
    records["threshold"][~split] = -2.0
    if "missing_go_to_left" in records.dtype.names:
        records["missing_go_to_left"][~split] = 0
    depth = _depth(records["left_child"], records["right_child"])
    out = make(*arguments)
    values = np.ascontiguousarray(state["values"][nodes])
    out.__setstate__(
        {**state, "nodes": records, "values": values, "node_count": len(nodes), "max_depth": depth}
    )
    return out


def _pruned_grown(tree: Any, nodes: np.ndarray, split: np.ndarray) -> Any:
    """A tree of a BudgetForestClassifier with the given nodes only."""
    place = _place(tree.node_count, nodes)
    arrays = {
        name: getattr(tree, name)[nodes]
        for name in ("value", "impurity", "n_node_samples", "weighted_n_node_samples")
    }
    return replace(
        tree,
        children_left=np.where(split, place[tree.children_left[nodes]], -1),
        children_right=np.where(split, place[tree.children_right[nodes]], -1),
        feature=np.where(split, tree.feature[nodes], -2),
        threshold=np.where(split, tree.threshold[nodes], -2.0),
        **arrays,
    )


def _place(n: int, nodes: np.ndarray) -> np.ndarray:
    """New number of every old node; nodes that are removed (and the -1 below leaves) give -1."""
    place = np.full(n + 1, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    return place


def _depth(left: np.ndarray, right: np.ndarray) -> int:
    """Number of levels of splits; parents must come before their children."""
    depth = np.zeros(len(left), dtype=np.int64)
    for node in np.flatnonzero(left >= 0):
        depth[[left[node], right[node]]] = depth[node] + 1
    return int(depth.max())
