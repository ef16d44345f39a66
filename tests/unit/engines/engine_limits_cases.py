"""Problems that take long, for the tests of limits and signals."""

from dataclasses import replace

import numpy as np
import pandas as pd

import milp_trees as mt
from milp_trees.decisions.generated import DecisionData
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import ByPrice, BySize, Front, NearBest


def noise(rows: int, tests: int, seed: int = 0) -> mt.Dataset:
    rng = np.random.default_rng(seed)
    return mt.Dataset(
        rng.integers(0, 2, (rows, tests)).astype(np.uint8), y=rng.integers(0, 2, rows)
    )


def midpoints(rows: int, columns: int) -> mt.Dataset:
    rng = np.random.default_rng(0)
    return mt.Binarizer(kind="midpoints").dataset(
        pd.DataFrame(rng.random((rows, columns))), rng.integers(0, 2, rows)
    )


def plane(rows: int, depth: int) -> mt.Problem:
    """Oblique trees of two columns."""
    rng = np.random.default_rng(0)
    data = mt.Dataset(
        np.zeros((rows, 0)),
        numeric=rng.integers(0, 1000, (rows, 2)),
        columns=["x", "y"],
        y=rng.integers(0, 2, rows),
    )
    return mt.Problem(data, mt.Accuracy(), mt.oblique.ObliqueTrees(depth))


def shifted(rows: int, columns: int) -> mt.Problem:
    """Rows of whole numbers, each of which may be off by five."""
    rng = np.random.default_rng(0)
    data = mt.Binarizer(kind="midpoints").dataset(
        2 * rng.integers(0, 100, (rows, columns)), rng.integers(0, 2, rows)
    )
    return mt.Problem(data, mt.robust.RobustBoxes(radius=5), mt.robust.RobustTrees(3))


def roads(rows: int, depth: int) -> mt.Problem:
    data, _, S = DecisionData(rows=rows, test_rows=0, degree=8, noise=0.5, thresholds=30).make()
    return mt.Problem(data, mt.decisions.Decision(decisions=S), mt.Trees(depth))


