"""`LeafSums`: a task whose leaves cost a function of sums over their rows.

Splitting a set of rows never adds to its cost: a leaf function f has f(a + b) >= f(a) + f(b) for the
sums of disjoint sets. On this rest the tables of row sets, the bounds and the look-ahead of every
engine that adds up rows. The cheapest of some actions is one such function (`CostMatrix`), squared
error and likelihoods are others (`LossSums`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.ranked import MaybeRanked
from milp_trees.tasks.grouping import by_column
from milp_trees.tasks.presolve import with_different_tests, with_merged_rows

if TYPE_CHECKING:
    from milp_trees.data.antecedent import Antecedent
    from milp_trees.models.nodes import Node
    from milp_trees.models.shown import Shown
    from milp_trees.models.tree import Tree

    #: A predictor on the view's features.
    P = TypeVar("P", bound=Shown)


@dataclass(frozen=True, eq=False)
class SideRow:
    """One linear side constraint on the actions, all integers.

    It is `lower <= sum_i coefs[i, action(i)] <= upper`.

    Parameters
    ----------
    name : str
        For example `statistical parity a/b`.
    coefs : int64 array of shape (n, K)
        Coefficient of every action on every row.
    lower, upper : int or None
        Bounds; None if there is no bound on that side.
    """

    name: str
    coefs: np.ndarray
    lower: int | None
    upper: int | None

    def reduced(self) -> SideRow:
        """The same constraint divided by the common divisor of its coefficients.

        Bounds are rounded inwards, which is exact for integers.
        """
        g = int(np.gcd.reduce(np.abs(self.coefs), axis=None)) if self.coefs.size else 1
        if g <= 1:
            return self
        lower = None if self.lower is None else -((-self.lower) // g)
        upper = None if self.upper is None else self.upper // g
        return SideRow(self.name, self.coefs // g, lower, upper)

    def holds(self, total: int) -> bool:
        return (self.lower is None or total >= self.lower) and (
            self.upper is None or total <= self.upper
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafSums(MaybeRanked, ABC):
    r"""A task whose leaves cost a function of sums over their rows, in whole units.

    The objective of a tree with leaves :math:`\ell` and branch nodes :math:`v` is

    .. math:: Z = \sum_\ell f\Bigl(\sum_{i\in\ell} s_i\Bigr) + \text{leaf\_cost}\cdot\#\text{leaves} + \sum_v \text{split\_costs}_{f(v)},

    always minimised; `to_value` turns :math:`Z` into the task's natural value.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        The candidate features (only those that may be used). Given as `RankedTests`, it is kept as
        `ranked`, and the matrix is made when it is first used.
    features : tuple of BinaryFeature, length F
        What the columns of `X` mean. For rule lists they are Antecedents (also `antecedents`).
    counts : int64 array of shape (n,)
        Number of original rows that a row stands for (minimum leaf sizes count these).
    leaf_cost : int
        Cost per leaf.
    split_costs : int64 array of shape (F,)
        Cost per branch node that uses the feature; includes the penalty per split.
    side : tuple of SideRow
        Side constraints on the actions of rows; only where leaves choose among actions.
    offset, scale : Fraction
        Natural value = offset + scale · Z (scale < 0 for a maximised metric).
    exact : bool
        False if natural costs had to be rounded to integers.
    rows : int64 array of shape (n,)
        For every row, one row of the dataset that it stands for.
    alias : mapping of BinaryFeature to (int, bool) or bool
        Replacement of a dropped feature: index of the equal feature and whether it is its
        complement; for a constant feature its value.
    row_weight, min_weight_leaf : int64 array of shape (n,), int
        Scaled row weights, and their smallest sum in a leaf (0: no minimum).
    treated, min_treated : int64 array of shape (n, T), int
        Number of original rows with every observed treatment, and their smallest number in a leaf
        (0: no minimum).
    structure : tuple of Structure
        Constraints on the tree itself, which are not linear in the actions of rows.
    complements : bool
        Whether a feature and its complement are interchangeable. They are in a tree; in a rule list
        only the last rule can ask for either.
    """

    #: The field that holds the sums of rows.
    sums_field: ClassVar[str]

    X: np.ndarray
    features: tuple[BinaryFeature, ...]
    counts: np.ndarray
    leaf_cost: int
    split_costs: np.ndarray
    offset: Fraction
    scale: Fraction
    exact: bool
    rows: np.ndarray
    side: tuple[SideRow, ...] = ()
    alias: Mapping[BinaryFeature, tuple[int, bool] | bool] = field(default_factory=dict)
    row_weight: np.ndarray | None = None
    min_weight_leaf: int = 0
    treated: np.ndarray | None = None
    min_treated: int = 0
    structure: tuple[Any, ...] = ()
    complements: bool = True

    def __post_init__(self) -> None:
        self._keep_ranked()

    # -- leaves ------------------------------------------------------------------------------------

    @property
    def sums(self) -> np.ndarray:
        """What is added up over the rows of a leaf, int64 of shape (n, m)."""
        found: np.ndarray = getattr(self, self.sums_field)
        return found

    @abstractmethod
    def leaf_values(self, totals: np.ndarray) -> np.ndarray:
        """Cost of leaves with these sums, without `leaf_cost`: int64 of shape (L,) from (L, m)."""

    @abstractmethod
    def leaf_actions(self, totals: np.ndarray) -> tuple[list[int], tuple[Any, ...]]:
        """The action of leaves with these sums, shape (L, m), and the names of all actions."""

    def totals(self, tree: P) -> np.ndarray:
        """Sums of the leaves of a tree on this view's features (or their aliases), shape (L, m)."""
        routes = self.canonical(tree).routes(self)
        out = np.zeros((routes.n_leaves, self.sums.shape[1]), dtype=np.int64)
        np.add.at(out, routes.leaf, self.sums)
        return out

    def decided(self, tree: Tree) -> Tree:
        """The tree with the best action in each leaf."""
        return self.with_best_actions(tree.root, self.totals(tree))

    def with_best_actions(self, root: Node, totals: np.ndarray) -> Tree:
        """The tree with the best actions for the sums of its leaves, from left to right."""
        from milp_trees.models.nodes import Leaf
        from milp_trees.models.tree import Tree

        best, actions = self.leaf_actions(totals)
        leaves = iter(best)

        def walk(node: Node) -> Node:
            if isinstance(node, Leaf):
                return Leaf(next(leaves))
            left = walk(node.left)
            return replace(node, left=left, right=walk(node.right))

        return Tree(walk(root), actions)

    def tree_of(self, root: Node) -> Tree:
        """The tree with these nodes; each leaf has the best action for its rows."""
        from milp_trees.models.tree import Tree

        return self.decided(Tree(root, ()))

    # -- values ------------------------------------------------------------------------------------

    def to_value(self, Z: float | int) -> Fraction:
        """Natural value of an integer objective."""
        if self._counted and isinstance(Z, int):
            return Fraction(Z)
        return self.offset + self.scale * (Z if isinstance(Z, (int, np.integer)) else Fraction(Z))

    def from_value(self, value: Fraction | float) -> Fraction:
        """Integer objective of a natural value."""
        if self._counted:
            return Fraction(value)
        return (Fraction(value) - self.offset) / self.scale

    @cached_property
    def _counted(self) -> bool:
        """Whether natural values are the objectives themselves, as numbers of errors are."""
        return self.offset == 0 and self.scale == 1

    def to_bound(self, Z: int, most_leaves: int | None = None) -> Fraction:
        """Natural value below which no tree can be, if no tree has an objective below Z.

        Parameters
        ----------
        Z : int
            A lower bound on the objectives of all trees.
        most_leaves : int, optional
            Largest number of leaves of a tree; it matters where costs of leaves are rounded.
        """
        return self.to_value(Z)

    @abstractmethod
    def objective(self, tree: P) -> int:
        """Integer objective Z of a tree on this view's features (or their aliases)."""

    @property
    @abstractmethod
    def tolerance(self) -> int:
        """Two objectives with at most this difference are equal; 0 if costs are exact."""

    @property
    @abstractmethod
    def absolute_gap(self) -> float:
        """An incumbent is optimal if its gap is below this."""

    @property
    @abstractmethod
    def unavoidable(self) -> int:
        """Lower bound of every tree."""

    @property
    def fixed_cost(self) -> int:
        """A part of all objectives that hypergraphs leave out of the costs of their columns."""
        return 0

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Store for what methods derive from this view and may need again; not part of it."""
        return {}

    @cached_property
    def leaf_minima(self) -> tuple[tuple[np.ndarray, int], ...]:
        """What a leaf must hold besides rows: pairs of an amount per row and its smallest sum."""
        weight = (self.row_weight, self.min_weight_leaf)
        given = [weight] if self.row_weight is not None and self.min_weight_leaf > 0 else []
        if self.treated is not None and self.min_treated > 0:
            given += [(np.ascontiguousarray(column), self.min_treated) for column in self.treated.T]
        return tuple(given)  # type: ignore[arg-type]

    @property
    def incumbent(self) -> Any:
        """What was found while a model of the view was being made, for runs that end before.

        It has `tree`, `bound` and `prover`; None if nothing was found.
        """
        return self.memo.get("incumbent")

    def keep_incumbent(self, found: Any) -> None:
        """Keep an incumbent; it may still become better while the model is being made."""
        self.memo["incumbent"] = found

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def total_rows(self) -> int:
        """Number of original rows."""
        return int(self.counts.sum())

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem, for tables beside the sizes of a model."""
        return {"data_rows": self.n_rows, "data_tests": self.n_features}

    @cached_property
    def columns(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Features grouped by original column: (name, indices by increasing threshold).

        Each other feature is a group of its own.
        """
        return by_column(self.features)

    # -- features ----------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    @property
    def antecedents(self) -> tuple[Antecedent, ...]:
        """The features of a view of rule lists, which are antecedents."""
        antecedents: Any = self.features
        return antecedents  # type: ignore[no-any-return]

    def canonical(self, tree: P) -> P:
        """The same tree or rule list in terms of the features that are left.

        A complement swaps the children of a node; a node with a constant feature is removed.
        """
        return tree.map_tests(lambda t: (t, False) if t in self.index else self._alias(t))

    def _alias(self, test: BinaryFeature) -> tuple[BinaryFeature, bool] | bool:
        if test not in self.alias:
            raise KeyError(f"The test {test.name!r} is not a candidate of this problem.")
        kept = self.alias[test]
        return kept if isinstance(kept, bool) else (self.features[kept[0]], kept[1])

    # -- presolve ----------------------------------------------------------------------------------

    def reduce(self, merge_rows: bool = True, drop_tests: bool = True) -> Self:
        """An equivalent smaller view.

        Equal rows are merged; constant and equal features are dropped, and complementary ones where
        they are interchangeable. Rows with
        equal features share their leaf in every tree and therefore their action, so costs, counts
        and side coefficients add up. With merged rows every relaxation contains the
        equivalent-points bound, because `base` of a merged row is unavoidable. No feature is
        dropped where a constraint on the tree itself may tell equal features apart.
        """
        # Of different rows alone, the same tests differ as of all rows.
        view: Self = with_merged_rows(self) if merge_rows else self
        dropping = drop_tests and not self.structure and not self.alias
        return view if not dropping else with_different_tests(view)
