"""A data set and its names, for the tests of ensembles."""

import numpy as np
from sklearn.datasets import load_wine

import milp_trees as mt

WINE_X, WINE_Y = load_wine(return_X_y=True)


NAMES = np.array(["a", "b", "c"])[WINE_Y]


def data(ensemble, X, y, **more):
    return mt.Dataset(np.zeros((len(X), 0)), numeric=X, columns=ensemble.columns, y=y, **more)


def gains(ensemble, X, y):
    return mt.Problem(
        data(ensemble, X, y), mt.pruning.PrunedError("1/100"), mt.PrunedEnsembles(ensemble)
    ).view(mt.pruning.NodeGains)
