r"""A floor on the rows that the rules of a list decide, before a black box takes over.

One of the actions stands for a black box that is given: its cost on a row is the cost of what the
black box says there. Only the default rule may hand rows over to it, and at most so many that the
rules decide the demanded share (the transparency of Hybrid-CORELS: Ferry, Laberge, Aïvodji 2023,
"Learning hybrid interpretable models"). A default rule with another action hands nothing over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.tasks.constraint_base import TreeConstraint, position, share
from milp_trees.tasks.structure import Structure
from milp_trees.tasks.views import SideRow

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes
    from milp_trees.tasks.views import CostMatrix


@dataclass(frozen=True, eq=False)
class DefaultOnly(Structure):
    """No rule of a list takes an action; the default rule may.

    Parameters
    ----------
    name : str
    action : int
    """

    kind: ClassVar[str] = "default rule only"

    action: int

    def holds(self, routes: Routes, view: CostMatrix) -> bool:
        return self.action not in routes.leaf_actions[:-1]

    def merged(self, total: Callable[[np.ndarray], np.ndarray]) -> DefaultOnly:
        return self


@dataclass(frozen=True)
class CapturedShare(TreeConstraint):
    """Rules decide at least a share of the rows, before a black box may take over.

    Parameters
    ----------
    at_least : number in [0, 1]
        Share of the rows.
    black_box : action
        The action that stands for the black box.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.Dataset([[0], [0], [1]], values=[[0, 1, 0], [1, 0, 0], [1, 0, 0]],
    ...                   actions=["no", "yes", "forest"])
    >>> task = mt.tasks.ActionCostMatrix(constraints=[CapturedShare("1/3", "forest")])
    >>> print(mt.solve(mt.Problem(data, task, mt.RuleLists(max_length=1))).predictor)
    if 0: yes
    else: forest
    """

    name: ClassVar[str] = "captured-share"
    takes_counts: ClassVar[bool] = True

    limits: ClassVar[Mapping[str, bool]] = {"at_least": False}

    at_least: Any = "1/2"
    black_box: Any = "black box"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_least", share(self.at_least, "at_least"))

    def rows(self, dataset: Dataset, actions: tuple[Any, ...]) -> list[SideRow]:
        coefs = np.zeros((dataset.n_rows, len(actions)), dtype=np.int64)
        coefs[:, position(self.black_box, actions)] = dataset.row_counts
        most = int((1 - self.at_least) * dataset.total_rows)
        return [SideRow(f"rows left to {self.black_box}", coefs, None, most)]

    def needed_limit(
        self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]
    ) -> Fraction | None:
        """The share of rows that rules decide; None if a rule leaves its rows to the black box."""
        black_box = position(self.black_box, actions)
        if black_box in routes.leaf_actions[:-1]:
            return None
        decided = int(dataset.row_counts[routes.action != black_box].sum())
        return Fraction(decided, dataset.total_rows)

    def widest(self, dataset: Dataset) -> Fraction:
        return Fraction(1)

    def below(self, amount: Fraction, dataset: Dataset) -> Fraction | None:
        """Half a row more."""
        return amount + Fraction(1, 2 * dataset.total_rows) if amount < 1 else None

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        black_box = position(self.black_box, actions)
        out = [
            f"{self.name}: rule {k + 1} leaves its rows to {self.black_box}; only the default rule may."
            for k, action in enumerate(routes.leaf_actions[:-1])
            if action == black_box
        ]
        decided = int(dataset.row_counts[routes.action != black_box].sum())
        if decided < self.at_least * dataset.total_rows:
            out.append(
                f"{self.name}: the rules decide {decided} of {dataset.total_rows} rows; a share of at least {float(self.at_least):g} is asked for."
            )
        return out

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        if features and not hasattr(features[0], "literals"):
            raise DataError(
                f"The constraint {self.name} is about the default rule of a list; give the space RuleLists(…) (--rule-lists)."
            )
        return [DefaultOnly(self.name, position(self.black_box, actions))]
