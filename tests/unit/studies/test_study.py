"""A study keeps every finished row, resumes, and says who agrees with the oracle."""

from dataclasses import replace
from fractions import Fraction

import pytest
from row_tests import each_row
from study_cases import Counts, Raises

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.common.registering import plugins as store
from milp_trees.methods.start import Start
from milp_trees.results.result import Certificate, Solution, Status
from milp_trees.solving.agreement import agreement, choose_reference, reference_of
from milp_trees.solving.attempt import attempt, find_start, named_method
from milp_trees.tasks.base import Value


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=4"),
        mt.Accuracy(),
        mt.Trees(2),
    )


@pytest.fixture
def plugins(monkeypatch):
    classes = mt.registry.classes("methods")
    known = store._classes["methods"]
    for cls in (Raises, Counts):
        monkeypatch.setitem(known, cls.name, cls)
    Counts.runs = 0
    return classes


# -- agreement -----------------------------------------------------------------------------------------------


def claims(problem, value, bound, status=Status.OPTIMAL):
    """A result that claims a value and a bound."""
    solutions = (
        ()
        if value is None
        else (
            Solution(
                mt.Tree(mt.plugins.Leaf(0), (0, 1)),
                Value(float(value), Fraction(value), "errors", "min"),
            ),
        )
    )
    certificate = Certificate(
        None if bound is None else float(bound), None if bound is None else Fraction(bound), "x"
    )
    return mt.Result(problem, "x", status, solutions=solutions, certificate=certificate)


FEASIBLE, INFEASIBLE = Status.FEASIBLE, Status.INFEASIBLE


@each_row(
    ("mine", "oracle", "expected"),
    [
        ((5, 5), (5, 5), True),
        ((6, 6), (5, 5), False),
        ((4, 4), (5, 5), False),
        ((6, 3, FEASIBLE), (5, 5), None),
        ((5, 3, FEASIBLE), (5, 5), None),
        ((4, 3, FEASIBLE), (5, 5), False),
        ((7, 6, FEASIBLE), (5, 5), False),
        ((None, 6, Status.NO_SOLUTION), (5, 5), False),
        ((None, 5, Status.NO_SOLUTION), (5, 5), None),
        ((5, 5), (6, 4, FEASIBLE), None),
        ((3, 3), (6, 4, FEASIBLE), False),
        ((None, None, INFEASIBLE), (None, None, INFEASIBLE), True),
        ((None, None, INFEASIBLE), (5, 5), False),
        ((5, None, FEASIBLE), (None, None, INFEASIBLE), False),
        ((None, None, Status.UNSUPPORTED), (5, 5), None),
        ((4, 4, Status.ERROR), (5, 5), False),
        ((5, 5, Status.ERROR), (5, 5), None),
    ],
)
def test_agreement_is_proven_and_equal_or_a_crossing(problem, mine, oracle, expected):
    assert agreement(claims(problem, *mine), claims(problem, *oracle)) is expected


def test_agreement_minds_the_sense():
    """A maximised value above the oracle's bound is a crossing; one below its optimum is not."""
    problem = mt.Problem(
        mt.load("planted:rows=40,tests=4,noise=0.1"), mt.tasks.BalancedAccuracy(), mt.Trees(1)
    )
    best = mt.solve(problem)
    better = replace(
        best,
        solutions=(Solution(best.predictor, replace(best.value, number=1.0, exact=Fraction(1))),),
    )
    worse = replace(
        best,
        status=FEASIBLE,
        solutions=(
            Solution(best.predictor, replace(best.value, number=0.1, exact=Fraction(1, 10))),
        ),
    )
    assert agreement(better, best) is False
    assert agreement(worse, best) is None
    assert agreement(best, best) is True


def test_rounded_bounds_do_not_cross(problem):
    nearly = replace(
        claims(problem, 5, None, FEASIBLE), certificate=Certificate(5.0000001, None, "solver")
    )
    assert agreement(nearly, claims(problem, 5, 5)) is None


