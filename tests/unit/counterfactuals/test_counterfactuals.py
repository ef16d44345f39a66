"""The nearest row with another prediction: against all rows, and on hand-made cases."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from counterfactual_cases import Case
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported, VerificationError
from milp_trees.counterfactuals.ask import counterfactual
from milp_trees.models.nodes import Branch, Leaf

AGE, SMOKER = mt.BinaryFeature("age", "<=", 39.5), mt.BinaryFeature("smoker")


def test_the_distance_is_the_least_over_all_rows():
    """Trees and rule lists over every kind of column, with missing values and every wish."""
    found = []
    for seed in range(120):
        case = Case(seed)
        answer = counterfactual(case.model, case.row, **case.wishes)
        answer.verify()
        least = case.least()
        found.append(least)
        assert least in (answer.distance_exact, "many"), f"seed {seed}\n{case.model}\n{answer}"
    assert sum(isinstance(x, Fraction) for x in found) > 40


def rules():
    """High risk: older than 39.5 and a smoker."""
    risk = mt.Rule(mt.Antecedent((mt.Literal(AGE, False), SMOKER)), 1)
    return mt.RuleList((risk,), 0, ("low", "high"))


def test_what_is_told_of_an_answer():
    row = {"age": 45, "smoker": 1, "name": "Ann"}
    found = counterfactual(rules(), row, norm="l0", monotone={"age": "up"})
    assert (found.prediction_before, found.prediction, found.distance) == ("high", "low", 1.0)
    assert found.row.to_dict("records") == [{"age": 45, "smoker": 0, "name": "Ann"}]
    assert found.changes.to_dict("records") == [
        {"column": "smoker", "from": 1, "to": 0, "price": 1.0}
    ]
    assert (found.bound, found.gap, found.status.value) == (1, 0.0, "optimal")
    told = found.to_json()
    assert (told["distance_exact"], told["bound_exact"], told["exact"]) == ("1/1", "1/1", True)
    assert "none is nearer, exact" in str(found)
    assert len(found.verify()) == 2
    assert len(found.plot().patches) == 1


def test_a_row_that_is_predicted_so_already_stays():
    found = counterfactual(rules(), {"age": 45, "smoker": 1}, "high")
    assert found.distance == 0
    assert found.row.to_dict("records") == [{"age": 45, "smoker": 1}]
    assert "the row is predicted so already" in str(found)


def test_no_row_is_a_proof_too():
    found = counterfactual(rules(), {"age": 30, "smoker": 0}, immutable="smoker")
    assert (found.status.value, found.row, found.bound) == ("infeasible", None, None)
    assert "there is none, exact" in str(found)
    assert found.verify() == ["All leaves were enumerated again: no leaf has such a row."]


def test_an_open_side_begins_with_the_next_number_of_the_column():
    """Whole numbers go to the next whole one, doubles to the next double, and steps to a multiple."""
    row = {"age": 30, "smoker": 1}
    assert counterfactual(rules(), row).row["age"].tolist() == [40]
    real = counterfactual(rules(), {**row, "age": 30.0})
    assert real.row["age"].tolist() == [np.nextafter(39.5, 40)]
    assert real.distance_exact == Fraction(np.nextafter(39.5, 40)) - 30
    grid = counterfactual(rules(), {**row, "age": 30.0}, steps={"age": 0.25})
    assert grid.row["age"].tolist() == [39.75]
    ages = pd.DataFrame({"age": [20.5, 30.0, 60.5], "smoker": [0, 1, 1]})
    scaled = counterfactual(rules(), {**row, "age": 30.0}, data=ages, steps={"age": 0.5})
    assert scaled.distance_exact == Fraction(10, 40)
    within = counterfactual(rules(), row, data=ages.assign(age=[20, 30, 39]))
    assert within.status.value == "infeasible"


def test_a_step_of_zero_is_any_number_as_text_too():
    for step in (0, "0", None):
        found = counterfactual(
            rules(), {"age": 45, "smoker": 1}, steps={"age": step}, immutable="smoker"
        )
        assert found.changes["to"].tolist() == [39.5]


def test_the_weights_decide_which_column_changes():
    row = {"age": 45, "smoker": 1}
    for price, column in ((0.1, "age"), (1, "smoker")):
        weights = {"age": price, "smoker": 2}
        found = counterfactual(rules(), row, norm="weighted", weights=weights)
        assert found.changes["column"].tolist() == [column]
    assert found.distance_exact == 2
    fixed = counterfactual(rules(), row, norm="weighted", weights={"age": 1}, immutable=["smoker"])
    assert fixed.row["age"].tolist() == [39]


def test_numbers_are_asked_by_limits():
    three = mt.Tree(Branch(AGE, Leaf(0), Branch(SMOKER, Leaf(1), Leaf(2))), (9.5, 2.0, 4.0))
    problem = mt.Problem(
        mt.Dataset([[0], [1], [1]], features=[AGE], targets=np.array([9.0, 2, 4])[:, None]),
        mt.tasks.SquaredError(),
        mt.Trees(max_depth=1),
    )
    tree = three.on(problem.dataset, problem.task)
    row = {"age": 30, "smoker": 0}
    assert counterfactual(tree, row, at_least=3).changes["column"].tolist() == ["smoker"]
    assert counterfactual(tree, row, at_least=5).changes["column"].tolist() == ["age"]
    assert counterfactual(tree, row, at_least=3, at_most=3.5).status.value == "infeasible"
    with pytest.raises(DataError, match="say with at_least= or at_most="):
        counterfactual(tree, row)


@each_row(
    "wishes, sentence",
    [
        ({"norm": "l2"}, "norm is one of"),
        ({"norm": "weighted"}, "needs weights="),
        ({"weights": {"age": 1}}, "the other norms take none"),
        ({"norm": "weighted", "weights": {"age": 1}}, "no price for the column 'smoker'"),
        ({"norm": "weighted", "weights": {"age": -1, "smoker": 1}}, "0 or more"),
        ({"immutable": ["agee"]}, "immutable names the column 'agee'"),
        ({"monotone": {"age": "upwards"}}, "'up' or 'down'"),
        ({"steps": {"age": -1}}, "positive"),
        ({"target": "medium"}, "no label 'medium'; its labels are 'low', 'high'"),
        ({"at_least": 1}, "chooses among labels"),
        ({"data": pd.DataFrame({"age": [1]})}, "no column 'smoker'"),
        ({"data": "people.csv"}, "read the file first"),
        ({"weights": [1], "norm": "weighted"}, "weights must map"),
        ({"monotone": ["age"]}, "monotone must map"),
        ({"bounds": {"age": 9}}, "pair"),
        ({"bounds": {"age": (1, 2, 3)}}, "pair"),
        ({"bounds": {"age": ("a", "b")}}, "holds numbers, and a is given"),
        ({"bounds": {"age": (50, 20)}}, "leave no value"),
        ({"bounds": {"age": (float("nan"), 20)}}, "leave no value"),
        ({"bounds": {"smoker": (0, 0)}}, "immutable to keep"),
        ({"at_most": "1"}, "are numbers"),
    ],
)
def test_a_wish_that_does_not_fit_is_refused_in_a_sentence(wishes, sentence):
    with pytest.raises(DataError, match=sentence):
        counterfactual(rules(), {"age": 45, "smoker": 1}, **wishes)


def test_rows_and_models_that_have_no_answer_are_refused():
    with pytest.raises(DataError, match="2 rows are given"):
        counterfactual(rules(), pd.DataFrame({"age": [1, 2], "smoker": [0, 1]}))
    with pytest.raises(DataError, match="'smoker'"):
        counterfactual(rules(), {"age": 45})
    with pytest.raises(DataError, match="missing value"):
        counterfactual(rules(), {"age": None, "smoker": 1})
    with pytest.raises(DataError, match="holds numbers, and old is given"):
        counterfactual(rules(), {"age": "old", "smoker": 1})
    with pytest.raises(DataError, match="read the file first"):
        counterfactual(rules(), "new.csv")
    color = mt.BinaryFeature("age", "==", "old")
    two = mt.Tree(Branch(AGE, Leaf(0), Branch(color, Leaf(0), Leaf(1))), ("a", "b"))
    with pytest.raises(Unsupported, match="asked in two ways"):
        counterfactual(two, {"age": 45})


def test_a_wrong_answer_is_found_by_verify():
    found = counterfactual(rules(), {"age": 45, "smoker": 1})
    age, smoker = found.values["age"], found.values["smoker"]
    old = smoker._replace(value=1, changed=False, price=Fraction(0))
    far = {"age": age._replace(value=30, changed=True, price=Fraction(15)), "smoker": old}
    with pytest.raises(VerificationError, match="least distance over all leaves is 1"):
        replace(found, values=far).verify()
    with pytest.raises(VerificationError, match="predicted as high"):
        replace(found, values={"age": age, "smoker": old}).verify()
