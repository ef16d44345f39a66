"""A fitted binarizer as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, Self

from milp_trees.common.errors import DataError
from milp_trees.data.rules import Rule

#: Thresholds of a column that a description lists; of more it gives the number.
FEW = 50


class StoredRules:
    """Base of `Binarizer`, whose constructor sets the parameters and whose `fit` the rules."""

    kind: str
    rules_: dict[str, Rule]
    threshold_note_: str
    n_features_in_: int

    def to_json(self) -> dict[str, Any]:
        """Kind, parameters, fitted rules and their loss.

        `from_json` makes a binarizer with the same features from it.
        """
        names = [name for name in signature(type(self)).parameters if name != "kind"]
        parameters = {name: getattr(self, name) for name in names}
        return {
            "kind": self.kind,
            "parameters": parameters,
            "columns": dict(self.rules_),
            "threshold_note": self.threshold_note_,
        }

    def described(self) -> dict[str, Any]:
        """As `to_json`, with the number of thresholds of a column instead of the thresholds.

        That is enough where fitting finds them again: without another choice they are all midpoints.
        """
        out = self.to_json()
        if self.kind in ("auto", "midpoints"):
            out["columns"] = {c: _counted(rule) for c, rule in self.rules_.items()}
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The binarizer that `to_json` described, or a binarizer to be fitted from `described`.

        Raises
        ------
        DataError
            The description is damaged.
        """
        note = data.get("threshold_note", "")
        if not isinstance(note, str):
            raise DataError(
                f"The stored binarizer is damaged: threshold_note is {note!r}, no text."
            )
        made: Any = cls
        out: Self = made(kind=data["kind"], **data.get("parameters", {}))
        if any(_is_count(rule) for rule in data["columns"].values()):
            return out
        out.rules_ = dict(data["columns"])
        out.threshold_note_ = note
        out.n_features_in_ = len(out.rules_)
        return out


def _counted(rule: Rule) -> Any:
    """The number of thresholds of a rule with more than a few; any other rule itself."""
    tests = rule if isinstance(rule, list) else rule.get("tests", []) if rule != "0/1" else []
    return len(tests) if len(tests) > FEW else rule


def _is_count(rule: Any) -> bool:
    """Whether a described rule is a number of thresholds."""
    return isinstance(rule, int)
