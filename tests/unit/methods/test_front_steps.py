"""Fronts against a side constraint, found in steps: what a limit leaves, pictures, and the command."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.limits import Limit, Stopped
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import Front

RNG = np.random.default_rng(9)
GROUPS = RNG.integers(0, 2, 60)
X = RNG.integers(0, 2, (60, 4)) | (GROUPS[:, None] & RNG.integers(0, 2, (60, 4)))
Y = (X[:, 0] + X[:, 1] + 2 * GROUPS + RNG.integers(0, 2, 60) > 2).astype(int)


def problem(against="statistical-parity", most=None, **more):
    data = mt.Dataset(X, y=Y, groups=GROUPS)
    return mt.Problem(data, mt.Accuracy(**more), mt.Trees(2), Front(against, most))


def points(result):
    return [tuple(c.exact for c in s.coordinates) for s in result.solutions]


WHOLE = points(mt.solve(problem(), method="enumerate"))


def test_the_drawn_front_has_corners():
    """Otherwise the tests below would say little."""
    assert len(WHOLE) >= 4
    assert WHOLE[-1][1] == 0


@pytest.mark.parametrize("steps", [0, 1, 3, 4])
def test_a_run_that_is_stopped_keeps_its_corners(steps, monkeypatch):
    """Corners found before the limit are those of the whole front; the result says where the proof
    ends.
    """
    method = registry.method("enumerate")
    search, left = type(method).search, iter(range(steps))

    def stops(self, *args):
        if next(left, None) is None:
            raise Stopped(Limit.TIME)
        return search(self, *args)

    monkeypatch.setattr(type(method), "search", stops)
    result = method.run(problem())
    assert (result.complete, result.limit) == (False, Limit.TIME)
    if steps:
        proven = Fraction(re.search(r"at least (\S+) ", result.message)[1])
        certain = [p for p in WHOLE if p[1] > proven]
        assert points(result)[: len(certain)] == certain
        assert (len(certain) > 0) == (steps > 2)
        assert result.bound == WHOLE[0][0]
    else:
        assert points(result) == []


def test_a_run_that_is_stopped_from_outside_still_answers_the_question(monkeypatch):
    """It has a model that needs no search, with its coordinates, and is not complete."""
    method = registry.method("enumerate")

    def stopped(*_):
        raise Stopped(Limit.TIME)

    monkeypatch.setattr(method, "_search_within", stopped)
    result = method.run(problem())
    assert (result.complete, result.limit) == (False, Limit.TIME)
    assert result.front()["statistical-parity"].tolist() == [0]


def test_a_time_limit_of_nothing_is_no_error():
    """There is no corner then, and the front is not complete."""
    result = mt.solve(problem(), method="enumerate", time_limit=1e-9)
    assert (result.complete, result.limit) == (False, Limit.TIME)


def test_a_largest_number_of_models_leaves_out_the_least_unequal():
    """The best values come first, and an answer that leaves models out is not complete."""
    result = mt.solve(problem(most=2), method="enumerate")
    assert points(result) == WHOLE[:2]
    assert not result.complete


def test_other_constraints_of_the_task_stay():
    """At most 20 favourable rows: every corner keeps the limit, and no such corner is missing."""
    capacity = mt.tasks.Capacity(1, at_most=20)
    result = mt.solve(problem(constraints=(capacity,)), method="enumerate")
    assert result.complete
    for solution in result.solutions:
        assert (solution.predictor.routes(result.problem.dataset).action == 1).sum() <= 20
    assert len(points(result)) > 2
    bound = points(result)[2][1]
    rule = mt.tasks.StatisticalParity(bound)
    best = mt.solve(replace(problem(constraints=(capacity, rule)), question=mt.plugins.Best()))
    assert best.value.exact == points(result)[2][0]


def test_nothing_is_feasible():
    """The proof of infeasibility is that of the first step."""
    none = mt.tasks.Capacity(1, at_least=61)
    result = mt.solve(problem(constraints=(none,)), method="enumerate")
    assert result.status is mt.plugins.Status.INFEASIBLE
    assert result.solutions == ()


def test_who_takes_the_question_and_who_says_why_not():
    """A heuristic proves no corner; an engine without side rows names others; so does a task
    without constraints.
    """
    assert mt.solve(problem()).complete
    with pytest.raises(mt.errors.Unsupported, match="cannot express side constraints"):
        mt.solve(problem(), method="dp")
    with pytest.raises(mt.errors.Unsupported, match="not front"):
        mt.solve(problem(), method="cart")
    auc = replace(problem(), task=mt.tasks.AUC())
    with pytest.raises(mt.errors.NoView, match="takes no side constraints"):
        mt.solve(auc)


def test_agrees_compares_whole_fronts():
    """Two methods agree if they have the same corners."""
    result = mt.solve(problem(), method="state-flow@highs", reference="enumerate")
    assert result.agrees is True


def test_the_command_prints_draws_and_writes(tmp_path):
    """The table has exact fractions beside decimals, and the picture is a step curve."""
    file, picture = tmp_path / "rows.csv", tmp_path / "front.svg"
    np.savetxt(file, np.column_stack([Y, GROUPS, X]), fmt="%d", delimiter=" ")
    command = ["front", str(file), "--depth", "2", "--group", "0", "--method", "enumerate"]
    command += ["--against", "statistical-parity"]
    message = CliRunner().invoke(app, [*command, "--plot", str(picture)])
    assert message.exit_code == 0, message.output
    assert "the whole front" in message.output
    assert picture.stat().st_size > 1000
    written = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert written["front"]["complete"] is True
    exact = [
        tuple(Fraction(c["exact"]) for c in s["coordinates"]) for s in written["front"]["solutions"]
    ]
    assert exact == WHOLE


@pytest.mark.slow
def test_the_curve_of_a_public_set(data_folder):
    """ricci at depth 2: eleven corners from no error at 30 % to a single class, by two methods."""
    data = mt.load(str(data_folder / "fairness" / "ricci-binarized.csv"), group="0")
    requested = mt.Problem(data, mt.Accuracy(), mt.Trees(2), Front("statistical-parity"))
    result = mt.solve(requested, reference="enumerate")
    assert (result.complete, result.agrees) == (True, True)
    errors = [0, 7, 17, 19, 22, 25, 33, 40, 41, 47, 56]
    assert [p[0] for p in points(result)] == errors
    assert [points(result)[0][1], points(result)[-1][1]] == [Fraction(103, 340), 0]
