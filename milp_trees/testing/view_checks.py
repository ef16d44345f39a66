"""Views of tasks against the tasks themselves.

Every view of a tree has the tree's value, and its side rows and structures hold exactly where the
task finds nothing violated. The same is true of what presolve leaves, and of the linear steps of a ratio.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.models.nodes import Leaf
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.count_views import LeafCounts, PairCounts
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.leaf_functions import refuse_cheaper_whole
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.states_view import States
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.describe import expression
from milp_trees.testing.task_data import in_order, see

#: What a ratio is moved by, to compare it with another number.
BESIDE = Fraction(1, 97)


def views_agree(problem: Problem, tree: Tree, name: str) -> None:
    """Raise AssertionError if a view of a task says something else about a tree than the task.

    Parameters
    ----------
    problem : Problem
    tree : Tree
        Any tree on the problem's features, feasible or not.
    name : str
        Name of the dataset, for the sentence.
    """
    value, wrong = problem.value(tree), _violated(problem, tree)
    number = value.exact if value.exact is not None else Fraction(value.number)
    if problem.task.offers(LeafSums):
        _predicts_best(problem, tree, name)
    for view in _views(problem):
        if isinstance(view, LeafOracle) and not tree.actions:
            continue
        Z = _units(view, tree)
        off = abs(view.from_value(number) - Fraction(Z))
        demand(
            off <= view.tolerance,
            problem,
            name,
            tree,
            f"the view {type(view).__name__} has {Z} units, the value is {float(view.from_value(number))}",
        )
        if isinstance(view, CostMatrix):
            _keeps(view, wrong, problem, tree, name)
    with contextlib.suppress(NoView):
        if problem.task.offers(Ratio):
            ratio = problem.view(Ratio)
            for one in (ratio, ratio.reduce()):
                _ratio_agrees(one, number, problem, tree, name)
                _keeps(one.frame, wrong, problem, tree, name)


def _predicts_best(problem: Problem, tree: Tree, name: str) -> None:
    """No prediction is better than the view's; objective and bound are right."""
    whole = problem.first_view((LeafSums,))
    best = whole.decided(tree)
    value = problem.value(best)
    number = value.exact if value.exact is not None else Fraction(value.number)
    slack = 1e-12 * max(1.0, abs(value.number))
    given = problem.value(tree)
    demand(
        value.number <= given.number + slack,
        problem,
        name,
        tree,
        f"the value is {given}, and with the predictions that are said to be best {value}",
    )
    for view in (whole, problem.presolved_view()):
        Z = view.objective(tree)
        off = abs(view.from_value(number) - Z)
        demand(
            off <= view.tolerance,
            problem,
            name,
            best,
            f"the view {type(view).__name__} has {Z} units, the value is {float(view.from_value(number))}",
        )
        bound = view.to_bound(Z)
        demand(
            bound <= number + Fraction(slack),
            problem,
            name,
            best,
            f"of {Z} units the bound is {float(bound)}, and the value is {value}",
        )


def splits_cost_nothing(problem: Problem, name: str) -> None:
    """A leaf is never cheaper than the parts into which it is split, nor than nothing.

    Leaves have the sums of random rows. Both together say that fewer rows cost no more.

    Parameters
    ----------
    problem : Problem
        Its task offers leaf sums.
    name : str
        Name of the dataset, for the sentence.

    Raises
    ------
    AssertionError
        There are rows whose leaf costs less than two leaves with a part of them each.
    """
    view = problem.first_view((LeafSums,))
    if not isinstance(view, LossSums):
        return
    sums = view.sums[:, :-1]

    def draw(rng: np.random.Generator) -> np.ndarray:
        row: np.ndarray = sums[rng.integers(len(sums))] * rng.integers(1, 5)
        return row

    why = ""
    try:
        refuse_cheaper_whole(view.leaf, sums.shape[1], draw)
    except DataError as found:
        why = str(found)
    demand(not why, problem, name, None, why)
    rng = np.random.default_rng(1)
    chosen = rng.random((50, len(view.sums))) < rng.random((50, 1))
    least = int(view.leaf_values(np.vstack([view.sums, chosen @ view.sums])).min())
    message = f"rows cost {least} units in a leaf of their own, and less than nothing must not be"
    demand(least >= -2 * view.margin - 4, problem, name, None, message)


def _views(problem: Problem) -> list[Any]:
    """The views that add up costs, as they are and after presolve."""
    found: list[Any] = []
    for kind in (CostMatrix, LeafOracle, PathCosts, States):
        with contextlib.suppress(NoView):
            if problem.task.offers(kind):
                found.append(problem.view(kind))
    if problem.task.offers(CostMatrix):
        found.append(problem.presolved_view())
    for view in list(found):
        if isinstance(view, PathCosts):
            found.append(view.reduced)
        elif isinstance(view, States):
            found.append(view.reduce())
        elif isinstance(view, LeafOracle):
            found.append(view.merged)
            weights = view.row_weight.sum(), found[-1].row_weight.sum()
            assert np.isclose(*weights), f"merged rows weigh {weights[1]}, all rows {weights[0]}"
    return found


