r"""IP3 in differences: a closure problem, in which each row is a difference of two variables.

With :math:`y_h=1` iff split h is kept, so :math:`z_h=y_{parent(h)}-y_h` and
:math:`w_{tki}=y_{u(t,k,i)}`, the rows of `ip3` become

.. math::
   \min\ e_0-\sum_hg_hy_h+\mu\sum_{k,i}c_kW_{ki},\qquad
   & y_h\le y_{parent(h)} && \text{splits }h\\
   & y_h\le W_{ki} && h\text{ first tests }k\text{ on its path},\ i\in S_h\\
   & y_h\in\{0,1\},\ 0\le W_{ki}\le1,

where :math:`e_0` is the sum of the errors of the roots and
:math:`g_h=e_h-e_{left(h)}-e_{right(h)}`; costs of kept splits are subtracted from :math:`g_h`.
Every row has one 1 and one -1: the transpose is the node-arc incidence matrix of a graph, the
relaxation is integral, and an optimum is a minimum cut (Rhys 1970, Balinski 1970, Picard 1976). W
follows from y, so it may be continuous, with a budget row too.

**Merging** (`merge_pairs`): pairs (k,i) that the same splits need are bought together or not at
all; they become one variable whose price is the sum of theirs. The price of what only one split
needs becomes a cost of that split, and what costs nothing is left out. The optimum is the same,
with up to twenty times fewer rows.

**Budget**: one row, cost at most the budget. The relaxation is then not integral, and the problem
is NP-hard (knapsack); this is still the best formulation for it, started from the best pruning
within the budget that is optimal for some :math:`\lambda`.

Reference: Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles with feature
cost", ICML, program (IP3); the change of variables and the merging are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.models.ensemble import Ensemble
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains

from . import _pruning as pruning


class Items(NamedTuple):
    """Splits, then purchases, and the pairs of which one needs the other.

    Parameters
    ----------
    gain, cost : int64 arrays of shape (V,)
        Errors saved by an item, and its price; splits come first.
    parents, needs, groups : int64 arrays of shape (·, 2)
        Pairs (item, item that it needs): splits and their parents, splits and their purchases,
        purchases and their groups.
    """

    gain: np.ndarray
    cost: np.ndarray
    parents: np.ndarray
    needs: np.ndarray
    groups: np.ndarray


@register
@dataclass(frozen=True)
class IP3Closure(pruning.PruningFormulation):
    """IP3 in differences.

    Parameters
    ----------
    merge_pairs : bool, default=True
        Whether purchases that the same splits need are one variable.
    """

    name = "ip3-closure"
    default_rank = 80
    title = "IP3 in differences (closure problem)"
    shared_components = frozenset({"closure"})
    verification_rank = 50
    reference = "https://proceedings.mlr.press/v48/nan16.html"
    integral_relaxation = True
    implied_integer = True

    merge_pairs: bool = True

    def warm_up(self, space: Any = None) -> None:
        if self.merge_pairs:
            merged(_tiny_view())

    def declare(self, m: Any, view: NodeGains, space: PrunedEnsembles) -> None:
        items, H = self._items(view), len(view.splits)
        m.splits = pyo.Set(
            initialize=view.splits.tolist(), doc="nodes h that are splits of the unpruned trees"
        )
        m.y = pyo.Var(m.splits, domain=pyo.Binary, doc="y[h] = 1 iff split h is kept")
        self._add_bought(m, view, len(items.cost) - H)
        x = [*m.y.values(), *m.W.values()]
        message = {
            "parent": "(C) y[h] ≤ y[parent of h]: a split is kept with its parent",
            "need": "(C) y[h] ≤ W: a kept split buys what it is the first on its path to test",
            "group": "W[k,i] ≤ W[g,i]: members are bought with their groups g",
        }
        for name, pairs in zip(message, (items.parents, items.needs, items.groups), strict=True):
            if len(pairs):
                rows = pruning.differences(pairs[:, 0], pairs[:, 1], len(x))
                m.add_component(
                    name, matrix_rows(x, rows, *pruning.below(len(pairs)), doc=message[name])
                )
        if view.budget is not None:
            costs = sparse.csr_matrix(items.cost.astype(float)[None, :])
            m.budget = matrix_rows(
                x,
                costs,
                np.array([-np.inf]),
                np.array([float(view.budget)]),
                doc="cost is at most the budget",
            )
        a, b, _ = view.step
        coefficients = [
            b * c - a * g for g, c in zip(items.gain.tolist(), items.cost.tolist(), strict=True)
        ]
        pruning.add_objective(
            m,
            view,
            x,
            coefficients,
            a * view.root_error,
            "errors of the roots - gains + λ · cost, in whole units",
        )

    def _add_bought(self, m: Any, view: NodeGains, n_sets: int) -> None:
        if not self.merge_pairs:
            pairs = list(zip(view.purchase_unit.tolist(), view.purchase_row.tolist(), strict=True))
            m.purchases = pyo.Set(
                initialize=pairs,
                dimen=2,
                doc="purchases: unit k (feature or group) for row i, or once for all rows (i = -1)",
            )
            m.W = pyo.Var(
                m.purchases, bounds=(0, 1), doc="W[k,i] = 1 iff unit k is acquired for row i"
            )
            return
        m.sets = pyo.RangeSet(0, n_sets - 1, doc="sets q of pairs (k,i) that the same splits need")
        m.W = pyo.Var(
            m.sets, bounds=(0, 1), doc="W[q] = 1 iff the pairs (k,i) of set q are acquired"
        )

    def relaxation_options_for(
        self, solver: str, view: NodeGains, space: PrunedEnsembles
    ) -> Mapping[str, Any]:
        return {"solver": "simplex"} if solver == "highs" and view.budget is None else {}

    def has_integral_relaxation(self, view: NodeGains, space: PrunedEnsembles) -> bool:
        return view.budget is None

    def decode(self, m: Any) -> Ensemble:
        view: NodeGains = m.view
        keep = np.zeros(view.n_nodes, dtype=bool)
        keep[[h for h, v in m.y.items() if v.value > 0.5]] = True
        return m.space.ensemble.pruned(keep)

    def encode(self, predictor: Ensemble, m: Any) -> None:
        view: NodeGains = m.view
        keep = view.checked(predictor.kept)
        pruning.set_values(m.y, keep[view.splits])
        if not self.merge_pairs:
            pruning.set_values(m.W, view.bought(keep))
            return
        items, H = self._items(view), len(view.splits)
        bought = np.zeros(len(items.cost), dtype=bool)
        bought[items.needs[keep[view.splits][items.needs[:, 0]], 1]] = True
        pruning.set_values(m.W, bought[H:])

    def model_size(self, view: NodeGains, space: PrunedEnsembles) -> ModelSize:
        items = self._items(view)
        rows = len(items.parents) + len(items.needs) + len(items.groups)
        budget = (1, int(np.count_nonzero(items.cost))) if view.budget is not None else (0, 0)
        return ModelSize(len(items.cost), len(view.splits), rows + budget[0], 2 * rows + budget[1])

    def _items(self, view: NodeGains) -> Items:
        """The closure problem, made once per view."""
        key = f"ip3-closure items, merged: {self.merge_pairs}"
        if key not in view.memo:
            view.memo[key] = merged(view) if self.merge_pairs else as_printed(view)
        items: Items = view.memo[key]
        return items


def _tiny_view() -> NodeGains:
    """One split that buys one feature with its group: sufficient to compile the merging."""
    wide = [
        np.array(a, dtype=np.int64)
        for a in (
            [-1, 0, 0],
            [1, -1, -1],
            [2, -1, -1],
            [0, 0, 0],
            [0, -1, -1],
            [1, 0, 0],
            [0, 0, 0],
        )
    ]
    first, start, price, unit, row = (
        np.array(a, dtype=np.int64) for a in ([0], [0, 1], [1, 1], [0, 1], [0, 0])
    )
    leaf, need, above = (
        np.array([[1]], dtype=np.int32),
        np.array([0], dtype=np.int32),
        np.array([[0, 1]], dtype=np.int64),
    )
    return NodeGains(
        *wide,
        leaf,
        first,
        start,
        need,
        price,
        unit,
        row,
        above,
        ("k", "g"),
        Fraction(1),
        Fraction(1),
        Fraction(1),
    )


def as_printed(view: NodeGains) -> Items:
    """An item for every split and every purchase."""
    H, place = len(view.splits), np.full(view.n_nodes, -1, dtype=np.int64)
    place[view.splits] = np.arange(H)
    inner = view.splits[view.parent[view.splits] >= 0]
    node, purchase = pruning.first_uses(view)
    zero = np.zeros(view.n_purchases, dtype=np.int64)
    return Items(
        np.concatenate([view.gain[view.splits], zero]),
        np.concatenate([view.keep_cost[view.splits], view.price]),
        np.column_stack([place[inner], place[view.parent[inner]]]),
        np.column_stack([place[node], H + purchase]),
        H + view.above,
    )


def merged(view: NodeGains) -> Items:
    """The items after lossless merging."""
    from milp_trees.pruning.engines.min_cut.closure import closure_of

    closure = closure_of(view, merge=True)
    pairs = np.column_stack(
        [np.repeat(np.arange(closure.n_items), np.diff(closure.start)), closure.head]
    ).astype(np.int64)
    to_split = pairs[:, 1] < closure.n_splits
    return Items(
        closure.gain,
        closure.cost,
        pairs[to_split],
        pairs[~to_split],
        np.zeros((0, 2), dtype=np.int64),
    )
