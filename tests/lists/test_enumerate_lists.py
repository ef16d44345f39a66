"""`enumerate-lists` and `greedy` against brute force over all lists and all labellings."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.lists.engines.enumerate_lists import all_lists
from milp_trees.lists.greedy import greedy_list
from milp_trees.lists.testing.problems import LISTS, list_problems
from milp_trees.problems.questions import BySize


def drawn(rng: np.random.Generator) -> mt.Problem:
    """A tiny problem with general costs, equal and complementary columns, and sometimes a side row."""
    n, F, K = rng.integers(1, 9), rng.integers(1, 5), rng.integers(1, 4)
    X = rng.integers(0, 2, (n, F)).astype(np.uint8)
    if F > 1 and rng.random() < 0.4:
        X[:, -1] = X[:, 0] ^ rng.integers(0, 2)
    data = mt.Dataset(X, values=rng.integers(-9, 10, (n, K)))
    rules = (
        (mt.tasks.Capacity(action=0, at_most=int(rng.integers(0, n + 1))),)
        if rng.random() < 0.4
        else ()
    )
    paid = rng.random() < 0.5
    task = mt.tasks.ActionCostMatrix(
        split_penalty=int(rng.integers(0, 4)) if paid else 0,
        leaf_penalty=int(rng.integers(0, 2)) if paid else 0,
        feature_costs={"0": int(rng.integers(0, 4))} if paid else None,
        constraints=rules,
    )
    stated = mt.Antecedents(
        max_literals=int(rng.integers(1, 3)), negations=bool(rng.integers(0, 2))
    )
    space = mt.RuleLists(
        stated, max_length=int(rng.integers(0, 3)), min_samples_rule=int(rng.integers(1, 3))
    )
    return mt.Problem(data, task, space)


def brute_force(problem: mt.Problem) -> float | None:
    """The best value of all lists, row by row in plain Python."""
    data, task, space = problem.dataset, problem.task, problem.space
    n, K = data.values.shape
    table = space.antecedents.of(data)
    most = task.constraints[0].at_most if task.constraints else n
    best = None
    for length in range(space.max_length + 1):
        for chosen in permutations(range(len(table.antecedents)), length):
            place = [
                next((k for k, j in enumerate(chosen) if table.X[i, j]), length) for i in range(n)
            ]
            if any(place.count(k) < space.min_samples_rule for k in range(length)):
                continue
            for actions in product(range(K), repeat=length + 1):
                if sum(actions[p] == 0 for p in place) > most:
                    continue
                value = sum(data.values[i, actions[p]] for i, p in enumerate(place))
                if task.penalised:
                    columns = [c for j in chosen for c in table.antecedents[j].columns]
                    price = sum((task.feature_costs or {}).get(c, 0) for c in columns)
                    value = value / n + task.split_penalty * length + price
                    value += task.leaf_penalty * (length + 1)
                if best is None or value < best:
                    best = value
    return None if best is None else float(best)


def tiny(count: int):
    rng = np.random.default_rng(0)
    found = 0
    while found < count:
        problem = drawn(rng)
        try:
            problem.space.table(problem.dataset)
        except mt.DataError:
            continue
        found += 1
        yield problem


def test_the_enumerator_equals_brute_force_and_the_reduced_view_has_the_same_optimum():
    method = mt.registry.method("enumerate-lists")
    for number, problem in enumerate(tiny(120)):
        expected = brute_force(problem)
        result = method.run(problem)
        if expected is None:
            assert result.status.value == "infeasible", number
            continue
        assert result.status.value == "optimal", (number, result.message)
        assert result.objective == pytest.approx(expected, abs=1e-12), number
        whole, small = problem.view(mt.plugins.CostMatrix), problem.presolved_view()
        assert float(whole.to_value(whole.objective(result.predictor))) == pytest.approx(expected)
        assert small.objective(result.predictor) == whole.objective(result.predictor)
        simple = problem.space.simplify(result.predictor, small)
        assert small.objective(simple) <= small.objective(result.predictor)


def test_a_greedy_list_is_feasible_and_no_better_than_the_optimum():
    for number, problem in enumerate(tiny(60)):
        if problem.task.constraints:
            continue
        best = mt.registry.method("enumerate-lists").run(problem)
        values = []
        for label in ("greedy", "greedy:improve=on"):
            found = mt.registry.method(label).run(problem)
            assert found.status.value == "feasible", (number, found.message)
            simple = problem.space.simplify(found.predictor, problem.presolved_view())
            assert simple.length == found.predictor.length, (number, label)
            values.append(found.objective)
        assert values[0] >= values[1] >= best.objective - 1e-12, number


def test_an_improved_list_has_no_better_list_with_one_rule_changed():
    for number, problem in enumerate(tiny(60)):
        view, space = problem.presolved_view(), problem.space
        found = greedy_list(view, space, improve=True)
        own = [view.index[a] for a in found.splits]
        lists = [
            one
            for one in all_lists(
                replace(view, side=()), space.longest(view), space.min_samples_rule
            )
            if _one_apart(list(one.antecedents), own)
        ]
        assert all(one.cost >= view.objective(found) for one in lists), number


def _one_apart(one: list[int], own: list[int]) -> bool:
    """Whether a list follows from another if at most one rule is removed and one put anywhere."""
    bases = [own, *(own[:k] + own[k + 1 :] for k in range(len(own)))]
    shorter = [one, *(one[:k] + one[k + 1 :] for k in range(len(one)))]
    return any(base in shorter for base in bases)


def any_task(problem: mt.Problem, longest: int):
    """The best value of all lists and whether any is feasible, by the task's own scorer."""
    best, actions = None, problem.task.actions(problem.dataset)
    for length in range(longest + 1):
        for chosen in permutations(problem.space.table(problem.dataset).antecedents, length):
            for *given, default in product(range(len(actions)), repeat=length + 1):
                found = mt.RuleList(tuple(map(mt.Rule, chosen, given)), default, actions)
                if not problem.violations(found):
                    value = problem.value(found)
                    best = value if best is None or value.better_than(best) else best
    return best


