r"""Tree as a set of root-to-leaf paths, all of which are columns of one model.

A path :math:`q` has an end :math:`v(q)` in a complete binary tree and a test :math:`f_u(q)` for
every proper ancestor u of the end; :math:`x_{qk}=1` iff the tree has this path and predicts action
k at its end, and :math:`b_{uf}=1` iff branch node u tests f. With the rows :math:`R(q)` that follow
path q, the leaves :math:`T`, and the nodes :math:`P(\ell)` from the root to leaf :math:`\ell`,

.. math::
   \min\ \sum_{q,k}\sum_{i\in R(q)}c_{ik}x_{qk}+\text{penalties},\qquad
   & \sum_{q:v(q)\in P(\ell)}\sum_kx_{qk}=1 & \ell\in T\\
   & \sum_{q:i\in R(q)}\sum_kx_{qk}=1 & i\\
   & \sum_{q:v(q)\in P(\ell),\,v(q)\text{ below }u,\,f_u(q)=f}\ \sum_kx_{qk}=b_{uf}
     & u\in B,\ f,\ \ell\in T\text{ below }u.

These are the rows "one path per leaf", "one path per row of data" and "one test per node" of the
published master problem (numbering ours). It has paths to the leaves of a complete tree only. Here
a path may end at any node, so that trees are allowed to be smaller; for complete trees the rows are
the published ones. The middle rows follow from the others for integer points (shown in
arXiv:2308.11477); `row_cover=True` adds them.

The authors generate columns, and their pricing is a heuristic. Here all columns are in the model,
so it is solved to the proof, and problems with too many paths are refused. No paths are left out
but those with fewer rows than the minimum leaf size. Side constraints are rows over paths; x must
then be binary. Without them x is continuous: whole b fix every path, and the cheapest action of a
path is one action.

References: Firat, Crognier, Gabor, Hurkens, Zhang (2020), "Column generation based heuristic for
learning classification trees", arXiv:1810.06684; "An improved column-generation-based matheuristic
for learning classification trees" (2023), arXiv:2308.11477.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from milp_trees.common.registering import register
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts

#: Models with more columns for paths are refused before any path is made.
MOST_PATHS = 400_000

#: End, tests from the nearest node upwards, and mask of the rows of a path.
Path = tuple[int, tuple[int, ...], np.ndarray]


@register
@dataclass(frozen=True)
class Firat(TreeFormulation):
    """Master problem over all root-to-leaf paths.

    Parameters
    ----------
    row_cover : bool, default=False
        Whether the model has the rows that every row of data follows one path. They follow from
        the other rows, and have most of the nonzeros.
    """

    name = "firat"
    title = "Path master problem (Firat, Crognier, Gabor, Hurkens, Zhang)"
    reference = "https://arxiv.org/abs/1810.06684"
    implied_integer = True
    zero_one = frozenset({"x"})

    row_cover: bool = False

    def unsupported_view(self, view: CostMatrix, space: Trees) -> str | None:
        paths = view.n_actions * sum(
            (2 * view.n_features) ** d for d in range(min(space.depth, 20) + 1)
        )
        if paths > MOST_PATHS:
            return f"firat has a column for every path and action: {paths:,} here, of at most {MOST_PATHS:,}; take a smaller depth or fewer features, or flow-oct."
        return None

    def declare(self, m: Any, view: CostMatrix, space: Trees) -> None:
        ts.add_sets(m, view, space)
        found = list(_paths(view, space))
        m.ends = [path[:2] for path in found]
        m.paths = pyo.RangeSet(
            0, len(found) - 1, doc="paths q: an end, and a test for each node above"
        )
        m.b = pyo.Var(m.branch, m.features, domain=pyo.Binary, doc="b[u,f] = 1 iff node u tests f")
        m.x = pyo.Var(
            m.paths,
            m.actions,
            domain=pyo.Binary if view.side else pyo.UnitInterval,
            doc="x[q,k] = 1 iff the tree has path q, and its end predicts action k",
        )
        inside = np.array([rows for _, _, rows in found], dtype=bool).reshape(-1, view.n_rows)
        self._add_tree_rows(m, view, space)
        if self.row_cover:
            self._add_rows(
                m, "covered", sparse.csr_matrix(inside.T), 1, "every row of data follows one path"
            )
        ts.add_split_limit(m, space)
        self._add_sums(m, view, inside)

    def _add_tree_rows(self, m: Any, view: CostMatrix, space: Trees) -> None:
        """One path per leaf and one test per node, as blocks of rows."""
        D, F = space.depth, view.n_features
        row, column = [], []
        linked: dict[tuple[int, int, int], list[int]] = {
            (u, f, leaf): []
            for leaf in range(2**D, 2 ** (D + 1))
            for u in ts.ancestors(leaf)
            for f in range(F)
        }
        for q, (v, tests) in enumerate(m.ends):
            for leaf in _leaves_below(v, D):
                row.append(leaf - 2**D)
                column.append(q)
                for u, f in zip(ts.ancestors(v), tests, strict=True):
                    linked[u, f, leaf].append(q)
        A = sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=(2**D, len(m.ends)))
        self._add_rows(m, "one_path", A, 1, "every leaf has one path to it or to a node above it")
        if not linked:
            return
        K, size = view.n_actions, len(m.ends) * view.n_actions
        tests_at = {(u, f): size + j for j, (u, f) in enumerate(m.b)}
        entries = [
            (r, q * K + k, 1) for r, qs in enumerate(linked.values()) for q in qs for k in range(K)
        ] + [(r, tests_at[u, f], -1) for r, (u, f, _) in enumerate(linked)]
        rows, columns, values = (list(part) for part in zip(*entries, strict=True))
        shape = (len(linked), size + len(tests_at))
        B = sparse.csr_matrix((np.array(values, dtype=float), (rows, columns)), shape=shape)
        zero = np.zeros(len(linked))
        m.one_test = matrix_rows(
            [*m.x.values(), *m.b.values()],
            B,
            zero,
            zero,
            doc="the path of every leaf has the test of every node above that does not predict",
        )

    def _add_rows(self, m: Any, name: str, A: Any, side: int, doc: str) -> None:
        """A block of equations over paths, whatever their action."""
        K = len(m.actions)
        block = sparse.csr_matrix(sparse.kron(A, np.ones((1, K))))
        sides = np.full(A.shape[0], float(side))
        m.add_component(name, matrix_rows(list(m.x.values()), block, sides, sides, doc=doc))

    def _add_sums(self, m: Any, view: CostMatrix, inside: np.ndarray) -> None:
        """Side constraints and the objective: sums over the rows of each path."""
        x = list(m.x.values())
        if view.side:
            A = sparse.csr_matrix(
                np.array([(inside @ row.coefs).ravel() for row in view.side], dtype=float)
            )
            lower = [-np.inf if row.lower is None else row.lower for row in view.side]
            upper = [np.inf if row.upper is None else row.upper for row in view.side]
            doc = "side constraints on the actions"
            m.side = matrix_rows(
                x, A, np.array(lower, dtype=float), np.array(upper, dtype=float), doc
            )
        splits, costs, constant = ts.penalties(m, view)
        regret = (inside.astype(np.int64) @ view.regret).ravel().tolist()
        ts.minimise(
            m,
            regret + costs,
            x + splits,
            int(view.base.sum()) + constant,
            "cost of the paths, and penalties",
        )

    def decode(self, m: Any) -> Tree:
        number = {end: q for q, end in enumerate(m.ends)}

        def walk(v: int, tests: tuple[int, ...]) -> Any:
            tested = {f: m.b[v, f].value for f in m.features} if v in m.branch else {}
            if sum(tested.values()) < 0.5:
                q = number[v, tests]
                return Leaf(max(m.actions, key=lambda k: (m.x[q, k].value, -k)))
            f = max(tested, key=lambda f: (tested[f], -f))
            below = (f, *tests)
            return Branch(m.view.features[f], walk(2 * v, below), walk(2 * v + 1, below))

        return Tree(walk(1, ()), m.view.actions)

    def encode(self, tree: Tree, m: Any) -> None:
        splits, leaves = ts.place(tree, m.view)
        for u, f in m.b:
            m.b[u, f].set_value(int(splits.get(u) == f), skip_validation=True)
        for q, (v, tests) in enumerate(m.ends):
            taken = v in leaves and tests == tuple(splits[u] for u in ts.ancestors(v))
            for k in m.actions:
                value = int(taken and leaves[v] == k)
                m.x[q, k].set_value(value, skip_validation=True)

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray]:
        return ts.weights_of_tests(m, m.b)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        def path(q: Any) -> str:
            v, tests = m.ends[int(q)]
            sides = [
                f"{m.view.features[f].name} is {'true' if (v >> s) & 1 else 'false'}"
                for s, f in enumerate(tests)
            ]
            return " and ".join(sides[::-1]) or "the root"

        return {**super().meanings(m, problem), "paths": path}

    def model_size(self, view: CostMatrix, space: Trees) -> ModelSize:
        D, F, K = space.depth, view.n_features, view.n_actions
        B, splits = 2**D - 1, (2**D - 1) * F
        linked = D * 2**D * F
        least = space.min_samples_leaf > 1
        found = [(v, rows) for v, _, rows in _paths(view, space)] if least else []
        paths = len(found) if least else sum((2 * F) ** d for d in range(D + 1))
        # Of each path, a place for every leaf below its end, for each of its tests and once more.
        if least:
            places = sum(v.bit_length() << (D + 1 - v.bit_length()) for v, _ in found)
            covered = sum(int(rows.sum()) for _, rows in found)
        else:
            places = sum((d + 1) * 2**D * F**d for d in range(D + 1))
            covered = view.n_rows * sum(F**d for d in range(D + 1))
        rows, nonzeros = 2**D + linked, K * places + linked
        if self.row_cover:
            rows, nonzeros = rows + view.n_rows, nonzeros + K * covered
        if space.limits_leaves and F:
            rows, nonzeros = rows + 1, nonzeros + B * F
        if view.side:
            inside = [rows for _, _, rows in _paths(view, space)]
            for side in view.side:
                sums = np.array(inside).reshape(-1, view.n_rows) @ side.coefs
                rows, nonzeros = rows + 1, nonzeros + int(np.count_nonzero(sums))
        x = paths * K
        return ModelSize(x + splits, splits + (x if view.side else 0), rows, nonzeros)


def _paths(view: CostMatrix, space: Trees) -> Iterator[Path]:
    """Every path that may be in a tree, those to nodes near the root first."""
    X = np.asarray(view.X, dtype=bool)
    least = space.min_samples_leaf if space.min_samples_leaf > 1 else 0
    level: list[Path] = [(1, (), np.ones(view.n_rows, dtype=bool))]
    for depth in range(space.depth + 1):
        # A path without enough rows has none below it that has enough.
        level = [path for path in level if int(view.counts[path[2]].sum()) >= least]
        yield from level
        if depth < space.depth:
            level = [
                (2 * v + side, (f, *tests), rows & (X[:, f] == bool(side)))
                for v, tests, rows in level
                for f in range(view.n_features)
                for side in (0, 1)
            ]


def _leaves_below(v: int, depth: int) -> range:
    """Leaves of a complete tree that are a node or lie below it."""
    levels = depth + 1 - v.bit_length()
    return range(v << levels, (v + 1) << levels)
