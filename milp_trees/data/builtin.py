"""Data sets that scikit-learn contains, by name; nothing is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Name → loader in `sklearn.datasets`.
BUILTIN = {
    "breast-cancer": "load_breast_cancer",
    "iris": "load_iris",
    "wine": "load_wine",
    "digits": "load_digits",
}


def builtin(name: str) -> tuple[pd.DataFrame, str]:
    """The table of a built-in data set, and the name of its target.

    The target is the last column and holds the names of the classes (`malignant`).
    """
    import numpy as np
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, BUILTIN[name])(as_frame=True)
    frame = bunch.data.copy()
    frame.columns = [str(c) for c in frame.columns]
    frame["target"] = np.asarray(bunch.target_names)[bunch.target.to_numpy()]
    return frame, "target"
