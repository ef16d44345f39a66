r"""IP0: prune trees for the fewest errors, without prices of features.

With :math:`z_h=1` iff node h is a leaf of its pruned tree and :math:`e_h` the errors counted at h,
one block per tree:

.. math::
   \min\ \sum_t\sum_{h\in t}e_hz_h,\qquad
   \sum_{h\text{ on the path to }\ell}z_h=1\quad\text{for every leaf }\ell,\qquad z_h\in\{0,1\}.

In preorder, the leaves below a node are adjacent: every column has consecutive ones, so the matrix
is totally unimodular and the relaxation integral. Costs of kept splits (nodes evaluated, leaves)
are linear in z and are allowed; prices of features are not, but `ip3` and `ip3-closure` have them.

Reference: Nan, Wang, Saligrama (2016), "Optimally pruning decision tree ensembles with feature
cost", ICML, program (IP0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.models.ensemble import Ensemble
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains

from . import _pruning as pruning


@register
@dataclass(frozen=True)
class IP0(pruning.PruningFormulation):
    """IP0; it has no options."""

    name = "ip0"
    title = "IP0: errors only (Nan, Wang, Saligrama)"
    reference = "https://proceedings.mlr.press/v48/nan16.html"
    integral_relaxation = True

    def unsupported_view(self, view: NodeGains, space: PrunedEnsembles) -> str | None:
        if view.budget is not None:
            return "ip0 has no features, so it cannot keep a budget (max_cost); ip1, ip3 and ip3-closure can."
        if view.step[1] and view.price.any():
            return "ip0 has no features, and here they cost something; set lam=0 or all feature costs to 0, or take ip3, ip3-closure or min-cut."
        return None

    def declare(self, m: Any, view: NodeGains, space: PrunedEnsembles) -> None:
        pruning.add_leaves(m, view)
        pruning.add_leaf_objective(m, view, with_features=False)

    def relaxation_options_for(
        self, solver: str, view: NodeGains, space: PrunedEnsembles
    ) -> Mapping[str, Any]:
        return {"solver": "simplex"} if solver == "highs" else {}

    def decode(self, m: Any) -> Ensemble:
        return pruning.decode_leaves(m)

    def encode(self, predictor: Ensemble, m: Any) -> None:
        pruning.encode_leaves(predictor, m)

    def model_size(self, view: NodeGains, space: PrunedEnsembles) -> ModelSize:
        return pruning.leaf_sizes(view)
