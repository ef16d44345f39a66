r"""BendersOCT: FlowOCT with its flows projected out.

A master problem chooses the tree, and cuts limit the gain of each row. The master, with the
structure (1b)–(1d) of `_tree_structure` and the gains :math:`g_i` of `_gains`, is

.. math:: \min\ \sum_i(\max_kc_{ik}-\rho_ig_i) + \text{penalties},\qquad 0\le g_i\le1,

and for every row i and every set S of nodes that contains the root and the parent of each of its
nodes (for misclassification the cuts (7b) of the paper)

.. math:: g_i\le\sum_{v\in S}\sum_k\tfrac{r_{ik}}{\rho_i}w_{vk}+\sum_{v\in S\cap B,\,2v\notin S}\ \sum_{f:x_{if}=0}b_{vf}+\sum_{v\in S\cap B,\,2v+1\notin S}\ \sum_{f:x_{if}=1}b_{vf}.

There are too many of them to be listed. Violated cuts are added (`_benders_cuts`): first at
fractional points of the relaxation; then in one tree search by a constraint handler, if the solver
accepts lazy rows (SCIP), or else by solving again until none is violated.

**Side constraints** are rows of the master (`_row_labels`): :math:`h_{ik}=1` iff row i gets action k
takes the place of :math:`g_i`, with cuts for every row and action,

.. math:: h_{ik}\le\sum_{v\in S}w_{vk}+\sum_{v\in S\cap B,\,2v\notin S}\ \sum_{f:x_{if}=0}b_{vf}+\sum_{v\in S\cap B,\,2v+1\notin S}\ \sum_{f:x_{if}=1}b_{vf},

the minimum cuts of the multi-sink flow (Jo et al. 2022). **A minimum leaf size** is kept by cuts
that limit the rows which can reach a node (`_reached`); they are the projection of flows too.

**Further cuts** (Keegan et al. 2025) raise the bound of the relaxation; no model needs them: those
of rows that few tests separate (`equivalent_points`, see `_equivalent_points`), and those of the
best subtrees below a path of tests (`path_bounds`, see `_path_bounds`).

References: Aghaei, Gómez, Vayanos (2021), "Strong optimal classification trees", arXiv:2103.15965;
Jo, Aghaei, Benson, Gómez, Vayanos (2022), "Learning optimal fair classification trees",
arXiv:2201.09932; Keegan, Forbes, Corry, Abolghasemi (2025), "Acceleration techniques for learning
optimal classification trees with integer programming", arXiv:2511.18791.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

from . import _gains as gains
from . import _row_labels as row_labels
from . import _tree_structure as ts
from ._benders_cuts import BendersCuts
from ._equivalent_points import EquivalentPointCuts, equivalent_point_cuts
from ._path_bounds import LEVELS, PathBoundCuts
from ._reached import LeafSizeCuts


@register
@dataclass(frozen=True)
class BendersOCT(TreeFormulation):
    """BendersOCT. Sizes are those before any cut; the result counts the cuts that were added.

    Parameters
    ----------
    equivalent_points : int, default=0
        The largest number of tests that separate rows which get a cut together; 0 for no such
        cuts. The number of sets of tests that are looked at is a power of it, so 1 or 2 is usual.
    path_bounds : {0, 1, 2}, default=0
        The number of levels of subtrees whose best gain limits the rows of a path; 0 for no such
        cuts. They are added where the tree has more levels than that.
    """

    name = "benders-oct"
    title = "BendersOCT (Aghaei, Gómez, Vayanos)"
    reference = "https://arxiv.org/abs/2103.15965"
    changeable = frozenset({"side", "leaves"})
    zero_one = frozenset({"w", "h", "a"})
    sets_like = {"scored": "rows"}
    derived_by = "best subtrees below paths"
    redundant = {
        "leaf_role": "(1c) published; a leaf that does not predict gains nothing, and one below a predicting node cannot be reached"
    }

    equivalent_points: int = 0
    path_bounds: int = 0

    def __post_init__(self) -> None:
        if self.equivalent_points < 0:
            raise DataError(
                f"benders-oct:equivalent_points is a number of tests, or 0 for no such cuts; got {self.equivalent_points}."
            )
        if self.path_bounds not in range(LEVELS + 1):
            raise DataError(
                f"benders-oct:path_bounds is a number of levels from 0 to {LEVELS}; got {self.path_bounds}."
            )
        # Coefficients of these cuts are optimal values of subproblems, which the certificate says.
        object.__setattr__(self, "dp_derived", self.path_bounds > 0)

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        ts.add_sets(m, view, space)
        ts.add_structure(m, view, space, binary_labels=bool(view.side))
        gains.add_gains(m, view)
        m.least = pyo.Param(
            initialize=space.min_samples_leaf, doc="minimum leaf size, which is kept by cuts"
        )
        gains.minimise_gains(m, view)

    def separator(self, m: Any, matrix: MatrixModel) -> BendersCuts:
        view: CostMatrix = m.view
        at = {id(v): j for j, v in enumerate(matrix.columns)}
        # A unit of flow is a row with its shares, or with side constraints a row with one action.
        if row_labels.has_labels(m):
            rows = np.repeat(np.arange(view.n_rows), view.n_actions)
            share = np.tile(np.eye(view.n_actions), (view.n_rows, 1))
            limited = list(m.h.values())
        else:
            share, largest = gains.shares(view)
            rows = np.flatnonzero(largest)
            share, limited = share[rows], list(m.g.values())

        def columns(rows: Any, inner: Any, variable: Any) -> np.ndarray:
            return np.array(
                [[at[id(variable[r, c])] for c in inner] for r in rows], dtype=np.int64
            ).reshape(len(rows), len(inner))

        b = columns(m.branch, m.features, m.b)
        least = int(m.least.value)
        p = np.array([at[id(m.p[v])] for v in m.nodes], dtype=np.int64)
        sizes = LeafSizeCuts(view.X, view.counts, least, b, p, matrix.n_variables)
        gained = _gained(m, matrix.n_variables, at)
        return BendersCuts(
            X=view.X[rows],
            share=share,
            b=b,
            w=columns(m.nodes, m.actions, m.w),
            g=np.array([at[id(x)] for x in limited], dtype=np.int64),
            n_columns=matrix.n_variables,
            sizes=sizes if least > 1 else None,
            points=self._points(view, gained, b),
            paths=self._paths(view, gained, b),
        )

    def _points(
        self, view: CostMatrix, gained: sparse.csr_matrix, b: np.ndarray
    ) -> EquivalentPointCuts | None:
        """Finds the cuts of rows that few tests separate, if they are wanted."""
        if not self.equivalent_points:
            return None
        return equivalent_point_cuts(view, self.equivalent_points, gained, b)

    def _paths(
        self, view: CostMatrix, gained: sparse.csr_matrix, b: np.ndarray
    ) -> PathBoundCuts | None:
        """Finds the cuts of paths, if they are wanted."""
        if not self.path_bounds:
            return None
        return PathBoundCuts(
            X=np.asarray(view.X, dtype=np.uint8),
            gain=ts.regret_by_row(view)[0],
            price=view.split_costs + view.leaf_cost,
            gained=gained,
            b=b,
            levels=self.path_bounds,
        )

    def decode(self, m: Any) -> Tree:
        return gains.decode_by_rows(m)

    def encode(self, tree: Tree, m: Any) -> None:
        splits, leaves = ts.place(tree, m.view)
        ts.encode_structure(m, splits, leaves)
        gains.set_gains(m, splits, leaves)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        base = ts.structure_sizes(view, space, bool(view.side))
        return gains.with_gains(base, view, space)


def _gained(m: Any, n_columns: int, at: dict[int, int]) -> sparse.csr_matrix:
    """What every row gains, in units of the view, as a matrix over all columns."""
    gain, largest = ts.regret_by_row(m.view)
    if row_labels.has_labels(m):
        entries = [(gain[i, k], i, at[id(x)]) for (i, k), x in m.h.items()]
    else:
        entries = [(largest[i], i, at[id(x)]) for i, x in m.g.items()]
    value, row, column = map(list, zip(*entries, strict=True)) if entries else ([], [], [])
    return sparse.csr_matrix((value, (row, column)), shape=(m.view.n_rows, n_columns), dtype=float)
