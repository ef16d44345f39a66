"""Results of trees for decisions outside the process that made them: verified from their JSON,
drawn, compared.
"""

import json
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, SolverFailure, UnknownName, VerificationError
from milp_trees.decisions.generated import KINDS, DecisionData
from milp_trees.decisions.generated_problems import generated_problem
from milp_trees.results.result import Limit
from milp_trees.verification import verify


def solved(kind: str, **options):
    problem, test = generated_problem(
        DecisionData(kind, rows=25, test_rows=10, thresholds=5, features=2, **options), 1
    )
    result = mt.solve(problem, "dp-oracle", test_data=test)
    return json.loads(json.dumps(result.to_json()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_on_generated_decision_data_is_verified_from_its_json_alone(kind):
    stored = solved(kind)
    assert "test" in stored["scores"]
    message = verify(stored)
    assert message[0] == "The data were read again and are those of the result."
    assert any(line.startswith("The scores ") and "test" in line for line in message)
    assert message.verdict is mt.plugins.Verdict.DERIVED


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
    problem, _ = generated_problem(DecisionData("two-roads", rows=5, test_rows=0), 1)
    with pytest.raises(UnknownName, match="No method was named"):
        mt.compare(problem, [])


def zero_costs(**task):
    S = mt.decisions.simplex_decisions(1)
    data = mt.Dataset([[0], [0], [1]], values=[[1e-6], [2e-6], [3.5e-6]], actions=S.components)
    return mt.Problem(data, mt.decisions.Decision(decisions=S, **task), mt.Trees(1))


@pytest.mark.parametrize("method", ["dp", "dp-oracle", "enumerate"])
def test_nothing_to_lose_with_a_penalty_and_a_tiny_normaliser_is_solved(method):
    result = mt.solve(zero_costs(normalised=True, leaf_penalty="1/20", split_penalty="1/8"), method)
    assert result.optimal
    assert result.value.number == pytest.approx(float(Fraction(1, 20)))


def test_normalised_regret_of_costs_whose_optima_are_all_zero_names_the_reason():
    S = mt.decisions.knapsack_decisions([1, 1], 1)
    data = mt.Dataset([[0], [1]], values=np.ones((2, 2)), actions=S.components)  # take nothing
    problem = mt.Problem(data, mt.decisions.Decision(decisions=S, normalised=True), mt.Trees(1))
    with pytest.raises(DataError, match=r"z\*\(c\) is 0 in every row"):
        mt.solve(problem, "dp-oracle")


def test_normalised_regret_of_a_tiny_total_beside_a_large_cost():
    """0.25 is what the best decisions cost; the other one costs 20 000 in the first row."""
    S = mt.decisions.simplex_decisions(2)
    data = mt.Dataset([[0], [1]], values=[[0.125, 20_000.0], [0.125, 0.375]], actions=S.components)
    task = mt.decisions.Decision(decisions=S)
    first, other = (
        mt.Tree(mt.plugins.Leaf(0), (label,)).routes(data) for label in task.actions(data)
    )
    assert task.extra_scores(first, data) == {"normalised_regret": 0.0}
    assert task.extra_scores(other, data) == {"normalised_regret": (20_000 - 0.125 + 0.25) / 0.25}


def test_paths_that_begin_and_end_alike_look_different_in_the_picture():
    begin, end = "0>1+1>2+2>3+3>4", "9>10+10>11+11>12+12>13"
    labels = tuple(f"{begin}+{middle}+{end}" for middle in ("4>5+5>9", "4>8+8>9", "4>9"))
    tree = mt.Tree(
        mt.plugins.Branch(
            mt.BinaryFeature("x", "<=", 1.0),
            mt.plugins.Leaf(0),
            mt.plugins.Branch(mt.BinaryFeature("z"), mt.plugins.Leaf(1), mt.plugins.Leaf(0)),
        ),
        labels,
    )
    picture = tree.to_svg()
    assert picture.count(">…4&gt;5+5&gt;9…</text>") == 2
    assert picture.count(">…4&gt;8+8&gt;9…</text>") == 1
    assert (
        f"<title>{labels[0].replace('>', '&gt;')}</title>" in picture
    )  # the whole path is in the tooltip


def test_leaves_of_one_long_label_keep_its_shortened_form():
    label = "0>1+1>2+2>3+3>4+4>5+5>6+6>7"
    tree = mt.Tree(
        mt.plugins.Branch(
            mt.BinaryFeature("x"),
            mt.plugins.Leaf(0),
            mt.plugins.Branch(mt.BinaryFeature("z"), mt.plugins.Leaf(1), mt.plugins.Leaf(0)),
        ),
        (label, "none"),
    )
    short = f"{label[:12]}…{label[-11:]}".replace(">", "&gt;")
    assert tree.to_svg().count(f">{short}</text>") == 2


@pytest.mark.parametrize("method", ["dp-oracle", "greedy-spo"])
def test_costs_with_a_negative_cycle_are_refused_in_one_sentence_that_names_the_row(method):
    S = mt.decisions.GraphPaths([(0, 1), (1, 2), (2, 1), (2, 3)], 0, 3)
    data = mt.Dataset([[0], [1]], values=[[1, 1, 1, 1], [1, -1, -1, 1]], actions=S.components)
    with pytest.raises(SolverFailure, match="The oracle failed on row 1 of the costs: a cycle"):
        S.value(data.values)
    with pytest.raises(SolverFailure, match="The oracle failed on row 1 of the costs: a cycle"):
        mt.solve(
            mt.Problem(data, mt.decisions.Decision(decisions=S, listed=0), mt.Trees(1)), method
        )


def test_listed_paths_of_a_graph_with_cycles_are_compared_one_by_one_whatever_the_cycles_cost():
    S = mt.decisions.GraphPaths([(0, 1), (1, 2), (2, 1), (2, 3), (1, 3)], 0, 3)
    data = mt.Dataset([[0], [1]], values=[[1, 1, 1, 1, 3], [1, 1, -9, 1, 1]], actions=S.components)
    result = mt.solve(mt.Problem(data, mt.decisions.Decision(decisions=S), mt.Trees(1)), "dp")
    assert result.value.number == 0
    assert {str(a) for a in result.tree.actions} == {"0>1+1>2+2>3", "0>1+1>3"}


@each_row("listed", ["x", -1, 2.5, None])
def test_a_number_of_listed_vertices_that_is_none_is_refused(listed):
    with pytest.raises(DataError, match="listed is a number of vertices"):
        mt.decisions.Decision(decisions=mt.decisions.grid_paths(2), listed=listed)


def interrupt():
    """What numba makes of Ctrl-C while compiled code runs."""
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


@pytest.mark.parametrize("batch", [False, True])
def test_ctrl_c_in_a_compiled_oracle_is_an_interrupt_and_no_failure(batch):
    calls = []

    def oracle(c):
        calls.append(c)
        if len(calls) > 1:
            interrupt()
        return np.zeros_like(c)

    S = mt.decisions.Oracle(oracle, 2, batch=batch)
    with pytest.raises(KeyboardInterrupt):
        S.solve([[1, 2]])


def test_dp_oracle_keeps_its_tree_when_compiled_code_is_interrupted(monkeypatch):
    problem, _ = generated_problem(DecisionData("shortest-path", rows=60, test_rows=0), 2)
    seen = []

    def check(self):
        seen.append(self)
        if len(seen) > 3:
            interrupt()

    monkeypatch.setattr("milp_trees.decisions.engines.dp_oracle.method.OracleRun.check", check)
    result = mt.solve(problem, "dp-oracle")
    assert result.limit is Limit.INTERRUPTED
    assert result.tree is not None
    assert not result.optimal


@pytest.mark.slow
def test_dp_oracle_that_is_stopped_at_once_at_depth_3_is_no_worse_than_the_greedy_tree():
    problem, _ = generated_problem(DecisionData("news", rows=150, test_rows=0, thresholds=10), 3)
    greedy = mt.solve(problem, "greedy-spo")
    stopped = mt.solve(
        problem, "dp-oracle", time_limit=2.0
    )  # of which greedy may take a quarter, on a busy machine too
    assert stopped.value.number <= greedy.value.number * (1 + 1e-9)
    assert [p.incumbent for p in stopped.trace] == sorted(
        (p.incumbent for p in stopped.trace), reverse=True
    )


@pytest.mark.parametrize("space", [{"min_samples_leaf": 6}, {"min_weight_leaf": 9}])
def test_dp_oracle_begins_with_the_greedy_tree_under_smallest_leaves_too(space):
    generated, _ = generated_problem(
        DecisionData("shortest-path", rows=30, test_rows=0, thresholds=4, features=2), 3
    )
    problem = mt.Problem(generated.dataset, generated.task, mt.Trees(3, **space))
    assert mt.solve(problem, "dp-oracle").value.number == pytest.approx(
        mt.solve(problem, "dp").value.number, rel=1e-6
    )


def test_a_forest_that_is_interrupted_in_compiled_code_says_so_and_is_not_fitted(monkeypatch):
    monkeypatch.setattr("milp_trees.methods.growing.grow.Grower.grow", lambda self, *_: interrupt())
    forest = mt.SPOForest(n_estimators=2)
    with pytest.raises(KeyboardInterrupt):
        forest.fit([[0.0], [1.0]], [[1, 2], [2, 1]])
    assert not hasattr(forest, "estimators_")


@each_row(
    "make",
    [
        lambda: mt.decisions.grid_paths(2.5, 2),
        lambda: mt.decisions.simplex_decisions(2.5),
        lambda: mt.decisions.simplex_decisions("ab"),
        lambda: mt.decisions.assignment_decisions(2.5),
        lambda: mt.decisions.knapsack_decisions(["a"], 3),
    ],
)
def test_a_size_that_is_none_gets_a_sentence(make):
    with pytest.raises(mt.DataError):
        make()


def test_costs_under_strange_names_are_not_taken_by_position():
    """Names that are not those of the components would give every cost to another entry; the
    components in another order are put in order.
    """
    S = mt.decisions.ListedDecisions([[1, 0], [0, 1]], ["left", "right"])
    data = mt.Dataset([[0], [1]], values=[[1, 2], [4, 1]], actions=["right", "left"])
    assert mt.decisions.Decision(decisions=S).vectors(data).tolist() == [[2, 1], [1, 4]]
    with pytest.raises(mt.DataError, match="'up', which is none"):
        mt.decisions.Decision(decisions=S).vectors(
            mt.Dataset([[0], [1]], values=[[1, 2], [4, 1]], actions=["up", "right"])
        )
