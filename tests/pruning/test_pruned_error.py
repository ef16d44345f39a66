"""The objective of prunings: what the task recomputes row by row, what the view adds up and what an
independent count says are the same numbers.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.models.read_ensemble import out_of_bag
from milp_trees.pruning.feature_costs import FeatureCosts, Group
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.testing.random_prunings import all_prunings, random_problem

WINE_X, WINE_Y = load_wine(return_X_y=True)
COLUMNS = [f"x{j}" for j in range(13)]
WINE = mt.Dataset(np.zeros((178, 0)), numeric=WINE_X, columns=COLUMNS, y=WINE_Y)
FOREST = RandomForestClassifier(4, max_depth=4, random_state=0).fit(WINE_X, WINE_Y)
ENSEMBLE = mt.read_ensemble(FOREST)


def random_costs(rng, names, n):
    """Prices of every kind at once: hierarchies three levels high, groups once for all inside and
    outside of others, free members.
    """
    price = lambda most: Fraction(int(rng.integers(0, most)), int(rng.choice([1, 2, 3, 7])))  # noqa: E731
    members, groups = list(names), []
    for g in range(int(rng.integers(0, 5))):
        chosen = [
            str(m)
            for m in rng.choice(members, int(rng.integers(1, len(members) + 1)), replace=False)
        ]
        groups.append(Group(f"group {g}", chosen, price(5), once=bool(rng.random() < 0.4)))
        members.append(f"group {g}")
    features = {name: price(6) for name in names if rng.random() < 0.7}
    per_row = (
        np.array([[price(4) for _ in names] for _ in range(n)], dtype=object)
        if rng.random() < 0.3
        else None
    )
    node, leaf = (price(3) if rng.random() < 0.4 else 0 for _ in range(2))
    return FeatureCosts(features, per_row, groups, node, leaf)


def by_hand(problem, ensemble):
    """(error, cost) of a pruning: every row walks every tree, and pays with fractions."""
    data, task = problem.dataset, problem.task
    n, T, costs = data.n_rows, ensemble.n_trees, task.costs
    X = ensemble.checked(data.numeric)
    w_error = np.broadcast_to(np.reshape(task.error_weights, (n, -1)), (n, T))
    wrong = total = paid = everybody = Fraction(0)
    devices = set()
    prices = costs.prices(ensemble.features)
    for i in range(n):
        needs, visited = set(), 0
        for t, root in enumerate(ensemble.roots.tolist()):
            h = root
            while ensemble.kept[h]:
                needs.add(ensemble.features[ensemble.feature[h]])
                visited += 1
                h = int(
                    ensemble.left[h]
                    if X[i, ensemble.column[h]] <= ensemble.threshold[h]
                    else ensemble.right[h]
                )
            label = ensemble.classes[int(ensemble.value[h].argmax())]
            total += Fraction(w_error[i, t])
            wrong += Fraction(w_error[i, t]) * (label != data.classes[data.y[i]])
        own = costs.per_row[i] if costs.per_row is not None else prices
        row = sum((Fraction(own[ensemble.features.index(k)]) for k in needs), visited * costs.node)
        bought = set(needs)
        for _ in costs.groups:
            bought |= {g.name for g in costs.groups if bought & set(g.members)}
        row += sum(Fraction(g.cost) for g in costs.groups if g.name in bought and not g.once)
        weight = Fraction(task.cost_weights[i])
        paid, everybody = paid + weight * row, everybody + weight
        if weight:
            devices |= {g.name for g in costs.groups if g.name in bought and g.once}
    paid += sum(Fraction(g.cost) for g in costs.groups if g.name in devices)
    return wrong / total, paid / everybody + costs.leaf * (int(ensemble.kept.sum()) + T)


def random_pruning(rng, ensemble):
    keep, share = np.zeros(ensemble.n_nodes, dtype=bool), rng.random()
    for h in np.flatnonzero(ensemble.left >= 0).tolist():
        keep[h] = rng.random() < share and (ensemble.parent[h] < 0 or keep[ensemble.parent[h]])
    return ensemble.pruned(keep)


def weights(rng, shape):
    """Whole, decimal or rational weights, many of them zero."""
    whole = rng.integers(0, 4, shape)
    whole.flat[0] = 1
    return [
        whole,
        whole * 0.25,
        np.array([Fraction(int(v), 3) for v in whole.ravel()] + [None], dtype=object)[:-1].reshape(
            shape
        ),
    ][rng.integers(3)]


def problem_with(seed, n_rows=6, n_features=4):
    """A random problem with the prices and weights above."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 1 + seed % 3, 2, n_features, n_rows)
    T = problem.space.ensemble.n_trees
    shape = (n_rows, T) if rng.random() < 0.5 else (n_rows,)
    costs = random_costs(rng, problem.space.ensemble.features, n_rows)
    lam = Fraction(int(rng.integers(0, 5)), 7)
    return rng, replace(
        problem, task=mt.pruning.PrunedError(lam, costs, weights(rng, shape), weights(rng, n_rows))
    )


