"""Parts of a view that constrain the tree itself, as arrays.

A `SideRow` is linear in the actions of rows; these are not. A method declares the kinds it takes
(`takes_structure`). All are stated on the view's features and rows, so that formulations need not
know the constraint's class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from milp_trees.models.tree import Routes
    from milp_trees.tasks.views import CostMatrix


@dataclass(frozen=True, eq=False)
class Structure(ABC):
    """A constraint on the tree itself.

    Parameters
    ----------
    name : str
        Of the constraint, for sentences.
    """

    kind: ClassVar[str]

    name: str

    @abstractmethod
    def holds(self, routes: Routes, view: CostMatrix) -> bool:
        """Whether a tree satisfies it; the routes are those of the view's rows."""

    @abstractmethod
    def merged(self, total: Callable[[np.ndarray], np.ndarray]) -> Structure:
        """The same for merged rows; `total` sums an array over the rows of each group."""


@dataclass(frozen=True, eq=False)
class FeatureUse(Structure):
    """A linear row over what the tree tests: `lower <= sum_g coefs[g] · used_g <= upper`.

    `used_g` is 1 if a split of the tree tests a feature of the group g, and 0 otherwise.

    Parameters
    ----------
    name : str
    groups : tuple of tuples of int
        Features of the view, by number. An antecedent may be in several groups, a feature of a tree
        in one.
    coefs : tuple of int
        One per group.
    lower, upper : int or None
        None is no bound.
    """

    kind: ClassVar[str] = "feature use"

    groups: tuple[tuple[int, ...], ...]
    coefs: tuple[int, ...]
    lower: int | None
    upper: int | None

    def holds(self, routes: Routes, view: CostMatrix) -> bool:
        tested = {view.index[t] for t in routes.splits}
        total = sum(
            c for g, c in zip(self.groups, self.coefs, strict=True) if not tested.isdisjoint(g)
        )
        return (self.lower is None or total >= self.lower) and (
            self.upper is None or total <= self.upper
        )

    def merged(self, total: Callable[[np.ndarray], np.ndarray]) -> FeatureUse:
        return self


@dataclass(frozen=True, eq=False)
class NodeRates(Structure):
    """Shares of events of any two groups differ by at most `limit` among the rows of a node.

    Pairs of which one group has no row in the node do not count.

    Parameters
    ----------
    name : str
    branches : bool
        Whether every node must satisfy it; otherwise only leaves.
    limit : Fraction
    size : int64 array of shape (n, G)
        Number of original rows of each group that a row stands for.
    hits : int64 array of shape (n, K, G)
        How many of them have the event if the row gets an action.
    """

    kind: ClassVar[str] = "node rates"

    branches: bool
    limit: Fraction
    size: np.ndarray
    hits: np.ndarray

    @property
    def n_groups(self) -> int:
        return int(self.size.shape[1])

    def holds(self, routes: Routes, view: CostMatrix) -> bool:
        hits = self.hits[np.arange(len(routes.action)), routes.action]
        for first, last in routes.nodes():
            if first == last or self.branches:
                here = (routes.leaf >= first) & (routes.leaf <= last)
                if not self.hold(self.size[here].sum(axis=0), hits[here].sum(axis=0)):
                    return False
        return True

    def merged(self, total: Callable[[np.ndarray], np.ndarray]) -> NodeRates:
        return replace(self, size=total(self.size), hits=total(self.hits))

    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of groups."""
        return list(combinations(range(self.n_groups), 2))

    def hold(self, size: np.ndarray, hits: np.ndarray) -> np.ndarray:
        """Whether nodes with these sums satisfy it.

        Parameters
        ----------
        size, hits : int64 arrays of shape (…, G)
            Sums over the rows of each node.

        Returns
        -------
        bool array
        """
        ok = np.ones(size.shape[:-1], dtype=bool)
        for a, b in self.pairs():
            ok &= np.abs(size[..., b] * hits[..., a] - size[..., a] * hits[..., b]) <= self.slack(
                size[..., a] * size[..., b]
            )
        return ok

    def slack(self, product: np.ndarray) -> np.ndarray:
        """The largest whole number that `limit` times a product of two sizes allows."""
        p, q = self.limit.numerator, self.limit.denominator
        if p * int(product.max(initial=0)) < 2**62:
            whole: np.ndarray = p * product // q
            return whole
        exact = [p * int(n) // q for n in product.ravel()]
        return np.array(exact, dtype=np.int64).reshape(product.shape)
