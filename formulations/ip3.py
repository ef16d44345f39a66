r"""IP3: prune an ensemble for errors and feature costs; its relaxation is integral.

A row needs a feature unless its path ends before the feature's first test.

With :math:`z_h=1` iff node h is a leaf of its pruned tree, u(t,k,i) the first node that tests
feature k on the path of row i in tree t, :math:`w_{tki}=1` iff tree t uses feature k for row i, and
:math:`W_{ki}=1` iff some tree does,

.. math::
   \min\ \frac1{NT}\sum_t\sum_{h\in t}e_hz_h+\lambda\frac1N\sum_{k,i}c_kW_{ki},\qquad
   & \sum_{h\text{ on the path to }\ell}z_h=1 && \text{for every leaf }\ell\\
   & w_{tki}+\sum_{h\text{ on the path to }u(t,k,i)}z_h=1 && t,k,i\\
   & w_{tki}\le W_{ki} && t,k,i\\
   & z_h,w_{tki},W_{ki}\in\{0,1\},

and :math:`W_{ki}\le W_{gi}` if k is bought together with its group g. The program has the rows of
the paper, without merging.

The matrix is totally unimodular: its transpose is the network matrix of the tree of `network_tree`.
(The published proof first takes differences of rows; the matrix that it then considers is not
unimodular in general, but the one above is.) With a budget there is one more row, and the matrix is
no longer unimodular: the published corollary that the relaxation stays integral is true only for
budgets that are spent exactly for some :math:`\lambda`.

Reference: Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles with feature
cost", ICML, programs (IP2) for one tree and (IP3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


@register
@dataclass(frozen=True)
class IP3(pruning.PruningFormulation):
    """IP3; it has no options."""

    name = "ip3"
    title = "IP3: first uses buy features (Nan, Wang, Saligrama)"
    reference = "https://proceedings.mlr.press/v48/nan16.html"
    integral_relaxation = True
    # If the whole program is given to HiGHS, rule 15 of presolve (probing) searches for
    # implications much longer than all other steps take; without any presolve, the proof for a
    # budget is ten times faster than without that rule only.
    suggested_options = {"highs": {"presolve": "off"}}

    def declare(self, m: Any, view: NodeGains, space: PrunedEnsembles) -> None:
        pruning.add_leaves(m, view)
        pruning.add_purchases(m, view)
        node, purchase = pruning.first_uses(view)
        pairs = list(zip(node.tolist(), view.purchase_row[purchase].tolist(), strict=True))
        m.uses = pyo.Set(
            initialize=pairs,
            dimen=2,
            doc="first uses (h,i): node h = u(t,k,i) is the first in tree t to test k for row i (-1: for all rows)",
        )
        m.w = pyo.Var(
            m.uses,
            domain=pyo.Binary,
            doc="w[h,i] = w[t,k,i] = 1 iff tree t uses unit k for row i; h = u(t,k,i)",
        )
        E, w = len(node), list(m.w.values())
        if E:
            ends = sparse.hstack(
                [
                    sparse.identity(E),
                    pruning.paths(view, view.first)[np.searchsorted(view.first, node)],
                ],
                format="csr",
            )
            m.use = matrix_rows(
                [*w, *pruning.zs(m)],
                ends,
                *[np.ones(E)] * 2,
                doc="(IP3) w[h,i] + z on the path to h = 1: used, unless the path has ended",
            )
            links = pruning.differences(np.arange(E), E + purchase, E + view.n_purchases)
            m.buy = matrix_rows(
                [*w, *m.W.values()],
                links,
                *pruning.below(E),
                doc="(IP3) w[h,i] ≤ W[k,i]: a feature that a tree uses is bought",
            )
        pruning.add_budget(m, view)
        pruning.add_leaf_objective(m, view)

    def options_for(
        self, solver: str, view: NodeGains, space: PrunedEnsembles
    ) -> Mapping[str, Any]:
        if solver == "highs" and view.budget is None:
            return {"presolve_rule_off": 1 << 15}
        return self.suggested_options.get(solver, {})

    def relaxation_options_for(
        self, solver: str, view: NodeGains, space: PrunedEnsembles
    ) -> Mapping[str, Any]:
        lp = {"solver": "simplex"} if solver == "highs" and view.budget is None else {}
        return {**self.options_for(solver, view, space), **lp}

    def has_integral_relaxation(self, view: NodeGains, space: PrunedEnsembles) -> bool:
        return view.budget is None

    def decode(self, m: Any) -> Ensemble:
        return pruning.decode_leaves(m)

    def encode(self, predictor: Ensemble, m: Any) -> None:
        keep = pruning.encode_leaves(predictor, m)
        pruning.set_values(m.w, keep[pruning.first_uses(m.view)[0]])
        pruning.set_values(m.W, m.view.bought(keep))

    def model_size(self, view: NodeGains, space: PrunedEnsembles) -> ModelSize:
        base, (rows, nonzeros), E = (
            pruning.leaf_sizes(view),
            pruning.purchase_sizes(view),
            len(view.need),
        )
        on_path = int((pruning.depths(view)[pruning.first_uses(view)[0]] + 1).sum())
        columns = base.variables + E + view.n_purchases
        return ModelSize(
            columns,
            columns,
            base.rows + rows + 2 * E,
            base.nonzeros + nonzeros + E + on_path + 2 * E,
        )

    def network_tree(self, m: Any) -> list[tuple[str, str, str]] | None:
        """The spanning tree for which the matrix is the transposed network matrix.

        The trees of the ensemble are attached to one centre, and the arc into node h carries z[h].
        Each w and W has a vertex of its own, and its arc leads from there to the centre. So a path
        row goes down to a leaf, the row of a use goes from its w to the centre and down to its
        node, and w ≤ W goes from w to the centre and back to W.
        """
        view: NodeGains = m.view
        if view.budget is not None:
            return None
        up = ["centre" if p < 0 else f"node {p}" for p in view.parent.tolist()]
        arcs = [(up[h], f"node {h}", v.name) for h, v in m.z.items()]
        return arcs + [(f"of {v.name}", "centre", v.name) for x in (m.w, m.W) for v in x.values()]
