"""Results as JSON and HTML say what the result says, and nothing a parser cannot read."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.results.json import json_safe
from milp_trees.results.stored import result_from_json
from milp_trees.results.tables import plain_table

FIELDS = [
    "method",
    "objective",
    "unit",
    "sense",
    "exact",
    "bound",
    "gap",
    "status",
    "proved_by",
    "seconds",
    "times",
    "sizes",
    "predictor",
    "agrees",
]


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(
        mt.load("planted:rows=60,tests=5,noise=0.1,seed=4"), mt.Accuracy(), mt.Trees(2)
    )


@pytest.fixture(scope="module")
def result(problem):
    return mt.solve(problem, "dp")


def test_json_has_the_documented_fields(result):
    data = result.to_json()
    assert set(FIELDS) <= set(data)
    assert data["objective"] == int(Fraction(data["exact"]))
    assert data["problem"]["data"]["path"].startswith("planted")


def test_json_is_strict(result):
    strange = replace(
        result,
        root_bound=float("-inf"),
        model_size={"rows": np.int64(3)},
        scores={"test": float("nan")},
    )
    data = json.loads(json.dumps(strange.to_json(), allow_nan=False))
    assert data["root_bound"] is None
    assert data["scores"] == {"test": None}
    assert data["sizes"] == {"rows": 3}


def test_json_is_read_back_as_the_same_result(problem, result):
    again = result_from_json(json.loads(json.dumps(result.to_json())), problem)
    assert again.to_json() == result.to_json()
    assert again.predictor == result.predictor


def test_a_penalised_value_is_a_rate_with_its_fraction():
    problem = mt.Problem(
        mt.load("planted:rows=60,tests=5,noise=0.1"),
        mt.Accuracy(leaf_penalty="1/200"),
        mt.Trees(2),
    )
    data = mt.solve(problem).to_json()
    assert data["unit"] == "rate"
    assert data["objective"] == pytest.approx(float(Fraction(data["exact"])))


def test_plain_python_comes_out_of_anything():
    assert json_safe({1: (Fraction(1, 3), np.float64(2), {np.bool_(True)})}) == {
        "1": ["1/3", 2.0, [True]]
    }


def test_html_holds_tree_and_certificate_and_needs_nothing(result):
    page = result._repr_html_()
    assert "<svg" in page
    assert "claimed by dp" in page
    assert "<script" not in page
    assert "href" not in page


def test_html_draws_how_many_rows_a_leaf_has(problem, result):
    counts = mt.models.draw.leaf_counts(result.tree, problem.dataset)
    page = result._repr_html_()
    assert f">{counts[0].sum()} rows</text>" in page
    assert f">{counts[0].min()} error" in page


def test_html_escapes_what_users_wrote():
    data = mt.Dataset([[0], [1]], features=[mt.BinaryFeature("<b>")], y=["<i>", "x"])
    page = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)))._repr_html_()
    assert "<b>" not in page
    assert "<i>" not in page


def test_the_table_has_every_column_of_a_comparison(result):
    sizes = {"variables": 9, "binaries": 8, "rows": 7, "nonzeros": 30}
    search = {"sizes": sizes, "nodes": 3, "start": {"method": "dp", "accepted": True}}
    text = plain_table([{**result.to_json(), **search}])
    for word in (
        "variables",
        "binaries",
        "nonzeros",
        "value",
        "bound",
        "gap",
        "nodes",
        "start",
        "accepted",
        "agrees",
        "dp",
        "optimal",
    ):
        assert word in text
    assert "binaries" not in plain_table([result.to_json()])  # nothing to say
