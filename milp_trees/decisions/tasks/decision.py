r"""`Decision`: a leaf chooses a decision w in S, and a row with cost vector c pays c·w.

This is the setting "predict, then optimise". The SPO loss of a tree with leaf decisions :math:`w_l`
is the mean over rows of :math:`c_i^\top w_{l(i)}-z^*(c_i)` (Elmachtoub, Liang, McNellis 2020,
*Decision trees for decision-making under the predict-then-optimize framework*, Theorem 1). The best
decision of a leaf is that of the oracle for the sum of its cost vectors. The training loss does not
depend on ties: all optimal decisions of a leaf have the same loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.exact import fraction
from milp_trees.common.registering import register
from milp_trees.decisions.base import LISTED, DecisionSet
from milp_trees.tasks.action_costs import ActionCosts
from milp_trees.tasks.base import Value
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

#: Largest difference between the values of two oracles, relative to the sizes of the terms.
SAME = 1e-6


@register
@dataclass(frozen=True)
class Decision(ActionCosts):
    """SPO loss of a tree whose leaves choose decisions.

    The dataset's `values` are the cost vectors, shape (n, d); its `weights` are numbers of rows.

    Parameters
    ----------
    decisions : DecisionSet
        S and its oracle.
    normalised : bool, default=False
        Whether to divide the total loss by the total of `|z*(c)|` (the normalised regret of PyEPO)
        instead of the total weight.
    listed : int, default=1000
        If S has at most this many vertices, they are listed; the task then is a matrix of costs,
        which every method can use.

    Examples
    --------
    >>> import milp_trees as mt
    >>> S = mt.decisions.ListedDecisions([[1, 0], [0, 1]], ["left", "right"])
    >>> data = mt.Dataset([[0], [0], [1]], values=[[1, 2], [1, 3], [4, 1]], actions=["left", "right"])
    >>> mt.solve(mt.Problem(data, mt.decisions.Decision(decisions=S), mt.Trees(1)), "dp").value.number
    0.0
    """

    name: ClassVar[str] = "decision"
    title: ClassVar[str] = "The cost of the chosen decision"
    command: ClassVar[str | None] = "spo"
    weighs_rows: ClassVar[bool] = True
    units: ClassVar[tuple[str, str]] = ("SPO loss", "SPO loss + penalties")
    has_extra_scores: ClassVar[bool] = True

    decisions: Any = None
    normalised: bool = False
    listed: int = LISTED

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.decisions, Mapping):
            from milp_trees.decisions.spec import decisions_from_spec

            object.__setattr__(self, "decisions", decisions_from_spec(self.decisions))
        if not isinstance(self.decisions, DecisionSet):
            raise DataError(
                f"A Decision task needs decisions=, a DecisionSet such as mt.decisions.grid_paths(4, 4); got {type(self.decisions).__name__}."
            )
        if self.constraints:
            raise DataError(
                "A Decision task takes no side constraints on actions; put them into the set of decisions."
            )
        if not isinstance(self.listed, (int, np.integer)) or self.listed < 0:
            raise DataError(f"listed is a number of vertices, 0 or more; got {self.listed!r}.")
        vertices = self.decisions.vertices(self.listed)
        object.__setattr__(self, "_vertices", vertices)
        makers = (
            {LeafOracle: "leaf_oracle"}
            if vertices is None
            else {CostMatrix: "cost_matrix", LeafOracle: "leaf_oracle"}
        )
        object.__setattr__(self, "view_makers", makers)

    # -- methods of ActionCosts --------------------------------------------------------------------

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        """Labels of the vertices of S; empty if S is not listed."""
        return self._labels

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return () if self._listed is None else tuple(self.decisions.label(w) for w in self._listed)

    def costs(self, dataset: Dataset) -> np.ndarray:
        """Cost of every vertex of S on every row, above the cheapest one, shape (n, K).

        It is multiplied by the row's weight.
        """
        if self._listed is None:
            raise DataError(
                f"The decisions of this set are not listed (more than {self.listed}, or known by an oracle only)."
            )
        paid = self.vectors(dataset) @ self._listed.T
        loss: np.ndarray = (paid - paid.min(axis=1, keepdims=True)) * dataset.row_weights[:, None]
        return loss

    def normaliser(self, dataset: Dataset) -> Fraction:
        weights = dataset.row_weights
        if not self.normalised:
            return fraction(float(weights.sum()))
        return fraction(float(weights @ np.abs(self.least(dataset))))

    def rate_unit(self, dataset: Dataset) -> Fraction:
        n = self.normaliser(dataset)
        if not n and self.normalised:
            raise DataError(
                "z*(c) is 0 in every row, so the regret cannot be divided by the total of |z*(c)|; use normalised=False."
            )
        if not n:
            raise DataError(
                "A Decision task divides by the total weight, which is zero; give at least one row a positive weight."
            )
        return n

    def to_natural(self, total: Fraction, dataset: Dataset) -> Fraction:
        return total / self.rate_unit(dataset)

    @property
    def _listed(self) -> np.ndarray | None:
        vertices: np.ndarray | None = self._vertices  # type: ignore[attr-defined]
        return vertices

    def vectors(self, dataset: Dataset) -> np.ndarray:
        """Cost vectors of the rows, shape (n, d), checked against S."""
        C: np.ndarray = self.decisions.checked(dataset.require("values", f"The task {self.name}"))
        named, wanted = tuple(map(str, dataset.actions or ())), self.decisions.components
        if named == wanted or named == tuple(
            map(str, range(len(named)))
        ):  # columns without names are used in their order
            return C
        if sorted(named) != sorted(wanted):
            strange = next((c for c in named if c not in wanted), None)
            what = f"{strange!r}, which is none" if strange else f"{len(named)} names"
            raise DataError(
                f"The dataset's actions name the costs of the {len(wanted)} components of a decision ({', '.join(wanted[:6])}…); got {what}."
            )
        return C[:, [named.index(c) for c in wanted]]

    def least(self, dataset: Dataset) -> np.ndarray:
        """z*(c) of every row, shape (n,)."""
        return self._least(self.vectors(dataset))

    def _least(self, C: np.ndarray) -> np.ndarray:
        """z*(c) of cost vectors, shape (m,)."""
        z: np.ndarray = (
            (C @ self._listed.T).min(axis=1)
            if self._listed is not None
            else self.decisions.value(C)
        )
        return z

    # -- scoring -----------------------------------------------------------------------------------

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        if self._listed is not None and tuple(map(str, routes.actions)) == tuple(
            map(str, self.actions(dataset))
        ):
            return super().value(routes, dataset)
        W = np.array([self.decisions.vector(str(a)) for a in routes.actions]).reshape(
            -1, self.decisions.dimension
        )
        loss = (self.vectors(dataset) * W[routes.action]).sum(axis=1) - self.least(dataset)
        total = Fraction(float(loss @ dataset.row_weights))
        number = self._penalised_value(
            total, routes.n_leaves, [t.columns for t in routes.splits], dataset
        )
        return Value(float(number), None, self.unit, self.sense)

    # -- checking ----------------------------------------------------------------------------------

    def by_other_means(self) -> Decision:
        """The task with the second oracle of its set, unless its decisions are listed.

        A list is compared with that oracle by `check_again`.
        """
        from milp_trees.decisions.second import second_oracle

        other = None if self._listed is not None else second_oracle(self.decisions)
        return self if other is None else replace(self, decisions=other)

    def check_again(self, routes: Routes, dataset: Dataset, seconds: float) -> list[str]:
        """Ask the second oracle about every row, and about the sum of every leaf's rows."""
        from milp_trees.decisions.second import second_oracle

        other = second_oracle(self.decisions)
        if other is None:
            return [
                "The set of decisions is known by a function only; what it answers was not computed again."
            ]
        C = self.vectors(dataset)
        sums = np.zeros((routes.n_leaves, self.decisions.dimension))
        np.add.at(sums, routes.leaf, C * dataset.row_weights[:, None])
        requested = np.unique(np.vstack([sums, C]), axis=0)
        requested = np.vstack([sums, requested])  # the leaves first, if time ends
        answers, begin = 0, run_clock()
        for c in requested:
            mine = float(self._least(c[None, :])[0])
            decision, value = other.solve(c[None, :])
            theirs, terms = float(value[0]), np.abs(c * decision[0]).sum() + np.abs(c).max()
            if not abs(mine - theirs) <= SAME * terms:
                raise VerificationError(
                    f"The oracle of the decisions gives the value {mine:.12g} where a second one finds {theirs:.12g}, for the costs {c.tolist()}."
                )
            answers += 1
            if run_clock() - begin > seconds:
                break
        rest = (
            ""
            if answers == len(requested)
            else f"; time was up for the other {len(requested) - answers}"
        )
        return [
            f"A second oracle found the values of {answers} cost vectors of leaves and rows again{rest}."
        ]

    def extra_scores(self, routes: Routes, dataset: Dataset) -> dict[str, float]:
        """`normalised_regret`: total SPO loss over the total of `|z*(c)|`.

        PyEPO scores regret in this way (Tang, Khalil 2022). Empty if the total is 0.
        """
        W = np.array([self.decisions.vector(str(a)) for a in routes.actions]).reshape(
            -1, self.decisions.dimension
        )
        least, weights = self.least(dataset), dataset.row_weights
        paid = (self.vectors(dataset) * W[routes.action]).sum(axis=1)
        total = float(weights @ np.abs(least))
        return {"normalised_regret": float(weights @ (paid - least)) / total} if total > 0 else {}

    def unknown_actions(self, actions: tuple[Any, ...], dataset: Dataset) -> str | None:
        if self._listed is not None:
            return super().unknown_actions(actions, dataset)
        try:
            W = [self.decisions.vector(str(a)) for a in actions]
        except DataError as why:
            return str(why)
        outside = [
            str(a) for a, w in zip(actions, W, strict=True) if not self.decisions.contains(w)
        ]
        return f"The decision {outside[0]} is not in the set of decisions." if outside else None

    # -- the view ----------------------------------------------------------------------------------

    def leaf_oracle(self, dataset: Dataset, space: Space) -> LeafOracle:
        """Cost vectors and the oracle, with the candidate features of a space."""
        tests, X, _ = space.tests(dataset)
        leaf, splits = self._penalties([t.columns for t in tests], dataset)
        weights = dataset.row_weights
        return LeafOracle(
            X,
            tests,
            self.vectors(dataset) * weights[:, None],
            self.least(dataset) * weights,
            self.decisions,
            np.ones(dataset.n_rows, dtype=np.int64),
            np.asarray(weights, dtype=float),
            float(leaf),
            np.array([float(s) for s in splits]),
            self.rate_unit(dataset),
            self._listed,
        )

    def spec(self) -> dict[str, Any]:
        return {**super().spec(), "decisions": self.decisions.spec()}
