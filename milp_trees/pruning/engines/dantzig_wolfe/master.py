r"""The master programme of Dantzig and Wolfe (1960).

It is over convex combinations of known prunings for every tree; what they need is bought.

.. math:: \min \sum_{t,c} v_{tc} \lambda_{tc} + \sum_p b_p W_p \quad\text{s.t.}\quad
    \sum_{c: y^c_h = 1} \lambda_{tc} \le W_p \;\; \forall (h, p),\qquad W_p \le W_g \;\; \forall (p,
    g),\qquad \sum_c \lambda_{tc} = 1 \;\; \forall t .

It is one HiGHS object for all rounds: new columns are added to the old basis, from which the
simplex method continues.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import highspy
import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import Deadline
from milp_trees.mip.linear.claims import AGREES, misstatement
from milp_trees.mip.linear.silent_highs import silent_highs

if TYPE_CHECKING:
    from milp_trees.pruning.engines.dantzig_wolfe.coupling import Coupled

#: Largest objective coefficient that HiGHS gets, since tolerances of simplex codes are absolute.
LARGEST = 1e6
#: Seconds that HiGHS has to end by itself after its time limit.
GRACE = 0.1


@dataclass(frozen=True, eq=False)
class MasterPoint:
    """An optimum of the master programme, in whole units.

    Parameters
    ----------
    W : float array of shape (P,)
    links, pairs : float arrays of shape (E,), (A,)
        Duals of the coupling rows, at least 0.
    trees : float array of shape (T,)
        Duals of the convexity rows.
    value : float
    """

    W: np.ndarray
    links: np.ndarray
    pairs: np.ndarray
    trees: np.ndarray
    value: float


def n_rows(problem: Coupled) -> int:
    """Rows of the master programme."""
    return problem.n_links + len(problem.above) + problem.n_trees


class Master:
    """The linear programme and its columns.

    Parameters
    ----------
    problem : Coupled
    seed : int, default=0
        Seed of HiGHS.
    """

    def __init__(self, problem: Coupled, seed: int = 0) -> None:
        self.problem = problem
        self.scale = max(1.0, problem.total / LARGEST)
        self.known: set[tuple[int, bytes]] = set()
        #: Costs of all columns as HiGHS has them, in the order in which they were added.
        self.costs: list[np.ndarray] = []
        self._stop, self._done = False, threading.Event()
        self.h = silent_highs()
        # The dual simplex, HiGHS's default. New columns leave the basis primal feasible, but the
        # primal simplex takes several times as long here.
        options = {
            "random_seed": seed,
            "parallel": "off",
            "solver": "simplex",
        }
        for key, value in {
            **options,
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
        }.items():
            _check(self.h.setOptionValue(key, value), f"the option {key}")
        self.h.cbSimplexInterrupt.subscribe(self._on_check)
        self._rows_and_purchases()

    @property
    def version(self) -> str:
        return str(self.h.version())

    @property
    def n_columns(self) -> int:
        """Number of prunings that it holds."""
        return len(self.known)

    def _on_check(self, event: highspy.HighsCallbackEvent) -> None:
        if self._stop:
            event.interrupt()

    def _rows_and_purchases(self) -> None:
        p = self.problem
        at_most, equal = p.n_links + len(p.above), p.n_trees
        lower = np.concatenate([np.full(at_most, -highspy.kHighsInf), np.ones(equal)])
        none = np.zeros(0, dtype=np.int32)
        _check(
            self.h.addRows(
                len(lower),
                lower,
                np.concatenate([np.zeros(at_most), np.ones(equal)]),
                0,
                none,
                none,
                np.zeros(0),
            ),
            "the rows",
        )
        pairs = p.n_links + np.arange(len(p.above))
        column = np.concatenate([p.purchase, p.above[:, 0], p.above[:, 1]])
        row = np.concatenate([np.arange(p.n_links), pairs, pairs])
        entry = np.concatenate(
            [np.full(p.n_links, -1.0), np.ones(len(pairs)), np.full(len(pairs), -1.0)]
        )
        order = np.argsort(column, kind="stable")
        self._add_columns(
            p.price / self.scale,
            np.bincount(column, minlength=p.n_purchases),
            row[order],
            entry[order],
        )

    def _add_columns(
        self, costs: np.ndarray, sizes: np.ndarray, rows: np.ndarray, entries: np.ndarray
    ) -> None:
        self.costs.append(costs)
        n, starts = len(costs), np.concatenate([[0], np.cumsum(sizes)[:-1]])
        upper = np.full(n, highspy.kHighsInf)
        _check(
            self.h.addCols(
                n,
                costs,
                np.zeros(n),
                upper,
                len(rows),
                starts.astype(np.int32),
                rows.astype(np.int32),
                entries.astype(float),
            ),
            "columns",
        )

    def add(self, trees: np.ndarray, keep: np.ndarray) -> int:
        """Add a pruning for each of some trees, except for those that are columns already.

        Returns the number of new columns.
        """
        p, costs, rows = self.problem, [], []
        for t in trees.tolist():
            lo, hi = int(p.begin[t]), int(p.begin[t + 1])
            key = t, np.packbits(keep[lo:hi]).tobytes()
            if key in self.known:
                continue
            self.known.add(key)
            costs.append(self._own_cost(lo, hi, keep))
            links = np.arange(p.link_begin[t], p.link_begin[t + 1])
            rows.append(np.append(links[keep[p.node[links]]], p.n_links + len(p.above) + t))
        if costs:
            entries = np.concatenate(rows)
            self._add_columns(
                np.array(costs) / self.scale,
                np.array([len(r) for r in rows]),
                entries,
                np.ones(len(entries)),
            )
        return len(costs)

    def _own_cost(self, lo: int, hi: int, keep: np.ndarray) -> int:
        """Errors of a tree's leaves and own costs of its splits."""
        p, parent = self.problem, self.problem.parent[lo:hi]
        is_leaf = ~keep[lo:hi] & ((parent < 0) | keep[parent])
        return int(p.error[lo:hi][is_leaf].sum()) + int(p.split_cost[lo:hi][keep[lo:hi]].sum())

    def solve(self, seconds: float | None) -> MasterPoint | None:
        """The optimum, or None if the time was not enough.

        After None, or after an exception, the programme must not be used any more.
        """
        # HiGHS adds up the time of all its runs.
        self.h.setOptionValue(
            "time_limit",
            highspy.kHighsInf if seconds is None else self.h.getRunTime() + max(seconds, 0.0),
        )
        if not self._run(seconds):
            return None
        status = self.h.getModelStatus()
        if status in (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt):
            return None
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverFailure(
                f"HiGHS answers {self.h.modelStatusToString(status)} for the master programme, which has an optimum."
            )
        solution, p = self.h.getSolution(), self.problem
        duals = np.array(solution.row_dual) * self.scale
        at_most = p.n_links + len(p.above)
        x = np.array(solution.col_value)
        value = self.h.getObjectiveValue() * self.scale
        # All right-hand sides but those of the convexity rows are 0, and no column has an upper
        # bound: so the duals of these rows add up to the optimum.
        wrong = misstatement(
            np.concatenate(self.costs) * self.scale,
            x,
            objective=value,
            bound=float(duals[at_most:].sum()),
            gap=0.0,
        )
        if wrong is None and abs(float(x[p.n_purchases :].sum()) - p.n_trees) > AGREES * p.n_trees:
            wrong = "returns shares of prunings that do not add up to the number of trees"
        if wrong is not None:
            raise SolverFailure(
                f"HiGHS {wrong}, so its answer for the master programme is not used; use min-cut."
            )
        return MasterPoint(
            x[: p.n_purchases],
            np.maximum(-duals[: p.n_links], 0.0),
            np.maximum(-duals[p.n_links : at_most], 0.0),
            duals[at_most:],
            value,
        )

    def _run(self, seconds: float | None) -> bool:
        """Run HiGHS in a thread of its own; True if it has ended.

        So Ctrl-C and the time limit reach Python at once. They reach HiGHS only at its next
        iteration, which can be seconds away, since presolve and factorisations do not look at a
        clock; this function does not wait for that.
        """
        self._stop = False
        self._done.clear()
        until = Deadline.after(None if seconds is None else seconds + GRACE)
        threading.Thread(
            target=self._run_and_tell
        ).start()  # no daemon: a program that ends while HiGHS still calls back would abort
        try:
            # Not Thread.join: interrupted, it takes a running thread for finished (Python 3.11).
            while not self._done.wait(until.wait(0.2)):
                if until.passed:
                    self._stop = True
                    return False
        except BaseException:
            self._stop = True
            raise
        return True

    def _run_and_tell(self) -> None:
        try:
            self.h.run()
        finally:
            self._done.set()


def _check(status: highspy.HighsStatus, what: str) -> None:
    if status != highspy.HighsStatus.kOk:
        raise SolverFailure(f"HiGHS did not take {what} of the master programme.")
