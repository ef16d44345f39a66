"""`dp-sorted` on leaves that cost a function of sums: squared error over all thresholds.

The oracle goes through all trees of tiny tables in fractions.
"""

from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limit, Limits
from milp_trees.data.ranked import RankedTests
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.results.result import Status

#: Two values are equal up to this share of the squared error of a single leaf.
SHARE = Fraction(1, 10**9)


def exact(number: float) -> Fraction:
    """A number of few decimals by its digits, another one by its bits."""
    digits = Fraction(repr(float(number)))
    return digits if (digits * 10**12).denominator == 1 else Fraction(float(number))


def squared_error(y: np.ndarray, w: np.ndarray, rows: tuple[int, ...]) -> Fraction:
    """Weighted squared distances to the weighted means, all outputs together."""
    weight = sum(w[i] for i in rows)
    total = Fraction(0)
    for k in range(y.shape[1] if weight else 0):
        mean = sum(w[i] * y[i, k] for i in rows) / weight
        total += sum(w[i] * (y[i, k] - mean) ** 2 for i in rows)
    return total


def optimum(problem: mt.Problem) -> Fraction | None:
    """The best value of all trees, by going through them; None if there is none."""
    data, task, space = problem.dataset, problem.task, problem.trees
    X, n = np.array(data.X), data.n_rows
    y = data.targets if data.targets is not None else np.array(data.classes)[data.y][:, None]
    y = np.vectorize(exact, otypes=[object])(y)
    w = [Fraction(x) for x in (np.ones(n) if data.weights is None else data.weights)]
    w = [a * int(b) for a, b in zip(w, data.row_counts, strict=True)]
    norm = task.normaliser(data) if task.penalised else Fraction(1)
    leaf, split = Fraction(task.leaf_penalty), Fraction(task.split_penalty)
    price = {t.column: Fraction(task.feature_costs.get(t.column, 0)) for t in data.features}

    @cache
    def best(rows: tuple[int, ...], depth: int, leaves: int) -> Fraction | None:
        counted = sum(int(data.row_counts[i]) for i in rows)
        heavy = sum(w[i] for i in rows) >= Fraction(space.min_weight_leaf)
        found = None
        if counted >= space.min_samples_leaf and heavy:
            found = squared_error(y, w, rows) / norm + leaf
        if depth and leaves > 1:
            for f, test in enumerate(data.features):
                sides = [tuple(i for i in rows if X[i, f] == s) for s in (0, 1)]
                if not all(sides):
                    continue
                for low in range(1, leaves):
                    parts = [
                        best(sides[0], depth - 1, low),
                        best(sides[1], depth - 1, leaves - low),
                    ]
                    if None in parts:
                        continue
                    value = sum(parts) + split + price[test.column]
                    found = value if found is None else min(found, value)
        return found

    most = space.max_leaf_nodes or n
    depth = n - 1 if space.max_depth is None else space.max_depth
    return best(tuple(range(n)), depth, min(most, n))


