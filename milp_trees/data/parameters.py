"""Rules for the parameters of estimators; a value that is not allowed gives one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.common.limits import MOST_THREADS, Limits


class Whole(NamedTuple):
    """A whole number (not a Boolean) of at least `least`; also None if `optional`."""

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
    """A finite number of at least 0; also None if `optional`.

    With `exact` it may be written as text such as "1/200", which is read as a fraction.
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


class Slack(NamedTuple):
    """A finite number of at least `least`, or "one-se" for one standard error."""

    least: float = -math.inf

    def allows(self, given: Any) -> bool:
        if isinstance(given, str):
            return given == "one-se"
        return (
            isinstance(given, Real)
            and not isinstance(given, bool)
            and math.isfinite(given)
            and float(given) >= self.least
        )

    def __str__(self) -> str:
        least = "" if math.isinf(self.least) else f" of at least {self.least:g}"
        return f"a finite number{least} or 'one-se'"


class Jobs(NamedTuple):
    """A number of processes or threads as in joblib, where -1 means all cores; or None."""

    def allows(self, given: Any) -> bool:
        return given is None or (
            isinstance(given, Integral)
            and not isinstance(given, bool)
            and given != 0
            and abs(int(given)) <= MOST_THREADS
        )

    def __str__(self) -> str:
        return f"a whole number from 1 to {MOST_THREADS}, -1 for all cores, or None"


class Flag(NamedTuple):
    """True or False."""

    def allows(self, given: Any) -> bool:
        return isinstance(given, (bool, np.bool_))

    def __str__(self) -> str:
        return "True or False"


class Verbosity(NamedTuple):
    """True, False, or a whole number as in scikit-learn: above 0 it means True."""

    def allows(self, given: Any) -> bool:
        return isinstance(given, (bool, np.bool_)) or Whole(0).allows(given)

    def __str__(self) -> str:
        return "True, False, or a whole number of at least 0"


class Name(NamedTuple):
    """A text that is not empty; also None if `optional`.

    Whether the name exists is checked where it is used.
    """

    optional: bool = False

    def allows(self, given: Any) -> bool:
        return (given is None and self.optional) or (isinstance(given, str) and bool(given))

    def __str__(self) -> str:
        return f"a name{' or None' if self.optional else ''}"


Rule = Whole | Number | Slack | Jobs | Flag | Verbosity | Name


def check_parameters(estimator: Any, rules: Mapping[str, Rule]) -> None:
    """Check the parameters of an estimator; rules for parameters that it lacks are ignored.

    `time_limit` has the rule of `Limits`, and is in no table.
    """
    if hasattr(estimator, "time_limit"):
        Limits.asked(time_limit=estimator.time_limit)
    for name, rule in rules.items():
        given = getattr(estimator, name, None)
        if hasattr(estimator, name) and not rule.allows(given):
            raise DataError(f"{name} must be {rule}; got {given!r}.")


#: Parameters that mean the same in all estimators that fit trees by this package's methods.
OF_TREES: dict[str, Rule] = {
    "max_depth": Whole(0, optional=True),
    "max_leaf_nodes": Whole(1, optional=True),
    "min_samples_leaf": Whole(1),
    "length_penalty": Number(exact=True),
    "max_length": Whole(0, optional=True),
    "min_samples_rule": Whole(1),
    "n_bins": Whole(2),
    "ccp_alpha": Number(exact=True),
    "max_disparity": Number(exact=True),
    "min_weight_leaf": Number(exact=True),
    "min_samples_treatment": Whole(0),
    "n_estimators": Whole(1),
    "n_jobs": Jobs(),
    "slack": Slack(least=0),
    "bootstrap": Flag(),
    "oob_score": Flag(),
    "keep_data": Flag(),
    "verbose": Verbosity(),
    "split_on_group": Flag(),
    "validation_fraction": Number(),
    "honest_fraction": Number(),
    "method": Name(),
    "voting": Name(),
}
#: Parameters of `EnsemblePruner`.
OF_PRUNING: dict[str, Rule] = {
    "lam": Number(optional=True, exact=True),
    "budget": Number(optional=True, exact=True),
    "node_cost": Number(exact=True),
    "leaf_cost": Number(exact=True),
    "errors": Name(),
    "slack": Slack(),
    "reference": Name(),
    "loss": Name(),
    "denominator": Whole(1, optional=True),
    "exact": Flag(),
    "keep_data": Flag(),
    "verbose": Verbosity(),
}
#: Parameters of `BudgetForestClassifier`; the others are checked in its family.
OF_FORESTS: dict[str, Rule] = {
    "bootstrap": Flag(),
    "verbose": Verbosity(),
    "free_after_use": Flag(),
    "alpha": Number(),
    "min_gain": Number(),
    "budget": Number(optional=True),
    "criterion": Name(),
    "n_jobs": Jobs(),
    "voting": Name(),
}
#: Parameters of `Binarizer`.
OF_BINARIZERS: dict[str, Rule] = {
    "n_bins": Whole(2),
    "max_thresholds": Whole(1),
    "n_estimators": Whole(1),
    "max_depth": Whole(1),
    "back_select": Flag(),
    "max_categories": Whole(1),
    "category_sets": Whole(0),
}
