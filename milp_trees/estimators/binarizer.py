"""`mt.Binarizer`: the binarizer as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from milp_trees.data import binarize


class Binarizer(TransformerMixin, BaseEstimator, binarize.Binarizer):  # type: ignore[misc]
    __doc__ = binarize.Binarizer.__doc__

    def transform(self, X: Any) -> np.ndarray:
        """Value of every feature on every row, uint8 of shape (n, F)."""
        # `set_output` wraps a method only where the class itself defines it.
        return binarize.Binarizer.transform(self, X)
