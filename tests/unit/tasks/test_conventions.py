"""Penalties of other packages, converted there and back, mean the same trees."""

from fractions import Fraction

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.tasks.conventions import CONVENTIONS, from_convention, to_convention


@each_row("name", CONVENTIONS)
@each_row("penalty", ["0", "0.01", "1/200", "3"])
def test_there_and_back_is_the_same_penalty(name, penalty):
    there = to_convention(name, penalty, n=150, baseline=60)
    assert from_convention(name, there, n=150, baseline=60) == Fraction(penalty)


@pytest.mark.parametrize("penalty", [Fraction(1, 100), Fraction(1, 20)])
def test_every_convention_ranks_trees_as_we_do(penalty):
    """With (errors, splits) of two trees, each convention's own objective prefers the same tree."""
    n, baseline = 120, 70
    objective = {
        "gosdt": lambda e, s, x: Fraction(e, n) + x * (s + 1),
        "corels": lambda e, s, x: Fraction(e, n) + x * s,
        "pystreed": lambda e, s, x: e + x * n * s,
        "scikit-learn": lambda e, s, x: Fraction(e, n) + x * (s + 1),
        "spo": lambda e, s, x: Fraction(e, n) + x * (s + 1),
        "flow-oct": lambda e, s, x: -((1 - x) * (n - e) - x * s),
        "oct": lambda e, s, x: Fraction(e, baseline) + x * s,
        "oct-fraction": lambda e, s, x: e / Fraction(baseline, n) + x * s,
        "count": lambda e, s, x: e + x * s,
    }
    trees = [(40, 0), (38, 1), (30, 3), (29, 3), (25, 4), (5, 20)]
    ours = sorted(trees, key=lambda t: (Fraction(t[0], n) + penalty * t[1], t))
    assert set(objective) == set(CONVENTIONS)
    for name, value in objective.items():
        parameter = to_convention(name, penalty, n=n, baseline=baseline)
        assert sorted(trees, key=lambda t: (value(*t, parameter), t)) == ours, name


def test_counts_come_from_the_dataset():
    data = mt.Dataset([[0], [1], [1], [1]], y=["a", "b", "b", "b"])
    assert to_convention("oct", "0.1", dataset=data) == Fraction(4, 30)
    many = mt.Dataset([[0], [1]] * 20, y=["a"] * 15 + ["b"] * 25)
    assert to_convention("oct", "0.1", dataset=many) == Fraction(4, 25)


@each_row(
    ("call", "sentence"),
    [
        (lambda: to_convention("gost", 1), "no convention 'gost'"),
        (lambda: to_convention("count", 1), "needs n"),
        (lambda: from_convention("flow-oct", 1, n=3), "below 1"),
        (lambda: to_convention("gosdt", -1), "not be negative"),
        (lambda: to_convention("count", 1, n=0), "n must be positive"),
    ],
)
def test_what_cannot_be_converted_gets_a_sentence(call, sentence):
    with pytest.raises(mt.MilpTreesError, match=sentence):
        call()
