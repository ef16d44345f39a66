"""Conflicting rows of infeasible models, compared with all points of tiny ones."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import sparse
from scipy.optimize import linprog

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limit, Limits
from milp_trees.mip import irreducible
from milp_trees.mip.conflicting_rows import conflicting_rows
from milp_trees.mip.irreducible import irreducible_rows
from milp_trees.mip.linear.farkas import farkas
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer
from milp_trees.results.result import Status

LIMITS = Limits.asked(time_limit=60)


def program(rng, integer):
    """Random rows over five variables between 0 and 1, some of them equations or in duplicate."""
    m, n = int(rng.integers(4, 8)), 5
    A = rng.integers(-3, 4, (m, n)).astype(float)
    A[1] = A[0]
    total = A @ rng.integers(0, 2, n)
    lower = total + rng.integers(-1, 3, m)
    upper = np.where(rng.random(m) < 0.3, lower, np.inf)
    labels = [("first", "second", "third")[i % 3] for i in range(m)]
    return MatrixModel(
        "random", np.ones(n), 0.0, sparse.csr_matrix(A), lower, upper, np.zeros(n), np.ones(n),
        np.full(n, integer), [], labels, list(range(m)),
    )  # fmt: skip


def has_point(model, rows, integer):
    """Whether some rows have a common point: all points are listed, or another solver looks."""
    rows = list(rows)
    A, low, up = model.A.toarray()[rows], model.row_lower[rows], model.row_upper[rows]
    if integer:
        points = np.array(list(itertools.product((0, 1), repeat=model.n_variables)))
        total = points @ A.T
        return bool(((total >= low) & (total <= up)).all(axis=1).any())
    finite = np.isfinite(up)
    found = linprog(
        np.zeros(model.n_variables), np.vstack([-A, A[finite]]), np.append(-low, up[finite]),
        bounds=[(0, 1)] * model.n_variables,
    )  # fmt: skip
    return found.status == 0


@pytest.mark.parametrize("integer", [False, True])
def test_no_row_can_be_left_out_and_all_together_have_no_point(integer):
    rng, seen = np.random.default_rng(int(integer)), set()
    for _ in range(10):
        model = program(rng, integer)
        if has_point(model, range(model.n_rows), integer):
            with pytest.raises(DataError, match="has a feasible point"):
                irreducible_rows(model, "highs", LIMITS)
            seen.add("feasible")
            continue
        found = irreducible_rows(model, "highs", LIMITS)
        assert found.irreducible
        assert not has_point(model, found.rows, integer)
        assert all(has_point(model, set(found.rows) - {i}, not found.relaxed) for i in found.rows)
        assert found.relaxed == (not has_point(model, range(model.n_rows), False))
        assert found.exact == found.relaxed
        seen.add("relaxed" if found.relaxed else "integer")
    assert seen >= ({"feasible", "integer"} if integer else {"feasible", "relaxed"})


def test_multipliers_prove_a_contradiction_only_if_they_do():
    """x >= 1 and x + y <= 0 with y in [0, 1]; the multipliers are 1 and -1."""
    model = MatrixModel(
        "two rows", np.zeros(2), 0.0, sparse.csr_matrix([[1.0, 0.0], [1.0, 1.0]]),
        np.array([1.0, -np.inf]), np.array([np.inf, 0.0]), np.zeros(2), np.ones(2), np.zeros(2, bool),
    )  # fmt: skip
    assert farkas(model, [Fraction(1), Fraction(-1)])
    assert not farkas(model, [Fraction(1), Fraction(0)])
    assert not farkas(model, [Fraction(-1), Fraction(-1)])  # the first row has no upper side
    model.lower[1] = -1
    assert not farkas(model, [Fraction(1), Fraction(-1)])  # y = -1 satisfies both


def cannot_hold():
    """Four rows, of which exactly two are to be treated, though all of them answer alike."""
    data = mt.Dataset([[0, 0], [0, 0], [0, 0], [0, 0], [1, 1]], y=["a", "a", "b", "b", "b"])
    rules = (mt.tasks.Capacity("a", at_least=2), mt.tasks.Capacity("a", at_most=3))
    return mt.Problem(data, mt.Accuracy(constraints=rules), mt.Trees(max_depth=1))


@pytest.mark.parametrize("name", ["flow-oct", "state-flow"])
def test_side_constraints_of_a_formulation_are_named_in_its_words(name):
    problem, formulation = cannot_hold(), mt.registry.formulation(name)
    m = formulation.build(problem)
    found = conflicting_rows(m, formulation, problem, among=["side"])
    assert [row.name for row in found.rows] == ["side[0]", "side[1]"]
    assert found.irreducible
    assert {row.words for row in found.rows} == {"capacity of a"}
    assert found.frame()["constraint"].tolist() == ["side", "side"]
    assert json.loads(json.dumps(found.to_json()))["irreducible"] is True
    assert "all other rows always hold" in str(found)


def test_own_constraints_conflict_with_rows_of_the_model():
    """A root that tests the first feature, and no test on it anywhere."""
    problem, formulation = mt.Problem(mt.Dataset(np.eye(3), y=["a", "b", "a"]), mt.Accuracy(), mt.Trees(2)), mt.registry.formulation("flow-oct")  # fmt: skip
    m = formulation.build(problem)
    m.root = pyo.Constraint(expr=m.b[1, 0] == 1, doc="the root tests column 0")
    m.never = pyo.Constraint(expr=sum(m.b[v, 0] for v in m.branch) <= 0, doc="nothing tests it")
    found = conflicting_rows(m, formulation, problem)
    assert {row.constraint for row in found.rows} == {"root", "never"}
    assert (found.relaxed, found.subset.exact, found.irreducible) == (True, True, True)
    assert "the root tests column 0" in str(found)
    m.never.deactivate()
    with pytest.raises(DataError, match="has a feasible point"):
        conflicting_rows(m)


def test_bounds_alone_and_rows_without_variables_are_found_without_a_solver():
    m = pyo.ConcreteModel(name="small")
    m.x = pyo.Var(bounds=(0, 1))
    m.y = pyo.Var(bounds=(0, 1))
    m.low = pyo.Constraint(expr=m.x + 0 * m.y >= 2)
    found = conflicting_rows(m)
    assert [row.name for row in found.rows] == ["low"]
    assert "contradicts its bounds" in str(found)
    m.low.deactivate()
    m.z = pyo.Var(domain=pyo.Integers, bounds=(0.2, 0.8))
    m.any = pyo.Constraint(expr=m.x + m.z >= 0)
    found = conflicting_rows(m)
    assert (found.rows, found.irreducible, found.subset.solves) == ((), True, 0)
    with pytest.raises(DataError, match="no rows of the name 'none'"):
        conflicting_rows(m, among=["none"])


def test_a_search_that_is_stopped_says_which_rows_may_be_superfluous(monkeypatch):
    """The time is over after the first solves: what is left is infeasible, and called nothing else."""
    problem, formulation = cannot_hold(), mt.registry.formulation("flow-oct")
    m, solves = formulation.build(problem), []
    run = irreducible.run

    def slow(solver, job, *more):
        solves.append(job.limits.time)
        if len(solves) > 4:
            return Answer(Status.NO_SOLUTION, Limit.TIME)
        return run(solver, job, *more)

    monkeypatch.setattr(irreducible, "run", slow)
    found = conflicting_rows(m)
    assert not found.irreducible
    assert found.subset.limit is Limit.TIME
    assert "may be superfluous: the time limit ended the search" in str(found)
    solves[:] = [0.0] * 9
    with pytest.raises(mt.errors.SolverFailure, match="raise time_limit"):
        conflicting_rows(m)


def test_a_built_model_names_own_rows_that_conflict_in_one_of_its_blocks():
    problem = mt.Problem(mt.Dataset(np.eye(3), y=["a", "b", "a"]), mt.Accuracy(), mt.Trees(1))
    m = pyo.ConcreteModel(name="two trees")
    m.one, m.two = pyo.Block(), pyo.Block()
    one, two = (mt.build("flow-oct", problem, block=b) for b in (m.one, m.two))
    m.cost = pyo.Objective(expr=one.cost + two.cost)
    m.together = pyo.Constraint(
        expr=m.one.b[1, 0] + m.two.b[1, 0] >= 2, doc="both trees test the first column"
    )
    m.apart = pyo.Constraint([0, 1, 2], rule=lambda m, f: m.one.b[1, f] + m.two.b[1, f] <= 1)
    found = one.why_infeasible()
    assert {row.name for row in found.rows} == {"together", "apart[0]"}
    assert [row.name for row in two.why_infeasible(among=["apart"]).rows] == ["apart[0]"]
    m.apart.deactivate()
    m.two.b[1, 0].fix(0)
    m.one.split = pyo.Constraint(m.one.branch, rule=lambda b, v: b.b[v, 0] >= 1)
    found = one.why_infeasible()
    assert [row.name for row in found.rows] == ["together"]
    assert "contradicts its bounds" in str(found)
    m.together.deactivate()
    with pytest.raises(DataError, match="has a feasible point"):
        one.why_infeasible()
