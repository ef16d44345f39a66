"""Losses of predicted numbers: `dp` against recursion over sets of rows in exact fractions, with logarithms
between rational ends; what the losses are in the words of others; data that they refuse.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.logarithms import log_between
from milp_trees.tasks.survival import nelson_aalen
from milp_trees.tasks.survival_scores import concordance, integrated_brier_score

LOSSES = ("gini", "log-loss", "poisson", "gamma", "survival", "squared-error")


def entropy(a, b):
    """a log(a/b), 0 for a = 0."""
    return a * log_between(a / b) if a else Fraction(0)


def hazards(time, event, w):
    """Nelson and Aalen's estimate at the time of every row, as fractions."""
    found, total = [], sum(w)
    for t in time:
        steps = {
            s: Fraction(
                sum(a for a, x, e in zip(w, time, event, strict=True) if x == s and e),
                sum(a for a, x in zip(w, time, strict=True) if x >= s) or 1,
            )
            for s in {x for x in time if x <= t}
        }
        found.append(sum(steps.values()))
    before = min([h for h in found if h] + [1 / (total + 1)])
    return [h or before for h in found]


def leaf_cost(name, dataset):
    """Loss of the best prediction of some rows, as a function of their indices."""
    w = [Fraction(str(x)) for x in dataset.row_weights.tolist()]
    if name in ("gini", "log-loss"):
        classes = [int(k) for k in dataset.y]

        def cost(rows):
            n = sum(w[i] for i in rows)
            counts = [sum(w[i] for i in rows if classes[i] == k) for k in set(classes)]
            if not n:
                return Fraction(0)
            if name == "gini":
                return n - sum(c * c for c in counts) / n
            return -sum(entropy(c, n) for c in counts)

        return cost
    if name == "survival":
        time, event = dataset.targets.T.tolist()
        own = hazards(time, event, w)
        amounts = [a * int(e) for a, e in zip(w, event, strict=True)]
        exposures, factor = [a * h for a, h in zip(w, own, strict=True)], 1
    else:
        y = [Fraction(str(dataset.classes[k])) for k in dataset.y]
        if name == "squared-error":
            return lambda rows: (
                sum(w[i] * y[i] ** 2 for i in rows)
                - sum(w[i] * y[i] for i in rows) ** 2 / (sum(w[i] for i in rows) or 1)
            )
        many, factor = [a * b for a, b in zip(w, y, strict=True)], 2
        amounts, exposures = (many, w) if name == "poisson" else (w, many)

    def cost(rows):
        rows = [i for i in rows if w[i]]
        D, H = sum(amounts[i] for i in rows), sum(exposures[i] for i in rows)
        return factor * (
            sum(entropy(amounts[i], exposures[i]) for i in rows) - (entropy(D, H) if D else 0)
        )

    return cost


def best_value(problem):
    """The smallest value, by recursion over sets of rows; None if no tree is feasible."""
    dataset, task, space = problem.dataset, problem.task, problem.trees
    cost = leaf_cost(task.name, dataset)
    everyone = tuple(range(dataset.n_rows))
    one = cost(everyone)
    unit = 1 if not task.penalised or one < Fraction(1, 2**80) else 1 / one
    least = Fraction(str(space.min_weight_leaf or 0))
    known = {}

    def best(rows, levels):
        if (rows, levels) not in known:
            options = []
            weight = sum(Fraction(str(dataset.row_weights[i])) for i in rows)
            if len(rows) >= space.min_samples_leaf and weight >= least:
                options.append(cost(rows) * unit + task.leaf_penalty)
            for j, test in enumerate(dataset.features) if levels else ():
                sides = [tuple(i for i in rows if dataset.X[i, j] == side) for side in (0, 1)]
                if all(sides):
                    parts = [best(side, levels - 1) for side in sides]
                    price = task.split_penalty + (task.feature_costs or {}).get(test.column, 0)
                    if None not in parts:
                        options.append(sum(parts) + price)
            known[rows, levels] = min(options, default=None)
        return known[rows, levels]

    return best(everyone, space.max_depth)


