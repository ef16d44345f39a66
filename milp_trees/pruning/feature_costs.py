"""Prices of features, groups of features, evaluated nodes and leaves.

All prices are rationals: a number is read as it is written (0.25 is 1/4). Group structures are
those of cost-sensitive learning with group discounts (Turney 1995), as far as the cost of a set of
features is modular over features and groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.data.checks import some
from milp_trees.data.names import columns_and_names, entries_by_name, places, spelled

#: A price with a larger denominator is probably a measurement; it must first be rounded to a stated
#: denominator.
LARGEST_DENOMINATOR = 10**9
#: Largest price of a feature in the common unit of all; sums over features then fit into 64 bits.
LARGEST_PRICE = 10**12


@dataclass(frozen=True)
class Group:
    """Features (or groups) with a common price in addition to their own prices.

    Parameters
    ----------
    name : str
        Name of the group.
    members : sequence of str
        Features, or other groups: hierarchies are allowed, cycles are not.
    cost : number
        Paid for a row if at least one member is used for it.
    once : bool, default=False
        Whether the price is paid a single time for all rows together (such as for a device) instead
        of once per row.
    """

    name: str
    members: Sequence[str]
    cost: Any
    once: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.members, str) or not isinstance(self.members, Sequence):
            raise DataError(
                f"The members of the group {self.name!r} must be a list of names; got {self.members!r}."
            )
        object.__setattr__(self, "members", tuple(dict.fromkeys(map(str, self.members))))


@dataclass(frozen=True, eq=False)
class FeatureCosts:
    """Prices of features.

    Parameters
    ----------
    features : number, mapping of name to number, or sequence, default=1
        Price of each feature for a row. In a mapping (or Series), features without an entry are
        free. A sequence has the order of the features.
    per_row : array or DataFrame of shape (n, K), optional
        Price of each feature for each row, instead of `features`; the columns of a DataFrame are
        matched with the features by their names.
    groups : sequence of Group
        Groups with a common price.
    node : number, default=0
        Price of every node that is evaluated for a row.
    leaf : number, default=0
        Price of every leaf of the pruned ensemble (like CART's alpha; not divided by the number of
        rows).
    denominator : int, optional
        Prices are rounded to multiples of 1/denominator. Without it they must be short numbers.
    columns : sequence of str, optional
        Names of the columns of `per_row`.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.pruning.FeatureCosts({"age": 1, "ecg": 7.27}, groups=[mt.pruning.Group("blood", ["glucose", "cholesterol"], "2.1")]).node
    Fraction(0, 1)
    """

    features: Any = 1
    per_row: Any = None
    groups: Sequence[Group] = ()
    node: Any = 0
    leaf: Any = 0
    denominator: int | None = None
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.denominator is not None and (
            not isinstance(self.denominator, Integral) or self.denominator < 1
        ):
            raise DataError(
                f"denominator must be a whole number of at least 1; got {self.denominator!r}."
            )
        object.__setattr__(self, "features", entries_by_name(self.features, "features"))
        if self.per_row is not None:
            table, names = columns_and_names(self.per_row, self.columns, "per_row", "features")
            object.__setattr__(self, "per_row", _rectangle(table))
            object.__setattr__(self, "columns", names and tuple(map(spelled, names)))
        groups = [self.groups] if isinstance(self.groups, Group) else list(self.groups)
        strange = next((g for g in groups if not isinstance(g, Group)), None)
        if strange is not None:
            raise DataError(
                f"groups must be a list of mt.pruning.Group(name, members, cost); it holds {strange!r}."
            )
        object.__setattr__(self, "groups", tuple(groups))
        for name, what in (("node", "a node"), ("leaf", "a leaf")):
            object.__setattr__(self, name, self._price(getattr(self, name), what))

    def _price(self, number: Any, name: str) -> Fraction:
        """A price as a rational."""
        price = fraction(number, f"The cost of {name}")
        if price < 0:
            raise DataError(f"The cost of {name} is {number}; costs must not be negative.")
        if self.denominator is not None:
            price = Fraction(round(price * int(self.denominator)), int(self.denominator))
        if price.denominator > LARGEST_DENOMINATOR:
            raise DataError(
                f"The cost of {name}, {number!r}, has more digits than exact arithmetic takes; round it, or give denominator=1000."
            )
        return price

    # -- per feature -------------------------------------------------------------------------------

    def prices(self, names: Sequence[str]) -> list[Fraction]:
        """Price of every feature.

        Raises
        ------
        DataError
            A named feature does not exist, or a cost is negative, missing or has too many digits.
        """
        given = self.features
        if isinstance(given, Mapping):
            unknown = [k for k in given if k not in names]
            if unknown:
                raise DataError(
                    f"There is a cost for {unknown[0]!r}, which is no feature of the ensemble; its features are {some(names)}."
                )
            return [self._price(given.get(k, 0), k) for k in names]
        if _is_list(given):
            if len(given) != len(names):
                raise DataError(
                    f"{len(given)} feature costs are given for {len(names)} features; give one per feature, or a mapping by name."
                )
            return [self._price(_number(c), k) for c, k in zip(given, names, strict=True)]
        return [self._price(given, "a feature")] * len(names)

    def table(self, names: Sequence[str], n: int) -> tuple[np.ndarray, Fraction]:
        """Prices as integers, and the value of one of their units.

        The array has shape (K,) or, with `per_row`, (n, K).
        """
        if self.per_row is None:
            whole, unit = _in_one_unit(self.prices(names))
            return whole, unit
        array = self.per_row
        if order := self.columns and places(self.columns, names, "per_row", "features"):
            array = array[:, order]
        if array.shape != (n, len(names)):
            raise DataError(
                f"per_row must have a cost for each of {n} rows and {len(names)} features; its shape is {array.shape}."
            )
        values: dict[Any, int] = {}
        where = np.array(
            [values.setdefault(v, len(values)) for v in array.ravel().tolist()], dtype=np.int64
        )
        whole, unit = _in_one_unit([self._price(v, "a feature for a row") for v in values])
        return whole[where].reshape(array.shape), unit

    # -- groups ------------------------------------------------------------------------------------

    def group_costs(self) -> list[Fraction]:
        return [self._price(g.cost, f"the group {g.name}") for g in self.groups]

    def parents(self, names: Sequence[str]) -> list[list[int]]:
        """For every feature, then every group: indices of the groups that it belongs to directly.

        Raises
        ------
        DataError
            A member does not exist, two things have the same name, or groups contain each other.
        """
        place = {name: i for i, name in enumerate(names)}
        for g, group in enumerate(self.groups):
            if group.name in place:
                raise DataError(
                    f"The group {group.name!r} has the name of a feature or of another group; rename it."
                )
            place[group.name] = len(names) + g
        out: list[list[int]] = [[] for _ in place]
        for g, group in enumerate(self.groups):
            for member in group.members:
                if member not in place:
                    raise DataError(
                        f"The group {group.name!r} has the member {member!r}, which is no feature or group; features are {some(names)}."
                    )
                out[place[member]].append(g)
        self._check_order(out[len(names) :])
        return out

    def _check_order(self, parents: list[list[int]]) -> None:
        for begin in range(len(parents)):
            seen, stack = set(), list(parents[begin])
            while stack:
                g = stack.pop()
                if g == begin:
                    raise DataError(
                        f"The group {self.groups[begin].name!r} contains itself; a hierarchy has no cycles."
                    )
                if g not in seen:
                    seen.add(g)
                    stack += parents[g]

    # -- charging ----------------------------------------------------------------------------------

    def charge(
        self,
        used: np.ndarray,
        evaluations: np.ndarray,
        n_leaves: int,
        weights: np.ndarray,
        weight_unit: Fraction,
        names: Sequence[str],
    ) -> Fraction:
        """Mean cost of a row.

        It is the weighted mean of what rows pay, plus the prices that are paid once, divided by the
        sum of the weights, plus the price of the leaves.

        Parameters
        ----------
        used : bool array of shape (n, K)
            Features that a row needs.
        evaluations : int array of shape (n,)
            Number of nodes that are evaluated for a row, over all trees.
        n_leaves : int
            Number of leaves of all trees.
        weights : int64 array of shape (n,)
            Row weights in units of `weight_unit`.
        weight_unit : Fraction
            Value of one unit of weight.
        names : sequence of str
            The features.

        Returns
        -------
        Fraction

        Raises
        ------
        DataError
            Prices cannot be read, or no row has a positive weight.
        """
        total = int(weights.sum())
        if not total:
            raise DataError(
                "The weights of the rows that pay for features sum to 0; at least one must be positive."
            )
        w = weights.astype(object)  # Python integers have no largest value
        table, unit = self.table(names, len(used))
        paid = unit * int(w @ (used * table).sum(axis=1)) + self.node * int(w @ evaluations)
        once = Fraction(0)
        for group, cost, bought in zip(
            self.groups, self.group_costs(), self._groups_used(used, names).T, strict=True
        ):
            if group.once:
                once += cost * int((weights[bought] > 0).any())
            else:
                paid += cost * int(weights[bought].sum())
        return paid / total + once / (total * weight_unit) + self.leaf * n_leaves

    def per_row_cost(
        self, used: np.ndarray, evaluations: np.ndarray, names: Sequence[str]
    ) -> np.ndarray:
        """The cost of every row at prediction time, without leaves and groups that are paid once.

        Parameters
        ----------
        used : bool array of shape (n, K)
            Features that a row needs.
        evaluations : int array of shape (n,)
            Number of nodes that are evaluated for a row, over all trees.
        names : sequence of str
            The features.

        Returns
        -------
        float array of shape (n,)
        """
        table, unit = self.table(names, len(used))
        out = (used * table).sum(axis=1) * float(unit) + float(self.node) * evaluations
        bought = self._groups_used(used, names)
        for g, cost in enumerate(self.group_costs()):
            if not self.groups[g].once:
                out = out + float(cost) * bought[:, g]
        return np.asarray(out, dtype=float)

    def _groups_used(self, used: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Whether a row uses a group, directly or through a group inside it, shape (n, G)."""
        parents = self.parents(names)
        bought = np.zeros((len(used), len(self.groups)), dtype=bool)
        for k in range(len(names)):
            for g in parents[k]:
                bought[:, g] |= used[:, k]
        for _ in self.groups:  # the largest possible depth of the hierarchy
            for g in range(len(self.groups)):
                for above in parents[len(names) + g]:
                    bought[:, above] |= bought[:, g]
        return bought

    def spec(self) -> dict[str, Any]:
        """All prices as text, rounded if there is a denominator; `from_spec` reads them."""
        given = self.features
        if isinstance(given, Mapping):
            features: Any = {k: str(self._price(c, k)) for k, c in given.items()}
        elif _is_list(given):
            features = [str(self._price(_number(c), "a feature")) for c in given]
        else:
            features = str(self._price(given, "a feature"))
        out: dict[str, Any] = {"features": features}
        if self.per_row is not None:
            out["per_row"] = [
                [str(self._price(c, "a feature for a row")) for c in row]
                for row in self.per_row.tolist()
            ]
        if self.columns is not None:
            out["columns"] = list(self.columns)
        if self.groups:
            costs = map(str, self.group_costs())
            out["groups"] = [
                {"name": g.name, "members": list(g.members), "cost": c, "once": g.once}
                for g, c in zip(self.groups, costs, strict=True)
            ]
        return out | {
            name: str(getattr(self, name)) for name in ("node", "leaf") if getattr(self, name)
        }

    @staticmethod
    def is_spec(given: Any) -> bool:
        """Whether a mapping is what `spec` returns, and not prices by name."""
        known = isinstance(given, Mapping) and isinstance(
            given.get("features"), (str, list, Mapping)
        )
        return known and set(given) <= {"features", "per_row", "columns", "groups", "node", "leaf"}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> FeatureCosts:
        per_row = spec.get("per_row")
        return cls(
            spec["features"],
            None
            if per_row is None
            else np.array([[Fraction(c) for c in row] for row in per_row], dtype=object),
            tuple(Group(**g) for g in spec.get("groups", ())),
            spec.get("node", 0),
            spec.get("leaf", 0),
            columns=spec.get("columns"),
        )


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _is_list(given: Any) -> bool:
    return isinstance(given, (Sequence, np.ndarray)) and np.ndim(given) > 0  # a text has none


def _rectangle(per_row: Any) -> np.ndarray:
    """Given costs per row and feature: an array of numbers, Fractions or text."""
    try:
        return np.asarray(per_row)
    except ValueError:
        raise DataError(
            "per_row must have as many costs in every row as there are features; its rows differ in length."
        ) from None


def _in_one_unit(prices: Sequence[Fraction]) -> tuple[np.ndarray, Fraction]:
    """Prices as integer multiples of the largest possible unit."""
    denominator = math.lcm(*(p.denominator for p in prices))
    numbers = [int(p * denominator) for p in prices]
    if max(numbers, default=0) > LARGEST_PRICE:
        raise DataError(
            "The feature costs have no common unit of reasonable size; round them (denominator=1000)."
        )
    return np.array(numbers, dtype=np.int64), Fraction(1, denominator)
