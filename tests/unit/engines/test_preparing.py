"""The arrays of a compiled search say what the view says: rows, tests, costs, groups."""

import numpy as np
from row_tests import each_row

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix


def view_of(seed, n, tests, high, actions, negative=False):
    """A reduced view of random costs."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, tests))
    values = rng.integers(-high if negative else 0, high + 1, (n, actions)).astype(float)
    task = registry.task("action-costs")()
    problem = mt.Problem(mt.Dataset(X, values=values), task, mt.Trees(3))
    return problem.view(CostMatrix).reduce()


def bits(words):
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little").astype(bool)


# Few vectors of costs; powers of two as planes; as many vectors as rows.
CASES = [(40, 5, 1, 2), (300, 9, 1, 2), (400, 20, 6, 2), (300, 35, 900, 4), (90, 7, 3, 3)]


@each_row("every_row", [False, True])
@each_row(("n", "tests", "high", "actions"), CASES)
@each_row("leaf", [1, 4])
def test_arrays_say_what_the_view_says(n, tests, high, actions, leaf, every_row):
    from milp_trees.engines.dp.arrays import prepare

    view = view_of(n + high, n, tests, high, actions, negative=high > 3)
    instance = prepare(view, mt.Trees(3, min_samples_leaf=leaf), every_row=every_row)
    data, at = instance.data, instance.position
    relative = view.costs[:, 1:] - view.costs[:, :1]
    kept = np.flatnonzero(relative.any(axis=1) | every_row | (leaf > 1))
    masses = [view.counts[kept]] if leaf > 1 else []
    vectors = np.column_stack([relative[kept], *masses, view.regret[kept, 0]])

    assert instance.n_rows == len(kept) == len(np.unique(at))
    assert (np.flatnonzero(bits(data.everything)) == np.sort(at)).all()
    assert (data.X[at, :tests] == view.X[kept]).all()
    assert data.X.sum() == view.X[kept].sum()
    for f in range(view.n_features):
        assert (bits(data.tests[f])[at] == view.X[kept, f]).all()
        assert bits(data.tests[f]).sum() == view.X[kept, f].sum()
    assert (data.values[at] == vectors).all()
    assert (data.best[at] == view.costs[kept].argmin(axis=1)).all()
    assert (data.most[at] == view.regret[kept].max(axis=1)).all()
    assert (data.heavy == data.most.reshape(-1, 64).max(axis=1)).all()

    members = np.array([bits(data.group_bits[g])[at] for g in range(data.n_groups)])
    if data.by_row:
        assert data.n_groups == 0
        return
    assert (members.T.astype(np.int64) @ data.group_values[: data.n_groups] == vectors).all()
    counted = data.group_values[:, :-1].any(axis=1)
    assert counted[: data.n_counted].all()
    assert not counted[data.n_counted : data.n_groups].any()
    assert instance.n_listed == members[: data.n_counted].sum()
    for g in range(data.n_groups):
        words = np.flatnonzero(data.group_bits[g])
        assert tuple(data.group_range[g]) == (words[0], words[-1] + 1)


def test_every_way_to_group_rows_occurs():
    """Groups of equal vectors, planes and single rows are all among the cases."""
    from milp_trees.engines.dp.arrays import prepare

    found = set()
    for n, tests, high, actions in CASES:
        instance = prepare(view_of(n + high, n, tests, high, actions, high > 3), mt.Trees(3))
        data = instance.data
        single = instance.n_listed <= instance.n_rows
        found.add("rows" if data.by_row else "groups" if single else "planes")
    assert found == {"rows", "groups", "planes"}
