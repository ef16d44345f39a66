"""Problems for the tests of the engine `dp`."""

import numpy as np

import milp_trees as mt
from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.engines.dp.run import DpRun


def solve(view, space, method=None, threads=1):
    """A run on a view, which need not come from a task."""
    method = method or DynamicProgramme()
    run = DpRun(
        method,
        view.reduce(method.merge_rows, method.drop_tests),
        space,
        Limits(time=None, threads=threads),
        None,
        None,
    )
    run.prepare()
    run.compile()
    run.begin(run_clock())
    run.go()
    return run


# -- switches ------------------------------------------------------------------------------------------------


def planted(depth, seed=1, rows=120, tests=14, **task):
    """Two nested rules and ten per cent of noise; the last test is the complement of the first, and
    some rows are equal.
    """
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, tests)) < rng.uniform(0.15, 0.5, tests)).astype(int)
    y = ((X[:, 0] & X[:, 1]) ^ (X[:, 2] | X[:, 3])) ^ (rng.random(rows) < 0.1)
    X[:, -1] = 1 - X[:, 0]
    return mt.Problem(mt.Dataset(X, y=y.astype(int)), mt.Accuracy(**task), mt.Trees(depth))


def amounts(depth, rows=60):
    """A step function of two columns with all their thresholds."""
    rng = np.random.default_rng(2)
    columns = rng.random((rows, 2))
    y = np.where(columns[:, 0] < 0.4, 3.0, 1.0) + (columns[:, 1] < 0.7) + rng.normal(0, 0.2, rows)
    data = mt.Binarizer(kind="quantiles", n_bins=9).dataset(columns, y.round(2))
    return mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(depth))


INSTANCES = {
    "thresholds": lambda: amounts(4),
    "four levels": lambda: planted(4),
    "five levels": lambda: planted(5),
    "sparse": lambda: planted(None, leaf_penalty="1/60"),
}


# -- anytime -------------------------------------------------------------------------------------------------


def long_problem(depth=5, penalty=0, rows=200, tests=24):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (rows, tests))
    y = (X[:, 0] ^ X[:, 1]) | (rng.random(rows) < 0.3)
    return mt.Problem(
        mt.Dataset(X, y=y.astype(int)), mt.Accuracy(leaf_penalty=penalty), mt.Trees(depth)
    )
