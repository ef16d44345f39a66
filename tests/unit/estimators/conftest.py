"""A fitted pruner that several files of tests use."""

import pytest
from small_pruners import CANCER, FOREST

import milp_trees as mt


@pytest.fixture(scope="session")
def cancer():
    """A pruner on a small forest, selected on rows set aside."""
    return mt.EnsemblePruner(estimator=FOREST, random_state=0).fit(CANCER.data, CANCER.target)
