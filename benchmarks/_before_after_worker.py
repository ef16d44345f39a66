"""The part of `before_after.py` that the interpreter of one checkout runs. It uses public names alone,
so that both checkouts take it.

    python _before_after_worker.py run PATTERN NUMBER   # a case for every line that it reads
    python _before_after_worker.py memory SET DEPTH

NUMBER is how many cases of a group are run, the smallest first; 0 for all.
"""

from __future__ import annotations

import fnmatch
import gc
import hashlib
import itertools
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import _data
import numpy as np
import pandas as pd

import milp_trees as mt

#: Every case is visited so often, and called for so many seconds each time, at least once.
VISITS, SECONDS = 3, 0.12
#: Cases that take ten seconds: they are called once.
LONG = ("dp/5 letter",)

Case = tuple[str, Callable[[], Any]]
GROUPS: dict[str, Callable[[], Iterator[Case]]] = {}


def group(name: str) -> Callable[[Callable[[], Iterator[Case]]], Callable[[], Iterator[Case]]]:
    """Give a function that makes cases, the smallest first, the name of a group."""

    def named(function: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
        GROUPS[name] = function
        return function

    return named


def solved(
    data: Any, task: Any, space: Any, method: str, seconds: float = 300
) -> Callable[[], str]:
    """A call that solves a new problem each time, and gives the exact value."""

    def call() -> str:
        result = mt.solve(mt.Problem(data, task, space), method=method, time_limit=seconds)
        assert result.optimal or not mt.registry.method(method).exact, (method, result)
        return str(result.value.exact if result.value.exact is not None else result.value.number)

    return call


def loaded(name: str) -> Any:
    """A set of `classification/`."""
    path = _data.root() / "classification" / f"{name}.txt"
    return mt.load(str(path if path.exists() else path.with_suffix(".txt.gz")))


@group("dp")
def trees() -> Iterator[Case]:
    sets = _data.classification()
    for depth in (3, 4, 5):
        for name, data in sets.items():
            if (name, depth) != ("splice-1", 5):  # not proven in minutes
                yield f"{depth} {name}", solved(data, mt.Accuracy(), mt.Trees(depth), "dp")


@group("sparse")
def sparse() -> Iterator[Case]:
    for name, data in _data.sparse().items():
        for depth in (5, None):
            if (name, depth) != ("coupon_carryout", None):  # not proven in minutes
                task = mt.Accuracy(leaf_penalty="0.005")
                yield f"{name} {depth}", solved(data, task, mt.Trees(depth), "dp")


@group("dp-sizes")
def sizes() -> Iterator[Case]:
    def call(data: Any, depth: int) -> str:
        problem = mt.Problem(data, mt.Accuracy(), mt.Trees(depth))
        path = mt.size_path(problem, max_leaves=2**depth, method="dp-sizes", time_limit=300)
        return " ".join(str(point.value.exact) for point in path.points)

    for name in ("lymph", "tic-tac-toe", "heart-cleveland", "anneal", "german-credit"):
        data = loaded(name)
        for depth in (3, 4):
            yield f"{name} {depth}", lambda d=data, k=depth: call(d, k)


def priced(name: str) -> tuple[Any, Any]:
    """The first training split of a set with prices of its tests, and the task."""
    folder = _data.root() / "cost-sensitive" / name
    data = mt.load(str(min(folder.glob(f"{name}-train-1.*"))))
    return data, mt.tasks.CostSensitive(file=folder / f"{name}-high-costs.csv")


@group("dp-paid")
def paid() -> Iterator[Case]:
    for name in ("iris", "hepatitis", "heart", "breast", "diabetes", "wine", "car", "glass"):
        yield name, solved(*priced(name), mt.Trees(4), "dp-paid")


@group("separable")
def separable() -> Iterator[Case]:
    method = "separable" if "separable" in mt.registry.classes("methods") else "states"
    for name in ("iris", "hepatitis", "heart", "breast", "car"):
        yield name, solved(*priced(name), mt.Trees(3), method)


@group("dp-sorted")
def columns() -> Iterator[Case]:
    for name, depths in {"iris": (2, 3), "wine": (2, 3), "breast-cancer": (2, 3)}.items():
        for depth in depths:
            data = mt.load(name, binarizer="midpoints")
            yield f"{name} {depth}", solved(data, mt.Accuracy(), mt.Trees(depth), "dp-sorted")
    for name in ("raisin", "rice", "page", "bank"):
        path = _data.root() / "numeric" / f"{name}.txt"
        path = path if path.exists() else path.with_suffix(".txt.gz")
        data = mt.load(str(path), binarizer="midpoints")
        yield f"{name} 2", solved(data, mt.Accuracy(), mt.Trees(2), "dp-sorted")


@group("pareto")
def pareto() -> Iterator[Case]:
    for name in ("hepatitis", "vote", "tic-tac-toe", "heart-cleveland", "diabetes"):
        data = loaded(name)
        for task in (mt.tasks.F1(), mt.tasks.Matthews()):
            yield f"{name} {task.name}", solved(data, task, mt.Trees(3), "pareto")


@group("near-best")
def near() -> Iterator[Case]:
    def call(data: Any, penalty: str, depth: int | None, slack: str) -> str:
        problem = mt.Problem(data, mt.Accuracy(leaf_penalty=penalty), mt.Trees(depth))
        return str(mt.near_best(problem, slack=slack, time_limit=300).count)

    sets = _data.sparse()
    for name, depth, penalty, slack in (
        ("monk1", 4, "1/50", "0.02"),
        ("car", 4, "1/100", "0.01"),
        ("car", 5, "1/200", "0.01"),
        ("tic-tac-toe", 3, "1/100", "0.01"),
        ("compas-binned", 4, "1/100", "0.01"),
    ):
        at = f"{name} {depth}"
        yield at, lambda d=sets[name], p=penalty, k=depth, s=slack: call(d, p, k, s)


def fair(*names: str) -> Iterator[tuple[str, Any, Any]]:
    sets = _data.fairness()
    for name in names:
        yield name, sets[name], mt.Accuracy(constraints=(mt.tasks.StatisticalParity("0.01"),))


@group("lagrangian")
def lagrangian() -> Iterator[Case]:
    for name, data, task in fair("ricci", "student-mat", "german-credit", "communities", "adult"):
        for depth in (3, 4):
            yield f"{name} {depth}", solved(data, task, mt.Trees(depth), "lagrangian")


@group("side-fronts")
def side_fronts() -> Iterator[Case]:
    for name, data, task in fair("ricci", "student-mat"):
        yield f"{name} 2", solved(data, task, mt.Trees(2), "side-fronts")


@group("enumeration")
def enumeration() -> Iterator[Case]:
    def call(name: str, data: Any, task: Any, depth: int) -> str:
        model = mt.registry.formulation(name).build(mt.Problem(data, task, mt.Trees(depth)))
        return f"{model.nvariables()} {model.nconstraints()}"

    for form in ("state-flow", "state-flow-reduced"):
        mt.registry.formulation(form).warm_up()
        for name, data, task in fair("ricci", "student-mat", "adult", "german-credit"):
            for depth in (2, 3):
                yield (
                    f"{form} {name} {depth}",
                    lambda f=form, d=data, t=task, k=depth: call(f, d, t, k),
                )


@group("lists")
def lists() -> Iterator[Case]:
    data = mt.load(str(_data.root() / "rulelist/corels/compas_train.out"))
    for method, penalty in (
        ("corels", "0.015"),
        ("corels", "0.01"),
        ("dp-lists", "0.01"),
        ("dp-lists", "0.005"),
    ):
        task = mt.Accuracy(split_penalty=penalty)
        yield f"{method} {penalty}", solved(data, task, mt.RuleLists(), method)


@group("greedy-spo")
def greedy_spo() -> Iterator[Case]:
    for rows, depth in ((1000, 2), (10_000, 2), (10_000, 3)):
        made = mt.decisions.shortest_path_data(rows, degree=6, noise=0.25, grid=(4, 4), seed=0)
        frame = pd.DataFrame(made.X, columns=[f"x{j}" for j in range(made.X.shape[1])])
        data = mt.Binarizer(kind="quantiles", n_bins=101).dataset(
            frame, values=made.C, actions=list(made.decisions.components)
        )
        task = getattr(mt.decisions, "Decision", None) or mt.tasks.Decision
        task = task(decisions=made.decisions, normalised=True)
        yield f"{rows} {depth}", solved(data, task, mt.Trees(depth), "greedy-spo")


@group("min-cut")
def prunings() -> Iterator[Case]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_breast_cancer(return_X_y=True)

    def call(data: Any, task: Any, space: Any) -> str:
        curve = mt.prune_curve(mt.Problem(data, task, space))
        corners = " ".join(f"{v.error} {v.cost}" for v in curve.vertices)
        return f"{len(curve.vertices)} {hashlib.sha256(corners.encode()).hexdigest()[:12]}"

    for trees in (5, 20, 80):
        ensemble = mt.read_ensemble(RandomForestClassifier(trees, random_state=0).fit(X, y))
        data = mt.Dataset(np.zeros((len(y), 0)), y=y, numeric=X, columns=ensemble.columns)
        pruned_error = getattr(mt, "pruning", mt.tasks).PrunedError
        space, task = mt.PrunedEnsembles(ensemble), pruned_error(0)
        yield f"curve {trees}", lambda d=data, t=task, s=space: call(d, t, s)


def measured(call: Callable[[], str]) -> dict[str, Any]:
    """The least processor seconds of calls, and their value."""
    times: list[float] = []
    while not times or sum(times) < SECONDS:
        began = time.process_time()
        value = call()
        times.append(time.process_time() - began)
    return {"amount": min(times), "value": value}


def run(pattern: str, number: str) -> None:
    """Say the name of a case and run it when a line comes, until there is no other case."""
    for which, cases in GROUPS.items():
        if not fnmatch.fnmatch(which, pattern.partition("/")[0]):
            continue
        for name, call in itertools.islice(cases(), int(number) or None):
            label = f"{which}/{name}"
            if not fnmatch.fnmatch(label, pattern if "/" in pattern else f"{pattern}/*"):
                continue
            for visit in range(1 if label in LONG else VISITS):
                print(json.dumps(label), flush=True)
                if not sys.stdin.readline():
                    return
                if visit == 0 and label not in LONG:
                    call()  # it compiles, or reads, what is needed
                gc.collect()
                print(json.dumps(measured(call)), flush=True)
    print(json.dumps(None), flush=True)


def memory(name: str, depth: str) -> None:
    """Megabytes that a process of one problem takes beyond those of a tiny problem."""
    solve = solved(loaded(name), mt.Accuracy(), mt.Trees(int(depth)), "dp")
    solved(mt.load("iris"), mt.Accuracy(), mt.Trees(2), "dp")()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    value = solve()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"amount": (after - before) / 1024, "value": value}))


if __name__ == "__main__":
    {"run": run, "memory": memory}[sys.argv[1]](*sys.argv[2:])