def _units(view: Any, tree: Tree) -> Any:
    """The objective of a tree in units of a view."""
    if not isinstance(view, States):
        return view.objective(tree)
    value = view.evaluate(tree)
    assert value is not None, "a part of the tree is not allowed"
    return view.units_of(value)


def _violated(problem: Problem, tree: Tree) -> list[str]:
    return problem.task.violations(tree.routes(problem.dataset), problem.dataset)


def _keeps(view: CostMatrix, wrong: list[str], problem: Problem, tree: Tree, name: str) -> None:
    """Side rows and structures hold exactly where the task finds nothing violated."""
    routes = view.canonical(tree).routes(view)
    totals = zip(view.side, view.side_totals(tree), strict=True)
    holds = all(row.holds(total) for row, total in totals)
    holds = holds and all(part.holds(routes, view) for part in view.structure)
    demand(
        holds == (not wrong),
        problem,
        name,
        tree,
        f"the side rows {'hold' if holds else 'do not hold'}, the task finds {wrong or 'nothing'}",
    )


def _ratio_agrees(ratio: Ratio, number: Fraction, problem: Problem, tree: Tree, name: str) -> None:
    """A ratio gives the value, and compares it with other numbers in its linear steps."""
    of, leaves = ratio.of(tree), tree.n_leaves
    loss = ratio.leaf_penalty * leaves - of
    demand(
        ratio.to_value(loss) == number and ratio.from_value(number) == loss * ratio.unit,
        problem,
        name,
        tree,
        f"the ratio {of} with {leaves} leaves is a value of {ratio.to_value(loss)}, and the value is {number}",
    )
    action = ratio.frame.canonical(tree).routes(ratio.frame).action
    D = int(ratio.denominator[np.arange(len(action)), action].sum())
    for q, price in ((of + BESIDE, Fraction(0)), (max(Fraction(0), of - BESIDE), Fraction(1, 3))):
        step = ratio.matrix(q, price)
        expected = (q - of) * D + price * leaves
        found = step.to_value(step.objective(tree))
        demand(
            found == expected,
            problem,
            name,
            tree,
            f"the step at {q} with {price} per leaf has {found}; it should have {expected}",
        )
        if ratio.frame.n_rows == problem.dataset.n_rows:
            own = ratio.at(q, price).value(tree.routes(problem.dataset), problem.dataset).exact
            message = f"the task of the step at {q} has {own}; it should have {expected}"
            demand(own == expected, problem, name, tree, message)
        if of > q and not _violated(problem, tree):
            demand(
                ratio.least_denominator(q) <= D,
                problem,
                name,
                tree,
                f"denominators above the ratio {q} are said to be at least {ratio.least_denominator(q)}; one is {D}",
            )
    demand(
        ratio.ceiling >= of and ratio.least <= D,
        problem,
        name,
        tree,
        f"ratios are said to be at most {ratio.ceiling} and denominators at least {ratio.least}; there are {of} and {D}",
    )


def counts_agree(problem: Problem, tree: Tree, name: str) -> None:
    """Views of counts give the value, and turn it back into their units.

    They compute it from the counts of the leaves and of the errors.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    name : str
        Name of the dataset, for the sentence.
    """
    task, value = problem.task, problem.value(tree)
    number = Fraction(value.number) if value.exact is None else value.exact
    seen, n_leaves = (
        see(tree, problem.dataset),
        sum(isinstance(node, Leaf) for node in in_order(tree.root)),
    )
    if task.offers(LeafCounts):
        view = problem.view(LeafCounts)
        leaves = Counter((t, bool(up)) for t, up in zip(seen.leaf, view.is_positive, strict=True))
        units = view.units([(leaves[t, True], leaves[t, False]) for t in range(n_leaves)])
        demand(
            view.to_value(units) == number,
            problem,
            name,
            tree,
            f"the leaves give {view.to_value(units)}, the value is {value}",
        )
        back = view.from_value(number)
        demand(
            back == -units, problem, name, tree, f"the leaves give {units} units, the value {-back}"
        )
    with contextlib.suppress(NoView):  # for row weights and side constraints
        pairs = problem.view(PairCounts)
        message = [
            (bool(up), k == pairs.positive)
            for up, k in zip(pairs.is_positive, seen.said, strict=True)
        ]
        metric = float(
            pairs.to_value(
                pairs.units(message.count((False, True)), message.count((True, False)), n_leaves)
            )
        )
        demand(
            abs(metric - value.number) <= 1e-9,
            problem,
            name,
            tree,
            f"the errors give {metric}, the value is {value}",
        )


def demand(holds: bool, problem: Problem, name: str, tree: Tree | None, claim: str) -> None:
    """Raise AssertionError with a claim about a task that does not hold.

    Parameters
    ----------
    holds : bool
        Whether it holds.
    problem : Problem
    name : str
        Name of the dataset.
    tree : Tree or None
        The tree that the claim is about.
    claim : str
        What was found.
    """
    if not holds:
        where = f"The task {problem.task.spec()} on {name}"
        raise AssertionError(
            f"{where}: {claim}{f' at the tree {expression(tree)}' if tree else ''}."
        )