def random_problem(name, seed):
    """Few rows, many of them equal, with all kinds of limits and prices."""
    rng = np.random.default_rng([seed, LOSSES.index(name)])
    n, F = int(rng.integers(1, 13)), int(rng.integers(1, 5))
    fields = {"weights": rng.integers(0, 5, n) / 4 + (rng.random() < 0.5)}
    if not fields["weights"].any() or rng.random() < 0.4:
        fields["weights"] = None
    if name == "survival":
        share = rng.choice([0, 0.3, 0.7, 1])
        time = rng.integers(0, 9, n) if rng.random() < 0.7 else rng.random(n).round(3) * 100
        fields |= {
            "targets": np.column_stack([time, rng.random(n) < share]),
            "target_names": ("time", "event"),
        }
    elif name in ("gini", "log-loss"):
        K = int(rng.integers(1, 5))
        fields |= {"y": rng.integers(0, K, n), "classes": tuple("abcde"[: K + 1])}
    else:
        y = rng.choice([rng.integers(0, 3, n), rng.integers(0, 400, n) / 8, rng.poisson(30, n)])
        fields |= {"y": y + (0.25 if name == "gamma" else 0)}
    options = {}
    if rng.random() < 0.6:
        options = {"leaf_penalty": Fraction(int(rng.integers(0, 5)), 40)}
        options["split_penalty"] = Fraction(int(rng.integers(0, 3)), 50)
        options["feature_costs"] = {"0": Fraction(1, 30)} if rng.random() < 0.5 else None
    limits = {"min_samples_leaf": int(rng.integers(1, 4))}
    if fields["weights"] is not None and rng.random() < 0.5:
        limits["min_weight_leaf"] = 1.25
    dataset = mt.Dataset(rng.integers(0, 2, (n, F)), **fields)
    space = mt.Trees(int(rng.integers(0, 4)), **limits)
    return mt.Problem(dataset, mt.registry.task(name)(**options), space)


def check(name, seed):
    """`dp` finds the smallest value, proves it, and its bound holds."""
    problem = random_problem(name, seed)
    best, result = best_value(problem), mt.solve(problem, "dp")
    what = f"{name} {seed}: {result!r}"
    if best is None:
        assert result.status.name == "INFEASIBLE", what
        return
    assert result.status.name == "OPTIMAL", what
    size = max(1, abs(float(best)))
    assert abs(result.value.number - float(best)) <= 2e-9 * size, (what, float(best))
    assert Fraction(result.bound) <= best + Fraction(1e-12 * size)
    assert result.value.number >= float(best) - 1e-12 * size


@pytest.mark.parametrize("name", LOSSES)
def test_dp_finds_the_best_of_all_trees_and_proves_it(name):
    for seed in range(25):
        check(name, seed)


# -- what the losses are ---------------------------------------------------------------------------


def tree_and_data(name, seed=3):
    rng = np.random.default_rng(seed)
    X, w = rng.integers(0, 2, (40, 4)), rng.integers(1, 9, 40) / 4
    y = rng.integers(0, 3, 40) if name in ("gini", "log-loss") else rng.poisson(3, 40) + 0.5
    data = mt.Dataset(X, y=y, weights=w)
    problem = mt.Problem(data, mt.registry.task(name)(), mt.Trees(2))
    result = mt.solve(problem, "dp")
    routes = result.predictor.routes(data)
    leaf = np.asarray(routes.leaf_actions)[routes.leaf]
    predicted = np.array([routes.actions[a] for a in leaf.tolist()])
    return y, w, predicted, result.value.number


def test_the_losses_are_those_of_scikit_learn_times_the_weight():
    metrics = pytest.importorskip("sklearn.metrics")
    for name, metric in (
        ("poisson", metrics.mean_poisson_deviance),
        ("gamma", metrics.mean_gamma_deviance),
        ("log-loss", metrics.log_loss),
    ):
        y, w, predicted, value = tree_and_data(name)
        assert value == pytest.approx(w.sum() * metric(y, predicted, sample_weight=w)), name
    y, w, predicted, value = tree_and_data("gini")
    parts = [
        metrics.brier_score_loss(y == k, predicted[:, k], sample_weight=w, pos_label=True)
        for k in range(3)
    ]
    assert value == pytest.approx(w.sum() * sum(parts))


def test_gini_is_an_exact_number():
    data = mt.Dataset([[0], [0], [1], [1], [1]], y=["a", "b", "b", "b", "a"])
    value = mt.solve(mt.Problem(data, mt.tasks.Gini(), mt.Trees(0))).value
    predicted = Fraction(2 / 5), Fraction(3 / 5)
    exact = 2 * ((1 - predicted[0]) ** 2 + predicted[1] ** 2)
    exact += 3 * ((1 - predicted[1]) ** 2 + predicted[0] ** 2)
    assert value.exact == exact
    assert value.number == pytest.approx(2.4)


