"""Random problems of rule lists from a seed, and random lists."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.lists.antecedents import Antecedents
from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy, WeightedError
from milp_trees.tasks.constraints import Capacity, StatisticalParity
from milp_trees.tasks.policy import ActionCostMatrix


@lru_cache(maxsize=256)
def random_list_problem(seed: int, side: bool = False) -> Problem:
    """A problem of rule lists whose tasks, costs, prices, antecedents and limits are random.

    Rows may be equal, antecedents equal, complementary or constant, and costs zero or
    negative; there are one to three actions.
    """
    rng = np.random.default_rng(seed)
    n, F, K = int(rng.integers(2, 10)), int(rng.integers(1, 5)), int(rng.choice([1, 2, 2, 3]))
    X = (rng.random((n, F)) < rng.choice([0.2, 0.5, 0.8])).astype(np.uint8)
    if F > 2 and rng.random() < 0.5:
        X[:, 1] = 1 - X[:, 0] if rng.random() < 0.5 else X[:, 0]
    if rng.random() < 0.4:
        X[n // 2 :] = X[: n - n // 2]
    X[[0, -1], 0] = 0, 1  # at least one antecedent is not constant
    task, fields = _task(rng, n, F, K, side)
    source = {"testing": f"random_list_problem({seed}{', side=True' if side else ''})"}
    data = Dataset(X, groups=np.arange(n) % 2, source=source, **fields)
    return Problem(data, task, _space(rng, F, task))


def _space(rng: np.random.Generator, n_features: int, task: Any) -> RuleLists:
    pairs = n_features < 4 and rng.random() < 0.3
    mined = Antecedents(max_literals=1 + pairs, negations=rng.random() < 0.4)
    fixed = Antecedents.given(_features(n_features)) if rng.random() < 0.3 else mined
    free = task.split_penalty > 0 and rng.random() < 0.4
    most = None if free else int(rng.choice([0, 1, 2, 2, 3, 3]))
    return RuleLists(fixed, most, int(rng.choice([1, 1, 1, 2, 3])))


def _features(n: int) -> list[Any]:
    from milp_trees.data.dataset import BinaryFeature

    return [BinaryFeature(str(j)) for j in range(n)]


def _task(
    rng: np.random.Generator, n: int, n_features: int, n_actions: int, side: bool
) -> tuple[Any, dict[str, Any]]:
    """A task, and the fields of the dataset that it needs."""
    paid: dict[str, Any] = {}
    if rng.random() < 0.7:
        paid["split_penalty"] = Fraction(int(rng.choice([0, 1, 2, 6])), 100)
    if rng.random() < 0.3:
        paid["leaf_penalty"] = Fraction(int(rng.integers(0, 3)), 100)
    if rng.random() < 0.4:
        paid["feature_costs"] = {
            str(j): Fraction(int(rng.integers(0, 4)), 50) for j in range(n_features)
        }
    kind = rng.integers(0, 4)
    last = n_actions - 1
    if kind > 1:  # costs of any sign, small or large
        size = 6 if kind == 2 else 1000
        values = rng.integers(-size, size + 1, (n, n_actions)) * (rng.random((n, 1)) < 0.8)
        if side:
            paid["constraints"] = (Capacity(last, at_most=int(rng.integers(0, n + 1))),)
        return ActionCostMatrix(**paid), {"values": values}
    names = tuple("abc"[: max(2, n_actions)])
    last = len(names) - 1
    fields: dict[str, Any] = {"y": rng.integers(0, len(names), n), "classes": names}
    if side:
        rule = StatisticalParity(Fraction(int(rng.integers(0, 4)), 4), names[last])
        low = Capacity(names[last], at_least=int(rng.integers(0, n // 2 + 1)))
        paid["constraints"] = ((rule,), (low,), (rule, low))[rng.integers(0, 3)]
    if kind == 0:
        return Accuracy(**paid), fields
    weights = np.round(rng.integers(0, 8, n) / 4, 2)
    weights[0] += not weights.any()
    return WeightedError(**paid), {**fields, "weights": weights}


def any_list(problem: Problem, rng: np.random.Generator) -> RuleList:
    """A random list within the limit on the length without rules that capture no row."""
    antecedents = problem.space_as(RuleLists).table(problem.dataset).antecedents
    actions = problem.task.actions(problem.dataset)
    most = problem.space_as(RuleLists).max_length
    most = len(antecedents) if most is None else min(most, len(antecedents))
    chosen = rng.permutation(len(antecedents))[: int(rng.integers(0, most + 1))]
    rules = tuple(Rule(antecedents[j], int(rng.integers(len(actions)))) for j in chosen)
    whole = RuleList(rules, int(rng.integers(len(actions))), actions)
    return whole.prune_empty(problem.dataset)
