"""Teachers of policies by name: models that estimate propensities and outcomes as a table is read.

They see 0/1 tests at the octiles of every column, never the thresholds that a tree gets, so the
estimates are the same when a stored result is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.data.roles import Columns

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from milp_trees.data.dataset import Dataset

#: What the models see of a column.
TESTS = "quantiles:8"


def check_teachers(given: Columns, alone: str = "") -> None:
    """Refuse models that contradict a column or lack one."""
    named = {
        "propensity": (given.propensity_model, given.propensity),
        "outcome": (given.outcome_model, given.values),
    }
    for role, (model, column) in named.items():
        if model is None:
            continue
        if alone:
            raise DataError(f"The {role} model {model} {alone}.")
        if column:
            what = "propensities" if role == "propensity" else "values of the actions"
            raise DataError(
                f"The {role} model {model} is given beside columns that hold the {what}; give one of them."
            )
        if given.treatment is None or given.outcome is None:
            raise DataError(
                f"The {role} model {model} needs the columns of the observed treatment and of its outcome; name both."
            )


def estimated(
    given: Columns, frame: pd.DataFrame, parts: tuple[Dataset, Dataset | None], rows: Any
) -> tuple[Dataset, Dataset | None]:
    """The training and test rows with what the named models estimate."""
    if given.propensity_model is None and given.outcome_model is None:
        return parts
    from milp_trees.data.binarize import Binarizer

    X = Binarizer.from_name(TESTS).fit(frame).dataset(frame).X
    train, test = (
        None if part is None else _taught(given, part, X[where])
        for part, where in zip(parts, rows, strict=True)
    )
    assert train is not None
    return train, test


def _taught(given: Columns, part: Dataset, X: np.ndarray) -> Dataset:
    from milp_trees.data.nuisance import with_nuisances

    full = with_nuisances(
        part,
        X,
        propensity_model=given.propensity_model or "share",
        outcome_model=given.outcome_model or "mean",
    )
    if given.propensity_model is None:
        return full.with_(propensities=part.propensities)
    if given.outcome_model is None:
        return part.with_(propensities=full.propensities)
    return full
