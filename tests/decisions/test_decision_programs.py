"""Decisions that are linear programs, and how their points are listed."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from decisions_cases import SMALL_MILP, news, random_costs, small_milp

import milp_trees as mt

# -- linear programmes -------------------------------------------------------------------------------------------------------------------------


def model(build):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 1))
    m.y = pyo.Var()
    build(m)
    return m


def empty(m):
    m.c, m.o = pyo.Constraint(expr=m.x[0] + m.x[1] >= 3), pyo.Objective(expr=m.x[0])


def unbounded(m):
    m.c, m.o = pyo.Constraint(expr=m.x[0] <= m.y), pyo.Objective(expr=m.x[0] + m.y)


def maximises(m):
    m.o = pyo.Objective(expr=m.x[0], sense=pyo.maximize)


def curved(m):
    m.o = pyo.Objective(expr=m.x[0] ** 2)


def curved_row(m):
    m.c, m.o = pyo.Constraint(expr=m.x[0] * m.x[1] <= 1), pyo.Objective(expr=m.x[0])


def no_decision(m):
    m.o = pyo.Objective(expr=0)


@pytest.mark.parametrize(
    "build, said",
    [
        (empty, "decision set is empty"),
        (unbounded, "'y' is not limited upwards"),
        (maximises, "maximises"),
        (curved, "not linear"),
        (curved_row, "not linear"),
        (no_decision, "no variables"),
        (lambda m: None, "0 active objectives"),
    ],
)
def test_models_without_a_bounded_linear_set_are_refused(build, said):
    with pytest.raises(mt.DataError, match=said) as caught:
        mt.decisions.LinearDecisions(model(build))
    assert str(caught.value).count(". ") == 0  # one sentence


def test_unbounded_integer_variables_are_seen():
    with pytest.raises(mt.DataError, match="'w1' is not limited upwards"):
        mt.decisions.LinearDecisions.from_arrays(
            at_most=([[1, -1]], [1]), upper=[4, np.inf], integer=True
        )


def test_the_decision_may_be_named_and_others_of_the_model_are_projected_out():
    m = small_milp()
    S = mt.decisions.LinearDecisions(m, decision=[m.used, m.x[1]])
    assert S.components == ("used", "x[1]")
    w, z = S.solve([[1, 0], [-1, 0], [0, -1]])
    assert z.tolist() == [2, -5, -1]
    assert w[[0, 2]].tolist() == [[2, 0], [5, 1]]
    assert mt.decisions.LinearDecisions(m, decision=m.x).components == (
        "x[0]",
        "x[1]",
        "x[2]",
        "x[3]",
    )
    with pytest.raises(mt.DataError, match="twice"):
        mt.decisions.LinearDecisions(m, decision=[m.used, m.used])
    other = small_milp()
    with pytest.raises(mt.DataError, match="not an active variable of the model"):
        mt.decisions.LinearDecisions(m, decision=[other.used])


def test_fixed_variables_keep_their_value():
    m = small_milp()
    m.x[1].fix(1)
    S = mt.decisions.LinearDecisions(m)
    assert S.dimension == 4
    assert {tuple(w) for w in S.solve(random_costs(4, np.random.default_rng(9))).decisions} == {
        tuple(w) for w in SMALL_MILP if w[1] == 1
    }


def test_the_coefficients_of_the_objective_are_not_used():
    m = small_milp()
    m.cost.set_value(sum(-(j + 7) * m.x[j] for j in range(4)))
    C = random_costs(4, np.random.default_rng(10))
    np.testing.assert_array_equal(
        mt.decisions.LinearDecisions(m).solve(C).decisions,
        mt.decisions.LinearDecisions(small_milp()).solve(C).decisions,
    )


def test_rows_that_do_not_fit_are_refused():
    for arrays, message in [
        ({}, "needs rows"),
        ({"at_most": ([[1, 2]], [1, 2])}, "do not fit"),
        ({"equal": ([[np.nan]], [1])}, "finite"),
    ]:
        with pytest.raises(mt.DataError, match=message):
            mt.decisions.LinearDecisions.from_arrays(**arrays)


# -- listing -----------------------------------------------------------------------------------------------------------------------------------


def brute_force_vertices(A, b, E, f):
    """Every choice of rows that determines a point, if the point is feasible."""
    d, found = A.shape[1], []
    for chosen in itertools.combinations(range(len(A)), d - len(E)):
        rows = np.vstack([E, A[list(chosen)]])
        if np.linalg.matrix_rank(rows) == d:
            x = np.linalg.solve(rows, np.append(f, b[list(chosen)]))
            if (A @ x <= b + 1e-9).all():
                found.append(np.round(x, 8))
    return np.unique(np.array(found) + 0.0, axis=0)


@pytest.mark.parametrize("seed", [10, 11, 18])
def test_all_vertices_of_a_polytope_are_listed(seed):
    rows = np.random.RandomState(seed).exponential(1.0, (5, 6))
    A, b = (
        np.vstack([rows, -np.eye(6), np.eye(6)]),
        np.concatenate([np.ones(5), np.zeros(6), np.ones(6)]),
    )
    expected = brute_force_vertices(A, b, np.ones((1, 6)), [1.0])
    listed = news(seed).vertices()
    np.testing.assert_allclose(np.unique(np.round(listed, 8) + 0.0, axis=0), expected, atol=1e-7)


def test_degenerate_and_flat_polytopes_are_listed():
    paths = mt.decisions.grid_paths(3)
    listed = mt.decisions.LinearDecisions(paths.program()).vertices()
    assert {tuple(w) for w in listed} == {tuple(w) for w in paths.vertices()}
    # w1 <= 0 makes the triangle flat without any row being an equation
    flat = mt.decisions.LinearDecisions.from_arrays(at_most=([[1, 1, 1], [0, 1, 0]], [1, 0]))
    assert {tuple(w) for w in flat.vertices()} == {(0, 0, 0), (1, 0, 0), (0, 0, 1)}
    point = mt.decisions.LinearDecisions.from_arrays(equal=([[1, 0], [0, 1]], [2, 3]))
    assert point.vertices().tolist() == [[2, 3]]


def test_listing_stops_at_the_limit():
    assert mt.decisions.assignment_decisions(8).vertices() is None
    assert mt.decisions.assignment_decisions(3).vertices(5) is None
    assert mt.decisions.knapsack_decisions([1] * 20, 20).vertices() is None
    assert news().vertices(3) is None
    assert (
        mt.decisions.LinearDecisions.from_arrays(at_most=(np.ones((1, 30)), [3])).vertices() is None
    )
    assert mt.decisions.ListedDecisions(np.eye(4)).vertices(3) is None


def test_integer_points_are_those_of_brute_force():
    S = mt.decisions.LinearDecisions.from_arrays(
        at_most=([[2, -1, 3], [-1, 1, 1]], [5, 2]), lower=[-1, 0, 0], upper=[2, 2, 2], integer=True
    )
    box = itertools.product((-1, 0, 1, 2), (0, 1, 2), (0, 1, 2))
    expected = {w for w in box if 2 * w[0] - w[1] + 3 * w[2] <= 5 and -w[0] + w[1] + w[2] <= 2}
    assert {tuple(w) for w in S.vertices()} == expected


def test_a_polytope_whose_list_lacks_a_vertex_is_not_listed(monkeypatch):
    """Qhull or a linear programme may lose one; the oracle then is what counts."""
    from milp_trees.decisions import listing

    S = mt.decisions.LinearDecisions.from_arrays(at_most=([[1, 2], [3, 1]], [4, 6]))
    right = listing.list_vertices(S.program(), 2, 1000)
    assert len(S.vertices()) == len(right) == 4
    for lost in range(len(right)):
        some = np.delete(right, lost, axis=0)
        monkeypatch.setattr(listing, "list_vertices", lambda *_, some=some: some)
        assert S.vertices() is None
