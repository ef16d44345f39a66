r"""Group fairness within the rows of single nodes, not only over all rows.

Statistical parity of the whole tree may hide that one subtree favours one group and another subtree
the other. *In subtrees* it must hold among the rows of every branch node. In a leaf all rows get one
action, so rates of actions are equal there by definition; what can differ is the share of errors:
*in leaves* the shares of wrong rows of any two groups differ by at most `max_disparity`. With two
classes these are differences of :math:`P(y=1\mid\text{leaf},g)`: calibration within groups
(Chouldechova 2017, "Fair prediction with disparate impact").

Rows are counted, and their weights are ignored. Groups without rows in a node are not compared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.tasks.constraint_base import TreeConstraint, group_rates, in_words, position, share
from milp_trees.tasks.structure import NodeRates, Structure
from milp_trees.tasks.views import SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes


class _InNodes(TreeConstraint):
    """Rates of an event that groups are compared by, node by node."""

    compares_groups: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, bool]] = {"max_disparity": True}
    in_branches: ClassVar[bool]
    event: ClassVar[str]

    max_disparity: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_disparity", share(self.max_disparity, "max_disparity"))

    @abstractmethod
    def events(self, dataset: Dataset, actions: tuple[Any, ...]) -> np.ndarray:
        """Whether a row has the event if it gets an action; bool array of shape (n, K)."""

    def _rates(
        self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]
    ) -> Iterator[tuple[int, int, dict[Any, Fraction]]]:
        """First and last leaf of every node that is looked at, and the rates of its groups."""
        groups = dataset.require("groups", f"The constraint {self.name}")
        happens = self.events(dataset, actions)[np.arange(len(routes.action)), routes.action]
        rows = dataset.row_counts
        for first, last in routes.nodes():
            if first != last and not self.in_branches:
                continue
            here = (routes.leaf >= first) & (routes.leaf <= last)
            yield (
                first,
                last,
                {
                    g: Fraction(int(rows[here & happens & (groups == g)].sum()), n)
                    for g in np.unique(groups).tolist()
                    if (n := int(rows[here & (groups == g)].sum()))
                },
            )

    def needed_limit(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> Fraction:
        """The largest difference of two rates in a node."""
        return max(
            (
                abs(rates[a] - rates[b])
                for _, _, rates in self._rates(routes, dataset, actions)
                for a, b in combinations(rates, 2)
            ),
            default=Fraction(0),
        )

    def widest(self, dataset: Dataset) -> Fraction:
        return Fraction(1)

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """A little less: two differences of shares are at least so far apart."""
        closest = Fraction(1, 2 * dataset.total_rows**2 * amount.denominator)
        return amount - closest if amount > 0 else None

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        out = []
        for first, last, rates in self._rates(routes, dataset, actions):
            for a, b in combinations(rates, 2):
                if abs(rates[a] - rates[b]) > self.max_disparity:
                    where = f"leaf {first}" if first == last else f"leaves {first} to {last}"
                    out.append(
                        f"{self.name} {a}/{b}: in {where} the shares of {self.event} are {float(rates[a]):.4g} and {float(rates[b]):.4g}."
                    )
        return out

    def stated(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> str:
        """The limit, and the rate of every group over all rows."""
        happens = self.events(dataset, actions)[np.arange(len(routes.action)), routes.action]
        where = "node" if self.in_branches else "leaf"
        whole = group_rates(happens, np.ones(len(routes.leaf), dtype=bool), dataset)
        return (
            f"{self.name}: rates of {self.event} differ by at most {in_words(self.max_disparity)} in every {where}; "
            f"over all rows they are {whole}"
        )

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        groups = dataset.require("groups", f"The constraint {self.name}")
        rows = dataset.row_counts[:, None]
        member = (groups[:, None] == np.unique(groups)[None, :]) * rows
        hits = self.events(dataset, actions)[:, :, None] * member[:, None, :]
        return [
            NodeRates(
                self.name,
                self.in_branches,
                self.max_disparity,
                member,
                hits,
            )
        ]


@dataclass(frozen=True)
class ParityInSubtrees(_InNodes):
    """Statistical parity among the rows of every node.

    Parameters
    ----------
    max_disparity : number in [0, 1]
        Largest difference of rates, as a fraction.
    favourable : action, optional
        The favourable action; by default the last class.
    """

    name: ClassVar[str] = "parity-in-subtrees"
    in_branches: ClassVar[bool] = True
    event: ClassVar[str] = "the favourable action"

    max_disparity: Any = 0.01
    favourable: Any = None

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        """Parity at the root, which is a row over actions: bounds of the whole tree use it."""
        groups = dataset.require("groups", f"The constraint {self.name}")
        rows = dataset.row_counts
        hits = self.events(dataset, actions) * rows[:, None]
        out = []
        for a, b in combinations(np.unique(groups).tolist(), 2):
            in_a, in_b = groups == a, groups == b
            n_a, n_b = int(rows[in_a].sum()), int(rows[in_b].sum())
            coefs = hits * np.where(in_a, n_b, np.where(in_b, -n_a, 0))[:, None]
            slack = int(self.max_disparity * n_a * n_b)
            out.append(SideRow(f"{self.name} {a}/{b} at the root", coefs, -slack, slack))
        return out

    def events(self, dataset: Dataset, actions: tuple[Any, ...]) -> np.ndarray:
        liked = len(actions) - 1 if self.favourable is None else position(self.favourable, actions)
        return np.tile(np.arange(len(actions)) == liked, (dataset.n_rows, 1))


@dataclass(frozen=True)
class ParityInLeaves(_InNodes):
    """Equal shares of wrong rows in every leaf (with two classes: calibration within groups).

    Parameters
    ----------
    max_disparity : number in [0, 1]
        Largest difference of shares, as a fraction.
    """

    name: ClassVar[str] = "parity-in-leaves"
    in_branches: ClassVar[bool] = False
    event: ClassVar[str] = "wrong rows"

    max_disparity: Any = 0.01

    def events(self, dataset: Dataset, actions: tuple[Any, ...]) -> np.ndarray:
        y = dataset.require("y", f"The constraint {self.name}")
        wrong: np.ndarray = y[:, None] != np.arange(len(actions))[None, :]
        return wrong
