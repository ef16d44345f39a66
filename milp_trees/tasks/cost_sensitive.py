"""Cost-sensitive classification: costs of wrong predictions, and prices of what is asked.

This is the task of van der Linden, de Weerdt, Demirović (2023, *STreeD*), equation (9), after Turney
(1995): a row pays for every attribute on its path once, less if an attribute of the same group has
been paid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError, NoView
from milp_trees.common.registering import register
from milp_trees.tasks.attribute_costs import (
    CostFile,
    PaidAttributes,
    attributes_of,
    by_column,
    read_cost_file,
    standard_cost,
)
from milp_trees.tasks.base import Value
from milp_trees.tasks.classification import MisclassificationCosts
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.states_view import States
from milp_trees.tasks.views import CostMatrix
from milp_trees.tasks.written import cost_matrix, listed_names, mapping

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

#: Largest objective in integer units.
LARGEST = 2**58
#: Attributes that one integer of a context can hold.
MOST_ATTRIBUTES = 62


@register
@dataclass(frozen=True)
class CostSensitive(MisclassificationCosts):
    """Misclassification costs by a matrix, and prices of attributes, paid once per path.

    The value is the sum over rows of `w_i (M[y_i, k] + prices of the attributes on the path)`.

    Parameters
    ----------
    matrix : array or DataFrame of shape (K, K)
        Row = true class, column = predicted class, in the order of the dataset's classes. The index
        and the columns of a DataFrame are names of classes, which are matched.
    attributes : sequence of Attribute, or mapping of column name to price
        Prices; columns without an attribute are free.
    file : str, Path or CostFile, optional
        A cost file (`read_cost_file`) that holds both; the two others are then left out.
    classes : sequence, optional
        The classes in the order of the matrix, if that is another one than the dataset's.

    Examples
    --------
    >>> import milp_trees as mt
    >>> task = mt.tasks.CostSensitive(matrix=[[0, 10], [50, 0]], attributes={"age": 1, "ecg": "7.27"})
    >>> data = mt.Dataset([[0, 0], [0, 1]], [mt.BinaryFeature("age"), mt.BinaryFeature("ecg")], y=[0, 1])
    >>> mt.solve(mt.Problem(data, task, mt.Trees(1))).value.number
    10.0
    """

    name: ClassVar[str] = "cost-sensitive"
    takes_counts: ClassVar[bool] = False
    title: ClassVar[str] = "A cost per pair of true and predicted class, and prices of attributes"
    has_extra_scores: ClassVar[bool] = True
    view_makers: ClassVar[dict[type, str]] = {
        PathCosts: "path_costs",
        CostMatrix: "cost_matrix",
        States: "states",
    }
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {
        "matrix": cost_matrix,
        "classes": listed_names,
        "attributes": mapping,
        "file": read_cost_file,
    }

    attributes: Any = ()
    file: Any = None

    def __post_init__(self) -> None:
        if self.file is not None:
            if self.matrix is not None or self.attributes:
                raise DataError(
                    "The task cost-sensitive takes either file=, or matrix= and attributes=; both are given."
                )
            found = self.file if isinstance(self.file, CostFile) else read_cost_file(self.file)
            object.__setattr__(self, "matrix", found.matrix)
            object.__setattr__(self, "attributes", found.attributes)
            object.__setattr__(self, "file", None)
        if self.matrix is None:
            raise DataError(
                "The task cost-sensitive needs a cost file (--costs, file=), or matrix= with one row per true class and one column per prediction."
            )
        super().__post_init__()
        object.__setattr__(self, "attributes", attributes_of(self.attributes))
        if any(a.cost for a in self.attributes):
            # What a split costs then depends on its path, so no cost matrix states the task.
            makers = {k: v for k, v in self.view_makers.items() if k is not CostMatrix}
            object.__setattr__(self, "view_makers", makers)

    # -- the value -----------------------------------------------------------------------------------

    def owners(self, dataset: Dataset) -> dict[str, int]:
        """The attribute of every column that has one, as its index."""
        source = dataset.source
        named = source.get("table_columns") or source.get("features")
        named = named or dict.fromkeys(t.column for t in dataset.features)
        return by_column(self.attributes, list(named))

    def prices_paid(self, routes: Routes, dataset: Dataset) -> list[Fraction]:
        """What a row pays for attributes in each of the leaves."""
        owner, out = self.owners(dataset), []
        for path in routes.paths:
            paid_attributes = PaidAttributes(self.attributes)
            out.append(sum((paid_attributes.pay(owner.get(t.column)) for t in path), Fraction(0)))
        return out

    def _tests_cost(self, routes: Routes, dataset: Dataset) -> Fraction:
        """Prices of all rows together."""
        whole, scale = _weights(dataset)
        weight = [int(whole[routes.leaf == leaf].sum()) for leaf in range(routes.n_leaves)]
        paid = self.prices_paid(routes, dataset)
        return scale * sum((p * w for p, w in zip(paid, weight, strict=True)), Fraction(0))

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        of_errors, more = super().value(routes, dataset), self._tests_cost(routes, dataset)
        if self.penalised:
            more /= self.rate_unit(dataset)
        if of_errors.exact is None:
            return Value(of_errors.number + float(more), None, self.unit, self.sense)
        total = of_errors.exact + more
        return Value(float(total), total, self.unit, self.sense)

    def extra_scores(self, routes: Routes, dataset: Dataset) -> dict[str, float]:
        """Numbers of the published tables, on the rows of a dataset.

        They are the cost of a row (`mean_cost`), the same divided by that of equation (60)
        (`normalised_cost`), and the number of tests that a row answers (`question_length`), without
        penalties and as means over the weighted rows.
        """
        y, weights = dataset.require("y", f"The task {self.name}"), dataset.row_weights
        total = float(weights.sum())
        if not total:
            return {}
        matrix = self.matrix_over(dataset.classes or ()).astype(float)
        wrong = float(weights @ matrix[y, routes.action])
        mean = (wrong + float(self._tests_cost(routes, dataset))) / total
        counts = np.bincount(y, weights=weights, minlength=len(matrix))
        standard = float(standard_cost(self.attributes, self.matrix, counts.tolist()))
        length = np.array([len(path) for path in routes.paths])[routes.leaf]
        return {
            "mean_cost": mean,
            **({"normalised_cost": mean / standard} if standard else {}),
            "question_length": float(weights @ length) / total,
        }

    # -- views ---------------------------------------------------------------------------------------

    def path_costs(self, dataset: Dataset, space: Space) -> PathCosts:
        """The task as exact integers in one unit."""
        view = self.cost_matrix(dataset, space)
        owner = self.owners(dataset)
        whole, weight = _weights(dataset)
        unit_of_costs = self._unit(view, dataset)
        unit_of_prices, price, discount = self._prices
        unit_of_prices *= weight
        penalties = {view.leaf_cost, *view.split_costs.tolist()} - {0}
        some = [unit_of_costs] if penalties or view.costs.any() else []
        unit = exact.common_unit([*some, *([unit_of_prices] if any(price) else [])])
        factor = unit_of_costs / unit if some else Fraction(1)
        of_prices = unit_of_prices / unit if any(price) else Fraction(0)
        largest = (
            int(np.abs(view.costs).max(initial=0)) * factor
            + sum(price) * of_prices * int(whole.max(initial=0))
        ) * max(1, dataset.n_rows)
        if largest > LARGEST or not view.exact:
            raise NoView(
                "The costs of cost-sensitive have too many digits for exact arithmetic in 64 bits; round the prices, the matrix or the weights."
            )
        names = sorted({a.group for a in self.attributes if a.group is not None})
        matrix = replace(
            view,
            costs=view.costs * int(factor),
            leaf_cost=int(view.leaf_cost * factor),
            split_costs=view.split_costs * int(factor),
            scale=view.scale / factor,
        )
        return PathCosts(
            matrix,
            whole,
            np.array([owner.get(t.column, -1) for t in matrix.features], dtype=np.int64),
            np.array(price, dtype=np.int64) * int(of_prices),
            np.array(discount, dtype=np.int64) * int(of_prices),
            np.array(
                [-1 if a.group is None else names.index(a.group) for a in self.attributes],
                dtype=np.int64,
            ),
        )

    def states(self, dataset: Dataset, space: Space) -> States:
        """The task by its six parts, for the framework engine; the context is what is paid."""
        view = self.path_costs(dataset, space)
        if len(self.attributes) > MOST_ATTRIBUTES:
            raise NoView(
                f"The view States holds at most {MOST_ATTRIBUTES} attributes; there are {len(self.attributes)}."
            )
        if self.constraints:
            raise NoView("The view States of cost-sensitive has no side constraints.")
        errors = view.errors
        return States.of(
            dataset,
            space,
            np.column_stack([errors.costs, view.weights]),
            errors.actions,
            names=("cost",),
            leaf=_leaf,
            split=_split,
            transition=_pay,
            tables=(
                view.attribute,
                view.price,
                view.discount,
                view.group,
                errors.split_costs,
                np.array([errors.leaf_cost], dtype=np.int64),
            ),
            nonnegative=bool((errors.costs >= 0).all()),
            offset=errors.offset,
            scale=errors.scale,
            scales=((errors.offset, errors.scale),),
        )

    @cached_property
    def _prices(self) -> tuple[Fraction, list[int], list[int]]:
        """A common unit of all prices, and the full and the discounted prices in it."""
        full, less = ([getattr(a, w) for a in self.attributes] for w in ("cost", "discount"))
        unit = exact.common_unit([*full, *less])
        return unit, [int(p / unit) for p in full], [int(p / unit) for p in less]

    def _unit(self, view: CostMatrix, dataset: Dataset) -> Fraction:
        """What one unit of a cost matrix is worth in summed cost."""
        return view.scale * self.rate_unit(dataset) if self.penalised else view.scale

    def spec(self) -> dict[str, Any]:
        out = super().spec()
        if self.attributes:
            out["attributes"] = [a.spec() for a in self.attributes]
        return out


# -- the six parts; sums are those of rows, of the costs of every action, and of the weights ---------


def _leaf(sums: Any, action: int, context: Any, tables: Any) -> Any:
    return (sums[1 + action] + tables[5][0],)


def _split(sums: Any, test: int, context: Any, tables: Any) -> Any:
    attribute, price, discount, group, penalty = (
        tables[0],
        tables[1],
        tables[2],
        tables[3],
        tables[4],
    )
    a = attribute[test]
    cost = penalty[test]
    if a >= 0 and (context[0] >> a) & 1 == 0:
        each = price[a]
        for b in range(len(group)):
            if group[a] >= 0 and group[b] == group[a] and (context[0] >> b) & 1 == 1:
                each = discount[a]
        cost += each * sums[len(sums) - 1]
    return (cost,)


def _pay(context: Any, test: int, side: int, tables: Any) -> Any:
    a = tables[0][test]
    if a < 0:
        return context
    return (context[0] | (1 << a),)


def _weights(dataset: Dataset) -> tuple[np.ndarray, Fraction]:
    """The row weights as integers, and what one of their units is worth."""
    if dataset.weights is None:
        return np.ones(dataset.n_rows, dtype=np.int64), Fraction(1)
    whole, scale, _ = exact.integers(dataset.weights)
    return whole, scale
