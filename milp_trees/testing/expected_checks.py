"""Checks of scikit-learn that an optimal model cannot pass, each with its reason."""

from __future__ import annotations

from typing import Any

#: Parameter that an estimator must have → check → reason.
EXPECTED = {
    "class_weight": {
        "check_class_weight_classifiers": (
            "With the weights 1000 and 0.0001 the check wants nearly all rows predicted as the heavy"
            " class. The optimal tree also predicts the light class in leaves that hold no row of the"
            " heavy one, because each such row lowers the weighted error, however little."
        )
    }
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of scikit-learn that an estimator of this package is expected to fail.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    dict of check name to reason
        As `check_estimator(estimator, expected_failed_checks=…)` takes it; the function itself is
        what `parametrize_with_checks([…], expected_failed_checks=…)` takes.

    Examples
    --------
    >>> import milp_trees as mt
    >>> list(expected_failed_checks(mt.OptimalTreeClassifier()))
    ['check_class_weight_classifiers']
    """
    names = estimator.get_params(deep=False)
    return {
        check: reason
        for parameter, checks in EXPECTED.items()
        if parameter in names
        for check, reason in checks.items()
    }
