"""Why this model and not that one: penalties and weights, compared with all models of tiny problems."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.explanations.inverse_program import InverseProgram
from milp_trees.explanations.penalty import loss_of
from milp_trees.explanations.rather import why_not_model
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.testing.generate import all_trees, choices, random_cost_problem

LIMITS = Limits.asked(time_limit=60)


def classes(seed, **more):
    """A few rows with a duplicated column, and weights in some of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    X = rng.integers(0, 2, (n, 3))
    X[:, 2] = X[:, 0] if seed % 3 == 0 else 1 - X[:, 1]
    y = [["a", "b"][k] for k in [0, 1, *rng.integers(0, 2, n - 2)]]
    if seed % 2:
        more |= {"weights": [1, 2, *rng.choice([0, 0.25, 1, 3], n - 2)]}
    if seed % 5 == 0:
        more |= {"counts": rng.integers(1, 4, n)}
    task = mt.tasks.WeightedError if seed % 2 else mt.Accuracy
    penalties = {"leaf_penalty": rng.choice(["0", "1/7"]), "split_penalty": "1/50"}
    return mt.Problem(mt.Dataset(X, y=y, **more), task(**penalties), mt.Trees(2))


def trees(problem):
    tests, actions = choices(problem)
    for root in all_trees(tests, len(actions), problem.space.max_depth):
        tree = mt.Tree(root, actions)
        if not problem.violations(tree):
            yield tree


def rule_lists(seed):
    rng = np.random.default_rng(seed)
    y = ["no", "yes", *rng.choice(["no", "yes"], 7)]
    data = mt.Dataset(rng.integers(0, 2, (9, 3)), [mt.BinaryFeature(x) for x in "abc"], y=y)
    space = mt.RuleLists(max_length=2, antecedents=mt.Antecedents(max_literals=1))
    return mt.Problem(data, mt.Accuracy(leaf_penalty="1/50"), space)


def lists(problem):
    antecedents = problem.space.tests(problem.dataset).features
    for length in range(3):
        for chosen in itertools.permutations(antecedents, length):
            for actions in itertools.product((0, 1), repeat=length + 1):
                rules = tuple(map(mt.Rule, chosen, actions))
                model = mt.RuleList(rules, actions[-1], ("no", "yes"))
                if not problem.violations(model):
                    yield model


def one_of_each(problem, models):
    """One of the models with the same actions of all rows, leaves and questions."""
    found = {}
    for model in models:
        routes = model.routes(problem.dataset)
        asked = tuple(sorted(str(t) for s in routes.splits for t in s.columns))
        found.setdefault((routes.action.tobytes(), routes.n_leaves, asked), model)
    return sorted(found.values(), key=lambda model: problem.value(model).exact)


def penalties_by_hand(problem, model, others):
    """The ends of the range of penalties by its definition; None if it is empty."""
    k, loss, least, most = model.n_leaves, loss_of(problem, model), Fraction(0), None
    for other in others:
        more, less = other.n_leaves - k, loss - loss_of(problem, other)
        if not more and less > 0:
            return None
        if more > 0:
            least = max(least, less / more)
        if more < 0:
            most = less / more if most is None else min(most, less / more)
    return None if most is not None and most < least else (least, most)


def change_by_hand(problem, model, others):
    """The least change of weights by one linear program with a row per model; None if none is enough."""
    task, data = problem.task, problem.dataset
    costs, counts = np.asarray(task.costs(data), dtype=float), np.asarray(data.row_counts, float)
    weight = counts * (data.row_weights if task.weighs_rows else 1.0)
    used, unit = weight > 0, float(task.normaliser(data))

    def by_row(m):
        return (costs[np.arange(len(costs)), m.routes(data).action] * counts)[used] / weight[used]

    def price(m):
        return unit * float(
            task.penalties_of(m.n_leaves, [t.columns for t in m.routes(data).splits])
        )

    A = np.array([by_row(other) - by_row(model) for other in others])
    b = np.array([price(model) - price(other) for other in others])
    before = weight[used]
    bounds = [*[(0, None)] * len(before), *[(0, w) for w in before]]
    found = linprog(np.ones(2 * len(before)), np.hstack([-A, A]), A @ before - b, bounds=bounds)
    return None if found.status == 2 else found.fun


