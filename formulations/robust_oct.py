r"""RobustOCT: the tree with the fewest wrong rows if the shifts of all rows share a budget.

A master problem chooses the tree, and cuts count the errors under single shifts. Every node of a
complete tree may branch or predict: with branch nodes B, leaves T and :math:`V=B\cup T`,
:math:`b_{vf}=1` iff node v has test f, :math:`w_{vk}=1` iff it predicts class k, and E is the number
of wrong rows,

.. math::
   \min\ E+\text{penalties}\qquad\sum_fb_{vf}+\sum_kw_{vk}=1\ (v\in B),\qquad\sum_kw_{vk}=1\ (v\in T),

and for all shifts :math:`\xi` of the rows within the budget, all sets A of rows, and for each of
these rows a set :math:`S_i` of nodes that holds the root and the parent of each of its nodes,

.. math::
   E\ge\sum_{i\in A}\Bigl(1-\sum_{v\in S_i}w_{vy_i}
      -\sum_{v\in S_i\cap B,\,2v\notin S_i}\ \sum_{f\in N_i(\xi)}b_{vf}
      -\sum_{v\in S_i\cap B,\,2v+1\notin S_i}\ \sum_{f\in Y_i(\xi)}b_{vf}\Bigr),

where :math:`N_i(\xi)` (:math:`Y_i(\xi)`) are the tests that row i answers with no (yes) after the
shift. The bracket is 1 less the capacity of a cut in the row's flow network, at most 1 less its
flow, which is 1 iff the row is right: so a cut never counts a row that is right.

**Separation.** For a tree, the worst shift moves the cheapest rows to leaves of another class as
far as the budget goes (`WorstCase.attacked`). These rows are A, and :math:`S_i` is the path of the
shifted row. Then no term is left and the cut counts all of A. So the model is exact as soon as the
cut of its own tree is satisfied. At fractional points the cut of the tree of the largest
variables is tried; it need not be violated.

**What differs from the paper.** It maximises the number of right rows, with one epigraph variable
per row and cuts on their sum; rows that are right under the shift have no limit there, so that the
sum of theirs is their number. Here one variable E counts errors (ours). The paper also
charges each split a little, so that ties go to smaller trees; here that is `split_penalty`. Candidate
thresholds are given, and categories may be shifted at a price. Cuts are numbered by nothing here:
the model follows the paper's two-stage problem and the authors' code (numbering ours).

A node below one that predicts is not reached, and chooses what costs nothing.

Reference: Justin, Aghaei, Gómez, Vayanos (2023), "Learning optimal classification trees robust to
distribution shifts", arXiv:2310.17772; code github.com/D3M-Research-Group/odtlearn (`RobustOCT`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees.common.registering import register
from milp_trees.mip.formulation import Formulation, ModelSize
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.meanings import tree_words
from milp_trees.mip.tree_formulation import DEEPEST
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.robust.space import RobustTrees
from milp_trees.robust.view import WorstCase

from . import _tree_structure as ts

#: Violation below which a cut is not added. At integral points no cut may be missed.
INTEGRAL, FRACTIONAL = 1e-5, 1e-3


@register
@dataclass(frozen=True)
class RobustOCT(Formulation):
    """RobustOCT. Sizes are those before any cut; the result counts the cuts that were added."""

    name = "robust-oct"
    default_rank = 85
    title = "RobustOCT (Justin, Aghaei, Gómez, Vayanos)"
    reference = "https://arxiv.org/abs/2310.17772"
    space = RobustTrees
    needs = WorstCase
    shared_components = frozenset({"worst case"})

    def presolved_view(self, problem: Problem) -> WorstCase:
        return problem.view(WorstCase)

    def templates(self, view: WorstCase, space: RobustTrees) -> bool:
        return space.depth > 0 and view.n_features > 0

    def unsupported_view(self, view: WorstCase, space: RobustTrees) -> str | None:
        if space.depth > DEEPEST:
            return f"{self.name} has variables for every node of a full tree, of at most {DEEPEST} levels; give a smaller max_depth."
        return None

    def declare(self, m: Any, view: WorstCase, space: RobustTrees) -> None:
        D = space.depth
        m.features = pyo.RangeSet(0, view.n_features - 1, doc="features f")
        m.actions = pyo.RangeSet(0, view.n_actions - 1, doc="actions k")
        m.nodes = pyo.RangeSet(1, 2 ** (D + 1) - 1, doc="nodes V")
        m.branch = pyo.RangeSet(1, 2**D - 1, doc="branch nodes B")
        m.leaves = pyo.RangeSet(2**D, 2 ** (D + 1) - 1, doc="leaves T")
        m.b = pyo.Var(m.branch, m.features, domain=pyo.Binary, doc="b[v,f] = 1 iff node v tests f")
        m.w = pyo.Var(
            m.nodes, m.actions, domain=pyo.Binary, doc="w[v,k] = 1 iff node v predicts class k"
        )
        m.E = pyo.Var(bounds=(0, view.n_rows), doc="E number of wrong rows in the worst case")

        @m.Constraint(m.branch, doc="a branch node tests or predicts")
        def one_role(m: Any, v: Any) -> Any:
            return sum(m.b[v, f] for f in m.features) + sum(m.w[v, k] for k in m.actions) == 1

        @m.Constraint(m.leaves, doc="a leaf predicts")
        def leaf_role(m: Any, t: Any) -> Any:
            return sum(m.w[t, k] for k in m.actions) == 1

        ts.add_split_limit(m, space)
        splits, costs, constant = ts.penalties(m, view)  # type: ignore[arg-type]
        ts.minimise(
            m,
            [view.error_cost, *costs],
            [m.E, *splits],
            constant,
            "wrong rows in the worst case, and penalties",
        )

    def separator(self, m: Any, matrix: MatrixModel) -> ShiftCuts:
        at = {id(v): j for j, v in enumerate(matrix.columns)}
        view: WorstCase = m.view
        b = [[at[id(m.b[v, f])] for f in m.features] for v in m.branch]
        w = [[at[id(m.w[v, k])] for k in m.actions] for v in m.nodes]
        return ShiftCuts(
            view,
            np.array(b, dtype=np.int64).reshape(len(m.branch), view.n_features),
            np.array(w, dtype=np.int64),
            at[id(m.E)],
            matrix.n_variables,
        )

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        return tree_words(m.view, problem)

    def decode(self, m: Any) -> Tree:
        b = np.array([[m.b[v, f].value for f in m.features] for v in m.branch])
        w = np.array([[m.w[v, k].value for k in m.actions] for v in m.nodes])
        return Tree(_walk(m.view, b, w, 1), m.view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        view: WorstCase = m.view
        splits, leaves = ts.place(tree, view)  # type: ignore[arg-type]
        for v in m.branch:
            for f in m.features:
                m.b[v, f].set_value(int(splits.get(v) == f), skip_validation=True)
        for v in m.nodes:
            action = leaves.get(v, -1 if v in splits else 0)
            for k in m.actions:
                m.w[v, k].set_value(int(action == k), skip_validation=True)
        m.E.set_value(view.wrong(tree), skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def model_size(self, view: WorstCase, space: RobustTrees) -> ModelSize:
        F, K, D = view.n_features, view.n_actions, space.depth
        B, T = 2**D - 1, 2**D
        binaries = B * F + (B + T) * K
        rows, nonzeros = B + T, binaries
        if space.limits_leaves and F:
            rows, nonzeros = rows + 1, nonzeros + B * F
        return ModelSize(binaries + 1, binaries, rows, nonzeros)


@dataclass(eq=False)
class ShiftCuts:
    """Finds the cut of the worst shift of the tree at a point.

    Parameters
    ----------
    view : WorstCase
    b, w : int arrays of shapes (branch nodes, F), (nodes, K)
        Columns of the variables; node v is at position v - 1.
    errors : int
        Column of E.
    n_columns : int
        Number of columns of the model.
    """

    view: WorstCase
    b: np.ndarray
    w: np.ndarray
    errors: int
    n_columns: int

    def separate(
        self, x: np.ndarray, integral: bool
    ) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
        """The row of a cut that the point violates, if the worst shift of its tree gives one."""
        coefficients, least = self._cut(x)
        violated = least - coefficients @ x > (INTEGRAL if integral else FRACTIONAL)
        A = sparse.csr_matrix(coefficients[None, :] if violated else (0, self.n_columns))
        return A, np.full(int(violated), float(least)), np.full(int(violated), np.inf)

    def _cut(self, x: np.ndarray) -> tuple[np.ndarray, int]:
        """Coefficients and lower side of the cut."""
        view = self.view
        root = _walk(view, x[self.b], x[self.w], 1)
        rows = view.attacked(view.prices(root))
        boxes = view.leaves(root)
        at = np.array([view.entry(inside) for inside, _ in boxes])
        wrong = np.array([[action != k for k in range(view.n_actions)] for _, action in boxes])
        out = np.zeros(self.n_columns)
        out[self.errors] = 1.0
        for i in rows.tolist():
            to = np.where(wrong[:, view.y[i]], at[:, i], view.never).argmin()
            answers = view.answers[:, view.nearest(boxes[to][0], i)].any(axis=1)
            node, v = root, 1
            while isinstance(node, Branch):
                side = answers[view.index[node.test]]
                out[self.w[v - 1, view.y[i]]] += 1.0
                out[self.b[v - 1, answers != side]] += 1.0
                node, v = (node.right, 2 * v + 1) if side else (node.left, 2 * v)
            out[self.w[v - 1, view.y[i]]] += 1.0
            if v <= len(self.b):
                out[self.b[v - 1]] += 1.0
        return out, len(rows)


def _walk(view: WorstCase, b: np.ndarray, w: np.ndarray, v: int) -> Any:
    """The tree of the largest variables of every node, from a heap node on."""
    if v > len(b) or not b.shape[1] or w[v - 1].sum() >= 0.5:
        return Leaf(int(w[v - 1].argmax()))
    f = int(b[v - 1].argmax())
    return Branch(view.features[f], _walk(view, b, w, 2 * v), _walk(view, b, w, 2 * v + 1))
