"""Random problems for the tests of `tangents`."""

import numpy as np

import milp_trees as mt

#: Makers of tasks, from the penalty per leaf and the positive class.
TASKS = {
    "auc": lambda rng, **given: mt.tasks.AUC(**given),
    "partial-auc": lambda rng, **given: mt.tasks.PartialAUC(
        theta=rng.choice(["1/5", "7/100", "1/2", "13/17", "1"]), **given
    ),
    "mcc": lambda rng, **given: mt.tasks.Matthews(**given),
    "kappa": lambda rng, **given: mt.tasks.CohenKappa(**given),
    "g-mean": lambda rng, **given: mt.tasks.GeometricMean(**given),
    "f-beta": lambda rng, **given: mt.tasks.FBeta(beta=rng.choice(["1", "2"]), **given),
}


def answers(rng, rows, tests):
    """Random tests, of which some are thresholds of three columns; rows and tests may be equal."""
    X = (rng.random((rows, tests)) < rng.choice([0.2, 0.5, 0.8])).astype(np.uint8)
    if rng.random() < 0.3:
        columns, at = rng.random((rows, 3)), np.arange(tests)
        X = (columns[:, at % 3] < (at + 1) / (tests + 1)).astype(np.uint8)
    if rng.random() < 0.3:
        X = X[rng.integers(0, max(2, rows // 2), rows)]
    if rng.random() < 0.2:
        X[:, -1] = 1 - X[:, 0]
    if rng.random() < 0.1:
        X[:, 0] = 1
    return X


def random_problem(rng, rows, tests, depth, kind):
    """One of a kind of `TASKS`, often with a penalty, a smallest leaf or a limit on leaves."""
    X = answers(rng, rows, tests)
    y = (rng.random(rows) < rng.choice([0.15, 0.5])).astype(int)
    if rng.random() < 0.4:
        y = X[:, 0] ^ (rng.random(rows) < 0.2)
    y[:2] = 0, 1
    penalty = str(rng.choice(["0", "0", "1/30", "1/100", "3/1000", "2/5"]))
    task = TASKS[kind](rng, leaf_penalty=penalty, positive=rng.choice([None, 0, 1]))
    space = {}
    if rng.random() < 0.3:
        space["min_samples_leaf"] = int(rng.integers(1, 5))
    if rng.random() < 0.3:
        space["max_leaf_nodes"] = int(rng.integers(1, 7))
    return mt.Problem(mt.Dataset(X, y=y), task, mt.Trees(depth, **space))
