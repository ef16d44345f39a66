"""`Antecedent`: a question about a row that is a conjunction of literals over binary features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.feature import BinaryFeature


@dataclass(frozen=True)
class Literal:
    """A binary feature, or its negation.

    Parameters
    ----------
    feature : BinaryFeature
        The question.
    value : bool, default=True
        The answer with which the literal holds.
    """

    feature: BinaryFeature
    value: bool = True

    @property
    def name(self) -> str:
        """The literal as text: `age <= 37.5`, `age > 37.5`, `color != red`, `not smoker`."""
        return self.feature.name if self.value else self.feature.negation

    @property
    def order(self) -> tuple[Any, ...]:
        """Key that orders literals by column, then by question and value."""
        requested, value = self.feature, self.feature.value
        question = (requested.kind, type(value).__name__, value, requested.missing or "")
        return (requested.column, *question, self.value)


@dataclass(frozen=True)
class Antecedent:
    """A conjunction of literals; it holds on the rows on which all of them hold.

    Parameters
    ----------
    literals : sequence of Literal or BinaryFeature
        At least one, in any order; they are stored once each and in one order, so two antecedents
        of the same literals are equal. A BinaryFeature stands for the literal that it holds.

    Examples
    --------
    >>> sex, age = BinaryFeature("sex", "==", "male"), BinaryFeature("age", "<=", 24.5)
    >>> Antecedent((Literal(sex, False), age)).name
    'age <= 24.5 and sex != male'
    """

    literals: tuple[Literal, ...]

    def __post_init__(self) -> None:
        given = {Literal(x) if isinstance(x, BinaryFeature) else x for x in self.literals}
        if not given:
            raise DataError(
                "An antecedent needs at least one literal; a rule without one is the default rule."
            )
        for x in given:
            if not isinstance(x, Literal):
                raise DataError(
                    f"An antecedent is made of literals and binary features, such as dataset.features[0]; got {x!r}."
                )
        object.__setattr__(self, "literals", tuple(sorted(given, key=lambda x: x.order)))

    @property
    def name(self) -> str:
        """The literals as text, joined by `and`."""
        return " and ".join(x.name for x in self.literals)

    @property
    def negation(self) -> str:
        """The question with the answer no as text."""
        if len(self.literals) > 1:
            return f"not ({self.name})"
        only = self.literals[0]
        return Literal(only.feature, not only.value).name

    @property
    def features(self) -> tuple[BinaryFeature, ...]:
        """The binary features of the literals, each once."""
        return tuple(dict.fromkeys(x.feature for x in self.literals))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that are asked for, each once."""
        return tuple(dict.fromkeys(x.feature.column for x in self.literals))

    def evaluate(self, rows: Any) -> np.ndarray:
        """1 on the rows on which the antecedent holds, uint8 of shape (n,).

        Parameters
        ----------
        rows : Dataset or view
            Rows with the values of the literals' features, or of the antecedent itself.
        """
        if self in rows.index:
            return np.array(rows.outcome(rows.index[self]), dtype=np.uint8)
        out = np.ones(rows.n_rows, dtype=np.uint8)
        for x in self.literals:
            held = rows.outcome(rows.index[x.feature])
            out &= held if x.value else 1 - held
        return out

    def to_json(self) -> dict[str, Any]:
        return {"literals": [{**x.feature.to_json(), "holds": x.value} for x in self.literals]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Antecedent:
        if any(type(x["holds"]) is not bool for x in data["literals"]):
            raise ValueError("whether a literal holds is true or false")
        return cls(
            tuple(
                Literal(
                    BinaryFeature.from_json({k: v for k, v in x.items() if k != "holds"}),
                    x["holds"],
                )
                for x in data["literals"]
            )
        )