@pytest.mark.slow
@each_row("seed", range(150))
def test_task_view_and_a_count_by_hand_agree_and_the_cut_is_the_best_of_all(seed):
    rng, problem = problem_with(seed)
    view, whole = problem.view(mt.pruning.NodeGains), problem.space.ensemble
    for _ in range(4):
        pruning = random_pruning(rng, whole)
        error, cost = by_hand(problem, pruning)
        assert problem.task.parts(pruning.routes(problem.dataset), problem.dataset) == (error, cost)
        E, C = view.totals(pruning.kept)
        assert (E * view.error_unit, C * view.cost_unit + view.cost_offset) == (error, cost)
        assert (
            problem.value(pruning).exact
            == view.to_value(view.objective(pruning))
            == error + problem.task.lam * cost
        )
    if seed < 60:
        best = min(view.objective(p) for p in all_prunings(whole))
        assert view.from_value(mt.solve(problem, "min-cut").value.exact) == best


def test_on_a_forest_out_of_bag_errors_are_those_of_the_rows_that_a_tree_did_not_see():
    rng = np.random.default_rng(1)
    unseen = out_of_bag(FOREST, 178)
    costs = random_costs(rng, COLUMNS, 178)
    problem = mt.Problem(
        WINE,
        mt.pruning.PrunedError("1/50", costs, unseen, np.ones(178)),
        mt.PrunedEnsembles(ENSEMBLE),
    )
    view = problem.view(mt.pruning.NodeGains)
    assert view.error_unit == Fraction(1, int(unseen.sum()))
    for _ in range(5):
        pruning = random_pruning(rng, ENSEMBLE)
        assert problem.task.parts(pruning.routes(WINE), WINE) == by_hand(problem, pruning)
        assert problem.value(pruning).exact == view.to_value(view.objective(pruning))
    whole = [
        (tree.predict(WINE_X) != WINE_Y) @ unseen[:, t] for t, tree in enumerate(FOREST.estimators_)
    ]
    assert problem.task.parts(ENSEMBLE.routes(WINE), WINE)[0] == Fraction(
        int(sum(whole)), int(unseen.sum())
    )


def test_row_weights_of_the_dataset_count_in_both_parts():
    w = np.random.default_rng(0).integers(0, 3, 178).astype(float)
    weighted = mt.Problem(
        WINE.with_(weights=w), mt.pruning.PrunedError(1), mt.PrunedEnsembles(ENSEMBLE)
    )
    stated = mt.Problem(
        WINE,
        mt.pruning.PrunedError(1, error_weights=w, cost_weights=w),
        mt.PrunedEnsembles(ENSEMBLE),
    )
    repeated = mt.Problem(
        WINE.subset(np.repeat(np.arange(178), w.astype(int))),
        mt.pruning.PrunedError(1),
        mt.PrunedEnsembles(ENSEMBLE),
    )
    assert (
        weighted.value(ENSEMBLE).exact
        == stated.value(ENSEMBLE).exact
        == repeated.value(ENSEMBLE).exact
    )


def test_beside_the_value_stand_its_parts_and_the_error_of_the_vote():
    problem = mt.Problem(WINE, mt.pruning.PrunedError("1/10"), mt.PrunedEnsembles(ENSEMBLE))
    reported = problem.extra_scores(ENSEMBLE)
    assert reported["vote_error"] == pytest.approx(np.mean(FOREST.predict(WINE_X) != WINE_Y))
    assert reported["error"] == pytest.approx(
        np.mean([np.mean(tree.predict(WINE_X) != WINE_Y) for tree in FOREST.estimators_])
    )
    assert reported["error"] + reported["cost"] / 10 == pytest.approx(
        problem.value(ENSEMBLE).number
    )


def test_beside_a_regression_stands_the_squared_error_of_its_mean():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, y)
    ensemble = mt.read_ensemble(forest)
    problem = mt.Problem(
        mt.Dataset(np.zeros((len(y), 0)), numeric=X, columns=ensemble.columns, y=y),
        mt.pruning.PrunedError(0),
        mt.PrunedEnsembles(ensemble),
    )
    assert problem.extra_scores(ensemble)["mean_squared_error"] == pytest.approx(
        np.mean((forest.predict(X) - y) ** 2)
    )
    assert problem.value(ensemble).number == pytest.approx(
        np.mean([(t.predict(X) - y) ** 2 for t in forest.estimators_])
    )


def test_classes_of_the_data_are_matched_by_name():
    """Data that lack a class, or spell numbers as text, are counted on the ensemble's classes."""
    few = WINE.subset(WINE_Y > 0)
    lacking = mt.Dataset(
        np.zeros((few.n_rows, 0)),
        numeric=few.numeric,
        columns=COLUMNS,
        y=WINE_Y[WINE_Y > 0].astype(str),
    )
    problem = mt.Problem(lacking, mt.pruning.PrunedError(0), mt.PrunedEnsembles(ENSEMBLE))
    assert (
        problem.value(ENSEMBLE).exact
        == mt.Problem(few, mt.pruning.PrunedError(0), mt.PrunedEnsembles(ENSEMBLE))
        .value(ENSEMBLE)
        .exact
    )