@each_row("name", list(LISTS))
def test_named_problems_have_the_optimum_of_all_lists(name):
    problem = list_problems()[name]
    expected = any_task(problem, min(3, problem.space.most_leaves or 9))
    found = mt.registry.method("enumerate-lists").run(problem)
    assert (found.value, found.optimal) == (expected, expected is not None)


@pytest.mark.parametrize(
    "name", ["capacity", "parity", "opportunity", "precision_at_recall", "cannot_hold"]
)
def test_side_constraints_of_named_problems_bind(name):
    problem = list_problems()[name]
    free = (
        mt.tasks.Precision()
        if name == "precision_at_recall"
        else replace(problem.task, constraints=())
    )
    method = mt.registry.method("enumerate-lists")
    bound, found = (method.run(replace(problem, task=t)) for t in (problem.task, free))
    assert found.predictor is not None
    assert bound.predictor is None or found.value.better_than(bound.value)


def test_large_problems_are_refused_with_a_sentence():
    data = mt.load("planted:rows=300,tests=40,depth=3")
    problem = mt.Problem(data, mt.Accuracy(split_penalty="0.001"), mt.RuleLists(max_length=9))
    message = mt.registry.method("enumerate-lists").unsupported(problem)
    assert "tiny problems of at most 500,000 lists" in message


def test_rules_that_cost_nothing_need_a_limit_on_the_length():
    data = mt.load("planted:rows=30,tests=3,depth=1")
    method = mt.registry.method("enumerate-lists")
    free = mt.Problem(data, mt.Accuracy(), mt.RuleLists())
    with pytest.raises(mt.errors.Unsupported, match="max_length is not given"):
        method.run(free)
    assert method.run(mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=1))).optimal
    paid = mt.Accuracy(split_penalty="1/100")
    assert method.run(mt.Problem(data, paid, mt.RuleLists())).optimal
    requested = mt.Problem(data, mt.Accuracy(), mt.RuleLists(), BySize(3))
    assert "enumerate-lists answers best, not by-size" in method.unsupported(requested)


def test_ratios_are_solved_in_steps():
    data = mt.load("planted:rows=60,tests=4,depth=2")
    for task in (mt.tasks.F1(), mt.tasks.F1(leaf_penalty="1/50"), mt.tasks.Jaccard()):
        for space in (mt.RuleLists(max_length=2), mt.RuleLists()):
            if space.max_length is None and not task.leaf_penalty:
                continue
            problem = mt.Problem(data, task, space)
            found = mt.registry.method("enumerate-lists").run(problem)
            values = [
                problem.value(mt.RuleList(rules, default, (0, 1)))
                for length in range(3)
                for chosen in permutations(space.table(data).antecedents, length)
                for *given, default in product((0, 1), repeat=length + 1)
                for rules in [tuple(map(mt.Rule, chosen, given))]
            ]
            assert found.optimal
            assert not any(v.better_than(found.value) for v in values)
