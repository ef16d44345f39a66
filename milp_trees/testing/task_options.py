"""Options of every task with which it is compared with its definition, beside none at all."""

from __future__ import annotations

import inspect
from typing import Any

from milp_trees.common.registering import families
from milp_trees.mip.registry import registry
from milp_trees.tasks.constraints import CONSTRAINTS, Capacity, GroupRates, constraint

PRICES = {"leaf_penalty": "1/7", "split_penalty": "1/9", "feature_costs": {"t0": "1/5", "t3": 2}}
FAIR = [
    constraint(name, max_disparity="1/3", favourable="class 1")
    for name, kind in CONSTRAINTS.items()
    if issubclass(kind, GroupRates)
]
ON_TREES = [
    constraint("error-rates", max_false_positive_rate="1/3", max_false_negative_rate="1/4"),
    constraint("feature-budget", at_most=1),
    constraint("not-together", first="t0", second="t3"),
    constraint("requires", feature="t0", needs="t1"),
    constraint("requires", needs="t2"),
    constraint("parity-in-subtrees", max_disparity="1/3", favourable="class 0"),
    constraint("monotone", column="t0"),
    constraint("monotone", column="t3", direction="decreasing", favourable="class 0"),
    constraint("parity-in-leaves", max_disparity="1/2"),
]
ROOM = Capacity("class 0", at_most=6), Capacity("class 1", at_least=3, at_most=9)
#: Prices of tests: a group, an attribute of two columns, one that is free.
BLOOD = [
    {"name": "blood", "cost": "7/2", "discount": 1, "group": "laboratory", "columns": ["t0", "t3"]},
    {"name": "urine", "cost": 2, "discount": "1/2", "group": "laboratory", "columns": ["t1"]},
    {"name": "age", "cost": 0, "columns": ["t4"]},
]
#: Two groups of two attributes, which any path may mix.
TWO_GROUPS = [
    {"name": "a", "cost": 3, "discount": 2, "group": "first", "columns": ["t0"]},
    {"name": "b", "cost": "5/2", "discount": 0, "group": "second", "columns": ["t1"]},
    {"name": "c", "cost": 7, "discount": "1/3", "group": "first", "columns": ["t2"]},
    {"name": "d", "cost": 5, "discount": 4, "group": "second", "columns": ["t3", "t4"]},
]
#: Three groups, one of a single attribute, and one attribute without a group.
THREE_GROUPS = [
    {"name": "a", "cost": 3, "columns": ["t0"]},
    {"name": "b", "cost": 6, "discount": 1, "group": "z", "columns": ["t1"]},
    {"name": "c", "cost": 7, "discount": 3, "group": "y", "columns": ["t2"]},
    {"name": "d", "cost": 5, "discount": 2, "group": "x", "columns": ["t3"]},
    {"name": "e", "cost": 9, "discount": 4, "group": "x", "columns": ["t4"]},
]


def square(K: int) -> list[list[int]]:
    """Costs of all classes and actions, some of them negative, no two of a row equal."""
    return [[abs(5 * i - 7 * j) - i for j in range(K)] for i in range(K)]


#: Options by the name of the task, for tasks of the core.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "accuracy": [
        PRICES,
        *({"constraints": (c,)} for c in (*FAIR, *ON_TREES)),
        {"constraints": ROOM, **PRICES},
    ],
    "weighted": [
        {"class_weight": {"class 0": "1/3", "class 1": 2}, "leaf_penalty": "1/5"},
        PRICES,
        {"constraints": tuple(FAIR[:2])},
    ],
    "balanced-accuracy": [PRICES, {"constraints": ROOM}],
    "cost-matrix": [
        {"matrix": [[0, 1], [5, -1]], **PRICES},
        {"matrix": [[0, 1, 2], [3, 0, 1], ["1/3", 5, -1]]},
    ],
    "cost-sensitive": [
        {"matrix": [[0, 1], [5, -1]], "attributes": BLOOD, **PRICES},
        {"matrix": [[0, 1, 2], [3, 0, 1], ["1/3", 5, -1]], "attributes": BLOOD},
        {"matrix": [[0, 1, 2], [3, 0, 1], [4, 5, 0]], "attributes": {"t2": "1/3"}},
        {"matrix": [[0, 3], [4, 0]], "attributes": TWO_GROUPS},
        {"matrix": square(3), "attributes": THREE_GROUPS},
    ],
    "action-costs": [PRICES, {"constraints": (ROOM[1], FAIR[2])}],
    "action-values": [PRICES],
    "policy-dm": [PRICES, {"constraints": ROOM[:1]}],
    "policy-ipw": [PRICES],
    "policy-dr": [PRICES, {"constraints": tuple(FAIR[:1])}],
    "f1": [{"leaf_penalty": "1/9"}, {"constraints": (FAIR[0], ROOM[0])}],
    "f-beta": [{"beta": "3/2", "positive": "class 0"}],
    "jaccard": [{"positive": "class 0", "leaf_penalty": "1/9"}],
    "precision": [{"min_recall": "1/2", "positive": "class 0"}, {"min_recall": "1/3"}],
    "count-ratio": [
        {"numerator": {"TP": 3}, "denominator": {"TP": 3, "FN": 2, "FP": "1/2"}},
        {
            "numerator": {"TP": 2, "TN": 1},
            "denominator": {"TP": 2, "TN": 1, "FP": 3, "FN": 1},
        },
    ],
    "auc": [{"leaf_penalty": "1/9", "positive": "class 0"}],
    "partial-auc": [
        {"theta": "1/3"},
        {"theta": "2/5", "positive": "class 0", "leaf_penalty": "1/50"},
    ],
    "mcc": [{"leaf_penalty": "1/9"}, {"leaf_penalty": "1/40"}],
    "g-mean": [{"positive": "class 0"}],
    "kappa": [{"leaf_penalty": "1/9", "positive": "class 0"}],
    "squared-error": [
        PRICES,
        {"constraints": [constraint("mean-prediction-parity", max_difference="1/2")]},
    ],
    "survival": [PRICES, {"baseline": [[0, 1, 3, 4], [0.125, 0.25, 0.5, 1.5]]}],
    "gini": [PRICES],
    "log-loss": [PRICES],
    "poisson": [PRICES],
    "gamma": [PRICES],
    "absolute-error": [PRICES],
}
#: Tasks that cannot be made without options.
NEEDS_OPTIONS = ("cost-matrix", "cost-sensitive", "count-ratio")


def options() -> dict[str, list[dict[str, Any]]]:
    """Options of all tasks, those that families declare too, by the names of the tasks."""
    return OPTIONS | {name: tried for name, _, tried in families.parts("definitions")}


def options_of(name: str) -> list[dict[str, Any]]:
    """All options with which a task is tried, none at all among them where it needs none.

    Those of a plug-in are its `example_options`.
    """
    kind = registry.task(name)
    parameters = inspect.signature(kind).parameters.values()
    of_family = name not in OPTIONS and name in options()  # it lists all of them
    needs = name in NEEDS_OPTIONS or of_family or any(p.default is p.empty for p in parameters)
    return [*([] if needs else [{}]), *map(dict, options().get(name, kind.example_options))]
