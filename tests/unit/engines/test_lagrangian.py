"""`lagrangian` against all trees with all labels: optima, bounds, multipliers, repair, limits."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from side_rows import all_trees, natural, optimum, random_problem

import milp_trees as mt
from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits, Stopped
from milp_trees.engines.lagrangian.closing import Closing
from milp_trees.engines.lagrangian.dual import Dual
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.engines.lagrangian.vectors import TreeVectors
from milp_trees.methods.trace import Trace
from milp_trees.methods.watch import Watch
from milp_trees.mip.registry import registry
from milp_trees.plugins import SideRow
from milp_trees.results.result import Limit, Status

METHOD = registry.method("lagrangian")


def planted(depth, rows=200, tests=12, constraint=None, **space):
    """Two groups that the planted tree treats differently."""
    data = mt.load(f"planted:rows={rows},tests={tests},depth=4,noise=0.2")
    groups = (np.asarray(data.X)[:, 0] ^ (np.arange(rows) % 7 == 0)).astype(int)
    task = mt.Accuracy(constraints=(constraint or mt.tasks.StatisticalParity("0.01"),))
    return mt.Problem(data.with_(groups=groups), task, mt.Trees(depth, **space))


@pytest.mark.parametrize("begin", range(0, 100, 25))
def test_optima_are_those_of_all_trees_with_all_labels(begin):
    """One to three rows, penalties, limits on leaves, three actions; some are infeasible."""
    for seed in range(begin, begin + 25):
        problem = random_problem(np.random.default_rng(seed))
        expected = optimum(problem)
        result = METHOD.run(problem, Limits(time=60))
        if expected is None:
            assert result.status is Status.INFEASIBLE, f"seed {seed}: {result.status}"
            assert result.certificate.proved_by == "lagrangian"
        else:
            assert result.status is Status.OPTIMAL, f"seed {seed}: {result.status}"
            assert result.value.exact == expected, f"seed {seed}"
            assert result.certificate.bound_exact == expected, f"seed {seed}"


def test_looking_at_smaller_trees_first_changes_no_optimum(monkeypatch):
    """As for deep trees, here from depth 2 on."""
    from milp_trees.engines.lagrangian import dual

    monkeypatch.setattr(dual, "SHALLOW", 1)
    for seed in range(100, 130):
        problem = random_problem(np.random.default_rng(seed))
        result, expected = METHOD.run(problem, Limits(time=60)), optimum(problem)
        assert (result.value is None) == (expected is None), f"seed {seed}: {result.status}"
        assert expected is None or result.certificate.bound_exact == expected, f"seed {seed}"
        assert expected is None or result.value.exact == expected, f"seed {seed}"


def dual(problem):
    view = problem.presolved_view()
    incumbent = Incumbent(view, Trace(), run_clock())
    found = Dual(view, problem.trees, incumbent, Watch(Limits(time=None)))
    found.maximise()
    return found


def test_the_bound_of_one_row_is_the_best_of_all_multipliers():
    """The maximum of the minimum of all trees' lines, found where two of them meet."""
    compared = 0
    for seed in range(200):
        problem = random_problem(np.random.default_rng(seed))
        given = problem.task.constraints[0].given
        trees = all_trees(problem)
        if len(given) > 1 or not trees or problem.trees.limits_leaves:
            continue
        ((_, lower, upper),) = given
        found = dual(problem)
        if found.infeasible or found.incumbent.proven:
            continue
        lines = {
            (natural(problem, v), v[2] - at, sign)
            for v in trees
            for sign, at in ((1, upper), (-1, lower))
            if at is not None
        }
        best = max(_maximum([(z, s * e) for z, e, s in lines if s == sign]) for sign in (1, -1))
        assert problem.presolved_view().to_value(found.bound) == best, f"seed {seed}"
        compared += 1
    assert compared >= 5


def _maximum(lines):
    """The largest value over multipliers of at least 0 of the lowest line (value, slope)."""
    if not lines:
        return Fraction(-(10**20))
    at = {Fraction(0)}
    at |= {(b - d) / (e - c) for (b, c), (d, e) in product(lines, lines) if e != c}
    return max(min(z + m * e for z, e in lines) for m in at if m >= 0)


