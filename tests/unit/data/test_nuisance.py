"""Propensities and outcomes from scikit-learn models."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.data.nuisance import with_nuisances


def trial(n=400, seed=0):
    """A treatment that helps where the first test is true, given more often there."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 3))
    chance = np.where(X[:, 0] == 1, 0.7, 0.3)
    given = (rng.random(n) < chance).astype(int)
    outcome = np.where(X[:, 0] == 1, 1.0, -1.0) * given + 0.1 * rng.normal(size=n)
    return (
        mt.Dataset(X, treatments=np.array(["control", "drug"])[given], outcomes=outcome),
        chance,
        given,
    )


def test_estimates_come_close_to_the_truth():
    data, chance, given = trial()
    found = with_nuisances(data)
    truth = np.where(given == 1, chance, 1 - chance)
    assert np.abs(found.propensities - truth).mean() < 0.05
    assert np.abs(found.values[:, 1] - np.where(data.X[:, 0] == 1, 1.0, -1.0)).mean() < 0.1
    assert found.actions == ("control", "drug")


@pytest.mark.parametrize(
    "task", [mt.tasks.InversePropensity(), mt.tasks.DirectMethod(), mt.tasks.DoublyRobust()]
)
def test_every_policy_task_finds_the_planted_policy(task):
    data, _, _ = trial()
    problem = mt.Problem(with_nuisances(data), task, mt.Trees(1))
    tree = mt.solve(problem, method="dp").tree
    assert (tree.predict(problem.dataset) == np.where(data.X[:, 0] == 1, "drug", "control")).all()


def test_no_row_is_predicted_by_a_model_that_saw_it():
    """A regressor that remembers its rows would predict the outcome exactly, were it fitted on the
    row itself.
    """
    from sklearn.neighbors import KNeighborsRegressor

    data, _, given = trial(60)
    features = np.arange(60.0)[:, None]
    found = with_nuisances(data, features, outcome_model=KNeighborsRegressor(1))
    assert (np.abs(found.values[np.arange(60), given] - data.outcomes) > 1e-9).all()


def test_a_rare_treatment_is_refused_with_the_remedy():
    data = mt.Dataset([[0], [1]] * 5, treatments=[0] * 9 + [1], outcomes=np.arange(10.0))
    with pytest.raises(mt.DataError, match="lower folds"):
        with_nuisances(data)
