r"""IP1: prune trees for errors and feature costs; a weak program with a fractional relaxation.

A leaf needs, for each of its rows, every feature that is tested above it.

With :math:`z_h=1` iff node h is a leaf of its pruned tree, :math:`W_{ki}=1` iff feature k is
acquired for row i, and :math:`S_h` the rows that reach h,

.. math::
   \min\ \frac1{NT}\sum_t\sum_{h\in t}e_hz_h+\lambda\frac1N\sum_{k,i}c_kW_{ki},\qquad
   & \sum_{h\text{ on the path to }\ell}z_h=1 && \text{for every leaf }\ell\\
   & z_h\le W_{ki} && i\in S_h,\ k\text{ tested above }h\\
   & z_h,W_{ki}\in\{0,1\}.

A feature that is tested again needs no further row, and :math:`W_{ki}\le W_{gi}` if k is bought
together with its group g. Two leaves of a row's path may each be chosen by one half, and the
feature above both be bought by half, while `ip3` requires all of it: the authors' first figure is
such a point. The program is for comparison with `ip3`, and not for solving problems.

Reference: Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles with feature
cost", ICML, program (IP1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.models.ensemble import Ensemble
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains

from . import _pruning as pruning


@register
@dataclass(frozen=True)
class IP1(pruning.PruningFormulation):
    """IP1; it has no options."""

    name = "ip1"
    title = "IP1: leaves buy features (Nan, Wang, Saligrama)"
    reference = "https://proceedings.mlr.press/v48/nan16.html"

    def declare(self, m: Any, view: NodeGains, space: PrunedEnsembles) -> None:
        pruning.add_leaves(m, view)
        pruning.add_purchases(m, view)
        node, purchase = needs_of_leaves(view)
        if len(node):
            rows = pruning.differences(
                node, view.n_nodes + purchase, view.n_nodes + view.n_purchases
            )
            m.need = matrix_rows(
                [*pruning.zs(m), *m.W.values()],
                rows,
                *pruning.below(len(node)),
                doc="(IP1) z[h] ≤ W[k,i]: a leaf needs the features tested above it",
            )
        pruning.add_budget(m, view)
        pruning.add_leaf_objective(m, view)

    def decode(self, m: Any) -> Ensemble:
        return pruning.decode_leaves(m)

    def encode(self, predictor: Ensemble, m: Any) -> None:
        keep = pruning.encode_leaves(predictor, m)
        pruning.set_values(m.W, m.view.bought(keep))

    def model_size(self, view: NodeGains, space: PrunedEnsembles) -> ModelSize:
        base, (rows, nonzeros), needs = (
            pruning.leaf_sizes(view),
            pruning.purchase_sizes(view),
            n_needs_of_leaves(view),
        )
        columns = base.variables + view.n_purchases
        return ModelSize(
            columns, columns, base.rows + rows + needs, base.nonzeros + nonzeros + 2 * needs
        )


def needs_of_leaves(view: NodeGains) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (h, purchase) with h below the first use and reached by a row of the purchase."""
    user, purchase, row = rows_of_needs(view)
    at = view.leaf[row, view.member[user]].astype(np.int64)
    nodes, purchases = [], []
    while len(at):
        under = at != user
        at, user, purchase = at[under], user[under], purchase[under]
        nodes.append(at)
        purchases.append(purchase)
        at = view.parent[at]
    pairs = (
        np.unique(np.column_stack([np.concatenate(nodes), np.concatenate(purchases)]), axis=0)
        if nodes
        else np.zeros((0, 2), dtype=np.int64)
    )
    return pairs[:, 0], pairs[:, 1]


def rows_of_needs(view: NodeGains) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Node, purchase, index into `view.leaf` of a row for which the purchase is made).

    A purchase that is made once for all rows has an entry for every row.
    """
    out = []
    size = np.ones(view.n_nodes, dtype=np.int64)
    for h in view.splits[::-1].tolist():
        size[h] += size[view.left[h]] + size[view.right[h]]
    for j, h in enumerate(view.first.tolist()):
        bought = view.need[view.start[j] : view.start[j + 1]].astype(np.int64)
        leaf = view.leaf[:, view.member[h]]
        rows = np.flatnonzero(
            (h <= leaf) & (leaf < h + size[h])
        )  # in preorder a subtree is a range of nodes
        # Purchases for single rows are paired with the rows of the node by rank; a purchase for
        # all rows is paired with each of them.
        bought = (
            np.repeat(bought, len(rows))
            if is_once(view, bought)
            else bought[np.argsort(view.purchase_row[bought], kind="stable")]
        )
        out.append(np.column_stack([np.full(len(rows), h), bought, rows]))
    user, purchase, row = np.concatenate(out).T if out else np.zeros((3, 0), dtype=np.int64)
    return user, purchase, row


def is_once(view: NodeGains, bought: np.ndarray) -> bool:
    """Whether the purchase of a node is made a single time for all rows."""
    return len(bought) == 1 and view.purchase_row[bought[0]] < 0


def n_needs_of_leaves(view: NodeGains) -> int:
    """Number of the pairs of `needs_of_leaves`.

    For every node it is the number of rows times the number of units that are tested above it; a
    unit that is bought once counts 1 instead of the number of rows.
    """
    above, once = np.zeros(view.n_nodes, dtype=np.int64), np.zeros(view.n_nodes, dtype=np.int64)
    uses, single = np.zeros(view.n_nodes, dtype=np.int64), np.zeros(view.n_nodes, dtype=np.int64)
    uses[view.first] = 1
    for j, h in enumerate(view.first.tolist()):
        single[h] = is_once(view, view.need[view.start[j] : view.start[j + 1]])
    for h in np.flatnonzero(view.parent >= 0).tolist():
        up = view.parent[h]
        above[h], once[h] = above[up] + uses[up] - single[up], once[up] + single[up]
    reached = pruning.rows_at(view)
    return int((above * reached).sum() + (once * (reached > 0)).sum())
