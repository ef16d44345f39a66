"""Rules for the parameters of estimators; a value that breaks one gives one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from milp_trees.errors import DataError
from milp_trees.exact import fraction
from milp_trees.limits import Limits


class Whole(NamedTuple):
    """A whole number (True and False are none), or None where None has a meaning."""

    least: int
    optional: bool = False

    def allows(self, given: Any) -> bool:
        if given is None:
            return self.optional
        return (
            isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= self.least
        )

    def __str__(self) -> str:
        return f"a whole number of at least {self.least}{', or None' if self.optional else ''}"


class Number(NamedTuple):
    """A finite number of at least 0, or None.

    It may be given as text ("1/200") where it is read exactly.
    """

    optional: bool = False
    exact: bool = False

    def allows(self, given: Any) -> bool:
        if given is None:
            return self.optional
        if isinstance(given, (bool, np.bool_)) or not isinstance(
            given, (Real, str) if self.exact else Real
        ):
            return False
        if not isinstance(given, str) and not math.isfinite(given):
            return False
        try:
            number = fraction(given)
        except DataError:
            return False
        return number >= 0

    def __str__(self) -> str:
        return f"a finite number of at least 0{', or None' if self.optional else ''}"


class Flag(NamedTuple):
    """True or False."""

    def allows(self, given: Any) -> bool:
        return isinstance(given, (bool, np.bool_))

    def __str__(self) -> str:
        return "True or False"


class Name(NamedTuple):
    """A text or None; whether the name exists is checked where the names are defined."""

    optional: bool = False

    def allows(self, given: Any) -> bool:
        return (given is None and self.optional) or (isinstance(given, str) and bool(given))

    def __str__(self) -> str:
        return f"a name{' or None' if self.optional else ''}"


Rule = Whole | Number | Flag | Name


def check_parameters(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """Raise DataError for the first parameter of an estimator that breaks its rule.

    Rules for parameters that the estimator does not have are ignored. Time and memory limits are
    checked by `Limits`, and are in no table here.
    """
    Limits.asked(
        **{
            name: getattr(estimator, name)
            for name in ("time_limit", "threads")
            if hasattr(estimator, name)
        }
    )
    for name, rule in rules.items():
        given = getattr(estimator, name, None)
        if hasattr(estimator, name) and not rule.allows(given):
            raise DataError(f"{name} must be {rule}; got {given!r}.")


#: Parameters that mean the same in all estimators of trees.
OF_TREES: dict[str, Rule] = {
    "max_depth": Whole(0, optional=True),
    "max_leaf_nodes": Whole(1, optional=True),
    "min_samples_leaf": Whole(1),
    "n_bins": Whole(2),
    "cost_complexity": Number(exact=True),
    "leaf_penalty": Number(exact=True),
    "min_weight_leaf": Number(exact=True),
    "quantiles": Whole(2),
    "n_estimators": Whole(1),
    "one_standard_error": Flag(),
    "bootstrap": Flag(),
    "oob_score": Flag(),
    "keep_data": Flag(),
    "validation_fraction": Number(),
    "method": Name(),
    "engine": Name(optional=True),
    "splits": Name(),
    "aggregate": Name(),
}
#: Parameters of `EnsemblePruner`.
OF_PRUNING: dict[str, Rule] = {
    "lam": Number(optional=True, exact=True),
    "budget": Number(optional=True, exact=True),
    "node_cost": Number(exact=True),
    "leaf_cost": Number(exact=True),
    "errors": Name(),
    "reference": Name(),
    "loss": Name(),
    "denominator": Whole(1, optional=True),
    "exact": Flag(),
    "keep_data": Flag(),
}
#: Parameters of a tuned or budgeted forest; the forest checks further ones itself.
OF_FORESTS: dict[str, Rule] = {
    "bootstrap": Flag(),
    "free_after_use": Flag(),
    "alpha": Number(),
    "min_gain": Number(),
    "budget": Number(optional=True),
    "impurity": Name(),
    "voting": Name(),
}
#: Parameters of a Binarizer.
OF_BINARIZERS: dict[str, Rule] = {
    "n_bins": Whole(2),
    "max_midpoints": Whole(0),
    "n_estimators": Whole(1),
    "max_depth": Whole(1),
    "back_select": Flag(),
    "max_categories": Whole(1),
}
