"""SPOForest: what its trees are grown on, how their answers are combined, and the rows out of bag."""

import numpy as np
import pytest
from decision_rows import paths, regret
from row_tests import each_row

import milp_trees as mt
from milp_trees.decisions.engines.greedy_spo.coder import Coder
from milp_trees.decisions.engines.greedy_spo.fitting import CostSample
from milp_trees.decisions.estimators._spo import GREEDY


def test_a_forest_is_the_same_for_any_number_of_jobs():
    data = paths(60)
    options = {
        "decisions": data.decisions,
        "min_samples_leaf": 3,
        "random_state": 7,
        "oob_score": True,
    }
    one, two = (
        mt.SPOForest(n_estimators=6, n_jobs=jobs, **options).fit(data.X, data.C) for jobs in (1, 2)
    )
    assert (one.apply(data.X) == two.apply(data.X)).all()
    assert (one.predict(data.X) == two.predict(data.X)).all()
    assert one.oob_score_ == two.oob_score_
    other = mt.SPOForest(n_estimators=6, **{**options, "random_state": 8}).fit(data.X, data.C)
    assert not np.array_equal(other.predict(data.X), one.predict(data.X))


def test_a_forest_averages_the_trees_grown_on_its_samples():
    """Every leaf holds the mean of its drawn rows, weights with them; the forest's costs are the
    mean of the trees', decided once.
    """
    data = paths(60)
    w = np.random.default_rng(0).integers(1, 4, 60)
    forest = mt.SPOForest(
        n_estimators=7, decisions=data.decisions, min_samples_leaf=4, random_state=0
    ).fit(data.X, data.C, sample_weight=w)
    leaves, total = forest.apply(data.X), np.zeros_like(data.C)
    for t, rows in enumerate(forest.estimators_samples_):
        assert len(rows) == 60
        for leaf in np.unique(leaves[:, t]):
            drawn = rows[leaves[rows, t] == leaf]
            assert len(drawn) >= 4
            total[leaves[:, t] == leaf] += np.average(data.C[drawn], axis=0, weights=w[drawn])
    assert forest.predict(data.X) == pytest.approx(total / 7)
    assert (
        forest.decide(data.X).tolist()
        == data.decisions.solve(forest.predict(data.X)).decisions.tolist()
    )
    assert len({tuple(rows) for rows in forest.estimators_samples_}) == 7


@each_row("listed", [True, False])
@each_row("method", GREEDY)
def test_a_tree_of_a_forest_is_the_tree_grown_on_its_drawn_rows(method, listed):
    """Counts and weights of the draws enter splits and smallest leaves: repeating the rows instead
    gives the same leaves.
    """
    data = paths(60)
    V = data.decisions.vertices()
    S = (
        data.decisions
        if listed
        else mt.decisions.Oracle(lambda C: V[(C @ V.T).argmin(axis=1)], V.shape[1], batch=True)
    )
    w = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    options = {"method": method, "min_samples_leaf": 4, "max_depth": 4, "random_state": 0}
    forest = mt.SPOForest(n_estimators=5, decisions=S, max_features=None, **options).fit(
        data.X, data.C, sample_weight=w
    )
    leaves = forest.apply(data.X)
    for t, rows in enumerate(forest.estimators_samples_):
        table = {str(j): data.X[rows, j] for j in range(5)}
        again = CostSample(data.C[rows], w[rows], S).grow(
            Coder(table).columns(table), mt.Trees(4, min_samples_leaf=4), GREEDY[method], 100
        )
        assert [set(rows[again.rows[k]]) for k in again.leaves] == [
            set(rows[leaves[rows, t] == k]) for k in range(len(again.leaves))
        ]


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_rows_out_of_bag_are_judged_by_the_trees_that_left_them_out(voting):
    data = paths(80)
    forest = mt.SPOForest(
        n_estimators=8,
        decisions=data.decisions,
        min_samples_leaf=4,
        oob_score=True,
        voting=voting,
        random_state=0,
    ).fit(data.X, data.C)
    out = np.array([~np.isin(np.arange(80), rows) for rows in forest.estimators_samples_])
    codes = forest._codes(data.X)
    each = np.array([tree.predict(codes) for tree in forest.estimators_])
    seen = out.any(axis=0)
    mean = np.array([each[out[:, i], i].mean(axis=0) for i in np.flatnonzero(seen)])
    assert forest.oob_prediction_[seen] == pytest.approx(mean)
    assert np.isnan(forest.oob_prediction_[~seen]).all()
    taken = data.decisions.solve(mean).decisions
    if voting == "hard":
        taken = []
        for i in np.flatnonzero(seen):
            votes = [tuple(w) for w in data.decisions.solve(each[out[:, i], i]).decisions.tolist()]
            taken.append(min(set(votes), key=lambda w: (-votes.count(w), w)))
    assert forest.oob_score_ == pytest.approx(
        -regret(data.decisions, data.C[seen], np.array(taken))
    )


def test_columns_are_drawn_at_every_node():
    """With one column drawn per node the trees use several columns where a single best column would
    do.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    C = np.column_stack([X[:, 0], -X[:, 0]])
    every = mt.SPOForest(n_estimators=10, max_features=None, max_depth=1, random_state=0).fit(X, C)
    drawn = mt.SPOForest(n_estimators=30, max_features=1, max_depth=1, random_state=0).fit(X, C)

    def roots(forest):
        return {int(tree.column[0]) for tree in forest.estimators_}

    assert roots(every) == {0}
    assert roots(drawn) == {0, 1, 2}


def test_constant_columns_leave_one_leaf():
    X, C = np.ones((10, 2)), np.random.default_rng(0).normal(size=(10, 3))
    assert mt.SPOTree().fit(X, C).get_n_leaves() == 1
    assert mt.SPOForest(n_estimators=3).fit(X, C).get_n_leaves() == 3
