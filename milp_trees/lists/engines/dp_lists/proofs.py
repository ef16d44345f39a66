r"""Claims that prove a bound on all rule lists, for every method that knows the bound.

A claim is about the set U of rows that some antecedents leave: no list of at most so many rules
costs less than b on U. If B is a valid bound on all lists, then B minus the least cost of a
prefix that leaves U is a valid bound on U. So the claims need no search: one pass from the whole
set down hands on what is needed,

.. math:: b(U\setminus a) = \max_{U}\; b(U) - \text{leaf}(U\cap a) - \text{price}_a,

from large sets to small ones, so that the maximum is known when a set is opened. A child needs no
claim where one of the rules of the format settles it: the cheapest action of every row; the best
list of at most two rules, which costs no less than what is needed, because what is needed is valid;
lists of more rules pay for four leaves and three antecedents at least. A rule needs no child at all
if it costs at least what its rows may cost under any other rule: without it the list is as good.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from milp_trees.common.errors import SolverFailure, Unsupported
from milp_trees.lists.space import RuleLists
from milp_trees.methods.claims import Claims
from milp_trees.methods.watch import Watch
from milp_trees.problems.questions import Best
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.common.limits import Limits
    from milp_trees.problems.problem import Problem
    from milp_trees.results.result import Result

#: Rules of a list that a claim about the rest settles by itself.
SETTLED = 2
#: Numbers in an array about the sets that are opened together.
TOGETHER = 2**19
#: Rows as packed bits, and how many rules may follow.
Set = tuple[bytes, int | None]


class Needed(NamedTuple):
    """A set of rows of which a claim is needed: how many rules may follow, and its first path."""

    left: int | None
    path: tuple[int, ...]


def list_claims(problem: Problem, result: Result, limits: Limits) -> Claims:
    """Claims that prove the bound of a result about rule lists."""
    view = _view(problem)
    bound = _bound(view, result)
    return Claims(_ProofPass(problem, view, bound, Watch(limits)).claims())


def _view(problem: Problem) -> CostMatrix:
    if not isinstance(problem.question, Best):
        raise Unsupported("Proofs of rule lists are about the best list; ask for it alone.")
    view = problem.view(CostMatrix)
    if view.leaf_cost < 0 or (view.split_costs < 0).any():
        raise Unsupported("Proofs need penalties and test costs of at least 0; some are negative.")
    return view


def _bound(view: CostMatrix, result: Result) -> int:
    """The bound in units of the view."""
    if result.predictor is not None and result.optimal:
        return view.objective(result.predictor)
    exact = result.certificate.bound_exact
    if exact is None:
        raise Unsupported(
            "There is no exact bound to prove; solve to the end, or give the run more time."
        )
    return ceil(view.from_value(exact))


class _ProofPass:
    """The pass from the set of all rows down."""

    def __init__(self, problem: Problem, given: CostMatrix, bound: int, watch: Watch) -> None:
        view = problem.presolved_view()
        self.view, self.watch, self.bound = view, watch, bound
        self.least = problem.space_as(RuleLists).min_samples_rule
        self.leaf, self.split = int(view.leaf_cost), view.split_costs
        #: Smallest cost of an antecedent, also of those that presolve drops.
        self.cheapest = int(given.split_costs.min()) if given.n_features else 0
        self.number = [given.index[test] + 1 for test in view.features]
        regret = view.regret.max(axis=1, initial=0)
        self.sums = np.column_stack([view.costs, view.base, view.counts, regret]).astype(np.int64)
        largest = int(np.abs(self.sums).astype(object).sum(axis=0).max(initial=0))
        if largest < 2**53:  # exact, and faster
            self.sums = self.sums.astype(np.float64)
        self.X = view.X.astype(self.sums.dtype)
        self.keep = np.packbits(view.X == 0, axis=0).T.copy()
        self.longest = problem.space_as(RuleLists).max_length
        self.length = self._length(self.longest)

    def _length(self, longest: int | None) -> int | None:
        """The largest number of rules; None if longer lists cost the bound in any case."""
        if longest is None:
            return None
        base = int(self.view.base.sum())
        free = base + (longest + 2) * self.leaf + (longest + 1) * self.cheapest >= self.bound
        return None if free and self._pays else longest

    @property
    def _pays(self) -> bool:
        """Whether every rule costs something."""
        return self.leaf + self.cheapest > 0

    def claims(self) -> list[tuple[Any, ...]]:
        """The claims, those about small sets first.

        Sets with equally many rows do not need each other, so they are opened together.
        """
        n = self.view.n_rows
        root = (np.packbits(np.ones(n, dtype=bool)).tobytes(), self.length)
        need, known = {root: self.bound}, {root: Needed(self.length, ())}
        waiting: list[list[Set]] = [[] for _ in range(n + 1)]
        waiting[n].append(root)
        room = max(1, TOGETHER // max(1, n, self.sums.shape[1] * self.view.n_features))
        order: list[Set] = []
        while waiting:
            keys = waiting.pop()
            order += keys
            for begin in range(0, len(keys), room):
                self.watch.check()
                part = keys[begin : begin + room]
                for i, f, want, size, bits in self._open(part, [need[key] for key in part]):
                    left, path = known[part[i]]
                    left = None if left is None else left - 1
                    child = (bits, left)
                    if child not in known:
                        known[child] = Needed(left, (*path, -self.number[f]))
                        waiting[size].append(child)
                    need[child] = max(want, need.get(child, want))
        out = [(need[key], known[key].left, list(known[key].path)) for key in reversed(order)]
        return out if self.length == self.longest else [*out, (self.bound, self.longest, [])]

    def _open(self, keys: list[Set], needs: list[int]) -> Any:
        """The children of some sets that need a claim.

        They come as number of the set, antecedent, bound, number of rows of the view, and rows.
        """
        view, K = self.view, self.view.n_actions
        packed = np.frombuffer(b"".join(key[0] for key in keys), dtype=np.uint8)
        packed = packed.reshape(len(keys), -1)
        inside = np.unpackbits(packed, axis=1, count=view.n_rows).astype(self.X.dtype)
        need = np.array(needs, dtype=np.int64)
        short = np.array([left is not None and left - 1 <= SETTLED for _, left in keys])
        whole = (inside @ self.sums).astype(np.int64)
        if (whole[:, :K].min(axis=1) + self.leaf < need).any():
            raise SolverFailure(
                f"The bound {self.bound} of this problem is wrong: a rule list costs less. Please report this problem."
            )
        taken = [((inside * column) @ self.X).astype(np.int64) for column in self.sums.T]
        base, count, regret = taken[K:]
        rule = np.min(taken[:K], axis=0) + self.leaf + self.split
        want, rest = need[:, None] - rule, whole[:, K, None] - base
        opened = (count >= self.least) & (rest + self.leaf < want) & ~short[:, None]
        if self._pays:
            opened &= rest + (SETTLED + 2) * self.leaf + (SETTLED + 1) * self.cheapest < want
        opened &= (count > 0) & (count < whole[:, K + 1, None]) & (rule < base + regret)
        at, tests = np.nonzero(opened)
        sets = packed[at] & self.keep[tests]
        sizes = np.bitwise_count(sets).sum(axis=1, dtype=np.int64)
        rows = [bits.tobytes() for bits in sets]
        return zip(
            at.tolist(), tests.tolist(), want[at, tests].tolist(), sizes.tolist(), rows, strict=True
        )
