"""Small problems of every exact engine, whose proofs are stopped early and damaged on purpose."""

import numpy as np

import milp_trees as mt
from milp_trees.decisions.generated import DecisionData
from milp_trees.pruning.testing.random_prunings import random_problem


def rows(seed, n=30, clean=False):
    """Random labels, or labels that two of five features decide."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 5)).astype(np.uint8)
    y = X[:, 0] | X[:, 3] if clean else rng.integers(0, 2, n)
    y[:2] = X[:2, 0] = X[:2, 3] = [0, 1]
    return mt.Dataset(X, [mt.BinaryFeature(f"x{j}") for j in range(5)], y=y.tolist())


def trees(task, depth=3, n=30, **space):
    """Problems on trees by seed; those of odd seeds have trees without errors."""
    return lambda seed: mt.Problem(rows(seed, n, seed % 2 == 1), task, mt.Trees(depth, **space))


def lists(length, n=30, **task):
    return lambda seed: mt.Problem(
        rows(seed, n, seed % 2 == 1), mt.Accuracy(**task), mt.RuleLists(max_length=length)
    )


def prunings(seed):
    return random_problem(np.random.default_rng(seed), n_trees=4)


def roads(seed):
    noise = 0.5 * (seed % 2 == 0)
    data, _, S = DecisionData(
        rows=30, test_rows=0, degree=4, noise=noise, thresholds=4, seed=seed
    ).make()
    return mt.Problem(data, mt.decisions.Decision(decisions=S), mt.Trees(2))


CAPACITY = (mt.tasks.Capacity(action=1, at_most=25),)
PAID = mt.tasks.CostSensitive(
    matrix=[[0, 9], [9, 0]], attributes=[mt.tasks.Attribute(f"x{j}", 1 + j % 3) for j in range(5)]
)

#: Problems by seed for every exact engine.


def plane(seed):
    """Oblique trees of two columns."""
    rng = np.random.default_rng(seed)
    data = mt.Dataset(
        np.zeros((9, 0)),
        numeric=rng.integers(0, 6, (9, 2)),
        columns=["x", "y"],
        y=rng.permutation([0, 0, 0, 0, 1, 1, 1, 1, 1]),
    )
    return mt.Problem(data, mt.Accuracy(), mt.oblique.ObliqueTrees(1))


def shifted(seed):
    """Rows of one column, each of which may be off by one."""
    rng = np.random.default_rng(seed)
    x = 2 * rng.integers(0, 8, (14, 1))
    data = mt.Binarizer(kind="midpoints").dataset(x, rng.permutation([0, 1] * 7))
    return mt.Problem(data, mt.robust.RobustBoxes(radius=1), mt.robust.RobustTrees(2))


SMALL = {
    "corels": lists(3, split_penalty="1/60"),
    "dantzig-wolfe": prunings,
    "dp": trees(mt.Accuracy(leaf_penalty="1/60"), 4),
    "dp-lists": lists(3, split_penalty="1/60"),
    "dp-oracle": roads,
    "dp-paid": trees(PAID),
    "dp-sizes": trees(mt.Accuracy(), max_leaf_nodes=5),
    "dp-sorted": trees(mt.Accuracy()),
    "enumerate": trees(mt.Accuracy(constraints=CAPACITY), 2, 12),
    "enumerate-counts": trees(mt.tasks.AUC(), 2, 12),
    "enumerate-lists": lists(2, 12),
    "enumerate-oblique": plane,
    "enumerate-prunings": prunings,
    "lagrangian": trees(mt.Accuracy(constraints=CAPACITY), 2),
    "min-cut": prunings,
    "near-best": trees(mt.Accuracy(), 2),
    "near-best-lists": lists(3, split_penalty="1/60"),
    "pareto": trees(mt.tasks.F1()),
    "partial-trees": trees(mt.tasks.AUC()),
    "robust-fronts": shifted,
    "side-fronts": trees(mt.Accuracy(constraints=CAPACITY), 2),
    "separable": trees(
        mt.tasks.CostSensitive(matrix=[[0, 9], [9, 0]], attributes=PAID.attributes), 2
    ),
    "subgradient": prunings,
    "tangents": trees(mt.tasks.AUC()),
}