@pytest.mark.parametrize("name", ["log-loss", "poisson", "survival"])
def test_what_a_leaf_excludes_is_finitely_bad_elsewhere(name):
    """A prediction of 0 counts as 2^-52 where it is wrong, as in scikit-learn's log loss."""
    if name == "survival":
        fields = {"target_names": ("time", "event")}
        here = mt.Dataset([[0], [1]], targets=[[1, 1], [2, 0]], **fields)
        there = mt.Dataset([[1]], targets=[[2, 1]], **fields)
    else:
        here = mt.Dataset([[0], [1]], y=[1, 0], classes=(0, 1))
        there = mt.Dataset([[1]], y=[1], classes=(0, 1))
    task = mt.registry.task(name)()
    result = mt.solve(mt.Problem(here, task, mt.Trees(1)), "dp")
    if name == "survival":
        task = task.with_baseline(here)
    value = task.value(result.predictor.routes(there), there)
    assert 30 < value.number < 80
    assert value.exact is None


# -- survival --------------------------------------------------------------------------------------


def test_the_baseline_is_that_of_the_textbook():
    """Five rows, two events at one time, a row censored at the time of an event."""
    times, total = nelson_aalen(np.array([1, 2, 2, 2, 5]), np.array([0, 1, 1, 0, 1]))
    assert times.tolist() == [2, 5]
    assert total.tolist() == [2 / 4, 2 / 4 + 1]
    times, total = nelson_aalen(np.array([1, 2, 2]), np.array([1, 0, 1]), np.array([0.5, 1, 2]))
    assert total.tolist() == [float(Fraction(1, 7)), float(Fraction(1, 7) + Fraction(2, 3))]


def followed(time, event, X=None, **more):
    X = np.zeros((len(time), 1), int) if X is None else X
    targets = np.column_stack([time, event])
    return mt.Dataset(X, targets=targets, target_names=("time", "event"), **more)


def test_all_rows_together_have_the_hazard_of_the_baseline():
    """Without rows before the first event, hazards add up to the number of events."""
    data = followed([1, 2, 2, 3, 9], [1, 0, 1, 0, 1])
    result = mt.solve(mt.Problem(data, mt.tasks.Survival(), mt.Trees(0)))
    assert result.predictor.actions == (pytest.approx(1),)


def test_a_leaf_without_events_costs_nothing_and_has_no_hazard():
    data = followed([1, 2, 3, 4], [1, 1, 0, 0], X=[[0], [0], [1], [1]])
    result = mt.solve(mt.Problem(data, mt.tasks.Survival(), mt.Trees(1)), "dp")
    assert 0.0 in result.predictor.actions
    task, routes = mt.tasks.Survival(), result.predictor.routes(data)
    alone = data.subset(np.array([2, 3]))
    fixed = task.with_baseline(data)
    assert fixed.value(routes, data).number == pytest.approx(task.value(routes, data).number)
    assert fixed.value(result.predictor.routes(alone), alone).number == 0


def test_other_rows_are_valued_with_the_baseline_of_the_first():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 3))
    data = followed(rng.integers(1, 30, 60), rng.random(60) < 0.6, X)
    train, test = data.subset(np.arange(40)), data.subset(np.arange(40, 60))
    task = mt.tasks.Survival()
    tree = mt.solve(mt.Problem(train, task, mt.Trees(2)), "dp").predictor
    routes = tree.routes(test)
    times, total = map(np.array, task.cumulative_hazard(train))
    expected = 0.0
    leaf = np.asarray(routes.leaf_actions)[routes.leaf]
    for (time, event), k in zip(test.targets.tolist(), leaf.tolist(), strict=True):
        own = max(routes.actions[k], 2.0**-52) * total[times <= time][-1]
        expected += own - event * (1 + np.log(own))
    assert task.with_baseline(train).value(routes, test).number == pytest.approx(expected)
    assert task.value(routes, test).number != pytest.approx(expected)
    assert task.for_other_rows(train) == task.with_baseline(train)
    assert mt.Accuracy().for_other_rows(train) == mt.Accuracy()
    again = mt.tasks.from_spec(task.with_baseline(train).spec())
    assert again == task.with_baseline(train)


