"""Fixtures of several files here."""

import numpy as np
import pytest
from small_pruners import CANCER, FOREST

import milp_trees as mt
from milp_trees.pruning.view import NodeGains


@pytest.fixture(scope="module")
def forest():
    """A problem: twelve trees of scikit-learn on 150 rows, prices 1 to 3."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(150, 12, n_informative=5, flip_y=0.1, random_state=0)
    ensemble = mt.read_ensemble(RandomForestClassifier(12, random_state=0).fit(X, y))
    dataset = mt.Dataset(np.zeros((150, 0)), y=y, numeric=X, columns=ensemble.columns)
    costs = mt.pruning.FeatureCosts({name: 1 + k % 3 for k, name in enumerate(ensemble.columns)})
    return mt.Problem(dataset, mt.pruning.PrunedError("0.01", costs), mt.PrunedEnsembles(ensemble))


@pytest.fixture(scope="module")
def medium(forest):
    """Its view."""
    return forest.view(NodeGains)


@pytest.fixture(scope="session")
def cancer():
    """A pruner on a small forest, selected on rows set aside."""
    return mt.EnsemblePruner(estimator=FOREST, random_state=0).fit(CANCER.data, CANCER.target)
