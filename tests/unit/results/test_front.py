"""The question `front`: a result with many models, its table, picture and JSON, and the command."""

import json
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.methods.finish import Clock
from milp_trees.methods.front import finish_front
from milp_trees.plugins import Branch, Front, Leaf
from milp_trees.results.restore import restore
from milp_trees.results.result import Status
from milp_trees.results.stored import result_from_json
from milp_trees.solving.agreement import agreement
from milp_trees.studies.figures.front import plot_front

PLANTED = "planted:rows=40,tests=4,noise=0.2,seed=3"


def all_trees(problem):
    """Every tree of depth 2, also those with empty sides."""
    tests, leaves = problem.dataset.features, [Leaf(0), Leaf(1)]
    one = leaves + [Branch(t, a, b) for t in tests for a in leaves for b in leaves]
    two = one + [Branch(t, a, b) for t in tests for a in one for b in one]
    return [mt.Tree(node, problem.task.actions(problem.dataset)) for node in two]


def corners(points):
    """The pairs that no other pair beats, smaller is better."""
    return {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}


def coordinates(result):
    return {tuple(v.exact for v in s.coordinates) for s in result.solutions}


@each_row("task", [mt.tasks.F1(), mt.tasks.Matthews()])
@each_row("least", [1, 5])
def test_the_front_is_that_of_all_trees(task, least):
    problem = mt.Problem(mt.load(PLANTED), task, mt.Trees(2, min_samples_leaf=least), Front())
    result = mt.solve(problem)
    assert result.status is Status.OPTIMAL
    assert result.complete
    y = problem.dataset.y
    points = set()
    for tree in all_trees(problem):
        routes = tree.routes(problem.dataset)
        if (np.bincount(routes.leaf, minlength=routes.n_leaves) >= least).all():
            message = routes.action
            points.add((int((message & (1 - y)).sum()), int(((1 - message) & y).sum())))
    assert coordinates(result) == corners(points)
    best = mt.solve(mt.Problem(problem.dataset, task, problem.space))
    assert result.value == best.value


def test_a_front_with_a_penalty_counts_leaves():
    problem = mt.Problem(mt.load(PLANTED), mt.tasks.F1(leaf_penalty="0.01"), mt.Trees(2), Front())
    result = mt.solve(problem)
    assert {v.unit for v in result.solutions[0].coordinates} == {
        "false positives",
        "false negatives",
        "leaves",
    }
    assert all(s.coordinates[2].exact == s.predictor.n_leaves for s in result.solutions)


@pytest.fixture(scope="module")
def found():
    return mt.solve(mt.Problem(mt.load(PLANTED), mt.tasks.F1(), mt.Trees(2), Front()))


def test_a_front_is_written_and_read_back(found):
    data = json.loads(json.dumps(found.to_json()))
    problem = restore(data["problem"], question="front").problem
    again = result_from_json(data, problem)
    assert again.to_json() == data
    assert again.complete
    assert coordinates(again) == coordinates(found)
    assert agreement(again, found)


def test_the_table_is_sorted_and_exact(found):
    table = found.front()
    assert table["false positives"].is_monotonic_increasing
    assert table["false negatives"].is_monotonic_decreasing
    assert table["false positives (exact)"].map(type).eq(Fraction).all()
    with pytest.raises(mt.DataError, match="answers the question 'best'"):
        mt.solve(mt.Problem(found.problem.dataset, mt.Accuracy(), mt.Trees(1))).front()


def test_fewer_models_than_the_front_has_are_not_complete(found):
    problem = mt.Problem(found.problem.dataset, mt.tasks.F1(), mt.Trees(2), Front(most=2))
    result = mt.solve(problem)
    assert len(result.solutions) == 2
    assert result.complete is False
    assert result.status is Status.FEASIBLE


def test_superfluous_models_are_dropped_and_infeasible_ones_are_errors():
    data = mt.load(PLANTED)
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(1, min_samples_leaf=2), Front("capacity"))
    with pytest.raises(mt.DataError, match="needs the action whose rows are counted"):
        problem.coordinates(mt.Tree(Leaf(0), problem.task.actions(data)))
    rule = mt.tasks.Capacity(1)
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(1), Front(rule))
    given = {"complete": True, "proved_by": "somebody", "clock": Clock()}
    result = finish_front(problem, "somebody", all_trees(problem)[:18], **given)
    by_hand = [
        (int((t.routes(data).action != data.y).sum()), int(t.routes(data).action.sum()))
        for t in all_trees(problem)[:18]
    ]
    assert coordinates(result) == corners(by_hand)
    assert result.solutions[0].value.exact == min(by_hand)[0]
    deep = finish_front(problem, "somebody", all_trees(problem)[-1:], **given)
    assert deep.status is Status.ERROR
    assert not deep.complete


def test_the_amount_of_a_constraint_is_that_of_its_rows():
    """The largest disparity is the smallest limit under which nothing is violated."""
    rng = np.random.default_rng(0)
    data = mt.Dataset(
        rng.integers(0, 2, (30, 3)), y=rng.integers(0, 2, 30), groups=rng.integers(0, 3, 30)
    )
    for kind in (mt.tasks.StatisticalParity, mt.tasks.EqualisedOdds, mt.tasks.EqualOpportunity):
        for _ in range(20):
            action = rng.integers(0, 2, 30)
            name, size = kind().amount(action, data, (0, 1))
            assert name == kind.name
            assert not kind(size).violations(action, data, (0, 1))
            if size:
                assert kind(size - Fraction(1, 10**6)).violations(action, data, (0, 1))


def test_the_picture_joins_the_models(found):
    import matplotlib as mpl

    mpl.use("Agg")
    ax = plot_front(found)
    assert ax.get_xlabel() == "false positives"
    assert len(ax.lines[0].get_xdata()) == len(found.solutions)


def test_what_cannot_be_asked_is_said(found):
    data = found.problem.dataset
    with pytest.raises(mt.MilpTreesError, match="against"):
        mt.solve(
            mt.Problem(data, mt.tasks.F1(), mt.Trees(1), Front(mt.tasks.Capacity(1))), "pareto"
        )
    with pytest.raises(mt.DataError, match="most"):
        Front(most=0)
    with pytest.raises(mt.DataError, match="name of a side constraint"):
        Front(3)


def test_the_command_prints_and_writes_a_front(tmp_path):
    out, picture = tmp_path / "front.json", tmp_path / "front.png"
    given = [PLANTED, "--task", "f1", "--depth", "2", "--out", str(out), "--plot", str(picture)]
    found = CliRunner().invoke(app, ["front", *given])
    assert found.exit_code == 0, found.output
    assert "the whole front" in found.stdout
    data = json.loads(out.read_text())
    assert data["front"]["complete"]
    assert picture.exists()
