"""Feature costs: every kind of price is charged as it is stated, exactly; what cannot be exact is
refused in one sentence.
"""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.pruning.feature_costs import FeatureCosts, Group
from milp_trees.pruning.testing.examples import ensemble, pruning_problem
from milp_trees.tasks.stored import from_spec

NAMES = ("x1", "x2", "x3")
#: Three rows: nothing needed; x1 alone; x1 and x3.
USED = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1]], dtype=bool)
EVALUATIONS = np.array([0, 1, 3])
LEAVES = 4
ONE = Fraction(1)


def charge(costs, weights=(1, 1, 1), unit=ONE):
    return costs.charge(USED, EVALUATIONS, LEAVES, np.array(weights), unit, NAMES)


# -- by hand ------------------------------------------------------------------------------------------------------


@each_row(
    ("costs", "total"),
    [
        (FeatureCosts(), 3),
        (FeatureCosts("1/3"), 1),
        (FeatureCosts(Decimal("0.1")), Fraction(3, 10)),
        (FeatureCosts(np.float64(0.25)), Fraction(3, 4)),
        (FeatureCosts({"x1": 2}), 4),
        (FeatureCosts(pd.Series({"x3": 5})), 5),
        (FeatureCosts([1, 10, 0.5]), Fraction(5, 2)),
        (FeatureCosts(np.array([1, 10, 100])), 102),
        (FeatureCosts(per_row=[[9, 9, 9], ["1/2", 9, 9], [0.25, 9, 1]]), Fraction(7, 4)),
        (FeatureCosts({}), 0),
        (FeatureCosts(0, node="1/2"), 2),
        (FeatureCosts(0, groups=[Group("g", ["x1", "x3"], 7)]), 14),
        (FeatureCosts(0, groups=[Group("g", ["x2", "x3"], 7)]), 7),
        (FeatureCosts(1, groups=[Group("g", ["x3"], 7), Group("h", ["g", "x2"], 11)]), 3 + 7 + 11),
        (
            FeatureCosts(
                0, groups=[Group("a", ["x3"], 1), Group("b", ["a"], 10), Group("c", ["b"], 100)]
            ),
            111,
        ),
        (FeatureCosts(0, groups=[Group("a", ["x1"], 1), Group("b", ["x1"], 10)]), 22),
        (FeatureCosts(0, groups=[Group("g", ["x1", "x1"], 7)]), 14),
        (FeatureCosts(0, groups=[Group("g", [], 7)]), 0),
        (FeatureCosts(0, groups=Group("g", ["x1"], 7)), 14),
        (FeatureCosts(0, groups=[Group("g", ["x1"], 7, once=True)]), 7),
        (FeatureCosts(0, groups=[Group("g", ["x2"], 7, once=True)]), 0),
        (FeatureCosts(0.123456789012, denominator=100), Fraction(9, 25)),
        (
            FeatureCosts(0, groups=[Group("g", ["x3"], 1 / 3)], denominator=np.int64(10)),
            Fraction(3, 10),
        ),
    ],
)
def test_prices_are_charged_as_stated(costs, total):
    assert charge(costs) == Fraction(total, 3)


def test_leaves_are_not_divided_by_rows():
    assert charge(FeatureCosts(0, leaf="1/7")) == Fraction(LEAVES, 7)


def test_weights_count_and_the_unit_of_weights_matters_for_what_is_bought_once_only():
    each, once = (
        FeatureCosts([1, 0, 10]),
        FeatureCosts(0, groups=[Group("g", ["x3"], 6, once=True)]),
    )
    assert (
        charge(each, (5, 2, 3)) == charge(each, (5, 2, 3), Fraction(1, 10)) == Fraction(2 + 33, 10)
    )
    assert charge(once, (5, 2, 3)) == Fraction(6, 10)
    assert charge(once, (5, 2, 3), Fraction(1, 10)) == 6
    assert charge(once, (5, 2, 0)) == 0


def test_what_a_row_pays_adds_up_to_the_mean():
    costs = FeatureCosts(
        [1, 2, 3],
        groups=[Group("g", ["x1", "x3"], "1/2"), Group("d", ["g"], 5, once=True)],
        node="1/4",
    )
    paid = costs.per_row_cost(USED, EVALUATIONS, NAMES)
    assert paid.tolist() == [0, 1.75, 5.25]
    assert float(charge(costs)) == pytest.approx(paid.mean() + 5 / 3)


