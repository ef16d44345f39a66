"""Targets and weights of rows whose costs are weighted distances to numbers.

A view of absolute error says for every row i and action k what it costs: :math:`w_i|y_i-a_k|`. Its
actions are numbers, and models with a continuous prediction need y and w. They are read from the
costs, and costs that are no distances are refused.

Numbers are counted from the smallest one, in a power of two that makes their range about 1000 where
it is larger, because solvers distinguish 0 and 1 only up to 1e-6, which is a share of big-M.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.tasks.targets import whole_numbers
from milp_trees.tasks.views import CostMatrix

from ._oct_structure import MOST, SCALED


@dataclass(frozen=True, eq=False)
class Distances:
    """Costs of a view as `price[i] * abs(target[i] - action[k])`.

    Parameters
    ----------
    target : float array of shape (n,)
        Targets of rows, counted from the smallest action.
    action : float array of shape (K,)
        The actions, counted in the same way; the first is 0.
    price : float array of shape (n,)
        Cost units of the view per unit of distance.
    """

    target: np.ndarray
    action: np.ndarray
    price: np.ndarray

    @property
    def span(self) -> float:
        """Distance of the smallest and the largest number."""
        return float(self.action[-1])

    @property
    def targets(self) -> dict[int, float | int]:
        """The targets by row, for a parameter of a model; whole ones as integers."""
        return dict(enumerate(int(t) if t.is_integer() else t for t in self.target.tolist()))


def distances(view: CostMatrix) -> Distances | None:
    """The distances that the costs of a view are, or None if they are others."""
    if "distances" not in view.memo:
        view.memo["distances"] = _read(view)
    found: Distances | None = view.memo["distances"]
    return found


def _read(view: CostMatrix) -> Distances | None:
    if not all(isinstance(a, (int, float)) and not isinstance(a, bool) for a in view.actions):
        return None
    numbers = whole_numbers(np.array(view.actions)).whole.astype(object)
    if any(np.diff(numbers) <= 0):
        return None
    above = numbers - numbers[0]
    nearest = view.costs.argmin(axis=1)
    apart = np.abs(np.subtract.outer(above, above))[nearest]
    far = apart.argmax(axis=1)
    rows = np.arange(view.n_rows)
    costs, at_far = view.costs.astype(object), apart[rows, far]
    # Costs grow by the same price per unit of distance, compared without division. Those that were
    # rounded to a grid may be off by a unit.
    off = np.abs(costs * at_far[:, None] - costs[rows, far][:, None] * apart)
    if (off > (0 if view.exact else 1) * at_far[:, None]).any():
        return None
    if len(above) == 1 and view.costs.any():
        return None
    span = int(above[-1])
    unit = 1 if span <= MOST else 1 << (span // SCALED).bit_length()
    price = [
        Fraction(int(c), int(d)) * unit if d else Fraction(0)
        for c, d in zip(costs[rows, far], at_far, strict=True)
    ]
    return Distances(
        np.array([float(Fraction(int(t), unit)) for t in above[nearest]]),
        np.array([float(Fraction(int(t), unit)) for t in above]),
        np.array([float(p) for p in price]),
    )


def needs_distances(name: str, view: CostMatrix) -> str | None:
    """Why a model with a continuous prediction cannot take a view, or None."""
    if distances(view) is None:
        return f"{name} predicts numbers and needs costs that are distances to them (absolute-error); flow-oct and bin-oct take any costs."
    return None


def medians(m: Any, root: Any) -> Tree:
    """The tree with these splits, and the best action in every leaf.

    A model may predict any number between two medians; a median of the rows never costs more.
    """
    view: CostMatrix = m.view
    return view.decided(Tree(root, view.actions))


def walk(m: Any, tested: Any, leaf: Callable[[int], Leaf] = lambda t: Leaf(0)) -> Any:
    """The nodes of a heap.

    Parameters
    ----------
    m : ConcreteModel
        Its leaves are the lowest level.
    tested : callable
        The feature that a node tests, or None if it sends all rows right.
    leaf : callable
        The leaf at a node of the lowest level; by default one that is to be decided.
    """
    view: CostMatrix = m.view

    def node(v: int) -> Any:
        if v in m.leaves:
            return leaf(v)
        f = tested(v)
        if f is None:
            return node(2 * v + 1)
        return Branch(view.features[f], node(2 * v), node(2 * v + 1))

    return node(1)