def test_survival_data_are_checked():
    task = mt.tasks.Survival()

    def value(data):
        return task.parts(data)

    with pytest.raises(mt.DataError, match="row 1 has -2"):
        value(followed([1, -2], [1, 0]))
    with pytest.raises(mt.DataError, match=r"row 0 has 2\. Recode"):
        value(followed([1, 2], [2, 1]))
    with pytest.raises(mt.DataError, match="targets time and event; the data have 0, 1"):
        value(mt.Dataset([[0], [1]], targets=[[1, 0], [2, 1]]))
    with pytest.raises(mt.DataError, match="needs `targets`"):
        value(mt.Dataset([[0], [1]], y=[1, 2]))
    with pytest.raises(mt.DataError, match="weights are 0"):
        value(followed([1, 2], [1, 1], weights=[0, 0]))
    for wrong in (3, [[0], []], [[1, 2], [1, 2]], [[0, 2, 1], [1, 2, 3]], [[0, 1], [2, 1]]):
        with pytest.raises(mt.DataError, match=r"[Bb]aseline"):
            mt.tasks.Survival(baseline=wrong)


@pytest.mark.parametrize(("name", "low"), [("poisson", -1), ("gamma", 0)])
def test_targets_without_a_deviance_are_refused(name, low):
    task = mt.registry.task(name)()
    with pytest.raises(mt.DataError, match="row 1"):
        task.parts(mt.Dataset([[0], [1]], y=[2, low]))
    with pytest.raises(mt.DataError, match="have 2 targets"):
        task.parts(mt.Dataset([[0], [1]], targets=[[2, 1], [1, 1]]))


@pytest.mark.parametrize("seed", range(6))
def test_concordance_is_the_share_of_comparable_pairs(seed):
    rng = np.random.default_rng(seed)
    n = 25
    time, event = rng.integers(1, 9, n), rng.random(n) < 0.5
    risk, w = rng.integers(0, 4, n) / 2, rng.integers(0, 4, n)
    won = total = 0.0
    for i in range(n):
        for j in range(n):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                total += w[i] * w[j]
                won += w[i] * w[j] * (1.0 if risk[i] > risk[j] else 0.5 * (risk[i] == risk[j]))
    assert concordance(time, event, risk, w) == pytest.approx(won / total)
    assert concordance(time, np.zeros(n, bool), risk, w) is None


