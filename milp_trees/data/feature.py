"""`BinaryFeature`: a yes/no question about one column, and its answer on a missing value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import as_array, check_finite, check_ordered, missing_in
from milp_trees.data.dates import is_threshold
from milp_trees.data.scales import equal, measured, positions, spelled_alike

#: Kinds of questions, and the answers that a question may give where the value is missing.
KINDS_OF_TESTS, ANSWERS = ("<=", "==", "in", "is", "missing"), (None, "yes", "no")

#: Characters by which a category could be taken for several in the text of a set.
_SPECIAL = frozenset(',{}"')

#: Why a column of 0 and 1 takes no other number, and what to do about it.
YES_NO = (
    "it held only 0 and 1 when the features were chosen, so it is asked as a yes/no question. Fit again on rows"
    " with its other values, which gives it thresholds; or write 1 where the answer is yes and 0 where it is no."
)


@dataclass(frozen=True)
class BinaryFeature:
    """A yes/no question about one column of a table.

    It is `column <= value`, `column == value`, whether the value is one of several categories, a
    column that holds 0 and 1 already, or whether the value is missing.

    Parameters
    ----------
    column : str
        Name of the original column.
    kind : {"<=", "==", "in", "is", "missing"}
        `"is"` stands for a column that is 0/1 already; the answer is yes where it is 1. `"missing"`
        asks whether the value is missing.
    value : float, str, bool, set of str or None
        Threshold (an ISO text such as `2021-03-05` for a column of dates) or category; None for
        the kinds `"is"` and `"missing"`. A category is compared by its text; numbers and dates
        have one text each, whatever the type of their column: `1`, `0.5`, `2021-03-05`. For the
        kind `"in"` the categories that answer yes, which are kept as a sorted tuple; every other
        category answers no, also one that was in no training row.
    missing : {None, "yes", "no"}
        Answer where the value is missing. None: the column had no missing value when the features
        were chosen, so that a missing value is an error. Always None for the kind `"missing"`.
    order : sequence of str
        The categories of a column of ordered categories, the lowest first, for the question
        `size <= medium`; otherwise empty.

    Examples
    --------
    >>> BinaryFeature("age", "<=", 37.5, "yes").name
    'age <= 37.5 or missing'
    >>> BinaryFeature("age", "<=", 37.5, "no").negation
    'age > 37.5 or missing'
    >>> BinaryFeature("age", "<=", 37.5, "no").evaluate([20, 50, None])
    array([ True, False, False])
    >>> BinaryFeature("color", "in", {"red", "blue"}).negation
    'color not in {blue, red}'
    """

    __test__ = False  # pytest must not collect this class as tests

    column: str
    kind: str = "is"
    value: Any = None
    missing: str | None = None
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if type(self.order) is not tuple:
            object.__setattr__(self, "order", tuple(self.order))
        if self.kind == "in":
            object.__setattr__(self, "value", _several(self.value))

    @property
    def dated(self) -> bool:
        """Whether times are compared."""
        return self.kind == "<=" and isinstance(self.value, str) and not self.order

    @property
    def place(self) -> float:
        """The threshold as a number: itself, seconds since 1970, or its place in the order."""
        return float(positions([self.value], self.order)[0])

    @property
    def below(self) -> tuple[str, ...]:
        """The ordered categories that answer yes, the lowest first."""
        return self.order[: self.order.index(self.value) + 1] if self.order else ()

    @property
    def accepted(self) -> tuple[str, ...]:
        """The categories that answer yes if they are listed: those of a set, or the lower ones."""
        return self.value if self.kind == "in" else self.below

    @property
    def needs(self) -> str:
        """What the column must hold, in a word."""
        return "dates" if self.dated else "numbers"

    @property
    def name(self) -> str:
        """The question as text.

        For example `age <= 37.5`, `age <= 37.5 or missing`, `color == red`, `color in {blue, red}`,
        `age is missing`, or the bare name of a 0/1 column.
        """
        if self.kind == "missing":
            return f"{self.column} is missing"
        return self._asked(self.kind) + (" or missing" if self.missing == "yes" else "")

    @property
    def negation(self) -> str:
        """The question with the answer no as text: `age > 37.5`, `color != red`, `not smoker`.

        Where a missing value is answered by no, it belongs to the negation: `age > 37.5 or
        missing`.
        """
        if self.kind == "missing":
            return f"{self.column} is not missing"
        opposite = {"is": "not", "<=": ">", "==": "!=", "in": "not in"}[self.kind]
        return self._asked(opposite) + (" or missing" if self.missing == "no" else "")

    def _asked(self, sign: str) -> str:
        """The question about a value that is there, with the given sign."""
        if self.kind == "is":
            return self.column if sign == "is" else f"{sign} {self.column}"
        if self.kind == "in":
            return f"{self.column} {sign} {set_text(self.value)}"
        value = f"{self.value:g}" if isinstance(self.value, float) else str(self.value)
        if isinstance(self.value, float) and float(value) != self.value:
            value = repr(self.value)
        return f"{self.column} {sign} {value}"

    @property
    def features(self) -> tuple[BinaryFeature, ...]:
        """The binary features that are asked for: this one."""
        return (self,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are asked for: one."""
        return (self.column,)

    def evaluate(self, values: Any, absent: np.ndarray | None = None) -> np.ndarray:
        """Answers for an array of column values, shape (n,); a boolean array of shape (n,).

        Parameters
        ----------
        values : array-like of shape (n,)
            Missing are NaN, None, NaT, `pandas.NA` and masked entries.
        absent : bool array of shape (n,), optional
            Which values are missing, if the caller knows it already.

        Raises
        ------
        DataError
            A value is missing and the feature has no answer for it, a number that is compared is
            infinite, or a value of a 0/1 column is neither 0 nor 1.
        TypeError, ValueError
            Values that are compared with a threshold are not numbers.
        """
        absent = missing_in(values) if absent is None else absent
        if self.kind == "missing":
            return absent
        array = as_array(values)
        if not absent.any():
            return self._answers(array, np.arange(len(array)))
        if self.missing is None:
            raise DataError(
                f"The column {self.column!r} has a missing value in row {int(absent.argmax())}, and it had none when the features were chosen; fill it in, drop the row, or fit again on rows with missing values."
            )
        out = np.full(len(absent), self.missing == "yes")
        if not absent.all():
            out[~absent] = self._answers(array[~absent], np.flatnonzero(~absent))
        return out

    def _answers(self, array: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Answers for values of which none is missing, and the numbers of their rows."""
        if self.kind == "==":
            return equal(array, str(self.value))
        if self.kind == "in":
            return spelled_alike(array, self.value)
        if self.kind == "<=":
            numbers = measured(array, [self.value], self.order)
            (check_ordered if self.order else check_finite)(self.column, numbers, rows)
            return np.asarray(numbers <= self.place)
        numbers = array.astype(float)
        strange = (numbers != 0) & (numbers != 1)
        if strange.any():
            at = int(strange.argmax())
            raise DataError(
                f"The column {self.column!r} holds {numbers[at]:g} in row {rows[at]}, and {YES_NO}"
            )
        return np.asarray(numbers == 1)

    def answer(self, value: Any) -> bool:
        """Answer for one value; None stands for a missing value."""
        return bool(self.evaluate(np.array([value]), np.array([value is None]))[0])

    def to_json(self) -> dict[str, Any]:
        """Column, kind and value, and the answer for missing values if there is one."""
        value = list(self.value) if self.kind == "in" else self.value
        known = {"column": self.column, "kind": self.kind, "value": value}
        known |= {} if self.missing is None else {"missing": self.missing}
        return {**known, "order": list(self.order)} if self.order else known

    @classmethod
    def from_json(cls, data: Any) -> BinaryFeature:
        """The feature that `to_json` described.

        Raises
        ------
        KeyError, TypeError, ValueError
            The dict is no such description.
        """
        if data["kind"] == "in" and not _are_texts(data["value"]):
            raise ValueError(f"{data['value']!r} is no list of different categories")
        test = cls(**data)
        number = type(test.value) in (int, float) or is_threshold(test.value)
        if "order" in data:
            known = test.kind == "<=" and all(isinstance(t, str) for t in test.order)
            number = known and test.value in test.order
            if not number or len(set(test.order)) < len(test.order):
                raise ValueError(f"{test.value!r} is no category of the order {test.order!r}")
        if test.kind not in KINDS_OF_TESTS or (test.kind == "<=" and not number):
            raise ValueError(
                f"there is no test of the kind {test.kind!r} with the value {test.value!r}"
            )
        if test.missing not in ANSWERS or (test.kind == "missing" and test.missing):
            raise ValueError(f"no test answers {test.missing!r} where the value is missing")
        return test


def set_text(categories: tuple[str, ...]) -> str:
    """A set of categories as text; those that would be misread stand in quotation marks."""
    words = (
        json.dumps(c, ensure_ascii=False) if _SPECIAL & {*c} or not c else c for c in categories
    )
    return "{" + ", ".join(words) + "}"


def _several(given: Any) -> tuple[str, ...]:
    """The categories of a set, each once, in order."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"A set of categories is a list of texts; got {given!r}.")
    found = tuple(sorted({str(c) for c in given}))
    if not found:
        raise DataError("A set of categories has one at least; got none.")
    return found


def _are_texts(given: Any) -> bool:
    """Whether a value is a list of different texts, one at least."""
    return (
        isinstance(given, (list, tuple))
        and bool(given)
        and all(isinstance(c, str) for c in given)
        and len(set(given)) == len(given)
    )
