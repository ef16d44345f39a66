"""Trees of scikit-learn whose splits ask something other than a threshold are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.common.errors import Unsupported

#: What a node of a tree holds in versions whose splits are all thresholds.
_FIELDS = (
    "left_child",
    "right_child",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
)


def check_thresholds(tree: Any, kind: str, model: Any = None) -> None:
    """Raise Unsupported if a split of a tree of scikit-learn asks for a set of categories.

    From version 1.10 on, a node may hold a set of categories in the place of a threshold. Such a
    node is known by a field that nodes had not before; the estimator, by the columns that it
    declares to be categories.

    Parameters
    ----------
    tree : object
        The `tree_` of an estimator.
    kind : str
        Name of the model, for the sentence.
    model : estimator, optional
    """
    declared = getattr(model, "is_categorical_", None)
    if declared is not None and np.any(declared):
        raise _refused(kind)
    if not hasattr(tree, "__getstate__"):
        return
    state: Any = tree.__getstate__()
    nodes = state.get("nodes") if isinstance(state, dict) else None
    if nodes is None or nodes.dtype.names is None:
        return
    splits = nodes[nodes["left_child"] >= 0]
    for name in nodes.dtype.names:
        if name not in _FIELDS and np.any(splits[name]):
            raise _refused(kind)
    for name, value in state.items():
        if ("categor" in name or "bitset" in name) and np.size(value) and np.any(value):
            raise _refused(kind)


def _refused(kind: str) -> Unsupported:
    return Unsupported(
        f"This {kind} has splits on sets of categories, which are not read here; fit it with the categories as columns of 0 and 1."
    )
