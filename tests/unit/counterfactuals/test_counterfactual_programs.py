"""Counterfactuals by an integer program: of ensembles, and of trees to compare with their boxes."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from counterfactual_cases import Case
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.counterfactuals.ask import counterfactual

NAMES = ["a", "b", "c"]
#: Every row over three columns of whole numbers.
GRID = np.array(list(itertools.product(range(5), repeat=3)), dtype=float)


def fitted(kind, seed):
    rng = np.random.default_rng(seed)
    X = GRID[rng.integers(0, len(GRID), 40)]
    y = rng.integers(0, 3, 40)
    if kind == "pruned":
        forest = mt.read_ensemble(
            RandomForestClassifier(4, max_depth=3, random_state=seed).fit(X, y)
        )
        keep = forest.kept.copy()
        for node in np.flatnonzero(keep):
            parent = forest.parent[node]
            keep[node] = (parent < 0 or keep[parent]) and rng.random() < 0.8
        return forest.pruned(keep)
    made = {
        "forest": RandomForestClassifier(4, max_depth=3, random_state=seed),
        "boosted": GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=seed),
        "two": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=seed),
        "numbers": RandomForestRegressor(3, max_depth=3, random_state=seed),
    }[kind]
    return made.fit(X, y > 0 if kind == "two" else y)


@pytest.mark.parametrize("kind", ["forest", "pruned", "boosted", "two", "numbers"])
def test_the_nearest_row_of_an_ensemble_is_the_nearest_of_all_rows(kind):
    """Votes with ties too: the ensemble itself predicts every row."""
    data = pd.DataFrame(GRID, columns=["x0", "x1", "x2"])
    for seed in range(3):
        model = fitted(kind, seed)
        said = np.asarray(model.predict(GRID))
        own = 7 * seed + 3
        limits = {"at_least": float(said[own]) + 0.3} if kind == "numbers" else {}
        wanted = said >= limits["at_least"] if limits else said != said[own]
        fixed = ["x1"] if seed == 2 else []
        answer = counterfactual(model, GRID[own], data=data, immutable=fixed, **limits)
        off = np.abs(GRID - GRID[own]).astype(int)
        wanted &= (off[:, 1] == 0) if fixed else True
        least = Fraction(int(off[wanted].sum(axis=1).min()), 4) if wanted.any() else None
        assert answer.distance_exact == least, (seed, str(answer))
        assert answer.proved_by == "highs"
        if least is not None:
            assert float(answer.bound) == pytest.approx(float(least), abs=1e-6)
            assert "claim of highs" in answer.verify()[-1]


def test_a_row_with_a_missing_value_is_refused_where_the_answer_is_not_read():
    """A tree of scikit-learn sends a missing value somewhere, so filling it in may be needless."""
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1])
    with pytest.raises(DataError, match="'x0' is missing in the row"):
        counterfactual(model, np.array([np.nan, 0.0]))


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_boosting_of_one_tree_chooses_by_the_sign_of_its_sum(kind):
    size = "n_estimators" if kind is GradientBoostingClassifier else "max_iter"
    X = np.repeat(np.arange(2.0), 20)[:, None]
    model = kind(**{size: 1}, learning_rate=1.0).fit(X, np.repeat([0, 1], 20))
    found = counterfactual(model, np.array([0.0]), data=X)
    assert (found.prediction_before, found.prediction, found.distance) == (0, 1, 1.0)
    assert counterfactual(model, np.array([1.0]), 1, data=X).distance == 0


def test_a_model_of_one_node_takes_an_array():
    from sklearn.tree import DecisionTreeClassifier

    found = counterfactual(DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1]), [0.0])
    assert (found.status.value, found.prediction_before) == ("infeasible", 1)


def test_a_tree_or_rule_list_has_the_same_answer_by_program_and_by_boxes():
    for seed in range(8):
        case = Case(seed)
        boxes = counterfactual(case.model, case.row, **case.wishes)
        program = counterfactual(case.model, case.row, solver="highs", **case.wishes)
        assert program.status is boxes.status, seed
        if boxes.found:
            assert program.distance == pytest.approx(boxes.distance, rel=1e-6), seed
