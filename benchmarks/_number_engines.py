"""Engines of regression and survival trees for `_worker.py`; each needs its own package only.

Every function loads its engine and returns fit(job, arrays) -> (optimal, function that makes the
nested tree, further columns). Greedy trees and OSST's curves have no proven likelihood: their
leaves travel as None, and get the best prediction for their rows where they are scored.
"""

from __future__ import annotations

import numpy as np


def osrt():
    import pandas as pd
    from osrt import OSRT

    def fit(job, arrays):
        if job.leaves is not None or job.min_leaf != 1:
            raise NotImplementedError("osrt is asked for a depth and a penalty only")
        X, y = arrays["X"], arrays["y"]
        # It counts a leaf as depth 1, and raises small penalties to 1/n unless told not to.
        settings = {
            "regularization": float(job.penalty),
            "depth_budget": job.depth + 1,
            "time_limit": max(1, round(job.time_limit)),
            "k_cluster": True,
            "look_ahead": True,
            "allow_small_reg": True,
        }
        model = OSRT(settings)
        model.fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), pd.DataFrame(y))
        return (
            not model.timeout and model.ub - model.lb <= 1e-6,
            lambda: part(model.tree.source),
            {},
        )

    return fit


def osst():
    import pandas as pd
    from osst import OSST

    def fit(job, arrays):
        X, values = arrays["X"], arrays["values"]
        settings = {
            "regularization": float(job.penalty),
            "depth_budget": job.depth + 1,
            "time_limit": max(1, round(job.time_limit)),
        }
        model = OSST(settings)
        columns = [f"x{j}" for j in range(X.shape[1])]
        event, time = pd.DataFrame(values[:, 1].astype(int)), pd.DataFrame(values[:, 0])
        model.fit(pd.DataFrame(X, columns=columns), event, time)
        # It is proven for the Brier score of Kaplan-Meier curves, and not for the likelihood.
        return False, lambda: part(model.tree.source, numbers=False), {}

    return fit


def part(node, numbers=True):
    """A tree of OSRT or OSST as nested lists."""
    if "prediction" in node:
        return float(node["prediction"]) if numbers else None
    if node["relation"] not in ("==", ">="):
        raise ValueError(f"unknown relation {node['relation']}")
    feature = int(node["feature"])
    return [feature, part(node["false"], numbers), part(node["true"], numbers)]


def greedy_regression():
    from sklearn.tree import DecisionTreeRegressor

    def fit(job, arrays):
        model = DecisionTreeRegressor(
            max_depth=job.depth, max_leaf_nodes=job.leaves, random_state=0
        ).fit(arrays["X"], arrays["y"])
        return False, lambda: grown(model.tree_), {}

    return fit


def greedy_survival():
    from sksurv.tree import SurvivalTree

    def fit(job, arrays):
        values = arrays["values"]
        seen = np.empty(len(values), dtype=[("event", bool), ("time", float)])
        seen["event"], seen["time"] = values[:, 1] > 0, values[:, 0]
        model = SurvivalTree(max_depth=job.depth, random_state=0).fit(arrays["X"], seen)
        return False, lambda: grown(model.tree_), {}

    return fit


def grown(tree, node=0):
    """A greedy tree on 0/1 columns as nested lists; its leaves are decided by who scores it."""
    if tree.children_left[node] < 0:
        return None
    left, right = tree.children_left[node], tree.children_right[node]
    return [int(tree.feature[node]), grown(tree, left), grown(tree, right)]
