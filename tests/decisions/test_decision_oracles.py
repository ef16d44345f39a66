"""Oracles of decisions, and helpers that make sets of decisions."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import milp_trees as mt
from milp_trees.common.errors import SolverFailure
from milp_trees.decisions.combinatorial import Knapsack
from milp_trees.decisions.listed import UnitSimplex

# -- helpers -----------------------------------------------------------------------------------------------------------------------------------


def test_assignment_is_that_of_scipy():
    S, C = mt.decisions.assignment_decisions(6), np.random.default_rng(11).normal(size=(20, 36))
    for c, z in zip(C, S.value(C), strict=True):
        rows, columns = linear_sum_assignment(c.reshape(6, 6))
        assert z == pytest.approx(c.reshape(6, 6)[rows, columns].sum())


def test_knapsacks_with_whole_weights_need_no_solver_and_agree_with_it():
    rng = np.random.default_rng(12)
    S = mt.decisions.knapsack_decisions(rng.integers(1, 12, 8), 20)
    assert isinstance(S, Knapsack)
    C = -rng.random((20, 8))
    np.testing.assert_allclose(mt.decisions.LinearDecisions(S.program()).value(C), S.value(C))
    items = np.array(list(itertools.product((0, 1), repeat=8)))
    fits = items[items @ S.weights <= 20]
    np.testing.assert_allclose(S.value(C), (C @ fits.T).min(axis=1))
    assert len(S.vertices()) == len(fits)


def test_huge_whole_weights_of_a_knapsack_are_no_trouble():
    S = mt.decisions.knapsack_decisions([1e30, 1, 2], 2)
    assert S.solve([[-9, -1, -1.5]]).decisions.tolist() == [[0, 0, 1]]
    assert mt.decisions.knapsack_decisions([1, 1], 1e30).solve([[-1, -1]]).decisions.tolist() == [
        [1, 1]
    ]


def test_knapsacks_with_impossible_numbers_are_refused():
    for weights, capacity, message in [
        ([1, -1], 3, "not negative"),
        ([1, 2], -1, "not negative"),
        ([1, np.nan], 3, "finite"),
        ([[1, 2]], [1, 2], "fit"),
    ]:
        with pytest.raises(mt.DataError, match=message):
            mt.decisions.knapsack_decisions(weights, capacity)


def test_the_simplex_without_rows_is_the_cheapest_of_d():
    S = mt.decisions.simplex_decisions(["car", "train", "walk"])
    assert isinstance(S, UnitSimplex)
    assert [S.label(w) for w in S.solve([[3, 2, 2], [-1, 0, 1]]).decisions] == ["train", "car"]


def test_lists_that_are_no_set_are_refused():
    for vertices, message in [
        ([], "shape"),
        ([[1, np.inf]], "infinity"),
        ([[1, 0], [1, 0]], "twice"),
        ([["a"]], "numbers"),
        (np.ones((2, 2, 2)), "shape"),
    ]:
        with pytest.raises(mt.DataError, match=message):
            mt.decisions.ListedDecisions(vertices)
    with pytest.raises(mt.DataError, match="2 entries"):
        mt.decisions.ListedDecisions([[1, 0]], ["a"])


# -- oracles -----------------------------------------------------------------------------------------------------------------------------------


def cheapest(c):
    w = np.zeros(len(c))
    w[np.argmin(c)] = 1
    return w


@pytest.mark.parametrize(
    "function, batch",
    [
        (cheapest, False),
        (lambda c: (cheapest(c), c.min()), False),
        (lambda C: np.array([cheapest(c) for c in C]), True),
        (lambda C: (np.array([cheapest(c) for c in C]), C.min(axis=1)), True),
    ],
)
def test_functions_serve_as_oracles(function, batch):
    for d in (2, 3):
        S = mt.decisions.Oracle(function, d, batch=batch)
        C = np.random.default_rng(13).normal(size=(10, d))
        np.testing.assert_array_equal(
            S.solve(C).decisions, mt.decisions.simplex_decisions(d).solve(C).decisions
        )
        assert S.calls == 11  # once at construction
        assert S.vertices() is None
        assert S.program() is None


def test_an_oracle_that_fails_midway_names_the_row_and_leaves_nothing_behind():
    def moody(c):
        if c[0] == 3:
            raise RuntimeError("licence lost")
        return cheapest(c)

    S = mt.decisions.Oracle(moody, 2)
    before = S.calls
    with pytest.raises(
        mt.errors.SolverFailure,
        match=r"^The oracle failed on row 2 of the costs: it raised RuntimeError: licence lost$",
    ):
        S.solve([[4, 1], [2, 1], [3, 1], [1, 1]])
    assert S.calls == before
    assert S.remembered == 0
    S.solve([[4, 1]])
    assert S.calls == before + 1  # not remembered from the failed batch


@pytest.mark.parametrize(
    "answer, said",
    [
        ([1, 0, 0], r"shape \(3,\)"),
        ([np.nan, 0], "NaN"),
        (None, "NoneType|shape|NaN"),
        ("ab", "no array of numbers"),
        (([1, 0], 17.0), "not what its decision costs"),
        (([1, 0], "x"), "ValueError"),
    ],
)
def test_answers_that_are_no_decisions_are_refused(answer, said):
    with pytest.raises(mt.errors.SolverFailure, match=said):
        mt.decisions.Oracle(lambda c: answer, 2)


def test_a_batch_that_fails_is_one_sentence():
    def breaks(C):
        raise ZeroDivisionError

    with pytest.raises(
        mt.errors.SolverFailure, match="on a batch of 1 cost vectors: it raised ZeroDivisionError"
    ):
        mt.decisions.Oracle(breaks, 2, batch=True)


def test_an_oracle_with_known_vertices_lists_them():
    S = mt.decisions.Oracle(cheapest, 3, vertices=np.eye(3))
    assert S.vertices().tolist() == np.eye(3).tolist()
    assert S.vertices(2) is None


def test_an_oracle_cannot_be_made_from_its_description():
    with pytest.raises(mt.DataError, match="cheapest"):
        mt.decisions.decisions_from_spec(mt.decisions.Oracle(cheapest, 2).spec())
    with pytest.raises(mt.errors.UnknownName, match="kinds are"):
        mt.decisions.decisions_from_spec({"kind": "wishes"})
    with pytest.raises(mt.DataError, match="lacks 'k'"):
        mt.decisions.decisions_from_spec({"kind": "assignment"})


# -- answers of HiGHS are checked ----------------------------------------------------------------------


def mixed():
    """Two 0/1 entries, the first of which is in one row only, and two continuous ones."""
    return mt.decisions.LinearDecisions.from_arrays(
        at_most=([[0, 1, 1, 2], [0, -3, 2, 3]], [4, 5]), upper=[1, 1, 3, 3], integer=[1, 1, 0, 0]
    )


def test_a_point_of_highs_that_is_not_the_one_of_its_objective_is_no_answer():
    """HiGHS 1.16 with a start and presolve returns the start's point here, which costs -5."""
    S = mixed()
    assert S.solve([[-3, 3, -2, -3]]).values == pytest.approx([-8])
    assert S.contains(S.solve([[-3, 3, -2, -3]]).decisions[0])


