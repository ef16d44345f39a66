"""Fixtures of several files here."""

import pytest
from pruner_cases import CANCER, FOREST

import milp_trees as mt


@pytest.fixture(scope="module")
def cancer():
    """A pruner on a small forest, selected on rows set aside."""
    return mt.EnsemblePruner(FOREST, random_state=0).fit(CANCER.data, CANCER.target)