def test_bounds_at_any_multipliers_hold_for_every_feasible_tree():
    """Whatever the multipliers are, as long as they act on bounds that exist."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        expected, view = optimum(problem), problem.presolved_view()
        numerators = tuple(int(m) for m in rng.integers(-9, 10, len(view.side)))
        multipliers = Multipliers(int(rng.integers(1, 7)), numerators)
        if not multipliers.act_on(view.side):
            with pytest.raises(ValueError, match="no bound there"):
                multipliers.view_at(view)
        elif expected is not None and not problem.trees.limits_leaves:
            at = multipliers.view_at(view)
            z = METHOD_DP(at, problem.trees)
            assert view.to_value(multipliers.bound(z, view)) == at.to_value(z) <= expected


def METHOD_DP(view, space):
    from milp_trees.engines.dp.method import solve_view

    return solve_view(view, space)[0]


def test_the_closing_needs_no_good_multipliers():
    """At multipliers 0 and without an incumbent the lists are longer, and the optimum the same."""
    for seed in range(60):
        problem = random_problem(np.random.default_rng(seed))
        view, expected = problem.presolved_view(), optimum(problem)
        if not all_trees(problem):
            continue
        incumbent, none = Incumbent(view, Trace(), 0.0), Multipliers.none(len(view.side))
        most = Dual(view, problem.trees, incumbent, Watch(Limits(time=None))).most
        vectors = TreeVectors(view, problem.trees, none, Watch(Limits(time=None)), 2**30)
        closing = Closing(vectors, none, incumbent, most)
        closing.close()
        assert closing.infeasible == (expected is None), f"seed {seed}"
        if expected is not None:
            assert incumbent.proven
            assert view.to_value(incumbent.value) == expected, f"seed {seed}"


def test_leaves_get_the_best_feasible_actions():
    """The repair against all labels of the same tree."""
    repaired = 0
    for seed in range(60):
        problem = random_problem(np.random.default_rng(seed))
        view = problem.presolved_view()
        free = registry.method("dp").run(
            replace(problem, task=replace(problem.task, constraints=()))
        )
        if free.predictor is None:
            continue
        tree = view.canonical(free.predictor)
        leaf = tree.routes(view).leaf
        rows, best = np.arange(view.n_rows), None
        for labels in product(range(view.n_actions), repeat=tree.n_leaves):
            action = np.array(labels)[leaf]
            if all(r.holds(int(r.coefs[rows, action].sum())) for r in view.side):
                cost = int(view.costs[rows, action].sum())
                best = cost if best is None else min(best, cost)
        incumbent = Incumbent(view, Trace(), 0.0)
        found = incumbent.relabelled(tree, leaf)
        assert (found is None) == (best is None), f"seed {seed}"
        if found is not None:
            cost = int(view.costs[rows, found.routes(view).action].sum())
            assert cost == best, f"seed {seed}"
            repaired += 1
    assert repaired >= 20


def test_it_is_the_default_for_side_rows_and_agrees_with_state_flow():
    """Both search different models; the group is not split on."""
    for rule in (
        mt.tasks.StatisticalParity("0.01"),
        mt.tasks.EqualisedOdds("0.05"),
        mt.tasks.Capacity(1, at_most=60, at_least=50),
    ):
        problem = planted(2, constraint=rule)
        result, other = mt.solve(problem), mt.solve(problem, "state-flow@highs")
        assert result.method == "lagrangian"
        assert (result.status, result.value.exact) == (Status.OPTIMAL, other.value.exact)


def test_a_start_is_taken_and_a_bad_one_is_not():
    problem = planted(2)
    best = mt.solve(problem, "lagrangian")
    again = METHOD.run(problem, start=best.predictor)
    assert again.value == best.value
    assert again.trace[0].incumbent == best.value.number
    free = mt.solve(replace(problem, task=mt.Accuracy()), "dp").predictor
    refused = METHOD.run(problem, start=free)
    assert refused.start["accepted"] is False
    assert refused.value == best.value


def test_too_little_memory_ends_in_a_result():
    view = planted(3).presolved_view()
    vectors = TreeVectors(view, mt.Trees(3), Multipliers.none(1), Watch(Limits(time=None)), 10)
    with pytest.raises(Stopped) as stopped:
        vectors.value(vectors.all_rows, 3)
    assert stopped.value.limit is Limit.MEMORY


def test_what_64_bits_do_not_carry_is_refused():
    """The sentence says what to scale; smaller multipliers that fit are taken instead."""
    view = replace(
        planted(1).presolved_view(), side=(SideRow("huge", np.full((200, 2), 2**40), None, 0),)
    )
    view = replace(view, side=(SideRow("huge", np.full(view.costs.shape, 2**40), None, 0),))
    with pytest.raises(Unsupported, match="divide the costs by a common factor"):
        Multipliers(1, (2**20,)).view_at(view)
    assert Multipliers(1, (1,)).fits(view)


def test_no_multiplier_that_fits_leaves_the_search_to_the_closing():
    """Where lines meet at a multiplier whose costs 64 bits do not carry, the run goes on with 0."""
    values = np.array(
        [
            [593422874292876, 1674335091157089],
            [1941354210060395, 4291929450990755],
            [3081830295363084, 3201874140843868],
            [4502659021779194, 1021320491466986],
            [2718042316803686, 484865172917554],
        ]
    )
    X = np.array([[1, 0], [0, 1], [1, 0], [1, 1], [0, 0]])
    data = mt.Dataset(X, values=values, actions=(0, 1), groups=np.arange(5) % 2)
    task = mt.tasks.ActionCostMatrix(constraints=(mt.tasks.StatisticalParity(0),))
    result = mt.solve(mt.Problem(data, task, mt.Trees(2)), "lagrangian")

    def even(actions):
        """Rows 0, 2 and 4 are one group, rows 1 and 3 the other; equal rows get equal actions."""
        return 2 * sum(actions[::2]) == 3 * sum(actions[1::2]) and actions[0] == actions[2]

    message = filter(even, product((0, 1), repeat=5))
    best = min(sum(int(values[i, k]) for i, k in enumerate(actions)) for actions in message)
    assert result.optimal
    assert result.value.exact == best


def test_a_test_that_divides_nothing_makes_no_second_leaf():
    """Without a smallest leaf, a stump on equal rows was listed with a leaf that has no rows: where
    leaves are limited, its vector differs from that of a leaf, and no tree was found behind it.
    """
    X = np.array([[0, 1, 0, 1], [1, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]])[[0, 1, 2, 3, 1, 1, 0]]
    values = [322, 341], [-72, -111], [268, 15], [137, -31], [245, -58], [292, 332], [354, 55]
    data = mt.Dataset(X, values=np.array(values), actions=("k0", "k1"))
    few = mt.tasks.Capacity("k0", at_least=1, at_most=2)
    task = mt.tasks.ActionCostMatrix(constraints=(few,))
    problem = mt.Problem(data, task, mt.Trees(4, max_leaf_nodes=5))
    result = mt.solve(problem, "lagrangian")
    assert result.optimal
    assert result.value == mt.solve(problem, "enumerate").value
