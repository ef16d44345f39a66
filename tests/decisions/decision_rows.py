"""Generated rows for trees that take decisions, and the regret of decisions by definition."""

import numpy as np

import milp_trees as mt


def paths(n=120, seed=0, degree=4, **more):
    return mt.decisions.shortest_path_data(n, degree=degree, noise=0.25, seed=seed, **more)


def regret(S, C, W):
    """PyEPO's definition, written out."""
    V = S.vertices()
    least = (C @ V.T).min(axis=1)
    return ((C * W).sum(axis=1) - least).sum() / np.abs(least).sum()