@pytest.mark.parametrize("weights", [(0, 0, 0)])
def test_somebody_must_pay(weights):
    with pytest.raises(mt.DataError, match="at least one must be positive"):
        charge(FeatureCosts(), weights)


# -- exchange -----------------------------------------------------------------------------------------------------


@each_row(
    "costs",
    [
        FeatureCosts("1/3"),
        FeatureCosts({"x1": 0.5, "x3": 2}),
        FeatureCosts([0.1, 0, 7]),
        FeatureCosts(per_row=np.arange(9).reshape(3, 3) / 4),
        FeatureCosts(
            0.123456789012,
            groups=[Group("g", ["x1"], 1 / 3), Group("h", ["g"], 2, once=True)],
            node=1 / 7,
            leaf=1 / 9,
            denominator=100,
        ),
    ],
)
def test_a_stored_description_has_the_same_prices(costs):
    spec = json.loads(json.dumps(costs.spec()))
    assert FeatureCosts.is_spec(spec)
    assert charge(FeatureCosts.from_spec(spec)) == charge(costs)
    task = mt.pruning.PrunedError("1/3", costs)
    assert from_spec(json.loads(json.dumps(task.spec()))).spec() == task.spec()


def test_prices_by_name_are_no_stored_description():
    assert not FeatureCosts.is_spec({"x1": 1, "features": "2"})
    assert not FeatureCosts.is_spec({"features": 2})
    assert mt.pruning.PrunedError(0, {"features": 2, "x1": 1}).costs.prices(("x1", "features")) == [
        1,
        2,
    ]


# -- refusals -----------------------------------------------------------------------------------------------------

TREES, ROWS = (
    [("A", "x1", 0.5, ("A", "x2", 0.5, "A", "B"), ("B", "x3", 0.5, "A", "B"))],
    {c: [0, 1, 1] for c in NAMES},
)


def view(costs):
    """A cost structure as far as the view: some prices are looked at only with the ensemble and
    rows at hand.
    """
    return pruning_problem(TREES, ROWS, ["A", "B", "A"], mt.pruning.PrunedError(1, costs())).view(
        mt.pruning.NodeGains
    )


@each_row(
    ("costs", "sentence"),
    [
        (lambda: -1, "must not be negative"),
        (lambda: FeatureCosts(-0.001, denominator=10), "must not be negative"),
        (lambda: float("nan"), "must be finite"),
        (lambda: float("inf"), "must be finite"),
        (lambda: FeatureCosts(None), "must be a number"),
        (lambda: "many", "must be a number"),
        (lambda: object(), "must be a number"),
        (lambda: 0.1234567890123, "more digits than exact arithmetic takes"),
        (
            lambda: np.array([0.1, 0.2, 0.3], dtype=np.float32),
            "more digits than exact arithmetic takes",
        ),
        (lambda: {"q": 1}, "cost for 'q', which is no feature"),
        (lambda: {0: 1}, "cost for '0', which is no feature"),
        (lambda: pd.Series([1, 2, 3]), "cost for '0', which is no feature"),
        (lambda: pd.Series([1, 2], index=["x1", "x1"]), "has the name 'x1' twice"),
        (lambda: [1, 2], "2 feature costs are given for 3 features"),
        (lambda: [1, None, 2], "cost of x2 must be a number"),
        (lambda: [1, -1, 2], "cost of x2 is -1"),
        (lambda: np.ones((3, 3)), "must be a number"),
        (lambda: FeatureCosts(node=-1), "cost of a node is -1"),
        (lambda: FeatureCosts(leaf=float("nan")), "cost of a leaf must be finite"),
        (lambda: FeatureCosts(denominator=0), "denominator must be a whole number"),
        (lambda: FeatureCosts(denominator=1.5), "denominator must be a whole number"),
        (lambda: FeatureCosts(per_row=np.ones((3, 2))), r"its shape is \(3, 2\)"),
        (lambda: FeatureCosts(per_row=np.ones(3)), r"its shape is \(3,\)"),
        (lambda: FeatureCosts(per_row=[[1], [1, 2], [3]]), "differ in length"),
        (lambda: FeatureCosts(per_row=np.full((3, 3), np.nan)), "must be finite"),
        (lambda: FeatureCosts(per_row=-np.ones((3, 3))), "must not be negative"),
        (lambda: FeatureCosts(per_row=[[None, 1, 2]] * 3), "must be a number"),
        (lambda: FeatureCosts(per_row=np.full((3, 3), np.pi)), "more digits"),
        (lambda: FeatureCosts(groups=[Group("g", "x1", 1)]), "must be a list of names"),
        (lambda: FeatureCosts(groups=[("g", ["x1"], 1)]), r"must be a list of mt\.pruning\.Group"),
        (lambda: FeatureCosts(groups=[Group("g", ["x1"], None)]), "must be a number"),
        (lambda: FeatureCosts(groups=[Group("g", ["x1"], -1)]), "must not be negative"),
        (lambda: FeatureCosts(groups=[Group("g", ["x1"], 1 / 3)]), "more digits"),
        (lambda: FeatureCosts(groups=[Group("g", ["q"], 1)]), "'q', which is no feature or group"),
        (
            lambda: FeatureCosts(groups=[Group("x1", ["x2"], 1)]),
            "name of a feature or of another group",
        ),
        (
            lambda: FeatureCosts(groups=[Group("g", ["x1"], 1), Group("g", ["x2"], 1)]),
            "name of a feature or of another group",
        ),
        (
            lambda: FeatureCosts(groups=[Group("g", ["h"], 1), Group("h", ["g"], 1)]),
            "contains itself",
        ),
        (lambda: FeatureCosts(groups=[Group("g", ["g"], 1)]), "contains itself"),
    ],
)
def test_prices_that_are_none_are_refused(costs, sentence):
    with pytest.raises(mt.DataError, match=sentence) as caught:
        view(costs)
    assert str(caught.value).count("\n") == 0


