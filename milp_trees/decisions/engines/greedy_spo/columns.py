"""Coded columns: candidate tests as cuts of integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.methods.growing.rows import order_of
from milp_trees.models.tree import Tree

if TYPE_CHECKING:
    from milp_trees.methods.growing.tree import GrownTree
    from milp_trees.tasks.decision_view import LeafOracle


@dataclass(frozen=True, eq=False)
class Columns:
    """Test (c, k) is true on row i iff `codes[c, i] <= k`.

    Parameters
    ----------
    codes : int32 array of shape (C, n)
    feature : int64 array of shape (C,)
        Original column of each coded column: features, not codes, are drawn at random by forests.
    tests : tuple of C sequences of Test
        `tests[c][k]` is the test of that cut.
    """

    codes: np.ndarray
    feature: np.ndarray
    tests: tuple[Sequence[BinaryFeature], ...]

    @property
    def n_features(self) -> int:
        return int(self.feature.max(initial=-1)) + 1

    def order(self) -> np.ndarray:
        """Rows in the order of every column, int32 of shape (C, n), sorted stably."""
        return order_of(self.codes)

    def tree(self, grown: GrownTree, names: Sequence[Any], labels: tuple[Any, ...] = ()) -> Tree:
        """A grown tree as a `Tree`, with the name of every node's decision."""
        labels = labels or tuple(dict.fromkeys(names[t] for t in grown.leaves))
        place = {label: k for k, label in enumerate(labels)}
        actions = [place.get(name, 0) for name in names]
        return Tree(grown.to_nodes(lambda c, k: self.tests[c][k], actions), labels)


def columns_of(view: LeafOracle) -> Columns:
    """The candidate tests of a view.

    Thresholds of one column are together; every other test is a column of two codes.
    """
    ranked = view.ranked
    if ranked is None:
        codes, groups = (
            (1 - view.X.T).astype(np.int32),
            [np.array([f]) for f in range(view.n_features)],
        )
    else:
        groups = [np.flatnonzero(ranked.column == c) for c in range(ranked.codes.shape[1])]
        groups = sorted(
            (g[np.argsort(ranked.cut[g], kind="stable")] for g in groups if len(g)),
            key=lambda g: int(g.min()),
        )
        # A code counts the cuts below it that may be used, so that cut number k is "at most k".
        recoded = [
            np.searchsorted(ranked.cut[g], ranked.codes[:, ranked.column[g[0]]], side="left")
            for g in groups
        ]
        codes = np.array(recoded, dtype=np.int32).reshape(len(groups), view.n_rows)
    names = {
        name: j
        for j, name in enumerate(dict.fromkeys(view.features[int(g[0])].column for g in groups))
    }
    feature = np.array([names[view.features[int(g[0])].column] for g in groups], dtype=np.int64)
    return Columns(
        np.ascontiguousarray(codes),
        feature,
        tuple(tuple(view.features[int(f)] for f in g) for g in groups),
    )