def forest(rows: int, trees: int) -> mt.Problem:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(rows, 20, n_informative=5, flip_y=0.3, random_state=0)
    ensemble = mt.read_ensemble(
        RandomForestClassifier(trees, max_depth=9, random_state=0).fit(
            X[: rows // 2], y[: rows // 2]
        )
    )
    data = mt.Dataset(np.zeros((rows, 0)), y=y, numeric=X, columns=ensemble.columns)
    return mt.Problem(data, mt.pruning.PrunedError("0.001"), mt.PrunedEnsembles(ensemble))


def few_prunings() -> mt.Problem:
    """About a hundred thousand prunings."""
    from milp_trees.pruning.engines.enumerate_prunings import count
    from milp_trees.pruning.testing.random_prunings import random_problem

    made = (
        random_problem(np.random.default_rng(seed), n_trees=4, depth=3, n_rows=200, n_features=5)
        for seed in range(200)
    )
    return next(p for p in made if 50_000 < count(p.view(mt.pruning.NodeGains)) <= 200_000)


#: For every registered engine problems on which it takes longer than a second (a greedy one:
#: problems that are large).
LONG = {
    "cart": lambda: mt.Problem(noise(20_000, 1000), mt.Accuracy(), mt.Trees(10)),
    "cart-spo": lambda: roads(50_000, 10),
    "corels": lambda: mt.Problem(
        noise(4000, 150), mt.Accuracy(split_penalty="1/500"), mt.RuleLists()
    ),
    "dantzig-wolfe": lambda: forest(2000, 60),
    "dp": lambda: mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6)),
    "dp, leaves": lambda: mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6, 12)),
    "dp, ratio": lambda: mt.Problem(noise(1000, 80), mt.tasks.F1(), mt.Trees(6)),
    "dp, wide": lambda: mt.Problem(noise(20_000, 1000), mt.Accuracy(), mt.Trees(2)),
    "dp-lists": lambda: mt.Problem(
        noise(1000, 40),
        mt.Accuracy(split_penalty="0.001"),
        mt.RuleLists(mt.Antecedents(negations=True)),
    ),
    "dp-oracle": lambda: roads(400, 3),
    "dp-sizes": lambda: mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(5), BySize(10)),
    "dp-sorted": lambda: mt.Problem(midpoints(2000, 10), mt.Accuracy(), mt.Trees(4)),
    "enumerate": lambda: mt.Problem(
        noise(48, 7),
        mt.Accuracy(constraints=(mt.tasks.Capacity(action=1, at_most=20),)),
        mt.Trees(4),
    ),
    "enumerate-counts": lambda: mt.Problem(noise(48, 6), mt.tasks.AUC(), mt.Trees(3)),
    "enumerate-lists": lambda: mt.Problem(
        noise(500, 24),
        mt.Accuracy(constraints=(mt.tasks.Capacity(action=1, at_most=200),)),
        mt.RuleLists(max_length=3),
    ),
    "enumerate-oblique": lambda: plane(30, 2),
    "enumerate-prunings": few_prunings,
    "greedy": lambda: mt.Problem(noise(20_000, 1000), mt.Accuracy(), mt.RuleLists(max_length=40)),
    "greedy-oblique": lambda: plane(2000, 5),
    "greedy-spo": lambda: roads(20_000, 12),
    "lagrangian": lambda: mt.Problem(
        noise(1000, 80),
        mt.Accuracy(constraints=(mt.tasks.Capacity(action=1, at_most=300),)),
        mt.Trees(6),
    ),
    "dp-paid": lambda: mt.Problem(
        noise(1000, 60),
        mt.tasks.CostSensitive(
            matrix=[[0, 9], [9, 0]],
            attributes=[
                mt.tasks.Attribute(t.column, 1 + j % 3) for j, t in enumerate(noise(1, 60).features)
            ],
        ),
        mt.Trees(6),
    ),
    "min-cut": lambda: forest(4000, 60),
    "min-cut, path": lambda: replace(forest(4000, 60), question=ByPrice()),
    "near-best": lambda: mt.Problem(noise(1000, 60), mt.Accuracy(), mt.Trees(5), NearBest(slack=5)),
    "near-best-lists": lambda: mt.Problem(
        noise(1000, 60), mt.Accuracy(), mt.RuleLists(max_length=5), NearBest(slack=5)
    ),
    "pareto": lambda: mt.Problem(noise(400, 60), mt.tasks.Matthews(), mt.Trees(4)),
    "robust-fronts": lambda: shifted(60, 3),
    "side-fronts": lambda: mt.Problem(
        noise(2000, 90),
        mt.Accuracy(constraints=(mt.tasks.Capacity(action=1, at_most=200),)),
        mt.Trees(3),
    ),
    "separable": lambda: mt.Problem(
        noise(1000, 60), mt.tasks.bounded(mt.Accuracy(), None), mt.Trees(5)
    ),
    "separable, front": lambda: mt.Problem(
        noise(300, 40),
        mt.tasks.combine(mt.tasks.WeightedError(), mt.Accuracy()),
        mt.Trees(4),
        Front(),
    ),
    "partial-trees": lambda: mt.Problem(noise(400, 60), mt.tasks.AUC(), mt.Trees(4)),
    "subgradient": lambda: forest(2000, 60),
    "tangents": lambda: mt.Problem(noise(400, 60), mt.tasks.AUC(), mt.Trees(4)),
    "tangents, errors": lambda: mt.Problem(
        noise(400, 60), mt.tasks.GeometricMean(leaf_penalty="1/500"), mt.Trees(4)
    ),
}


GREEDY = ("cart", "cart-spo", "greedy", "greedy-oblique", "greedy-spo", "subgradient")


def method_of(case: str):
    return registry.method(case.split(",")[0])
