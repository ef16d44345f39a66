"""`verify` asks a second oracle, which shares no code with the first one."""

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import VerificationError
from milp_trees.decisions.second import SecondOracle, second_oracle

SETS = {
    "mixed": lambda: mt.decisions.LinearDecisions.from_arrays(
        at_most=([[0, 1, 1, 2], [0, -3, 2, 3]], [4, 5]), upper=[1, 1, 3, 3], integer=[1, 1, 0, 0]
    ),
    "linear": lambda: mt.decisions.LinearDecisions.from_arrays(
        at_most=([[1, 2, 0, 1], [3, 1, 1, 0]], [4, 6]), upper=4
    ),
    "paths": lambda: mt.decisions.grid_paths(2),
    "matchings": lambda: mt.decisions.assignment_decisions(2),
    "knapsack": lambda: mt.decisions.knapsack_decisions([2, 3, 1, 2], 5),
    "list": lambda: mt.decisions.ListedDecisions(np.eye(4)[:3]),
    "simplex": lambda: mt.decisions.simplex_decisions(4),
}
COSTS = np.array([[-3, 3, -2, -3], [1, -2, -3, -1], [-3, 2, -2, -3.5], [0, 0, 0, 0]])


@each_row("name", SETS)
def test_the_second_oracle_of_every_set_agrees_with_the_first(name):
    S = SETS[name]()
    other = second_oracle(S)
    assert isinstance(other, SecondOracle)
    np.testing.assert_allclose(other.value(COSTS), S.value(COSTS), atol=1e-8)
    assert other.components == S.components
    assert other.spec() == S.spec()


def test_a_function_has_a_second_oracle_only_if_its_vertices_are_known():
    assert second_oracle(mt.decisions.Oracle(lambda c: np.eye(2)[c.argmin()], 2)) is None
    known = mt.decisions.Oracle(lambda c: np.eye(2)[c.argmin()], 2, vertices=np.eye(2))
    assert second_oracle(known).value([[3, 2]]).tolist() == [2]


def problem(S, listed):
    data = mt.Dataset([[0], [0], [1], [1]], values=COSTS, actions=S.components)
    return mt.Problem(data, mt.decisions.Decision(decisions=S, listed=listed), mt.Trees(1))


@each_row(
    ("name", "listed"),
    [("mixed", 0), ("linear", 0), ("linear", 1000), ("paths", 0), ("knapsack", 1000), ("list", 0)],
)
def test_a_task_compares_two_oracles_and_says_so(name, listed):
    requested = problem(SETS[name](), listed)
    tree = mt.solve(requested, "greedy-spo").predictor
    message = requested.task.check_again(tree.routes(requested.dataset), requested.dataset, 60.0)
    assert message == [message[0]]
    assert message[0].startswith("A second oracle found the values of")
    other = requested.task.by_other_means()
    assert (other is requested.task) == bool(listed)
    assert requested.task.spec() == other.spec()


def test_verify_says_what_a_second_oracle_found():
    found = mt.solve(problem(SETS["knapsack"](), 1000), "dp")
    verified = mt.verify(found)
    assert verified.verdict.value == "derived"
    assert "A second oracle found the values of" in " ".join(verified.sentences)


def test_verify_refuses_a_tree_whose_oracle_was_wrong(monkeypatch):
    """The oracle answers -5 where -8 is possible, and does so again when it is asked again."""
    S = SETS["mixed"]()
    right = S._solve

    def wrong(costs):
        found = right(costs)
        at = (costs == COSTS[0]).all(axis=1)
        found.decisions[at] = [0, 0, 0, 5 / 3]
        return found._replace(values=(costs * found.decisions).sum(axis=1))

    monkeypatch.setattr(S, "_solve", wrong)
    found = mt.solve(problem(S, 0), "dp-oracle")
    assert found.optimal
    with pytest.raises(VerificationError, match="-5 where a second one finds -8"):
        mt.verify(found)


def test_verify_refuses_a_list_that_lacks_a_vertex(monkeypatch):
    S = SETS["linear"]()
    paid = S.vertices() @ COSTS[0]
    others = S.vertices()[paid > paid.min() + 1e-6]
    assert 0 < len(others) < len(paid)
    monkeypatch.setattr(S, "vertices", lambda limit=1000: others)
    found = mt.solve(problem(S, 1000), "dp")
    with pytest.raises(VerificationError, match="where a second one finds"):
        mt.verify(found)


def test_verify_says_that_a_function_was_not_asked_again():
    S = mt.decisions.Oracle(lambda c: np.eye(4)[c.argmin()], 4)
    message = " ".join(mt.verify(mt.solve(problem(S, 0), "dp-oracle")).sentences)
    assert "known by a function only" in message


def test_nothing_of_scipy_is_printed(capfd):
    """Its HiGHS prints a line where it repairs a point."""
    costs = COSTS[[0, 1]] + np.random.default_rng(0).normal(size=(12, 2, 4)).cumsum(axis=0)[-1]
    second_oracle(SETS["mixed"]()).solve(costs)
    assert capfd.readouterr().out == ""