@pytest.mark.parametrize("off", [1, 2, 99])
def test_exact_bounds_of_ten_million_cross_by_a_unit(problem, off):
    """A share of a value is no tolerance: 10^7 + 1 is more than 10^7."""
    size = 10**8
    low, high = claims(problem, size, size - off, FEASIBLE), claims(problem, size, size + off)
    assert agreement(low, claims(problem, size, size)) is None
    assert agreement(high, claims(problem, size, size)) is False
    assert agreement(claims(problem, size, size), claims(problem, size - off, size - off)) is False
    as_float = replace(high, certificate=Certificate(float(size + off), None, "x"))
    assert agreement(as_float, claims(problem, size, size)) is False


def test_inexact_values_agree_within_the_tolerance_of_the_view():
    problem = mt.Problem(
        mt.load("athey-imbens:rows=40,bins=3"), mt.tasks.DoublyRobust(), mt.Trees(1)
    )
    best = mt.solve(problem)
    assert best.value.exact is None
    near = replace(best.value, number=best.value.number * (1 - 1e-9))
    far = replace(best.value, number=best.value.number - 0.01)
    assert agreement(replace(best, solutions=(Solution(best.predictor, near),)), best) is True
    assert agreement(replace(best, solutions=(Solution(best.predictor, far),)), best) is False


def test_who_judges(problem):
    assert choose_reference(problem) == "dp"
    assert choose_reference(problem, None) is None
    assert reference_of("dp", problem) == "enumerate"
    assert reference_of("flow-oct@highs", problem) == "dp"
    fair = mt.Problem(
        problem.dataset.with_(groups=problem.dataset.y),
        mt.Accuracy(constraints=[mt.tasks.StatisticalParity(1)]),
        mt.Trees(2),
    )
    assert choose_reference(fair) == "enumerate"


# -- runs ----------------------------------------------------------------------------------------------------


def test_whatever_goes_wrong_becomes_a_row(problem, plugins):
    row = attempt(Raises(), problem, Limits())
    assert (row.status, row.message) == (Status.ERROR, "RuntimeError: a bug")
    big = mt.Problem(mt.load("planted:rows=500,tests=60"), mt.Accuracy(), mt.Trees(3))
    assert attempt(named_method("enumerate"), big, Limits()).status is Status.UNSUPPORTED


def test_a_start_says_who_made_it_or_why_there_is_none(problem):
    assert find_start(problem, "dp", Limits()).method == "dp"
    assert find_start(problem, mt.Tree(mt.plugins.Leaf(0), (0, 1)), Limits()).method == "given"
    big = mt.Problem(mt.load("planted:rows=500,tests=60"), mt.Accuracy(), mt.Trees(3))
    none = find_start(big, "enumerate", Limits())
    assert none.tree is None
    assert "tiny problems" in none.reason
    assert none.describe({})["accepted"] is False
    assert Start().describe({}) == {}
    with pytest.raises(mt.DataError, match="start must be"):
        find_start(problem, 3, Limits())


def test_solve_checks_its_numbers(problem):
    with pytest.raises(mt.DataError, match="time_limit must be a positive number"):
        mt.solve(problem, time_limit=0)
    with pytest.raises(mt.DataError, match="takes no solver options"):
        mt.solve(problem, "dp", options={"presolve": "off"})


def test_solve_asks_an_oracle_where_one_is_wanted(problem):
    assert mt.solve(problem, "dp").agrees is None
    assert mt.solve(problem, "dp", reference="dp").agrees is True


def test_scores_on_rows_left_out():
    from milp_trees.data.load import load_split

    train, test = load_split("planted:rows=80,tests=4,depth=1", test_size=0.25)
    result = mt.solve(mt.Problem(train, mt.Accuracy(), mt.Trees(1)), test_data=test)
    assert result.scores == {
        "train": 0,
        "train_accuracy": 1,
        "train_rows": 60,
        "test": 0,
        "test_accuracy": 1,
        "test_rows": 20,
    }
