"""Small paths of prunings, for the tests of the pruner."""

import itertools

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    RandomForestClassifier,
)

import milp_trees as mt


def tiny(seed, n_trees=2, **options):
    """A pruner with few enough prunings to enumerate."""
    X, y = make_classification(
        30, 4, n_informative=3, n_redundant=0, n_classes=2, flip_y=0.2, random_state=seed
    )
    X = np.round(X, 1)
    forest = RandomForestClassifier(n_trees, max_depth=2, random_state=seed)
    return mt.EnsemblePruner(forest, validation=None, **options).fit(X, y), X, y


def prunings(ensemble):
    """Every pruning as an array of kept splits."""
    splits = np.flatnonzero(ensemble.left >= 0)
    for kept in itertools.product([False, True], repeat=len(splits)):
        keep = np.zeros(ensemble.n_nodes, dtype=bool)
        keep[splits] = kept
        inner = splits[keep[splits] & (ensemble.parent[splits] >= 0)]
        if keep[ensemble.parent[inner]].all():
            yield keep


# -- the choice ------------------------------------------------------------------------------------------------------


def curve(errors, costs):
    return pd.DataFrame(
        {
            "validation_error": errors,
            "validation_cost": costs,
            "standard_error": 0.03,
            "splits": [9, 5, 2, 0][: len(errors)],
        }
    )
