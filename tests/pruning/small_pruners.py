"""Data sets, and pruners that are small enough to enumerate all their prunings."""

import itertools

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt

CANCER = load_breast_cancer(as_frame=True)
DIABETES = load_diabetes(as_frame=True)
IRIS = load_iris(as_frame=True)
FOREST = RandomForestClassifier(6, max_depth=4, random_state=0)


def tiny(seed, n_trees=2, **options):
    """A pruner with few enough prunings to enumerate."""
    X, y = make_classification(
        30, 4, n_informative=3, n_redundant=0, n_classes=2, flip_y=0.2, random_state=seed
    )
    X = np.round(X, 1)
    forest = RandomForestClassifier(n_trees, max_depth=2, random_state=seed)
    return mt.EnsemblePruner(estimator=forest, validation_fraction=None, **options).fit(X, y), X, y


def prunings(ensemble):
    """Every pruning as an array of kept splits."""
    splits = np.flatnonzero(ensemble.left >= 0)
    for kept in itertools.product([False, True], repeat=len(splits)):
        keep = np.zeros(ensemble.n_nodes, dtype=bool)
        keep[splits] = kept
        inner = splits[keep[splits] & (ensemble.parent[splits] >= 0)]
        if keep[ensemble.parent[inner]].all():
            yield keep
