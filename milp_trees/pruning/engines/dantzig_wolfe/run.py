"""State of a run on pruned ensembles: incumbent, bound, limits, trace.

Incumbent and bound are exact integers, whatever arithmetic made the duals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.engines.kit.run import Run
from milp_trees.methods.finish import Clock
from milp_trees.pruning.engines.dantzig_wolfe.places import Cluster, Place, Threads
from milp_trees.pruning.engines.dantzig_wolfe.pricing import part

if TYPE_CHECKING:
    from milp_trees.common.limits import Limits
    from milp_trees.methods.trace import Progress
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.dantzig_wolfe.coupling import Coupled
    from milp_trees.pruning.view import NodeGains


class PricingRun(Run):
    """The state that rounds of pricing share.

    Parameters
    ----------
    view : NodeGains
    coupled : Coupled
    place : Place
        Where trees are priced.
    limits, progress, problem, label, clock
        Those of `Run`. Points of the trace are added after every round.
    """

    def __init__(
        self,
        view: NodeGains,
        coupled: Coupled,
        place: Place,
        limits: Limits,
        progress: Progress | None = None,
        problem: Problem | None = None,
        label: str = "",
        clock: Clock | None = None,
    ) -> None:
        super().__init__(label, problem, limits, progress, clock or Clock(), fallback=False)
        self.view, self.coupled, self.place = view, coupled, place
        self.forest = part(coupled, 0, coupled.n_trees)
        self.rounds = 0
        #: The proven lower bound on the cost, as a multiple of the unit of the view's objective,
        #: and the whole number that follows from it.
        self.lagrangian = Fraction(round(view.unavoidable))
        #: Prices of links that gave this bound.
        self.best_links = np.zeros(coupled.n_links)
        self.keep = np.zeros(view.n_nodes, dtype=bool)
        self.value = view.Z(self.keep)

    @property
    def bound(self) -> int | float:
        """A lower bound on the objective of every pruning.

        If objectives are exact, it is rounded up to the next whole number.
        """
        return (
            math.ceil(self.lagrangian)
            if self.view.exact
            else math.nextafter(float(self.lagrangian), -math.inf)
        )

    @property
    def closed(self) -> bool:
        """Whether incumbent and bound are closer than two different objectives can be."""
        return float(self.value - self.bound) <= self.view.absolute_gap

    def take(self, keep: np.ndarray) -> int:
        """Keep a pruning if it is better than the incumbent; return its objective."""
        value = self.view.Z(keep)
        if value < self.value:
            self.keep, self.value = keep.copy(), value
        return value

    def price(
        self, links: np.ndarray, pairs: np.ndarray
    ) -> tuple[Fraction, np.ndarray, np.ndarray, np.ndarray]:
        """Price all trees at the duals, and raise the bound if they give a better one."""
        self.check()
        duals = self.coupled.whole_duals(links, pairs)
        values, keep = self.place.price(duals.links, duals.shift, self.watch.deadline)
        rest = self.coupled.rest(duals)
        bound = self.coupled.bound(values, rest, duals.shift)
        if bound > self.lagrangian:
            self.lagrangian, self.best_links = bound, links.copy()
        self.rounds += 1
        return bound, np.ldexp(values.astype(float), -duals.shift), keep, rest

    def buy(self, bought: np.ndarray) -> np.ndarray:
        """The best pruning that needs only these purchases (bool array of shape (P,)).

        It becomes the incumbent if it is better.
        """
        lacking = np.zeros(self.view.n_nodes, dtype=bool)
        lacking[self.coupled.node[~bought[self.coupled.purchase]]] = True
        keep = self.forest.best_with(lacking)
        self.take(keep)
        return keep

    def report(self) -> None:
        """Add a point to the trace."""
        self.note(self.view.to_value(self.value), self.view.to_value(self.bound))

    @property
    def sizes(self) -> dict[str, int]:
        return {
            "rounds": self.rounds,
            "links": self.coupled.n_links,
            "coupled_purchases": self.coupled.n_purchases,
            **self.view.data_sizes,
        }


def place_for(problem: Coupled, jobs: int, cluster: Any) -> Place:
    """Threads of this process, or a cluster if one is named."""
    return Cluster(problem, cluster) if cluster else Threads(problem, jobs)