@each_row(
    "costs",
    [
        lambda: 10**13,
        lambda: 10**30,
        lambda: {"x1": "1/999999937", "x2": "1/999999929", "x3": "1/999999893"},
        lambda: FeatureCosts(1, groups=[Group("g", ["x1"], 10**30)]),
        lambda: FeatureCosts(1, groups=[Group("g", ["x1"], 10**30, once=True)]),
        lambda: FeatureCosts(1, leaf=10**30),
        lambda: FeatureCosts(1, node=10**30),
        lambda: FeatureCosts(per_row=[[10**13, 1, 1]] * 3),
    ],
)
def test_prices_that_do_not_fit_into_64_bits_are_refused_before_they_overflow(costs):
    with pytest.raises(mt.DataError, match=r"reasonable size|64 bits"):
        view(costs)


def test_long_paths_count_in_the_bound_on_prices():
    """A price per node is paid at every node of a path: the bound must know how many there are."""
    deep = "B"
    for _ in range(40):
        deep = ("A", "x1", 0.5, "A", deep)
    costs = FeatureCosts(0, node=2**57, leaf=1)
    problem = pruning_problem([deep], {"x1": [1.0]}, ["A"], mt.pruning.PrunedError(1, costs))
    with pytest.raises(mt.DataError, match="64 bits"):
        problem.view(mt.pruning.NodeGains)
    shallow = pruning_problem(
        [("A", "x1", 0.5, "A", "B")], {"x1": [1.0]}, ["A"], mt.pruning.PrunedError(1, costs)
    )
    assert shallow.view(mt.pruning.NodeGains).keep_cost.max() == 2**57 + 1


def test_large_weights_beside_prices_of_leaves_are_no_overflow():
    weights = [10**9, 1, 1]
    problem = pruning_problem(
        TREES,
        ROWS,
        ["A", "B", "A"],
        mt.pruning.PrunedError(1, FeatureCosts(1, leaf=1), cost_weights=weights),
    )
    whole = problem.space.ensemble
    assert problem.value(whole).exact == problem.view(mt.pruning.NodeGains).to_value(
        problem.view(mt.pruning.NodeGains).objective(whole)
    )


def test_a_feature_that_no_tree_tests_costs_nothing():
    trees = ensemble([("A", "x1", 0.5, "A", "B")], NAMES)
    data = mt.Dataset(np.zeros((2, 0)), numeric=[[0, 0, 0], [1, 1, 1]], columns=NAMES, y=["A", "B"])
    problem = mt.Problem(data, mt.pruning.PrunedError(1, {"x2": 100}), mt.PrunedEnsembles(trees))
    assert problem.value(trees).exact == 0