def test_a_budget_is_kept_exactly():
    problem = EXAMPLES["two-items"]()
    whole = problem.space.ensemble
    cost = problem.task.parts(whole.routes(problem.dataset), problem.dataset)[1]
    at, below = (
        replace(problem, task=replace(problem.task, max_cost=most))
        for most in (cost, cost - Fraction(1, 10**9))
    )
    assert at.violations(whole) == []
    assert "at most" in below.violations(whole)[0]
    assert (
        at.view(mt.pruning.NodeGains).budget == at.view(mt.pruning.NodeGains).totals(whole.kept)[1]
    )
    assert below.view(mt.pruning.NodeGains).budget < at.view(mt.pruning.NodeGains).budget


def test_a_pruning_of_another_ensemble_is_no_answer():
    other = mt.read_ensemble(BaggingClassifier(n_estimators=2, random_state=0).fit(WINE_X, WINE_Y))
    problem = mt.Problem(WINE, mt.pruning.PrunedError(0), mt.PrunedEnsembles(ENSEMBLE))
    assert "its trees are others" in problem.violations(other)[0]


@each_row(
    ("options", "sentence"),
    [
        ({"lam": -1}, "lam must not be negative"),
        ({"lam": None}, "lam must be a number"),
        ({"lam": "x"}, "lam must be a number"),
        ({"lam": float("nan")}, "lam must be finite"),
        ({"loss": "logistic"}, "loss is 'auto'"),
        ({"loss": "squared"}, "predicts classes"),
        ({"max_cost": -1}, "max_cost must not be negative"),
        ({"max_cost": "x"}, "max_cost must be a number"),
        ({"error_weights": [1, 2]}, r"error_weights must have shape \(178,\) or \(178, 4\)"),
        ({"error_weights": [[1], [1, 2]]}, "differ in length"),
        ({"error_weights": ["x"] * 178}, "An entry of error_weights must be a number"),
        ({"error_weights": [None] * 178}, "An entry of error_weights must be a number"),
        ({"error_weights": -np.ones(178)}, "finite and not negative"),
        ({"error_weights": np.full(178, np.nan)}, "finite and not negative"),
        ({"error_weights": np.zeros(178)}, "count errors sum to 0"),
        (
            {"error_weights": np.random.default_rng(0).random(178)},
            "more digits than exact arithmetic takes",
        ),
        ({"cost_weights": 3}, "one entry per row"),
        ({"cost_weights": np.ones((178, 4))}, "one entry per row"),
        ({"cost_weights": np.zeros(178)}, "pay for features sum to 0"),
        ({"cost_weights": np.full(178, np.inf)}, "finite and not negative"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(options, sentence):
    with pytest.raises(mt.DataError, match=sentence):
        mt.Problem(
            WINE, mt.pruning.PrunedError(**{"lam": 1, **options}), mt.PrunedEnsembles(ENSEMBLE)
        ).view(mt.pruning.NodeGains)


def test_data_that_do_not_fit_the_ensemble_are_refused():
    regression = mt.read_ensemble(RandomForestRegressor(2, max_depth=2).fit(WINE_X, WINE_Y))
    labels = WINE.with_(y=np.array(["q"] * 178))
    for data, ensemble, options, sentence in (
        (WINE.with_(y=None), ENSEMBLE, {}, "needs `y`"),
        (labels, ENSEMBLE, {}, "none in common"),
        (labels, regression, {}, "this one holds labels"),
        (WINE, regression, {"loss": "error"}, "loss='squared'"),
        (
            WINE.with_(weights=np.random.default_rng(0).random(178)),
            ENSEMBLE,
            {},
            "The row weights have more digits",
        ),
        (WINE.with_(y=WINE_Y * 1e200), regression, {}, "divide the target"),
    ):
        with pytest.raises(mt.DataError, match=sentence):
            mt.Problem(
                data, mt.pruning.PrunedError(0, **options), mt.PrunedEnsembles(ensemble)
            ).view(mt.pruning.NodeGains)
    with pytest.raises(mt.errors.NoView, match="PrunedEnsembles"):
        mt.Problem(WINE, mt.pruning.PrunedError(0), mt.Trees(2)).view(mt.pruning.NodeGains)


def test_a_stored_pruning_is_read_by_its_own_ensemble_only():
    """With another number of trees, or nodes that are not there, it is refused."""
    space = EXAMPLES["figure-1"]().space
    for pruning in all_prunings(space.ensemble):
        stored = pruning.to_json()
        assert np.array_equal(space.read(stored).kept, pruning.kept)
        for wrong in ({"trees": space.ensemble.n_trees + 1}, {"kept": [space.ensemble.n_nodes]}):
            with pytest.raises(DataError):
                space.read({**stored, **wrong})