def lie(patch, warm, reply, wrong, once=False):
    """HiGHS answers `getSolution` or `getInfo` with other numbers, always or the first time."""
    stated = []
    right = getattr(warm.h, reply)

    def answer():
        found = right()
        if not (once and stated):
            stated.append(reply)
            for name, change in wrong.items():
                setattr(found, name, change(getattr(found, name)))
        return found

    patch.setattr(warm.h, reply, answer, raising=False)
    return stated


def linear():
    return mt.decisions.LinearDecisions.from_arrays(at_most=([[1, 2], [3, 1]], [4, 6]))


LIES = {
    "another point": ("getSolution", {"col_value": lambda x: [0.0] * len(x)}),
    "a point outside": ("getSolution", {"col_value": lambda x: [v + 1 for v in x]}),
    "no numbers": ("getSolution", {"col_value": lambda x: [float("nan")] * len(x)}),
}
OF_PROGRAMS = {
    "another objective": ("getInfo", {"objective_function_value": lambda v: v - 1}),
    "a bound above": ("getInfo", {"mip_dual_bound": lambda v: v + 1}),
    "a bound below": ("getInfo", {"mip_dual_bound": lambda v: v - 1}),
}
OF_RELAXATIONS = {
    "other multipliers": ("getSolution", {"row_dual": lambda y: [0.0] * len(y)}),
}


@pytest.mark.parametrize(
    ("make", "what"),
    [
        *((mixed, what) for what in (LIES | OF_PROGRAMS)),
        *((linear, what) for what in (LIES | OF_RELAXATIONS)),
    ],
)
def test_answers_of_highs_that_contradict_each_other_are_asked_again_and_then_refused(
    monkeypatch, make, what
):
    reply, wrong = (LIES | OF_PROGRAMS | OF_RELAXATIONS)[what]
    S = make()
    c = [[-3.0, 3.0, -2.0, -3.0][: S.dimension]]
    right, other = S.value(c), make()
    with pytest.MonkeyPatch.context() as patch:
        assert lie(patch, other._solver(), reply, wrong, once=True) == []
        np.testing.assert_allclose(other.value(c), right)
    refused = make()
    stated = lie(monkeypatch, refused._solver(), reply, wrong)
    with pytest.raises(SolverFailure, match=r"row 0 of the costs: HiGHS .* is not used"):
        refused.solve(c)
    assert stated


def test_an_optimum_that_another_one_ties_is_no_worse(monkeypatch):
    """The second solve, which breaks ties, has a point of its own."""
    S = linear()
    warm = S._solver()
    lie(monkeypatch, warm, "getSolution", {})
    monkeypatch.setattr(warm, "_point", lambda: np.array([0.0, 0.0]))
    with pytest.raises(SolverFailure, match=r"optimal|bound"):
        S.solve([[-1.0, -2.0]])


@pytest.mark.parametrize("said", ["kInfeasible", "kUnbounded", "kUnboundedOrInfeasible"])
@pytest.mark.parametrize("make", [mixed, linear])
def test_a_status_that_a_second_solver_denies_is_no_answer(monkeypatch, make, said):
    import highspy

    S = make()
    monkeypatch.setattr(
        S._solver().h,
        "getModelStatus",
        lambda: getattr(highspy.HighsModelStatus, said),
        raising=False,
    )
    with pytest.raises(SolverFailure, match="and SciPy does not"):
        S.solve([[-1.0] * S.dimension])
