r"""ROCT: the tree with the fewest rows that a shift within their boxes can make wrong.

A complete tree of depth D with branch nodes B and leaves T; row i has the class :math:`y_i`. In its
box some tests have one answer and others have both: :math:`N_i` are the tests that can be answered
no, which leads left, and :math:`Y_i` those that can be answered yes. :math:`b_{mf}=1` iff node m
has test f, :math:`s_{im0}=1` (:math:`s_{im1}=1`) if row i can go left (right) at node m,
:math:`c_{tk}=1` iff leaf t predicts class k, and :math:`e_i` is the error of row i. With the nodes
:math:`A_0(t)` at which the path to leaf t goes left and :math:`A_1(t)` at which it goes right,

.. math::
   \min\ \sum_ie_i\qquad & \sum_fb_{mf}=1 & m\in B\\
   & s_{im0}\ge\sum_{f\in N_i}b_{mf},\qquad s_{im1}\ge\sum_{f\in Y_i}b_{mf} & i,\ m\in B\\
   & \sum_kc_{tk}=1 & t\in T\\
   & e_i\ge1-c_{ty_i}+\sum_{m\in A_0(t)}s_{im0}+\sum_{m\in A_1(t)}s_{im1}-D & i,\ t\in T.

A row is wrong if one of the leaves that it can reach has another class: the worst case needs no
inner maximum. (Numbering ours, and none: the model follows `BinaryOptimalRobustTree` of the
authors' code, in which s and e are continuous.)

**Tests.** In the paper a node chooses a column by a and a threshold by ordered binary variables b.
Here the thresholds are those of the candidate tests, and a node chooses one of them, which is a
pair (a, b). For each column the sums over tests are what the ordered variables are in the paper.
Categories and columns of 0 and 1 have tests of their own; a row whose box allows it can answer them
either way.

**Classes.** The paper has two, with one variable c per leaf; here there are any number (ours).

**Paths with the same column.** The last constraint takes the answers on a path one by one: a row
counts at a leaf if it can give each answer, though not all at once. For intervals and half-lines
this is the same wherever the leaf holds any value at all, since intervals of which each two meet
have a point in common. A leaf without any value, below ``x <= 2`` and then ``x > 4``, holds
no row, but the model counts those that can give both answers. So it may count too many errors
for a tree with such leaves, never too few, and the same tree without the splits above them is in
the model too. `encode` leaves these splits out first.

Penalties and limits on leaves are not in the paper: each node tests something, and below a leaf of
a smaller tree all leaves predict the same. `robust-oct` takes them.

Reference: Vos, Verwer (2022), "Robust optimal classification trees against adversarial examples",
AAAI 36(8), 8520–8528; arXiv:2109.03857. Code:
github.com/tudelft-cda-lab/ROCT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.registering import register
from milp_trees.mip.formulation import Formulation, ModelSize
from milp_trees.mip.meanings import tree_words
from milp_trees.mip.tree_formulation import DEEPEST
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.robust.space import RobustTrees
from milp_trees.robust.view import WorstCase

from . import _tree_structure as ts


@register
@dataclass(frozen=True)
class ROCT(Formulation):
    """ROCT for any number of classes, over given tests."""

    name = "roct"
    default_rank = 80
    title = "ROCT (Vos, Verwer)"
    reference = "https://arxiv.org/abs/2109.03857"
    space = RobustTrees
    needs = WorstCase
    shared_components = frozenset({"worst case"})

    def presolved_view(self, problem: Problem) -> WorstCase:
        return problem.view(WorstCase)

    def templates(self, view: WorstCase, space: RobustTrees) -> bool:
        return space.depth > 0 and view.n_rows > 0

    def unsupported_view(self, view: WorstCase, space: RobustTrees) -> str | None:
        if not view.free:
            return f"{self.name} shifts every row within a box of its own, and here they share a budget; robust-oct and robust-fronts can take it."
        if view.leaf_cost or view.split_costs.any() or space.limits_leaves:
            return f"{self.name} has a complete tree without penalties and limits on leaves; robust-oct and robust-fronts can express them."
        if not view.n_features and space.depth:
            return f"{self.name} has a test in every node, and there is none; robust-fronts takes the problem."
        if space.depth > DEEPEST:
            return f"{self.name} has variables for every node of a full tree, of at most {DEEPEST} levels; give a smaller max_depth."
        return None

    def declare(self, m: Any, view: WorstCase, space: RobustTrees) -> None:
        D = space.depth
        no, yes = possible(view)
        m.rows = pyo.RangeSet(0, view.n_rows - 1, doc="rows i")
        m.features = pyo.RangeSet(0, view.n_features - 1, doc="features f")
        m.actions = pyo.RangeSet(0, view.n_actions - 1, doc="actions k")
        m.branch = pyo.RangeSet(1, 2**D - 1, doc="branch nodes B")
        m.leaves = pyo.RangeSet(2**D, 2 ** (D + 1) - 1, doc="leaves T")
        for name, answers, doc in (
            ("may_be_false", no, "N_i: tests that row i can answer with no"),
            ("may_be_true", yes, "Y_i: tests that row i can answer with yes"),
        ):
            found = {i: np.flatnonzero(answers[i]).tolist() for i in range(view.n_rows)}
            setattr(m, name, pyo.Set(m.rows, initialize=found, domain=pyo.Any, doc=doc))
        ways = {t: way(t) for t in m.leaves}
        for name, side, doc in (("goes_left", 0, "A_0(t)"), ("goes_right", 1, "A_1(t)")):
            found = {t: [v for v, turn in ways[t] if turn == side] for t in m.leaves}
            words = f"{doc}: nodes at which the path to leaf t goes {'right' if side else 'left'}"
            setattr(m, name, pyo.Set(m.leaves, initialize=found, domain=pyo.Any, doc=words))
        m.y = pyo.Param(m.rows, initialize=dict(enumerate(view.y.tolist())), doc="class of row i")
        m.wrong = pyo.Set(
            m.rows,
            initialize={
                i: [k for k in range(view.n_actions) if k != view.y[i]] for i in range(view.n_rows)
            },
            domain=pyo.Any,
            doc="the classes that row i does not have",
        )
        m.b = pyo.Var(m.branch, m.features, domain=pyo.Binary, doc="b[m,f] = 1 iff node m tests f")
        m.s = pyo.Var(
            m.rows,
            m.branch,
            [0, 1],
            domain=pyo.UnitInterval,
            doc="s[i,m,0] = 1 if row i can go left at node m, s[i,m,1] = 1 if it can go right",
        )
        m.c = pyo.Var(
            m.leaves, m.actions, domain=pyo.Binary, doc="c[t,k] = 1 iff leaf t predicts class k"
        )
        m.e = pyo.Var(m.rows, domain=pyo.UnitInterval, doc="e[i] = 1 iff row i can be made wrong")

        @m.Constraint(m.branch, doc="a node has one test")
        def one_test(m: Any, v: Any) -> Any:
            return sum(m.b[v, f] for f in m.features) == 1

        @m.Constraint(m.rows, m.branch, doc="a row can go left if its test can be false")
        def left(m: Any, i: Any, v: Any) -> Any:
            return m.s[i, v, 0] >= sum(m.b[v, f] for f in m.may_be_false[i])

        @m.Constraint(m.rows, m.branch, doc="a row can go right if its test can be true")
        def right(m: Any, i: Any, v: Any) -> Any:
            return m.s[i, v, 1] >= sum(m.b[v, f] for f in m.may_be_true[i])

        @m.Constraint(m.leaves, doc="a leaf predicts one class")
        def one_class(m: Any, t: Any) -> Any:
            return sum(m.c[t, k] for k in m.actions) == 1

        @m.Constraint(
            m.rows, m.leaves, doc="a row is wrong if it can reach a leaf of another class"
        )
        def error(m: Any, i: Any, t: Any) -> Any:
            reached = sum(m.s[i, v, 0] for v in m.goes_left[t])
            reached += sum(m.s[i, v, 1] for v in m.goes_right[t])
            return m.e[i] >= sum(m.c[t, k] for k in m.wrong[i]) + reached - D

        each = [view.error_cost] * view.n_rows
        ts.minimise(
            m, each, [m.e[i] for i in m.rows], view.leaf_cost, "rows that can be made wrong"
        )

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        return tree_words(m.view, problem)

    def decode(self, m: Any) -> Tree:
        view: WorstCase = m.view

        def walk(v: int) -> Any:
            if v in m.leaves:
                return Leaf(max(m.actions, key=lambda k: (m.c[v, k].value, -k)))
            f = max(m.features, key=lambda f: m.b[v, f].value)
            left, right = walk(2 * v), walk(2 * v + 1)
            return left if left == right else Branch(view.features[f], left, right)

        return view.without_empty(Tree(walk(1), view.actions))

    def encode(self, tree: Tree, m: Any) -> None:
        view: WorstCase = m.view
        splits, leaves = ts.place(view.without_empty(tree), view)  # type: ignore[arg-type]
        for v in m.branch:  # below a leaf: any test, and the same class everywhere
            if v in leaves:
                splits[v] = 0
                leaves[2 * v] = leaves[2 * v + 1] = leaves[v]
        for v in m.branch:
            for f in m.features:
                m.b[v, f].set_value(int(splits[v] == f), skip_validation=True)
        for t in m.leaves:
            for k in m.actions:
                m.c[t, k].set_value(int(leaves[t] == k), skip_validation=True)
        can = possible(view)
        for i in m.rows:
            for v in m.branch:
                for side in (0, 1):
                    m.s[i, v, side].set_value(int(can[side][i, splits[v]]), skip_validation=True)
            error = any(
                leaves[t] != view.y[i] and all(can[turn][i, splits[v]] for v, turn in way(t))
                for t in m.leaves
            )
            m.e[i].set_value(int(error), skip_validation=True)

    def model_size(self, view: WorstCase, space: RobustTrees) -> ModelSize:
        n, F, K, D = view.n_rows, view.n_features, view.n_actions, space.depth
        B, T = 2**D - 1, 2**D
        binaries = B * F + T * K
        nonzeros = B * F + T * K + n * T * (K + D) + B * 2 * n
        nonzeros += B * sum(int(answers.sum()) for answers in possible(view))
        return ModelSize(binaries + 2 * n * B + n, binaries, B + T + 2 * n * B + n * T, nonzeros)


def possible(view: WorstCase) -> tuple[np.ndarray, np.ndarray]:
    """Which tests each row can answer with no, and with yes; bool arrays of shape (n, F)."""
    allowed = view.price < view.never
    own = view.cell_column[None, :] == view.column[:, None]
    return tuple(  # type: ignore[return-value]
        (allowed[:, None, :] & (own & (view.answers == answer))[None, :, :]).any(axis=2)
        for answer in (0, 1)
    )


def way(v: int) -> list[tuple[int, int]]:
    """The nodes above a heap node, nearest first, with 1 where the way goes right."""
    return [(v >> s, (v >> (s - 1)) & 1) for s in range(1, v.bit_length())]
