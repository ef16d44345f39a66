"""What a user writes, checked by `mypy --strict`: solve, compare, read results, fit an estimator."""

from pathlib import Path

import numpy as np

import milp_trees as mt


def solved(data: mt.Dataset, depth: int) -> mt.Result:
    problem = mt.Problem(data, mt.Accuracy(leaf_penalty="1/100"), mt.Trees(max_depth=depth))
    result = mt.solve(problem, method="dp", time_limit=10.0, threads=2)
    if result.status is not mt.plugins.Status.OPTIMAL:
        raise RuntimeError(result.message or "The limit was too short.")
    return result


def read(result: mt.Result, data: mt.Dataset) -> tuple[float, int]:
    tree = result.tree
    if tree is None or result.objective is None:
        raise RuntimeError("There is no tree.")
    classes = tree.predict(data)
    print(tree, tree.n_leaves, result.value, result.bound, result.certificate.proved_by)
    return result.objective, len(classes)


def compared(problems: list[mt.Problem], store: Path) -> list[str]:
    study = mt.compare(
        problems, formulations=["state-flow"], solvers=["highs"], time_limit=5.0, store=store
    )
    return [str(row["method"]) for row in study.rows if row["agrees"]]


def tasks() -> list[mt.plugins.Task]:
    fair = mt.tasks.Accuracy(constraints=(mt.tasks.StatisticalParity(0.1),))
    return [fair, mt.tasks.F1(), mt.tasks.AUC()]


def fitted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = mt.OptimalTreeClassifier(max_depth=2, time_limit=5.0).fit(X, y)
    labels: np.ndarray = model.predict(X)
    return labels


def named(limits: mt.Limits) -> mt.Result:
    problem = mt.Problem(mt.load("iris"), mt.Accuracy(), mt.Trees(2))
    return mt.registry.method("dp").run(problem, limits)


def sizes(problem: mt.Problem) -> list[float]:
    path = mt.size_path(problem, max_leaves=4)
    return [point.value.number for point in path.points]


if __name__ == "__main__":
    iris = mt.load("iris")
    print(read(solved(iris, 2), iris))
