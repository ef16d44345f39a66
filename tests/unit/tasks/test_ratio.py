"""Ratios of counts: the tasks against scikit-learn, Dinkelbach steps against a front of all
achievable counts, bounds, limits and the conundrum.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from ratio_cases import front, random_problem
from row_tests import each_row
from sklearn.metrics import fbeta_score, jaccard_score, precision_score

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.results.result import Status
from milp_trees.tasks.stored import from_spec
from milp_trees.testing import brute_force
from milp_trees.testing.generate import random_tree
from milp_trees.testing.problems import problem

#: F1 of the optimal tree of depth 3 on german-credit, class 1 positive (pystreed 1.4.0 finds the
#: same).
GERMAN = 0.8438287153652393


# -- the tasks ---------------------------------------------------------------------------------------------------


@each_row("seed", range(12))
def test_values_are_those_of_scikit_learn(seed):
    """F-beta, Jaccard and precision of random trees, with weights, either class positive, and 0
    where nothing is counted.
    """
    requested = random_problem(seed, depth=2)
    data, rng = requested.dataset, np.random.default_rng(seed)
    tree = random_tree(replace(requested, space=mt.Trees(2)), rng)
    message = np.array(tree.predict(data))
    positive = int(seed // 2 % 2)
    given = {"pos_label": positive, "sample_weight": data.row_weights, "zero_division": 0}
    expected = {
        mt.tasks.F1(positive=positive): fbeta_score(data.y, message, beta=1, **given),
        mt.tasks.FBeta(positive=positive, beta="1/2"): fbeta_score(
            data.y, message, beta=0.5, **given
        ),
        mt.tasks.Jaccard(positive=positive): jaccard_score(data.y, message, **given),
        mt.tasks.Precision(positive=positive): precision_score(data.y, message, **given),
    }
    for task, number in expected.items():
        value = task.value(tree.routes(data), data)
        assert value.number == pytest.approx(number, abs=1e-12), task
        assert (value.sense, value.unit) == ("max", task.name)
        assert float(value.exact) == value.number


def test_penalised_ratios_are_losses():
    """With a penalty: one minus the ratio plus the penalty per leaf, minimised."""
    requested = problem("f1_leaf_penalty")
    plain = replace(requested, task=mt.tasks.F1())
    tree = brute_force(plain)[0]
    value = requested.value(tree)
    assert value.exact == 1 - plain.value(tree).exact + Fraction(tree.n_leaves, 20)
    assert (value.sense, value.unit) == ("min", "1 - f1")


@each_row(
    "task",
    [
        mt.tasks.F1(),
        mt.tasks.FBeta(beta=2, positive="a"),
        mt.tasks.Precision(min_recall="0.3", constraints=(mt.tasks.Capacity("a", at_most=3),)),
        mt.tasks.CountRatio(
            numerator={"TP": 1}, denominator={"TP": 1, "FP": "1/3"}, leaf_penalty=0.01
        ),
    ],
)
def test_a_task_is_read_back_from_its_description(task):
    """`spec` holds what makes the task, in JSON."""
    import json

    assert from_spec(json.loads(json.dumps(task.spec()))).spec() == task.spec()


def test_a_ratio_of_ones_own_equals_f1():
    """CountRatio with F1's coefficients, or with multiples of them, has F1's optimum."""
    requested = random_problem(5)
    best = mt.solve(replace(requested, task=mt.tasks.F1())).value.exact
    own = mt.tasks.CountRatio(
        numerator={"TP": "2/3"}, denominator={"TP": "2/3", "FP": "1/3", "FN": "1/3"}
    )
    assert mt.solve(replace(requested, task=own)).value.exact == best


@each_row(
    ("make", "said"),
    [
        (lambda: mt.tasks.FBeta(beta=-1), "beta must not be negative"),
        (lambda: mt.tasks.F1(leaf_penalty=-1), "leaf_penalty must not be negative"),
        (lambda: mt.tasks.Precision(min_recall=2), "between 0 and 1"),
        (lambda: mt.tasks.CountRatio(), "needs numerator="),
        (
            lambda: mt.tasks.CountRatio(numerator={"XP": 1}, denominator={"TP": 1}),
            "'XP' is no confusion count",
        ),
        (
            lambda: mt.tasks.CountRatio(numerator={"TP": -1}, denominator={"TP": 1}),
            "must not be negative",
        ),
    ],
)
def test_wrong_parameters_are_named(make, said):
    with pytest.raises(mt.DataError, match=said):
        make()


def test_wrong_data_are_named():
    """A class that is not there, negative or overlong weights, and a ratio that could be infinite."""
    X, y = [[0], [1]], [0, 1]
    for task, weights, message in [
        (mt.tasks.F1(positive="x"), None, "'x' is no class of the data; the classes are 0, 1"),
        (mt.tasks.F1(), [1 / 3, 2**0.5], "at most nine digits"),
        (mt.tasks.CountRatio(numerator={"TN": 1}, denominator={"TP": 1}), None, "divides by zero"),
    ]:
        with pytest.raises(mt.DataError, match=message):
            mt.solve(mt.Problem(mt.Dataset(X, y=y, weights=weights), task, mt.Trees(1)))


# -- the methods -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row("penalty", ["0", "1/40", "0.07", "1/3"])
def test_dp_and_the_enumerator_equal_the_front(penalty):
    """The largest ratio, or least penalised loss, among all achievable counts; proven, with an
    equal bound.
    """
    for seed in range(40 if penalty == "0" else 20):
        requested = random_problem(seed, leaf_penalty=penalty)
        expected = front(requested)
        for name in ("dp", "enumerate"):
            result = mt.solve(requested, name)
            where = f"{name}, seed {seed}: {requested.task}, {requested.space}"
            if expected is None:
                assert result.status is Status.INFEASIBLE, where
                continue
            assert result.status is Status.OPTIMAL, where
            assert result.value.exact == result.certificate.bound_exact == expected, where
            assert result.trace[-1][1:] == (float(expected), float(expected)), where


@pytest.mark.parametrize("name", ["flow-oct@highs", "state-flow@highs", "oct@highs"])
def test_formulations_equal_the_front(name):
    """Integer programs solve the same steps."""
    for seed in range(4):
        requested = random_problem(seed, depth=2, leaf_penalty=["0", "0", "0", "1/30"][seed])
        result = mt.solve(requested, name)
        assert (result.status, result.value.exact) == (Status.OPTIMAL, front(requested)), (
            f"seed {seed}"
        )


def test_without_a_depth_limit_the_penalty_alone_stops():
    """A method that needs no depth limit proves the penalised optimum over all trees."""
    assert registry.method("dp").takes_any_depth
    for seed in range(8):
        requested = random_problem(seed, depth=4, leaf_penalty="1/25")
        free = replace(requested, space=replace(requested.space, max_depth=None))
        result = mt.solve(free)
        assert (result.status, result.value.exact) == (Status.OPTIMAL, front(requested)), (
            f"seed {seed}"
        )


def test_side_constraints_and_floors():
    """Precision at a floor on recall and F1 under a capacity, by methods that take side rows; the
    others say who does.
    """
    requested = problem("precision_at_recall")
    best = brute_force(requested)[1].exact
    assert best < brute_force(replace(requested, task=mt.tasks.Precision()))[1].exact
    for name in ("enumerate", "flow-oct@highs", "state-flow@highs", "lagrangian"):
        assert mt.solve(requested, name).value.exact == best
    with pytest.raises(mt.errors.Unsupported, match=r"side constraints; .*state-flow.* can"):
        mt.solve(requested, "dp")
    limited = replace(requested, task=mt.tasks.F1(constraints=(mt.tasks.Capacity(1, at_most=2),)))
    for name in ("enumerate", "lagrangian"):
        assert mt.solve(limited, name).value.exact == brute_force(limited)[1].exact
    impossible = replace(
        requested,
        task=mt.tasks.F1(
            constraints=(mt.tasks.Capacity(1, at_most=2), mt.tasks.Capacity(0, at_most=2))
        ),
    )
    assert mt.solve(impossible, "enumerate").status is Status.INFEASIBLE


def test_a_heuristic_proves_nothing():
    """cart takes steps too; its answer has no bound."""
    result = mt.solve(random_problem(3, depth=2), "cart")
    assert (result.status, result.bound) == (Status.FEASIBLE, None)


def test_a_question_that_steps_cannot_answer_is_refused():
    """Only the best tree is found in steps."""
    requested = replace(random_problem(1), question=mt.plugins.NearBest(slack=0))
    with pytest.raises(mt.errors.Unsupported):
        mt.solve(requested)


def test_a_start_is_used_or_refused():
    """A given tree is where the steps begin; an infeasible one is left aside with the reason."""
    requested = random_problem(2, depth=2)
    best = mt.solve(requested)
    again = mt.solve(requested, start=best.tree)
    assert again.model_size["steps"] == 1
    assert again.value == best.value
    strict = replace(requested, space=mt.Trees(0))
    refused = mt.solve(strict, start=best.tree)
    assert refused.start["accepted"] is False
    assert "depth" in refused.start["reason"]


def test_results_agree_verify_and_survive_a_file(tmp_path):
    """A comparison judges ratios by the oracle; a stored result is verified by another method."""
    data = mt.load("planted:rows=40,depth=2,noise=0.2,tests=5")
    requested = mt.Problem(data, mt.tasks.F1(leaf_penalty="0.02"), mt.Trees(2))
    study = mt.compare(requested, ["dp", "state-flow@highs", "cart"], store=tmp_path / "s.db")
    assert study.frame()["agrees"].tolist()[:2] == [True, True]
    from milp_trees.verification import verify

    checked = verify(mt.solve(requested).to_json())
    assert checked.verdict is mt.plugins.Verdict.DERIVED
    worse = {**mt.solve(requested).to_json(), "bound": 0.9, "bound_exact": "9/10"}
    with pytest.raises(mt.errors.VerificationError):
        verify(worse)
    assert mt.estimate(requested, ["flow-oct"])["variables"].iloc[0] > 0


# -- published values --------------------------------------------------------------------------------------------


def test_german_credit(data_folder):
    """The largest F1 at depth 3, proven; the last class is the positive one."""
    data = mt.load(data_folder / "classification" / "german-credit.txt")
    result = mt.solve(mt.Problem(data, mt.tasks.F1(), mt.Trees(3)))
    assert result.optimal
    assert result.value.number == pytest.approx(GERMAN, abs=1e-15)
    other = mt.solve(mt.Problem(data, mt.tasks.F1(positive=0), mt.Trees(2)))
    assert other.value.number == pytest.approx(0.5844636251541308, abs=1e-15)


def test_against_pystreed():
    """STreeD's Pareto search finds the same F1."""
    pystreed = pytest.importorskip("pystreed")
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (60, 6)), rng.integers(0, 2, 60)
        model = pystreed.STreeDClassifier("f1-score", max_depth=3)
        model.fit(X, y)
        theirs = fbeta_score(y, model.predict(X), beta=1)
        ours = mt.solve(mt.Problem(mt.Dataset(X, y=y), mt.tasks.F1(), mt.Trees(3)))
        assert ours.optimal
        assert ours.value.number == pytest.approx(theirs, abs=1e-12)