def table(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Numbers with ties, missing values, a flag and texts."""
    distinct = int(rng.choice([2, 4, 30]))
    frame = pd.DataFrame({"x": rng.integers(0, distinct, rows).astype(float)})
    if rng.random() < 0.5:
        frame["z"] = rng.normal(size=rows).round(1)
    if rng.random() < 0.4:
        frame["flag"] = rng.integers(0, 2, rows)
    if rng.random() < 0.4:
        frame["town"] = rng.choice(["a", "b", "c"], rows)
    if rng.random() < 0.4:
        frame.loc[rng.random(rows) < 0.3, "x"] = np.nan
    return frame


def targets(rng: np.random.Generator, rows: int, outputs: int) -> np.ndarray:
    """Targets of very different sizes, with ties."""
    form = int(rng.integers(5))
    y = rng.integers(0, 6, (rows, outputs)).astype(float)
    if form == 1:
        return y + 1e9
    if form == 2:
        return rng.normal(size=(rows, outputs)) * 1e-9
    if form == 3:
        return np.zeros((rows, outputs)) + 2.5
    return rng.normal(size=(rows, outputs)).round(3) if form == 4 else y


def drawn(seed: int) -> mt.Problem:
    """Tiny problems with weights, counts, outputs, prices, minima and numbers of leaves."""
    rng = np.random.default_rng(seed)
    rows, outputs = int(rng.integers(2, 9)), int(rng.choice([1, 1, 2]))
    weights = rng.integers(0, 4, rows).astype(float) / 2
    weights[0] = 1.0
    counts = rng.integers(1, 3, rows) if rng.random() < 0.3 else None
    Y = targets(rng, rows, outputs)
    frame = table(rng, rows)
    given = {"weights": weights if rng.random() < 0.5 else None, "counts": counts}
    binarizer = mt.Binarizer(kind="midpoints")
    if outputs == 1 and rng.random() < 0.7:
        data = binarizer.dataset(frame, Y[:, 0], **given)
    else:
        names = tuple(f"t{k}" for k in range(outputs))
        data = binarizer.dataset(frame, targets=Y, target_names=names, **given)
    task = mt.tasks.SquaredError(
        leaf_penalty=Fraction(int(rng.choice([0, 0, 1, 3])), 20),
        split_penalty=Fraction(int(rng.choice([0, 0, 0, 1])), 15),
        feature_costs={t.column: Fraction(1, 10) for t in data.features[:1] if rng.random() < 0.2},
    )
    depth = (0, 1, 2, 2, 3, 4, None)[int(rng.integers(7))]
    space = mt.Trees(
        depth,
        min_samples_leaf=int(rng.choice([1, 1, 1, 2])),
        min_weight_leaf=float(rng.choice([0, 0, 0, 1.5])),
        max_leaf_nodes=int(rng.integers(1, 6)) if rng.random() < 0.4 else None,
    )
    return mt.Problem(data, task, space)


def size_of(problem: mt.Problem) -> Fraction:
    """What the tolerance is a share of: the squared error of a single leaf, around any number."""
    return Fraction(1) if problem.task.penalised else problem.task.normaliser(problem.dataset)


def test_equals_all_trees_in_fractions():
    method, seen = registry.method("dp-sorted"), Counter()
    for seed in range(110):
        problem = drawn(seed)
        expected, found = optimum(problem), method.run(problem)
        if expected is None:
            assert found.status is Status.INFEASIBLE, seed
            seen["infeasible"] += 1
            continue
        assert found.status is Status.OPTIMAL, (seed, found.message)
        assert found.value.exact == problem.value(found.tree).exact, seed
        # Predictions are doubles, so a tree may cost more than its leaves' exact means.
        near = SHARE * size_of(problem)
        assert expected <= found.value.exact <= expected + near, seed
        assert expected - near <= found.certificate.bound_exact <= expected, seed
        assert not problem.violations(found.tree), seed
        seen[problem.trees.max_depth, problem.trees.limits_leaves] += 1
    assert seen["infeasible"]
    assert min(seen[depth, False] for depth in (0, 1, 2, 3, 4, None)) > 3, seen
    assert sum(seen[depth, True] for depth in (2, 3, 4, None)) > 10, seen


def normal(rows: int, seed: int, columns: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Continuous columns of which no two values are equal, and a target of two of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] * X[:, 1] + (X[:, -1] > 0.3) + rng.normal(size=rows) / 3
    return pd.DataFrame({f"x{j}": X[:, j] for j in range(columns)}), y


@each_row("seed, rows, depth", [(0, 300, 2), (1, 90, 3)])
def test_equals_dp_over_all_thresholds(seed, rows, depth):
    """Blocks of rows are passed over: with hundreds of rows most of them are."""
    frame, y = normal(rows, seed)
    problem = mt.Problem(
        mt.Binarizer(kind="midpoints").dataset(frame, y),
        mt.tasks.SquaredError(),
        mt.Trees(depth, min_samples_leaf=1 + 4 * seed),
    )
    found, expected = (registry.method(name).run(problem) for name in ("dp-sorted", "dp"))
    assert found.optimal
    assert expected.optimal
    near = SHARE * size_of(problem)
    assert abs(found.value.exact - expected.value.exact) <= near
    assert found.value.exact - near <= found.certificate.bound_exact <= found.value.exact


def test_a_deeper_tree_is_found_from_its_sides():
    """Values are rounded, and the sides of a tree are solved again with what they may cost."""
    frame, y = normal(60, 4, 2)
    data = mt.Binarizer(kind="midpoints").dataset(frame, y.round(1))
    method, values = registry.method("dp-sorted"), []
    for depth in (2, 3, 4, 5):
        problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(depth))
        found = method.run(problem)
        assert found.optimal
        assert found.value.exact == problem.value(found.tree).exact
        values.append(found.value.exact)
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0] / 3


def test_many_thresholds_are_never_a_matrix(monkeypatch):
    """400 rows × 3 columns have 1197 thresholds; nobody asks for the matrix of outcomes."""
    frame, y = normal(400, 0)
    data = mt.Binarizer(kind="auto").dataset(frame, y)
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(2))

    def refuse(self):
        raise AssertionError("the matrix was made")

    monkeypatch.setattr(RankedTests, "dense", property(refuse))
    result = mt.solve(problem, "dp-sorted", reference=None)
    assert result.optimal
    assert result.problem.dataset.source["thresholds"] == {"used": 1197, "of": 1197}


def test_it_is_chosen_for_open_thresholds():
    frame, y = normal(1500, 1)
    data = mt.Binarizer(kind="auto").dataset(frame, y)
    result = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(2)))
    assert result.optimal
    assert result.method == "dp-sorted"
    assert result.problem.dataset.source["thresholds"] == {"used": 4497, "of": 4497}


def test_a_stopped_run_is_honest_and_its_tree_is_a_start():
    frame, y = normal(500, 2)
    data = mt.Binarizer(kind="midpoints").dataset(frame, y)
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(3))
    method = registry.method("dp-sorted")
    best, stopped = method.run(problem), 0
    for seconds in (1e-6, 0.02, 0.1):
        found = method.run(problem, Limits(time=seconds))
        stopped += found.limit is Limit.TIME
        assert found.bound <= best.value.number * (1 + 1e-12)
        if found.tree is None:
            continue
        assert found.value.exact == problem.value(found.tree).exact >= best.certificate.bound_exact
        again = method.run(problem, start=found.tree)
        assert again.optimal
        assert abs(again.value.exact - best.value.exact) <= SHARE * size_of(problem)
    assert stopped


def test_a_start_gets_the_means_of_its_leaves():
    """The start predicts nonsense; with the means its tree is optimal."""
    data = mt.Binarizer(kind="midpoints").dataset(
        pd.DataFrame({"x": [0.0, 1, 2, 3]}), [1.0, 1, 5, 6]
    )
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(1))
    start = mt.Tree(Branch(data.features[1], Leaf(0), Leaf(1)), (0.0, 9.0))
    # Rows above the threshold go left, where 0 is predicted, and the others get 9.
    assert problem.value(start).number == 25 + 36 + 2 * 64
    result = registry.method("dp-sorted").run(problem, start=start)
    assert result.value.exact == Fraction(1, 2)


@pytest.mark.slow
@each_row(
    "name, value",
    [("concrete", 12.0577650312), ("fish", 7.3276975856), ("qsar", 5.8034505148)],
)
def test_sets_of_public_data(data_folder, name, value):
    frame = pd.read_csv(data_folder / "regression-raw" / f"quant-{name}.csv.gz")
    target = frame.pop("target").to_numpy()
    data = mt.Binarizer(kind="midpoints").dataset(frame, target)
    found = registry.method("dp-sorted").run(
        mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(3)), Limits(time=100)
    )
    assert found.optimal
    assert abs(found.value.number - value) < 1e-9


def test_a_proof_of_sums_gets_a_sentence():
    """Its one claim is checked by going through trees, which the checker does for actions."""
    data = mt.Binarizer(kind="midpoints").dataset(pd.DataFrame({"x": [0.0, 1, 2]}), [0.0, 1, 5])
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(1))
    method = registry.method("dp-sorted")
    with pytest.raises(Unsupported, match="sums of action costs alone"):
        method.prove(problem, method.run(problem), Limits())


def test_weights_that_doubles_do_not_hold_get_a_sentence():
    heavy = [2.0**52 + 1, 2.0**52 + 3, 1.0]
    data = mt.Binarizer(kind="midpoints").dataset(
        pd.DataFrame({"x": [0.0, 1, 2]}), [0.0, 1, 2], weights=heavy
    )
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(1, min_weight_leaf=2))
    assert "in 53 bits" in registry.method("dp-sorted").unsupported(problem)
