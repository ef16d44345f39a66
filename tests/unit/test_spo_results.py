"""Results of trees for decisions outside the process that made them: verified from their JSON, drawn, compared."""

import json
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.errors import DataError, UnknownName, VerificationError
from milp_trees.report import result_json
from milp_trees.study.spo import KINDS, DecisionData
from milp_trees.verify import verify


def solved(kind: str, **options):
    problem, test = DecisionData(kind, rows=25, test_rows=10, thresholds=5, features=2, **options).problem(1)
    result = mt.solve(problem, "dp-oracle", test=test)
    return json.loads(json.dumps(result_json(result)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_on_generated_decision_data_is_verified_from_its_json_alone(kind):
    stored = solved(kind)
    assert "test" in stored["scores"]
    said = verify(stored)
    assert said[0] == "The data were read again and are those of the result."
    assert "Train and test scores were recomputed." in said


def test_a_result_whose_generator_was_altered_is_refused():
    stored = solved("shortest-path")
    stored["problem"]["data"]["decision_data"]["noise"] = 0.5
    with pytest.raises(VerificationError, match="not those of the result"):
        verify(stored)


def test_an_altered_test_score_of_generated_data_is_refused():
    stored = solved("two-roads")
    stored["scores"]["test"] = stored["scores"]["test"] + 1
    with pytest.raises(VerificationError, match="The stated score test"):
        verify(stored)


def test_a_damaged_description_of_generated_data_is_one_sentence():
    stored = solved("news")
    del stored["problem"]["data"]["decision_data"]["grid"]
    with pytest.raises(VerificationError, match="damaged"):
        verify(stored)


def test_generated_data_take_no_path():
    with pytest.raises(DataError, match="were generated, not read"):
        verify(solved("two-roads"), path="rows.csv")


def test_a_comparison_without_methods_is_refused_in_one_sentence():
    problem, _ = DecisionData("two-roads", rows=5, test_rows=0).problem(1)
    with pytest.raises(UnknownName, match="No method was named"):
        mt.compare(problem, [])


def zero_costs(**task):
    S = mt.simplex_decisions(1)
    data = mt.Dataset([[0], [0], [1]], values=[[1e-6], [2e-6], [3.5e-6]], actions=S.components)
    return mt.Problem(data, mt.Decision(decisions=S, **task), mt.Trees(1))


@pytest.mark.parametrize("method", ["dp", "dp-oracle", "enumerate"])
def test_nothing_to_lose_with_a_penalty_and_a_tiny_normaliser_is_solved(method):
    result = mt.solve(zero_costs(normalised=True, leaf_penalty="1/20", split_penalty="1/8"), method)
    assert result.optimal
    assert result.value.number == pytest.approx(float(Fraction(1, 20)))


def test_normalised_regret_of_costs_whose_optima_are_all_zero_names_the_reason():
    S = mt.knapsack_decisions([1, 1], 1)
    data = mt.Dataset([[0], [1]], values=np.ones((2, 2)), actions=S.components)  # take nothing
    problem = mt.Problem(data, mt.Decision(decisions=S, normalised=True), mt.Trees(1))
    with pytest.raises(DataError, match=r"z\*\(c\) is 0 in every row"):
        mt.solve(problem, "dp-oracle")