@pytest.mark.parametrize("kind", ["classes", "costs", "rule lists"])
def test_penalties_and_weights_are_those_of_all_models_of_tiny_problems(kind):
    seen = set()
    for seed in range(6):
        if kind == "classes":
            problem, make = classes(seed), trees
        elif kind == "costs":
            size = {"n_rows": 6, "n_actions": 2 + seed % 2, "depth": 2 - seed % 2}
            problem = random_cost_problem(seed, numeric=seed % 3 == 0, penalty=True, side=seed % 4 == 0, **size)  # fmt: skip
            make = trees
        else:
            problem, make = rule_lists(seed), lists
        models = one_of_each(problem, make(problem))
        if not models:
            continue
        model = models[min(len(models) - 1, 3 * seed)]
        found = why_not_model(problem, model, limits=LIMITS)
        assert found.value == problem.value(model)
        assert found.cost == problem.value(model).exact - problem.value(models[0]).exact
        ends = penalties_by_hand(problem, model, models)
        assert found.penalty is not None, (found.notes, found.violations)
        assert found.penalty.proven
        assert found.penalty.empty == (ends is None)
        assert ends is None or (found.penalty.least, found.penalty.most) == ends
        least = change_by_hand(problem, model, models)
        weights = found.weights
        assert weights.proven
        assert weights.impossible == (least is None)
        if least is not None:
            assert float(weights.total) == pytest.approx(least, abs=1e-7)
            changes = [abs(a - b) for a, b in zip(weights.before, weights.after, strict=True)]
            assert sum(changes) == weights.total
            assert min(weights.after) >= 0
        seen.add("none" if least is None else bool(weights.total))
        assert json.loads(json.dumps(found.to_json()))["schema"] == "milp-trees/why-not-tree/1"
    assert len(seen) > 1


def test_the_changed_weights_make_the_model_optimal_in_a_problem_of_ones_own():
    """The weights, given to the task of weighted errors, leave no better tree."""
    data = mt.load("planted:rows=60,depth=2,noise=0.1")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))
    stump = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1))).predictor
    found = why_not_model(problem, stump, limits=LIMITS)
    assert found.weights.total > 0
    assert found.weights.exact
    weights = [float(w) for w in found.weights.after]
    task = mt.tasks.WeightedError()
    changed = mt.Problem(data.with_(weights=weights), task, mt.Trees(max_depth=2))
    assert changed.value(stump).exact == mt.solve(changed).value.exact
    assert set(found.weights.frame()["row"]) == set(found.weights.changed)


def test_the_penalties_of_the_trees_of_a_path_are_its_intervals():
    data = mt.load("planted:rows=60,tests=6,depth=2,noise=0.1")
    problem = mt.Problem(data, mt.Accuracy(leaf_penalty="1/1000"), mt.Trees(max_depth=2))
    free = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))
    path = mt.size_path(free, max_leaves=4)
    assert len(path.hull) > 2
    for point in path.hull:
        found = why_not_model(problem, point.predictor, limits=LIMITS).penalty
        assert (found.least, found.most) == path.interval(point)
        assert (found.current in found) == (found.nearest == found.current)
        word = "higher" if found.least > found.current else "lower"
        assert (word in str(found)) == (found.current not in found)


def test_a_model_that_violates_a_constraint_is_not_asked_further():
    data = mt.load("planted:rows=60,depth=2")
    rule = mt.tasks.Capacity(data.classes[1], at_most=3)
    problem = mt.Problem(data, mt.Accuracy(constraints=(rule,)), mt.Trees(max_depth=2))
    free = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))).predictor
    found = why_not_model(problem, free, limits=LIMITS)
    assert found.violations
    assert found.cost < 0
    assert (found.penalty, found.weights) == (None, None)
    assert "violates" in str(found)
    assert set(found.to_json()["notes"]) == {"penalty", "weights"}


def test_a_split_that_changes_nothing_is_optimal_for_no_weights():
    data = mt.Dataset([[0], [1]], y=["a", "b"])
    problem = mt.Problem(data, mt.Accuracy(leaf_penalty="1/10"), mt.Trees(max_depth=1))
    same = mt.Tree(Branch(data.features[0], Leaf(0), Leaf(0)), ("a", "b"))
    found = why_not_model(problem, same, limits=LIMITS)
    assert found.weights.impossible
    assert found.weights.proven
    # A leaf alone is as good but for the penalty, and a split with two labels is better without it.
    assert found.penalty.empty
    assert "no weights" in str(found)


def test_numbers_in_leaves_have_penalties_but_no_weights():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (20, 3))
    data = mt.Dataset(X, targets=(X[:, :1] + rng.normal(0, 0.1, (20, 1))).round(2))
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=2))
    stump = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=1))).predictor
    found = why_not_model(problem, stump, limits=LIMITS)
    assert 0 < found.penalty.least < found.penalty.most
    assert "squared-error is none of them" in found.notes["weights"]


def test_an_inverse_program_without_rational_vertex_is_solved_up_to_its_stated_share():
    """Coefficients of large prime size give weights whose denominators no one can use."""
    program = InverseProgram((Fraction(1), Fraction(1), Fraction(1)))
    program.add([Fraction(1000003), Fraction(-1000033), Fraction(0)], Fraction(7))
    program.add([Fraction(0), Fraction(1000037), Fraction(-1000039)], Fraction(11))
    change = program.solve()
    for coefs, least in program.rows:
        assert sum(c * w for c, w in zip(coefs, change.weights, strict=True)) >= least
    assert 0 <= change.total - change.bound <= Fraction(1, 10**5)
