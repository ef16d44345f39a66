r"""A formulation to copy.

Copy this file to `my_model.py`, in any folder; it works there as it stands. Then change `name` and
what the comments describe.

This docstring becomes the model's page: say what the model is, list variables and constraints with
the paper's letters and numbers, and name the paper. The model below is small but complete: it takes
every task, side constraints and a minimum leaf size, and passes the conformance suite.

With the tree structure (1b)–(1d) of `_tree_structure` and :math:`s_{ivk}` = 1 iff row i ends in
node v with action k,

.. math::
   \min\ \sum_{i,v,k}r_{ik}s_{ivk}+\text{penalties},\qquad & \sum_{v,k}s_{ivk}=1 & i\\
   & s_{ivk}\le w_{vk} & i,v,k\\
   & \sum_{u\text{ in the left subtree of }v}\sum_ks_{iuk}\le\sum_{f:x_{if}=0}b_{vf} & i,\ v\in B\\
   & \sum_{u\text{ in the right subtree of }v}\sum_ks_{iuk}\le\sum_{f:x_{if}=1}b_{vf} & i,\ v\in B,

where :math:`r_{ik}` is the cost of action k on row i above the cheapest action. Reference: none;
the model is an exercise.

Run the checks while you write; from a checkout of the project and with the copy on `PYTHONPATH`,

    python -m pytest -p my_model -m "" tests/conformance -k my-model

runs all there are. A copy in the folder `formulations` needs no `-p`: the registry, the size table
and the docs find it, and nothing else must be edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from milp_trees.formulations import _tree_structure as ts

from milp_trees import Tree, Trees
from milp_trees.plugins import CostMatrix, ModelSize, TreeFormulation, register


@register
@dataclass(frozen=True)
class Template(TreeFormulation):
    """One line for the docs page.

    Options of the model are fields of this dataclass, each with a default and a line here.

    Parameters
    ----------
    binary_labels : bool, default=False
        Whether w is binary even if it need not be.
    """

    name = "my-model"  # lower case, hyphens: `milp-trees solve … --method my-model@highs`
    title = "My model (Author, Author)"
    reference = "https://doi.org/…"

    # For a problem that the model cannot express, there is an error with a sentence before anything
    # is built. These are the switches, with their defaults:
    takes_side_rows = True  # linear side constraints on the actions (fairness, capacities)
    takes_min_leaf = True  # min_samples_leaf > 1
    takes_any_costs = True  # False: only tasks where all wrong actions of a row cost the same (`view.labels` is not None)

    # Whether some optimum has whole numbers in all other variables as soon as the integer variables
    # are fixed at whole numbers (by default False). Then solvers that take integer variables only
    # (cp-sat) take this model too, if its coefficients are whole. Here a row reaches one node, and
    # the cheapest action of a node is one action.
    implied_integer = True

    # Names of continuous variables that are 0 or 1 for every tree. Where a constraint of a user has
    # them (`mt.build`), they are declared integer.
    zero_one = frozenset({"s", "w"})

    # Names of constraints that can be deleted without changing the optimum, and the reason why they
    # are there. The suite deletes every other constraint in turn and expects a check to fail.
    redundant = {}

    binary_labels: bool = False

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        # Further restrictions: a sentence that states what was given and which methods can take it.
        # Delete this method if there are none.
        return None

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        # `view` is the task as integers: `view.X` (rows × features, 0/1), `view.regret` (rows ×
        # actions, costs above `view.base`), `view.counts` (number of original rows of a row),
        # `view.leaf_cost`, `view.split_costs`, `view.side`. Always minimise; no solving, no files,
        # no randomness.
        D = space.depth
        ts.add_sets(
            m, view, space
        )  # m.rows, m.features, m.actions, m.nodes, m.branch, m.leaves, m.above
        ts.add_tests_by_row(m, view)  # m.false[i], m.true[i]
        ts.add_structure(m, view, space, self._binary(view))  # m.b, m.p, m.w, and the leaf limit
        m.left = pyo.Set(
            m.branch,
            initialize={v: subtree(2 * v, D) for v in m.branch},
            doc="nodes below the left child, and itself",
        )
        m.right = pyo.Set(
            m.branch,
            initialize={v: subtree(2 * v + 1, D) for v in m.branch},
            doc="nodes below the right child, and itself",
        )

        # Every Var and Constraint has a name and doc= (its meaning, or the paper's number), from
        # which tables are made.
        m.s = pyo.Var(
            m.rows,
            m.nodes,
            m.actions,
            domain=pyo.NonNegativeReals,
            doc="s[i,v,k] = 1 iff row i ends in node v with action k",
        )

        # Rules are turned into templates: each is called once, with a symbol for its index. So
        # index only Pyomo's own sets, parameters and variables; do not index a NumPy array or a
        # list, and do not use `if` on an index.
        @m.Constraint(m.rows, doc="every row ends in one node with one action")
        def ends(m: Any, i: Any) -> Any:
            return sum(m.s[i, v, k] for v in m.nodes for k in m.actions) == 1

        @m.Constraint(m.rows, m.nodes, m.actions, doc="rows get the action that the node predicts")
        def predicted(m: Any, i: Any, v: Any, k: Any) -> Any:
            return m.s[i, v, k] <= m.w[v, k]

        @m.Constraint(m.rows, m.branch, doc="rows go left only through a test that is false")
        def left_arc(m: Any, i: Any, v: Any) -> Any:
            return sum(m.s[i, u, k] for u in m.left[v] for k in m.actions) <= sum(
                m.b[v, f] for f in m.false[i]
            )

        @m.Constraint(m.rows, m.branch, doc="rows go right only through a test that is true")
        def right_arc(m: Any, i: Any, v: Any) -> Any:
            return sum(m.s[i, u, k] for u in m.right[v] for k in m.actions) <= sum(
                m.b[v, f] for f in m.true[i]
            )

        ts.add_side_rows(m, view, lambda i, k: [m.s[i, v, k] for v in m.nodes])
        if space.min_samples_leaf > 1:
            m.count = pyo.Param(
                m.rows,
                initialize=dict(enumerate(view.counts.tolist())),
                doc="original rows that row i stands for",
            )

            @m.Constraint(m.nodes, doc="a predicting node holds at least min_samples_leaf rows")
            def leaf_size(m: Any, v: Any) -> Any:
                return (
                    sum(m.count[i] * m.s[i, v, k] for i in m.rows for k in m.actions)
                    >= space.min_samples_leaf * m.p[v]
                )

        # The objective is a list of coefficients and variables, in integer units, with the constant
        # part.
        splits, costs, constant = ts.penalties(m, view)
        terms = [
            (int(view.regret[i, k]), m.s[i, v, k])
            for i, k in np.argwhere(view.regret).tolist()
            for v in m.nodes
        ]
        coefficients, variables = [c for c, _ in terms] + costs, [x for _, x in terms] + splits
        ts.minimise(
            m,
            coefficients,
            variables,
            int(view.base.sum()) + constant,
            "cost of the chosen actions, and penalties",
        )

    def decode(self, m: Any) -> Tree:
        # The tree that the values of the variables describe; `m.view` is available. It may have
        # branch nodes that no row reaches: the package prunes them. Read the variables that decide
        # (tests, labels), and not those that follow from them.
        return ts.decode_structure(m)

    def encode(self, tree: Tree, m: Any) -> None:
        # The reverse: set EVERY variable. This is the start that solvers are given, and the check
        # that the model is not too tight.
        view: CostMatrix = m.view
        splits, leaves = ts.place(
            tree, view
        )  # test of each branch node and action of each leaf, by heap number
        ts.encode_structure(m, splits, leaves)
        for i, end in enumerate(ts.reached(splits, view).tolist()):
            for v in m.nodes:
                for k in m.actions:
                    m.s[i, v, k].set_value(int(v == end and k == leaves[end]), skip_validation=True)

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        # Columns, binary columns, rows and nonzeros of the model, exactly, without building it:
        # `estimate` shows these numbers before a build.
        n, F, K, D = view.n_rows, view.n_features, view.n_actions, space.depth
        B, V = 2**D - 1, 2 ** (D + 1) - 1
        base = ts.structure_sizes(view, space, self._binary(view))
        below = sum(
            len(subtree(v, D)) - 1 for v in range(1, B + 1)
        )  # nodes below a branch node, summed over branch nodes
        rows = base.rows + n * (1 + V * K + 2 * B)
        nonzeros = base.nonzeros + n * (3 * V * K + below * K + B * F)
        for side in view.side:
            rows, nonzeros = rows + 1, nonzeros + V * int((side.coefs != 0).sum())
        if space.min_samples_leaf > 1:
            rows, nonzeros = rows + V, nonzeros + V * (n * K + 1)
        return ModelSize(base.variables + n * V * K, base.binaries, rows, nonzeros)

    def _binary(self, view: CostMatrix) -> bool:
        # With side constraints w must be binary: with w = (1/2, 1/2) a leaf would randomise, and
        # would satisfy them by fractions.
        return self.binary_labels or bool(view.side)


def subtree(v: int, depth: int) -> list[int]:
    """Heap numbers of a node and all nodes below it in a complete tree."""
    return [
        u
        for level in range(depth + 2 - v.bit_length())
        for u in range(v << level, (v + 1) << level)
    ]
