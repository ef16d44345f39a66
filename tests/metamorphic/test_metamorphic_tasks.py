"""Every task and every side constraint: the optimum of a problem in another form.

The relations of `milp_trees.testing.transforms`, with which formulations are tried, and further
ones; here the methods that take a problem by default solve it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from known_faults import reference
from meta_rows import SEEDS, THOROUGH

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.mip.registry import registry
from milp_trees.results.stored import result_from_json
from milp_trees.tasks.constraints import CONSTRAINTS, constraint
from milp_trees.testing.task_data import random_datasets
from milp_trees.testing.transforms import EQUAL

#: Tasks that no tree over binary features has, with the reason.
NO_TREES = {"pruned-error": "its models are prunings; the estimators EnsemblePruner are subjects"}
CHOICE = mt.decisions.ListedDecisions([[1, 0], [0, 1], [0.5, 0.25]], ["class 0", "class 1"])
#: Parameters of the tasks that need some.
NEEDED: dict[str, dict[str, Any]] = {
    "cost-matrix": {"matrix": [[0, 1], [5, 0]]},
    "cost-sensitive": {"matrix": [[0, 1], [5, 0]], "attributes": {"t2": "1/3", "t3": 1}},
    "count-ratio": {"numerator": {"TP": 3}, "denominator": {"TP": 3, "FN": 2, "FP": 1}},
    "decision": {"decisions": CHOICE},
    "precision": {"min_recall": "1/2"},
}
#: Parameters of constraints.
LIMITED: dict[str, dict[str, Any]] = {
    "captured-share": {"black_box": "class 0", "at_least": "1/2"},
    "capacity": {"action": "class 0", "at_most": 6},
    "error-rates": {"max_false_positive_rate": "1/2"},
    "feature-budget": {"at_most": 1},
    "not-together": {"first": "t0", "second": "t3"},
    "requires": {"feature": "t0", "needs": "t1"},
    "monotone": {"column": "t0", "favourable": "class 1"},
    "task-value": {"task": mt.Accuracy(), "at_most": 9},
}
#: Constraints on predicted numbers, which no task that chooses among actions takes.
OF_NUMBERS = {"mean-prediction-parity"}
#: Parameters that other constraints get if they have them.
USUAL = {"max_disparity": "1/2", "favourable": "class 1"}


def subjects() -> dict[str, Any]:
    """Every task by its name, and accuracy under every constraint."""
    tasks = [name for name in registry.classes("tasks") if name not in NO_TREES]
    found = {name: registry.task(name)(**NEEDED.get(name, {})) for name in tasks}
    for name, kind in CONSTRAINTS.items():
        if name in OF_NUMBERS:
            continue
        known = {f.name for f in fields(kind)}
        given = LIMITED.get(name, {k: v for k, v in USUAL.items() if k in known})
        found[f"accuracy, {name}"] = mt.Accuracy(constraints=(constraint(name, **given),))
    return found


TASKS = subjects()
LISTS = mt.RuleLists(mt.Antecedents(), max_length=2)
#: Problems of rule lists, by the name of a subject; the others are of trees.
SPACES: dict[str, Any] = {"accuracy, captured-share": LISTS}
for _name in ("accuracy", "weighted", "balanced-accuracy", "f1"):
    TASKS[f"{_name}, rule lists"], SPACES[f"{_name}, rule lists"] = TASKS[_name], LISTS


@cache
def data(seed: int) -> mt.Dataset:
    """A dataset with two classes and everything that a task may need."""
    found = list(random_datasets(2 * seed + 1).values())[2 * seed]
    return replace(found, weights=np.round(found.weights * 4))


#: Tasks of numeric targets, with the number of those that they take.
NUMERIC = {"squared-error": 2, "absolute-error": 1, "survival": 2, "poisson": 1, "gamma": 1}


@cache
def rows_for(name: str, seed: int) -> mt.Dataset:
    """The dataset for a task, with the targets that it predicts.

    The first time is that of an event: hazards before the first event depend on the weight of all
    rows.
    """
    k, found = NUMERIC.get(name, 0), data(seed)
    if not k:
        return found
    rng = np.random.default_rng(seed)
    time, event = rng.integers(2, 9, found.n_rows), rng.integers(0, 2, found.n_rows)
    time[0], event[0] = 1, 1
    targets = np.column_stack([time, event])[:, :k]
    return replace(found, targets=targets, target_names=("time", "event")[:k])


# -- relations -------------------------------------------------------------------------------------


def other_names(problem: mt.Problem) -> mt.Problem | None:
    """Features under other names, in the other order of the alphabet."""
    spec = str(problem.task.spec())
    if "'t0'" in spec or "'t2'" in spec:
        return None
    rows = problem.dataset
    names = [mt.BinaryFeature(f"z{9 - j} <= '\"") for j in range(rows.n_features)]
    return replace(problem, dataset=rows.with_(features=names, classes=rows.classes))


def other_groups(problem: mt.Problem) -> mt.Problem:
    """Groups and factors under names whose order is the other."""
    rows = problem.dataset
    groups = np.array([f"{'zyxwv'[g]}, 1" for g in rows.groups.tolist()])
    changed = rows.with_(
        groups=groups, factor=np.array(["b", "a"])[rows.factor], classes=rows.classes
    )
    return replace(problem, dataset=changed)


def other_answers(problem: mt.Problem) -> mt.Problem | None:
    """Every feature answers no where it answered yes."""
    if "monotone" in str(problem.task.spec()) or isinstance(problem.space, mt.RuleLists):
        return None  # directions, and antecedents without negations
    rows = problem.dataset
    return replace(problem, dataset=rows.with_(X=1 - np.asarray(rows.X), classes=rows.classes))


def every_row_twice(problem: mt.Problem) -> mt.Problem | None:
    """A value that is a sum doubles."""
    if any(name in str(problem.task.spec()) for name in ("capacity", "task-value")):
        return None  # they limit numbers of rows
    twice = np.repeat(np.arange(problem.dataset.n_rows), 2)
    return replace(problem, dataset=problem.dataset.subset(twice))


def scaled_weights(problem: mt.Problem) -> mt.Problem | None:
    """A value that is a sum over weights is multiplied by four."""
    if not problem.task.weighs_rows:
        return None
    rows = problem.dataset
    return replace(problem, dataset=rows.with_(weights=rows.weights * 4, classes=rows.classes))


def scaled_gains(problem: mt.Problem) -> mt.Problem | None:
    """Costs, values and outcomes times four: so is the value."""
    rows = problem.dataset
    more = rows.with_(values=rows.values * 4, outcomes=rows.outcomes * 4, classes=rows.classes)
    return replace(problem, dataset=more)


RELATIONS = EQUAL | {
    transform.__name__: transform
    for transform in (
        *(other_names, other_groups, other_answers),
        *(every_row_twice, scaled_weights, scaled_gains),
    )
}
#: Units of values that are sums over rows; the others are means, ratios and areas.
SUMS = (
    *("errors", "cost", "squared error", "absolute error", "half deviance", "deviance"),
    *("Brier score", "log loss"),
)
#: Tasks whose value grows with costs, values and outcomes.
GAINS = ("action-costs", "action-values", "decision", "policy-dm", "policy-dr", "policy-ipw")


def factor(relation: str, name: str, unit: str) -> int:
    """What the value of a task is multiplied by."""
    if relation == "scaled_gains":
        return 4 if name in GAINS else 1
    sums = {"every_row_twice": 2, "scaled_weights": 4}
    return sums.get(relation, 1) if unit in SUMS else 1


def optimum(result: mt.Result) -> tuple[str, Any, str]:
    """Status, value and unit."""
    value = result.value
    if value is None:
        return result.status.value, None, ""
    return result.status.value, value.number if value.exact is None else value.exact, value.unit


def solved(problem: mt.Problem) -> mt.Result:
    return mt.solve(problem, start=None, reference=None)


@cache
def before(name: str, seed: int) -> mt.Result:
    return solved(mt.Problem(rows_for(name, seed), TASKS[name], SPACES.get(name, mt.Trees(2))))


def differs(name: str, relation: str) -> str | None:
    for seed in SEEDS:
        try:
            result = before(name, seed)
            status, value, unit = optimum(result)
            changed = RELATIONS[relation](result.problem)
            there = None if changed is None else optimum(solved(changed))
        except MilpTreesError as refusal:
            return f"seed {seed}: refused: {refusal}"
        if there is None:
            continue
        same = value is there[1] is None
        if value is not None and there[1] is not None:
            expected = float(factor(relation, name, unit) * value)
            same = bool(np.isclose(float(there[1]), expected, 1e-12, 1e-12))
        if status != there[0] or not same:
            return f"seed {seed}: {status} {value} became {there[0]} {there[1]}"
    return None


def tried(name: str) -> list[str]:
    """Without the switch some of the relations of a task."""
    number = list(TASKS).index(name)
    return [r for k, r in enumerate(RELATIONS) if THOROUGH or (number + k) % 8 == 0]


@pytest.mark.parametrize("name", TASKS)
def test_a_problem_in_another_form_has_the_same_optimum(name):
    relations = tried(name)
    found = {relation: why for relation in relations if (why := differs(name, relation))}
    reference("task", name, relations, found)


@pytest.mark.parametrize("name", TASKS)
def test_a_stored_result_is_read_back(name):
    """Value, bound and model are those of the result, and the model answers alike."""
    for seed in SEEDS:
        result = before(name, seed)
        problem = result.problem
        again = result_from_json(result.to_json(), problem)
        assert again.to_json() == result.to_json()
        if result.predictor is not None:
            routes = [r.predictor.routes(problem.dataset) for r in (result, again)]
            assert (routes[0].action == routes[1].action).all()
            assert problem.value(again.predictor).number == result.value.number
