"""Named tiny problems of rule lists; each is a special case that an engine or model may get wrong.

`list_problems()` makes all of them, once per process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from milp_trees.data.antecedent import Antecedent, Literal
from milp_trees.data.dataset import BinaryFeature
from milp_trees.lists.antecedents import Antecedents
from milp_trees.lists.space import RuleLists
from milp_trees.problems.problem import Problem
from milp_trees.tasks.captured_share import CapturedShare
from milp_trees.tasks.classification import (
    Accuracy,
    BalancedAccuracy,
    MisclassificationCosts,
    WeightedError,
)
from milp_trees.tasks.constraints import Capacity, EqualOpportunity, StatisticalParity
from milp_trees.tasks.feature_constraints import FeatureBudget, NotTogether, Requires
from milp_trees.tasks.node_constraints import ParityInLeaves, ParityInSubtrees
from milp_trees.tasks.policy import ActionCostMatrix, DoublyRobust
from milp_trees.tasks.ratio import F1, Precision
from milp_trees.testing._named import CUBE, SQUARE, dataset, numeric_dataset

Maker = Callable[[], Problem]

#: All named problems of rule lists.
LISTS: dict[str, Maker] = {}

#: A task whose rules cost something.
PAID: dict[str, Any] = {"split_penalty": "1/50"}


def named(make: Maker) -> Maker:
    """Register a function under its own name."""
    LISTS[make.__name__.removeprefix("make_")] = make
    return make


@cache
def list_problems() -> dict[str, Problem]:
    """All named problems of rule lists by name."""
    return {name: _made(name, make()) for name, make in LISTS.items()}


def _made(name: str, problem: Problem) -> Problem:
    return replace(problem, dataset=replace(problem.dataset, source={"testing": name}))


def _space(max_length: int | None = 2, **more: Any) -> RuleLists:
    """Lists over antecedents that are described by the arguments of `Antecedents`."""
    limits = {k: more.pop(k) for k in ("min_samples_rule", "split_on_group") if k in more}
    given = more.pop("given", None)
    return RuleLists(
        Antecedents(**more) if given is None else Antecedents.given(given), max_length, **limits
    )


def _accuracy(X: Any, y: Any, space: RuleLists, task: Any = None, **more: Any) -> Problem:
    return Problem(dataset(X, y=y, **more), task or Accuracy(), space)


# -- shapes of lists and data ----------------------------------------------------------------------


@named
def make_default_alone() -> Problem:
    """No rule pays for itself."""
    return _accuracy(SQUARE, [0, 0, 0, 1], _space(), Accuracy(split_penalty="1/3"))


@named
def make_length_0() -> Problem:
    """Only the default rule is allowed."""
    return _accuracy(SQUARE, [0, 1, 1, 1], _space(0))


@named
def make_order_matters() -> Problem:
    """The same two antecedents in the other order are wrong on a row."""
    return _accuracy([[1, 1], [1, 0], [0, 1], [0, 0]], ["a", "a", "b", "a"], _space())


@named
def make_five_actions() -> Problem:
    """Each of four sets of equal rows has an action of its own, and two fill no rule alone."""
    X = np.repeat(SQUARE, [4, 2, 3, 2], axis=0)
    values = 5 + 3 * (np.repeat([4, 0, 3, 1], [4, 2, 3, 2])[:, None] != np.arange(5))
    values[4] = [0, 9, 9, 1, 9]
    return Problem(dataset(X, values=values), ActionCostMatrix(), _space(2, min_samples_rule=3))


@named
def make_sixty_four_rows() -> Problem:
    """All rows of six features, which one rule tells apart but for a few."""
    X = np.array(list(product((0, 1), repeat=6)))
    return _accuracy(X, X[:, 2] ^ (X.sum(axis=1) == 6), _space(1))


@named
def make_complement_first() -> Problem:
    """The first rule must ask for a complement; the feature itself serves in the last rule only."""
    return _accuracy(SQUARE, [1, 1, 1, 0], _space(negations=True), Accuracy(**PAID))


@named
def make_complement_pair() -> Problem:
    """A feature and its complement are two antecedents, and both are needed at other places."""
    X = [[a, 1 - a, b] for a, b in SQUARE]
    return _accuracy([*X, X[0]], [1, 0, 0, 1, 1], _space(2), Accuracy(**PAID))


@named
def make_xor_of_pairs() -> Problem:
    """Single features say nothing; a conjunction of two says all but one row."""
    return _accuracy(SQUARE, [0, 1, 1, 0], _space(2, max_literals=2, negations=True))


@named
def make_no_limit() -> Problem:
    """No limit on the length: prices alone keep the list short."""
    return _accuracy(CUBE, [0, 0, 0, 1, 0, 1, 1, 1], _space(None), Accuracy(**PAID))


@named
def make_longer_than_rows() -> Problem:
    """The limit on the length is far above what the rows allow."""
    return _accuracy([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 1, 0], _space(9))


@named
def make_one_row() -> Problem:
    """One row and two classes, one of which has no row; antecedents are constant."""
    X, given = [[1, 0]], [BinaryFeature("0"), BinaryFeature("1")]
    return _accuracy(X, [0], _space(given=given), classes=("a", "b"))


@named
def make_constant_antecedents() -> Problem:
    """Of the given antecedents one holds on all rows, and one on none."""
    X = [[0, 1, 0], [0, 1, 1], [0, 1, 1]]
    return _accuracy(X, [0, 1, 0], _space(given=[BinaryFeature(str(j)) for j in range(3)]))


@named
def make_one_class() -> Problem:
    """All rows are of one class, so the default rule is perfect."""
    return _accuracy(SQUARE, [1, 1, 1, 1], _space(), classes=("a", "b"))


@named
def make_three_classes() -> Problem:
    """Three classes, and a class without rows."""
    y = [0, 1, 3, 0, 3, 1]
    return _accuracy([*SQUARE, [1, 1], [0, 1]], y, _space(), classes=("a", "b", "c", "d"))


@named
def make_equal_rows() -> Problem:
    """Equal rows with different labels, so some errors are unavoidable."""
    X = [[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [1, 1]]
    return _accuracy(X, [0, 1, 1, 1, 0, 0], _space(), Accuracy(**PAID))


@named
def make_large_rules() -> Problem:
    """Every rule captures at least two rows, the default rule may capture one."""
    return _accuracy(CUBE, [0, 0, 1, 1, 1, 0, 1, 0], _space(3, min_samples_rule=2))


@named
def make_copies_make_a_rule_large() -> Problem:
    """A rule captures two rows that are copies of each other, as many as it must."""
    X = [[1, 0], [1, 0], [0, 1], [0, 0], [0, 0]]
    return _accuracy(X, [1, 1, 0, 0, 0], _space(1, min_samples_rule=2))


@named
def make_rules_too_large() -> Problem:
    """No antecedent holds on as many rows as a rule must capture."""
    return _accuracy(SQUARE, [0, 1, 1, 1], _space(2, min_samples_rule=3))


@named
def make_thresholds() -> Problem:
    """An interval between two thresholds of a column."""
    data = numeric_dataset({"x": [1, 2, 3, 2]}, y=[0, 1, 0, 1])
    return Problem(data, Accuracy(**PAID), _space(None, max_literals=2, negations=True))


@named
def make_group_not_asked() -> Problem:
    """The group column would be the perfect antecedent, but it is none."""
    features = [BinaryFeature("sex"), BinaryFeature("skill")]
    data = dataset(SQUARE, features, y=[0, 0, 1, 1], groups=[0, 0, 1, 1], group_column="sex")
    return Problem(data, Accuracy(), _space())


# -- tasks -----------------------------------------------------------------------------------------


@named
def make_weights() -> Problem:
    """Weighted rows and weighted classes."""
    task = WeightedError(class_weight={1: "3/2"}, **PAID)
    weights = [0.5, 2, 0, 1.25, 1, 1, 3, 0.1]
    return _accuracy(CUBE, [0, 1, 1, 0, 1, 0, 0, 1], _space(), task, weights=weights)


@named
def make_balanced() -> Problem:
    """Balanced accuracy, which is maximised."""
    return _accuracy(CUBE, [0, 0, 0, 0, 0, 1, 0, 1], _space(), BalancedAccuracy())


@named
def make_cost_matrix() -> Problem:
    """A cost matrix whose cheapest prediction is not the class itself."""
    task = MisclassificationCosts(matrix=((2, 0, 5), (1, 1, 0), (0, 4, 3)))
    return _accuracy([*SQUARE, *SQUARE], [0, 1, 2, 0, 1, 2, 2, 1], _space(), task)


@named
def make_costs_of_actions() -> Problem:
    """Costs of any sign, ties among them, with prices of rules and of leaves."""
    costs = np.random.default_rng(3).integers(-6, 7, (8, 3))
    task = ActionCostMatrix(split_penalty="1/4", leaf_penalty="1/8")
    return Problem(dataset(CUBE, values=costs), task, _space(3))


@named
def make_feature_costs() -> Problem:
    """Equal antecedents at different prices, and a conjunction that pays for two columns."""
    X = [[a, b, a] for a, b in SQUARE]
    task = Accuracy(feature_costs={"0": "1/5", "2": "1/50", "1": "1/20"})
    one, two, three = (BinaryFeature(str(j)) for j in range(3))
    given = [one, two, three, Literal(three, False), Antecedent((Literal(two), Literal(three)))]
    return _accuracy(X, [0, 0, 1, 0], _space(given=given), task)


@named
def make_policy() -> Problem:
    """A list that says whom to treat, by doubly robust values."""
    data = dataset(
        CUBE,
        treatments=[0, 1, 0, 1, 0, 1, 0, 1],
        outcomes=[1.0, 0.5, 0.25, 2.0, 1.5, 0.0, 1.0, 3.0],
        propensities=[0.5, 0.5, 0.25, 0.5, 0.5, 0.5, 0.75, 0.5],
        values=[
            [1.0, 0.5],
            [0.5, 0.5],
            [0.25, 1.0],
            [1.0, 1.5],
            [1.0, 1.0],
            [0, 0.5],
            [1, 2],
            [1, 2],
        ],
    )
    return Problem(data, DoublyRobust(), _space())


@named
def make_f1() -> Problem:
    """F1, which is solved in steps."""
    return _accuracy(CUBE, [0, 1, 0, 0, 1, 1, 0, 1], _space(), F1())


@named
def make_f1_leaf_penalty() -> Problem:
    """F1 with a penalty per rule, without a limit on the length."""
    return _accuracy(CUBE, [0, 1, 0, 0, 1, 1, 0, 1], _space(None), F1(leaf_penalty="1/20"))


@named
def make_precision_at_recall() -> Problem:
    """A ratio with a side row that excludes the best precision."""
    return _accuracy(CUBE, [0, 1, 0, 1, 0, 0, 1, 1], _space(), Precision(min_recall="3/4"))


# -- side constraints ------------------------------------------------------------------------------


@named
def make_capacity() -> Problem:
    """At most two rows may get the action that all prefer."""
    costs = [[3, 0], [2, 0], [5, 1], [1, 0], [4, 4], [2, 1]]
    task = ActionCostMatrix(constraints=(Capacity(action=1, at_most=2),))
    return Problem(dataset([*SQUARE, [0, 1], [1, 1]], values=costs), task, _space())


@named
def make_parity() -> Problem:
    """Parity that costs errors."""
    task = Accuracy(constraints=(StatisticalParity("1/4", 1),), **PAID)
    groups = [0, 0, 0, 0, 1, 1, 1, 1]
    return _accuracy(CUBE, [0, 0, 0, 1, 1, 1, 1, 1], _space(), task, groups=groups)


@named
def make_opportunity() -> Problem:
    """Equal true positive rates of three groups."""
    task = Accuracy(constraints=(EqualOpportunity("1/4", 1),))
    return _accuracy(CUBE, [1, 1, 0, 1, 1, 0, 0, 0], _space(3), task, groups=list("cbaabacb"))


@named
def make_cannot_hold() -> Problem:
    """No list has exactly two rows of three with the action."""
    task = Accuracy(constraints=(Capacity(action=1, at_least=2), Capacity(action=1, at_most=2)))
    return _accuracy(
        [[0, 0, 1], [0, 0, 1], [0, 0, 1]], [0, 1, 1], _space(given=[BinaryFeature("2")]), task
    )


@named
def make_before_a_black_box() -> Problem:
    """Three of eight rows may be left to a black box, which is right everywhere."""
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    values = np.column_stack([y, 1 - y, np.zeros(8, dtype=int)])
    task = ActionCostMatrix(constraints=(CapturedShare("5/8", "forest"),), split_penalty="1/20")
    data = dataset(CUBE, values=values, actions=["no", "yes", "forest"])
    return Problem(data, task, _space(3))


@named
def make_no_rule_is_the_black_box() -> Problem:
    """Two rules would leave their rows to the black box, which only the default rule may."""
    costs = [[5, 0, 3], [6, 0, 2], [0, 5, 4], [0, 7, 4]]
    task = ActionCostMatrix(constraints=(CapturedShare(0, 1),))
    return Problem(dataset([[1, 0], [0, 1], [0, 0], [0, 0]], values=costs), task, _space())


@named
def make_two_columns_at_most() -> Problem:
    """Three columns would be right everywhere, of which the whole list may use two."""
    task = Accuracy(constraints=(FeatureBudget(2),), **PAID)
    return _accuracy(CUBE, [0, 0, 0, 0, 1, 0, 0, 0], _space(3), task)


@named
def make_not_both() -> Problem:
    """Two columns say all, and exclude each other."""
    task = Accuracy(constraints=(NotTogether("0", "1"),))
    return _accuracy(CUBE, [0, 0, 0, 0, 0, 0, 1, 1], _space(2, negations=True), task)


@named
def make_one_requires_another() -> Problem:
    """A conjunction of two columns says all; one of them requires a third one, at a price."""
    task = Accuracy(constraints=(Requires("2", "0"),), **PAID)
    return _accuracy(CUBE, [0, 0, 0, 0, 0, 0, 1, 1], _space(2, max_literals=2), task)


@named
def make_two_rules_in_one() -> Problem:
    """Two disjoint antecedents would be right everywhere; the list may have one rule."""
    X = [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]
    return _accuracy(X, [1, 1, 0, 0, 0], _space(1))


@named
def make_parity_of_every_rest() -> Problem:
    """Parity among the rows that are left after every rule."""
    task = Accuracy(constraints=(ParityInSubtrees("1/3", 1),))
    groups = [0, 1, 0, 1, 1, 0, 1, 0]
    return _accuracy(CUBE, [0, 1, 1, 1, 0, 1, 0, 0], _space(3), task, groups=groups)


@named
def make_fair_rules() -> Problem:
    """The shares of errors of two groups are close in every rule."""
    task = Accuracy(constraints=(ParityInLeaves("1/3"),), **PAID)
    groups = [0, 1, 1, 0, 0, 1, 0, 1]
    return _accuracy(CUBE, [0, 1, 0, 1, 1, 1, 0, 0], _space(3), task, groups=groups)