def scored(seed, n=40):
    """Random survival data with a leaf for every row, and what the leaves predict."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 15, n).astype(float), rng.random(n) < 0.6
    leaf, rates = rng.integers(0, 3, n), np.array([0.01, 0.05, 0.2])
    return time, event, leaf, lambda k, times: np.exp(-rates[k] * times)


@pytest.mark.parametrize("seed", range(3))
def test_the_brier_score_over_time_is_that_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    time, event, leaf, survival = scored(seed)
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    times = np.unique(time)[:-1]
    shares = np.array([survival(k, times) for k in leaf.tolist()])
    expected = metrics.integrated_brier_score(y, y, shares, times)
    found = integrated_brier_score(time, event, leaf, np.ones(len(time)), survival)
    assert found == pytest.approx(expected)


def test_weights_of_the_brier_score_over_time_are_duplicates():
    time, event, leaf, survival = scored(7)
    many = 1 + np.arange(len(time)) % 3
    copies = [np.repeat(part, many) for part in (time, event, leaf)]
    found = integrated_brier_score(time, event, leaf, many, survival)
    assert found == pytest.approx(
        integrated_brier_score(*copies, np.ones(len(copies[0])), survival)
    )
    assert integrated_brier_score(*copies, np.ones(len(copies[0])), survival) > 0.05
    assert integrated_brier_score(np.ones(3), *np.zeros((2, 3), int), np.ones(3), survival) is None


# -- numbers that are hard for doubles -------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("name", LOSSES)
def test_scales_of_weights_change_nothing_but_the_unit(name, scale):
    """Binary weights of 53 bits, which engines round: the proof holds, the value stays."""
    values = []
    for seed in range(11, 17):
        problem = random_problem(name, seed)
        n, classes = problem.dataset.n_rows, problem.dataset.classes
        data = problem.dataset.with_(
            weights=np.random.default_rng(5).random(n) + 0.1, classes=classes
        )
        large = data.with_(weights=data.weights * scale, classes=classes)
        task = replace(problem.task, leaf_penalty=0, split_penalty=0, feature_costs=None)
        if name == "survival":  # the rate before the first event depends on the weight of all rows
            task = mt.tasks.Survival().with_baseline(data)
        a, b = (mt.solve(mt.Problem(d, task, mt.Trees(2)), "dp") for d in (data, large))
        parts = task.parts(large)
        slack = 1e-9 * float(parts.size * float(parts.unit)) + 1e-7 * scale
        assert a.optimal
        assert b.optimal
        assert b.value.number == pytest.approx(scale * a.value.number, rel=1e-9, abs=1e-15 * slack)
        assert b.value.number - slack <= b.bound <= b.value.number * (1 + 1e-12) + slack / 1e4
        values.append(a.value.number)
    assert max(values) > 0.1


def test_measured_weights_leave_targets_their_digits():
    """Weights and targets of 53 bits each, whose products engines round once."""
    rng = np.random.default_rng(0)
    X, w = rng.integers(0, 2, (200, 5)), rng.random(200)
    y = X[:, 0] + rng.normal(size=200)
    result = mt.solve(
        mt.Problem(mt.Dataset(X, y=y, weights=w), mt.tasks.SquaredError(), mt.Trees(1)), "dp"
    )
    best = min(
        sum(w[side] @ (y[side] - np.average(y[side], weights=w[side])) ** 2 for side in (x, ~x))
        for x in X.T.astype(bool)
    )
    assert result.value.number == pytest.approx(best, rel=1e-12)
    assert result.bound == pytest.approx(best, rel=1e-10)


# -- published sets --------------------------------------------------------------------------------

#: The losses that pystreed 1.4.0 reaches at depth 3, without the 1/2 that it adds for each leaf without events.
SURTREE = {
    "veterans": 53.466189879,
    "aids": 277.885042970,
    "gbsg2": 439.270796527,
    "maintenance": 50.249558424,
    "credit": 505.632981066,
    "churn": 804.776923016,
    "flchain": 2478.450618393,
    "employee": 2875.088708140,
}


@pytest.mark.parametrize("name", SURTREE)
def test_the_survival_sets_have_the_losses_of_surtree(name, data_folder):
    import pandas as pd

    (path,) = (data_folder / "survival").glob(f"{name}-binary.csv*")
    table = pd.read_csv(path, encoding="latin-1").to_numpy()
    data = followed(table[:, -1], table[:, -2], table[:, :-2].astype(int))
    result = mt.solve(mt.Problem(data, mt.tasks.Survival(), mt.Trees(3)), "dp")
    assert result.optimal
    assert result.value.number == pytest.approx(SURTREE[name], rel=1e-11)
    assert result.bound >= result.value.number * (1 - 1e-9)


# -- what a claim leaves open ----------------------------------------------------------------------


def _of_two_rows(task, y, weights=(1, 1)):
    data = mt.Dataset([[0], [1]], [mt.BinaryFeature("a")], y=list(y), weights=list(weights))
    return mt.Problem(data, task(), mt.Trees(1))


def test_a_claim_leaves_a_billionth_of_the_loss_of_a_leaf_open():
    """Counts whose differences are below the doubles of their logarithms: a bound, no optimum."""
    problem = _of_two_rows(mt.tasks.Poisson, (2.0**60, 2.0**60 + 1024))
    result = mt.solve(replace(problem, space=mt.Trees(0)), "dp")
    assert result.status.value == "feasible"
    assert result.bound == 0
    assert "Rescale" in result.message


def test_a_bound_of_a_loss_is_never_below_nothing():
    for task in (mt.tasks.Poisson, mt.tasks.Gamma, mt.tasks.SquaredError, mt.tasks.Gini):
        result = mt.solve(_of_two_rows(task, (1, 3)), "dp")
        assert result.optimal
        assert 0 <= result.bound <= result.value.number
    view = _of_two_rows(mt.tasks.Gamma, (1, 3)).scale
    assert view.to_bound(-(10**9)) == 0


def test_small_numbers_are_predicted_as_they_are():
    """Only a prediction of 0 is replaced in logarithms."""
    for task in (mt.tasks.Gamma, mt.tasks.Poisson):
        for y in ((1e-30, 3e-30), (1e-300, 3e-300)):
            problem = _of_two_rows(task, y)
            best = mt.solve(problem, "dp")
            assert best.status.value in ("optimal", "feasible"), best.message
            assert abs(best.value.number) <= 1e-9 * max(1.0, max(y))
    assert mt.solve(_of_two_rows(mt.tasks.Gamma, (1e-30, 3e-30)), "dp").optimal


@pytest.mark.parametrize("task", [mt.tasks.SquaredError, mt.tasks.AbsoluteError, mt.tasks.Poisson])
def test_losses_beyond_doubles_are_refused(task):
    with pytest.raises(mt.DataError, match="too large for doubles"):
        mt.solve(_of_two_rows(task, (1e300, 0), (1e12, 1e12)), "dp")
