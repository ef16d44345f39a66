"""Peers that are estimators in Python, for `_worker.py`: odtlearn and rollotree.

It needs numpy and the peer, nothing else. Trees are read from what the peers keep, and compared with
what they predict.
"""

from __future__ import annotations

import time

import numpy as np


def only_accuracy(job, engine):
    """Refuse what the program is not asked for."""
    if job.task != "accuracy" or job.penalty != "0" or job.leaves is not None or job.rule:
        raise NotImplementedError(f"{engine} is asked for accuracy without prices only")
    if job.depth is None:
        raise NotImplementedError(f"{engine} needs a depth limit")


#: Share of what is left of a limit that CBC gets in odtlearn, since it runs past its own limit.
RESERVED = 0.85


def odtlearn():
    from odtlearn.flow_oct import FlowOCT

    class Within(FlowOCT):
        """Its limit is CBC's alone; here it includes the building of the model, as for all others."""

        def _create_main_problem(self):
            began = time.perf_counter()
            super()._create_main_problem()
            left = self._time_limit - (time.perf_counter() - began)
            self._solver.set_time_limit(max(1.0, RESERVED * left))

    def fit(job, arrays):
        only_accuracy(job, "odtlearn")
        if job.min_leaf != 1:
            raise NotImplementedError("odtlearn has no minimum of rows in a leaf")
        X, y = arrays["X"].astype(int), arrays["y"].astype(int)
        model = Within(
            solver="cbc",
            depth=job.depth,
            time_limit=max(1, round(job.time_limit)),
            num_threads=job.threads,
        )
        try:
            model.fit(X, y)
        except TypeError:  # it reads a solution that CBC does not have
            return False, lambda: None, {}
        solver = model._solver
        bound = len(y) - float(solver.get_objective_bound())

        def part(n):
            _, branching, feature, _, leaf, value = model._get_node_status(
                model.b_value, model.w_value, model.p_value, n
            )
            if leaf:
                return int(value)
            column = int(np.flatnonzero(model._X_col_labels == feature)[0])
            left, right = (
                model._tree.get_left_children(n),
                model._tree.get_right_children(n),
            )
            return [column, part(left), part(right)]

        def tree():
            return without_empty(checked(part(1), X, model.predict(X)), X)

        return solver.model.status.name == "OPTIMAL", tree, {"bound": bound}

    return fit


def rollotree():
    from rollotree import RollingOCT

    def fit(job, arrays):
        only_accuracy(job, "rollotree")
        if job.depth < 2:
            raise NotImplementedError("rollotree makes trees of depth 2 or more")
        X, y = arrays["X"].astype(int), arrays["y"].astype(int)
        model = RollingOCT(
            depth=job.depth,
            criterion="misclassification",
            min_samples_leaf=job.min_leaf,
            time_limit=job.time_limit,
            total_time_limit=job.time_limit,
            n_jobs=job.threads,
            random_state=0,
        ).fit(X, y)
        grown = model.tree_

        def part(n, level=0):  # its left child is where the feature is 1
            node = grown.branch_nodes.get(n)
            ended = level == grown.depth or (level and n in grown._pruned_node_ids)
            if ended or node is None or node.feature_position is None:
                return int(grown.leaf_nodes[n].predicted_class)
            return [node.feature_position, part(2 * n + 1, level + 1), part(2 * n, level + 1)]

        # It looks ahead by two levels, over trees without empty leaves: it proves no optimum.
        return False, lambda: checked(part(1), X, model.predict(X)), {}

    return fit


def checked(tree, X, predicted):
    """The tree that was read, if it predicts what the program itself predicts."""

    def of(part, rows):
        if isinstance(part, int):
            return np.full(len(rows), part)
        test, no, yes = part
        return np.where(rows[:, test] == 1, of(yes, rows), of(no, rows))

    if (of(tree, X) != predicted).any():
        raise RuntimeError("the tree was read wrongly: it predicts something else")
    return tree


def without_empty(tree, X):
    """The same tree without splits that send all rows one way: odtlearn allows empty leaves."""
    if isinstance(tree, int):
        return tree
    test, no, yes = tree
    right = X[:, test] == 1
    if right.all() or not right.any():
        return without_empty(yes if right.all() else no, X)
    return [test, without_empty(no, X[~right]), without_empty(yes, X[right])]
