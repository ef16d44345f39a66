"""Classification tasks: accuracy, weighted error, balanced accuracy, and class cost matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.common.registering import register
from milp_trees.data.names import (
    columns_and_names,
    columns_over,
    entries_by_name,
    entries_over,
    places,
)
from milp_trees.tasks.action_costs import ActionCosts
from milp_trees.tasks.written import cost_matrix, listed_names, mapping

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


#: Cost of a correct prediction, as an array that broadcasts.
_FREE = np.array([Fraction(0)], dtype=object)


def _weights(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Distinct row weights as Fractions, and the index of each row's weight among them."""
    distinct, which = np.unique(dataset.row_weights, return_inverse=True)
    out = np.empty(len(distinct), dtype=object)
    out[:] = [fraction(w) for w in distinct.tolist()]
    return out, which.ravel()


def _classes(dataset: Dataset, name: str) -> tuple[np.ndarray, tuple[Any, ...]]:
    y = dataset.require("y", f"The task {name}")
    classes = tuple(dataset.classes or ())
    if len(classes) < 2:
        raise DataError(
            f"The target has one class only ({classes[0]!r}); the task {name} needs at least two. Check which column is the target."
        )
    return y, classes


@register
@dataclass(frozen=True)
class Accuracy(ActionCosts):
    """Number of misclassified rows: `c[i,k] = 1[y_i != k]`; row weights are ignored."""

    name: ClassVar[str] = "accuracy"
    title: ClassVar[str] = "Misclassified rows"
    takes_counts: ClassVar[bool] = True
    of_classes: ClassVar[bool] = True
    weighted_by: ClassVar[str | None] = "weighted"
    units: ClassVar[tuple[str, str]] = ("errors", "rate")

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return _classes(dataset, self.name)[1]

    def costs(self, dataset: Dataset) -> np.ndarray:
        table, kind = self.cost_table(dataset)
        costs: np.ndarray = table[kind]
        return costs

    def cost_table(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
        y, classes = _classes(dataset, self.name)
        return 1 - np.eye(len(classes), dtype=np.int64), y

    def normaliser(self, dataset: Dataset) -> Fraction:
        return Fraction(dataset.total_rows)


@register
@dataclass(frozen=True)
class WeightedError(Accuracy):
    """Misclassified weight: `c[i,k] = w_i · class_weight[y_i] · 1[y_i != k]`.

    The w_i are the dataset's row weights.

    Parameters
    ----------
    class_weight : mapping of class to number, optional
        Factor of each class; default 1.
    """

    name: ClassVar[str] = "weighted"
    title: ClassVar[str] = "Misclassified weight"
    weighs_rows: ClassVar[bool] = True
    weighted_by: ClassVar[str | None] = None
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {"class_weight": mapping}
    units: ClassVar[tuple[str, str]] = ("cost", "rate")

    class_weight: Mapping[Any, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.class_weight is not None:
            given = entries_by_name(self.class_weight, "class_weight")
            if not isinstance(given, Mapping):
                raise DataError(
                    f'class_weight must be a mapping such as {{"ill": 5}}; got {self.class_weight!r}.'
                )
            if not isinstance(self.class_weight, Mapping):
                object.__setattr__(self, "class_weight", given)

    def row_losses(self, dataset: Dataset) -> np.ndarray:
        """Cost of an error on each row, shape (n,), Fractions."""
        y, classes = _classes(dataset, self.name)
        stated = entries_over(self.class_weight or {}, classes, "class_weight", "classes", 1)
        per_class = [
            fraction(v, f"weight of class {c!r}") for c, v in zip(classes, stated, strict=True)
        ]
        if any(v < 0 for v in per_class):
            raise DataError("Class weights must not be negative.")
        if not any(per_class):
            raise DataError("The weight of every class is 0; at least one must count.")
        weights, which = _weights(dataset)
        losses: np.ndarray = np.multiply.outer(weights, np.array(per_class, dtype=object))[which, y]
        return losses

    def costs(self, dataset: Dataset) -> np.ndarray:
        loss = self.row_losses(dataset)
        # `np.where` instead of a product: equal costs then are one object, so they are compared
        # quickly.
        return np.where(super().costs(dataset) == 1, loss[:, None], _FREE)

    def normaliser(self, dataset: Dataset) -> Fraction:
        losses = self.row_losses(dataset) * dataset.row_counts.astype(object)
        return Fraction(sum(losses.tolist(), Fraction(0)))


@register
@dataclass(frozen=True)
class BalancedAccuracy(Accuracy):
    """Mean over classes of the share of rows classified correctly; maximised.

    With a penalty it is the balanced error rate plus penalties, minimised.
    """

    name: ClassVar[str] = "balanced-accuracy"
    title: ClassVar[str] = "Mean over classes of the share of rows classified correctly"
    weighted_by: ClassVar[str | None] = None
    units: ClassVar[tuple[str, str]] = ("balanced accuracy", "rate")

    @property
    def sense(self) -> str:
        return "min" if self.penalised else "max"

    def cost_table(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
        y, classes = _classes(dataset, self.name)
        counts = np.zeros(len(classes), dtype=np.int64)
        np.add.at(counts, y, dataset.row_counts)
        present = int((counts > 0).sum())
        share = np.array(
            [Fraction(1, present * int(c)) if c else Fraction(0) for c in counts], dtype=object
        )
        return np.where(~np.eye(len(classes), dtype=bool), share[:, None], _FREE), y

    def normaliser(self, dataset: Dataset) -> Fraction:
        return Fraction(1)

    def to_natural(self, total: Fraction, dataset: Dataset) -> Fraction:
        return 1 - total


@register
@dataclass(frozen=True)
class MisclassificationCosts(ActionCosts):
    """Any K × K cost matrix: `c[i,k] = M[y_i, k]`, times the row weight.

    Parameters
    ----------
    matrix : array or DataFrame of shape (K, K)
        Row = true class, column = predicted class, in the order of the dataset's classes. The index
        and the columns of a DataFrame are names of classes, which are matched.
    classes : sequence, optional
        The classes in the order of the matrix, if that is another one than the dataset's.
    """

    name: ClassVar[str] = "cost-matrix"
    of_classes: ClassVar[bool] = True
    title: ClassVar[str] = "A cost per pair of true and predicted class"
    takes_counts: ClassVar[bool] = True
    weighs_rows: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {
        "matrix": cost_matrix,
        "classes": listed_names,
    }

    matrix: Any = None
    classes: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.matrix is None:
            raise DataError(
                "The task cost-matrix needs matrix=, one row per true class and one column per prediction."
            )
        table, names = columns_and_names(self.matrix, self.classes, "matrix", "classes")
        if hasattr(table, "columns"):
            rows, names = columns_and_names(table.T, names, "the index of matrix", "classes")
            table = rows.T if names is None else columns_over(rows.T, names, "matrix", "classes")
        object.__setattr__(
            self,
            "matrix",
            tuple(
                tuple(fraction(v, "a cost") for v in row)
                for row in np.asarray(table, dtype=object).tolist()
            ),
        )
        object.__setattr__(self, "classes", names and tuple(names))

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        return _classes(dataset, self.name)[1]

    def costs(self, dataset: Dataset) -> np.ndarray:
        table, kind = self.cost_table(dataset)
        costs: np.ndarray = table[kind]
        return costs

    def matrix_over(self, classes: Sequence[Any]) -> np.ndarray:
        """The matrix in the order of some classes, as an array of Fractions."""
        M = np.array(self.matrix, dtype=object)
        if self.classes is None or M.shape != (len(self.classes), len(self.classes)):
            return M
        order = places(self.classes, classes, "matrix", "classes")
        return M if order is None else M[np.ix_(order, order)]

    def cost_table(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
        y, classes = _classes(dataset, self.name)
        M = self.matrix_over(classes)
        if M.shape != (len(classes), len(classes)):
            raise DataError(
                f"The cost matrix has shape {M.shape}; {len(classes)} classes need ({len(classes)}, {len(classes)})."
            )
        if dataset.weights is None:
            whole = all(v.denominator == 1 and abs(v) < 2**63 for v in M.ravel())
            return (M.astype(np.int64) if whole else M), y
        weights, which = _weights(dataset)
        # One object per weight, class and prediction: equal costs then are one object, so they are
        # compared quickly.
        return np.multiply.outer(weights, M).reshape(-1, len(classes)), which * len(classes) + y
