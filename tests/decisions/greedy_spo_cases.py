"""Decisions for the tests of greedy trees."""

import numpy as np

import milp_trees as mt


def vertices(rng, d=4, k=6):
    return np.unique(rng.integers(0, 3, (k, d)), axis=0).astype(float)


def decisions_of(V, listed):
    """The same set as a list, or behind a function."""
    if listed:
        return mt.decisions.ListedDecisions(V)
    return mt.decisions.Oracle(lambda C: V[(C @ V.T).argmin(axis=1)], V.shape[1], batch=True)
