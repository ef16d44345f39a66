"""Blocks of fitted models predict what the models predict, at every optimum of a solver."""

import importlib
import itertools
import sys
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.embedding.arrays import threshold_of
from milp_trees.embedding.embed import chosen, expected_size
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.models.nodes import Branch, Leaf

FORMULATIONS = ("leaf-boxes", "log-paths", "strong-paths", "paths", "big-m")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def cases():
    """The random cases of the benchmark."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("_embedding_cases")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def solve(host, solver="highs", relax=False):
    """Solve a model and load the point; its objective, or None if there is none."""
    matrix = compile_model(host)
    answer = run(solver, Job(matrix, mt.Limits(time=60, abs_gap=0.0), relax=relax))
    if answer.x is None:
        return None
    matrix.load(answer.x)
    return answer.objective


def two_columns(shift=0.0):
    """A tree over two real columns, which asks one of them twice."""
    low, high = mt.BinaryFeature("x", "<=", 1.0 + shift), mt.BinaryFeature("x", "<=", 3.0)
    side = mt.BinaryFeature("y", "<=", 0.5)
    return mt.Tree(
        Branch(high, Leaf(1), Branch(low, Branch(side, Leaf(0), Leaf(1)), Leaf(0))), ("no", "yes")
    )


def host_of(tree, formulation="auto", **bounds):
    """A model with real variables for the columns of a tree, and its block."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=bounds.get("x", (0, 4))), pyo.Var(bounds=bounds.get("y", (-1, 1)))
    m.tree = mt.embed(tree, {"x": m.x, "y": m.y}, formulation)
    m.any = pyo.Objective(expr=m.x)
    return m


# -- all kinds of models, all solvers ------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "seeds"), [("highs", range(6)), ("scip", range(30, 32)), ("cbc", range(40, 42))]
)
def test_every_optimum_is_predicted_as_the_block_says(cases, solver, seeds):
    """All formulations have the same optimum, the model predicts it, and sizes are as computed."""
    solved = 0
    for seed in seeds:
        case = cases.random_case(seed, depth=4)
        found = {}
        for name in FORMULATIONS:
            checked = cases.check(case, name, solver)
            found[name] = None if checked is None else checked.objective
            if checked is None:
                continue
            assert checked.audit.equal, (seed, case.kind, name, checked.audit)
            size = expected_size(chosen(name, checked.block._trees), checked.block._trees)
            assert size == checked.block.sizes, (seed, case.kind, name)
            solved += 1
        values = [v for v in found.values() if v is not None]
        assert len(values) in (0, len(FORMULATIONS)), (seed, found)
        # A solver may end beyond a row by its tolerance, and margins are as small.
        assert not values or max(values) - min(values) < 1e-3 * max(1, abs(values[0])), (
            seed,
            found,
        )
    assert solved >= len(seeds)


# -- the relaxation ------------------------------------------------------------------------------


def vertices(matrix):
    """All vertices of the relaxation of a small model, by all choices of tight rows."""
    n = matrix.n_variables
    A = np.vstack([matrix.A.toarray(), np.eye(n)])
    low = np.concatenate([matrix.row_lower, matrix.lower])
    high = np.concatenate([matrix.row_upper, matrix.upper])
    equal = np.flatnonzero(low == high)
    sides = [
        (i, b[i])
        for i in range(len(A))
        for b in (low, high)
        if i not in equal and np.isfinite(b[i])
    ]
    out = []
    for tight in itertools.combinations(sides, n - len(equal)):
        rows = [*equal, *(i for i, _ in tight)]
        right = [*low[equal], *(b for _, b in tight)]
        if np.linalg.matrix_rank(A[rows]) == n:
            point = np.linalg.solve(A[rows], right)
            if (A @ point >= low - 1e-9).all() and (A @ point <= high + 1e-9).all():
                out.append(point)
    return np.array(out)


def test_the_relaxation_of_one_tree_is_the_hull_of_its_boxes():
    """Every vertex has one leaf, and x at a corner of its box; big M has other vertices."""
    m = host_of(two_columns(), "leaf-boxes")
    matrix = compile_model(m)
    found = vertices(matrix)
    leaf = [j for j, v in enumerate(matrix.columns) if v.parent_component() is m.tree.leaf]
    assert np.allclose(found[:, leaf], np.rint(found[:, leaf]))
    cells = m.tree._trees.inputs["x"].cells
    corners = {
        (x, y)
        for box in m.tree._trees.boxes[0]
        for first, last in [cells.span(box.reach["x"])]
        for x in (cells.low[first], cells.high[last])
        for y in _ends(m.tree._trees.inputs["y"].cells, box.reach.get("y"))
    }
    xy = [next(j for j, v in enumerate(matrix.columns) if v is w) for w in (m.x, m.y)]
    assert {tuple(p) for p in found[:, xy].round(9).tolist()} == {
        tuple(np.round(p, 9).tolist()) for p in corners
    }


def _ends(cells, reach):
    first, last = cells.span(cells.everything if reach is None else reach)
    return cells.low[first], cells.high[last]


def test_relaxations_of_trees_with_every_kind_of_column_have_integral_optima(cases):
    """Without a side constraint, the relaxation of leaf boxes is as good as the program."""
    for seed in range(200, 206):
        case = cases.random_case(seed, depth=3, kinds=("tree",))
        host, rng = case.host, np.random.default_rng(seed)
        host.del_component("side")
        host.tree = mt.embed(case.model, case.inputs, "leaf-boxes")
        wish = sum(float(rng.normal()) * z for z in host.tree.leaf.values())
        host.goal = pyo.Objective(expr=host.cost + wish)
        assert solve(host, relax=True) == pytest.approx(solve(host), abs=1e-6), seed


def test_the_baseline_has_a_weaker_relaxation():
    """In some direction big M has a fractional optimum beyond all points of the tree."""
    rng = np.random.default_rng(1)
    m = host_of(two_columns(), "big-m")
    gains = []
    for _ in range(8):
        m.del_component("any")
        wish = sum(float(rng.normal()) * z for z in m.tree.leaf.values())
        m.any = pyo.Objective(expr=float(rng.normal()) * m.x + float(rng.normal()) * m.y + wish)
        gains.append(solve(m) - solve(m, relax=True))
    assert min(gains) > -1e-6
    assert max(gains) > 0.01


# -- thresholds ----------------------------------------------------------------------------------


def test_single_precision_thresholds_are_exact():
    """A double is at most the threshold if and only if its 32-bit rounding is at most the given."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        given = float(rng.choice([rng.normal(), np.float32(rng.normal()), 1e8 * rng.normal()]))
        at = threshold_of(given, True)
        assert float(np.float32(at)) <= given < float(np.float32(np.nextafter(at, np.inf)))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_both_sides_of_a_threshold_are_reached(formulation):
    """The closed side ends at the threshold, the open one a margin above it."""
    m = host_of(two_columns(), formulation)
    m.any.deactivate()
    m.wish = pyo.Constraint(expr=m.tree.action["yes"] == 1)
    m.goal = pyo.Objective(expr=m.x + m.y)
    assert 0 < solve(m) < 1e-4
    assert m.tree.audit().equal
    m.del_component("goal")
    m.del_component("wish")
    m.wish = pyo.Constraint(expr=m.tree.action["no"] == 1)
    m.goal = pyo.Objective(expr=-m.x)
    assert solve(m) == pytest.approx(-3.0, abs=1e-9)
    assert m.tree.audit().equal


def test_a_point_beyond_the_threshold_is_moved_back():
    """By clipping a variable, by a linear program for an expression, or not at all."""
    m = host_of(two_columns(), "leaf-boxes")
    m.any.deactivate()
    m.goal = pyo.Objective(expr=-m.x)
    m.wish = pyo.Constraint(expr=m.tree.action["no"] == 1)
    solve(m)
    m.x.set_value(3.0 + 5e-7)
    assert not m.tree.audit(move=False)
    audit = m.tree.audit()
    assert audit.equal
    assert audit.moved
    assert m.x.value == 3.0
    assert audit.distance == pytest.approx(5e-7, rel=1e-3)

    m = pyo.ConcreteModel()
    m.a, m.b, m.y = pyo.Var(bounds=(0, 2)), pyo.Var(bounds=(0, 2)), pyo.Var(bounds=(-1, 1))
    m.tree = mt.embed(two_columns(), {"x": m.a + m.b, "y": m.y}, "leaf-boxes")
    m.wish = pyo.Constraint(expr=m.tree.action["no"] == 1)
    m.goal = pyo.Objective(expr=-m.a)
    solve(m)
    m.a.set_value(1.0)
    m.b.set_value(2.0 + 5e-7)
    audit = m.tree.audit()
    assert audit.equal
    assert audit.moved
    assert 1 < pyo.value(m.a + m.b) < 3
    m.whole = pyo.Constraint(expr=m.a + m.b >= 3.0 + 4e-7)
    m.a.set_value(1.0)
    m.b.set_value(2.0 + 5e-7)
    audit = m.tree.audit()
    assert not audit.equal
    assert "cannot be moved" in audit.message


# -- what inputs may be --------------------------------------------------------------------------


def test_values_outside_of_the_training_range_and_unseen_categories_follow_predict():
    """A constant, an unnamed category, and an ordered one are routed as predict routes them."""
    red = mt.BinaryFeature("colour", "==", "red")
    size = mt.BinaryFeature("size", "<=", "m", None, ("s", "m", "l"))
    tree = mt.Tree(Branch(red, Branch(size, Leaf(0), Leaf(1)), Leaf(2)), (False, "mid", 7))
    m = pyo.ConcreteModel()
    m.blue = pyo.Var(domain=pyo.Binary)
    m.tree = mt.embed(tree, {"colour": {"blue": m.blue, None: 1 - m.blue}, "size": "l"})
    m.goal = pyo.Objective(expr=-m.blue)
    solve(m)
    assert m.tree.row() == {"colour": "blue", "size": "l"}
    assert m.tree.predicted() is False
    assert m.tree.audit().equal
    far = mt.Tree(Branch(mt.BinaryFeature("x", "<=", 5.0), Leaf(0), Leaf(1)), ("a", "b"))
    m = pyo.ConcreteModel()
    m.tree = mt.embed(far, {"x": 1e6})
    m.goal = pyo.Objective(expr=m.tree.action["a"])
    solve(m)
    assert m.tree.predicted() == "a"
    assert m.tree.audit().equal


def test_estimators_results_and_pruned_ensembles_are_embedded():
    """A fitted estimator, its result, a forest with its pruning, and two blocks in one model."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = mt.OptimalTreeClassifier(max_depth=2).fit(X, y)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    ensemble = mt.read_ensemble(forest)
    keep = ensemble.kept.copy()
    keep[ensemble.parent >= 0] = False
    m = pyo.ConcreteModel()
    m.x = pyo.Var(list(X.columns), bounds=(0, 8))
    inputs = {c: m.x[c] for c in X.columns}
    m.tree, m.same = mt.embed(fitted, inputs), mt.embed(fitted.result_, inputs)
    m.forest, m.pruned = mt.embed(forest, inputs), mt.embed(ensemble.pruned(keep), inputs)
    m.wish = pyo.Constraint(expr=m.tree.action[1] + m.forest.action[2] == 2)
    m.goal = pyo.Objective(expr=-m.pruned.probability[1] + 0.01 * m.x["petal width (cm)"])
    assert solve(m) is not None
    for block in (m.tree, m.same, m.forest, m.pruned):
        assert block.audit().equal, block.audit()
    assert m.tree.predicted() == m.same.predicted() == 1
    assert m.forest.predicted() == 2
    copy = m.clone()
    copy.x["petal width (cm)"].set_value(0.0)
    assert copy.tree.row()["petal width (cm)"] == 0.0 != m.tree.row()["petal width (cm)"]


def test_what_cannot_be_embedded_is_refused():
    """Columns without bounds or values, missing values without an answer, and sets of categories."""
    from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingRegressor
    from sklearn.tree import DecisionTreeRegressor

    tree = two_columns()
    m = pyo.ConcreteModel()
    m.x, m.y, m.gone = pyo.Var(), pyo.Var(bounds=(0, 1)), pyo.Var(domain=pyo.Binary)
    with pytest.raises(DataError, match="no finite bounds"):
        mt.embed(tree, {"x": m.x, "y": m.y})
    m.bounded = mt.embed(tree, {"x": m.x, "y": m.y}, bounds={"x": (0, 9)})
    with pytest.raises(DataError, match="no solution yet"):
        m.bounded.audit()
    with pytest.raises(DataError, match="asks the column 'y'"):
        mt.embed(tree, {"x": m.x})
    with pytest.raises(DataError, match="no answer for a missing value"):
        mt.embed(tree, {"x": m.y, "y": (m.y, m.gone)})
    with pytest.raises(DataError, match="no formulation 'hull'"):
        mt.embed(tree, {"x": m.y, "y": m.y}, "hull")
    flag = mt.Tree(Branch(mt.BinaryFeature("f"), Leaf(0), Leaf(1)), (0, 1))
    with pytest.raises(DataError, match="whole numbers"):
        mt.embed(flag, {"f": m.y})
    X, y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20.0)
    with pytest.raises(Unsupported, match="AdaBoostClassifier cannot be embedded"):
        mt.embed(AdaBoostClassifier(n_estimators=2).fit(X, y > 9), {})
    with pytest.raises(Unsupported, match="str cannot be embedded"):
        mt.embed("tree.json", {})
    with pytest.raises(DataError, match="OptimalTreeClassifier is not fitted"):
        mt.embed(mt.OptimalTreeClassifier(), {})
    sets = HistGradientBoostingRegressor(
        max_iter=1, categorical_features=[0], min_samples_leaf=2
    ).fit(X, y)
    with pytest.raises(Unsupported, match="sets of categories"):
        mt.embed(sets, {})
    declared = DecisionTreeRegressor(max_depth=2).fit(X, y)
    declared.is_categorical_ = np.array([True, False])
    with pytest.raises(Unsupported, match="sets of categories"):
        mt.read_ensemble(declared)


class OfALaterVersion:
    """A tree whose nodes have a field for sets of categories."""

    def __init__(self, tree, sets):
        self.tree, self.sets = tree, sets

    def __getattr__(self, name):
        return getattr(self.__dict__["tree"], name)

    def __getstate__(self):
        nodes = self.tree.__getstate__()["nodes"]
        dtype = [*nodes.dtype.descr, ("left_cat_bitset", "<u4", (8,))]
        wider = np.zeros(len(nodes), dtype=[d for d in dtype if d[0]])
        for name in nodes.dtype.names:
            wider[name] = nodes[name]
        wider["left_cat_bitset"] = self.sets
        return {"nodes": wider}


def test_a_node_with_a_set_of_categories_is_known_by_its_field():
    """A field with a set is refused; the same field without any is not."""
    from sklearn.tree import DecisionTreeRegressor

    from milp_trees.models.split_kinds import check_thresholds

    fitted = DecisionTreeRegressor(max_depth=2).fit(np.arange(9.0)[:, None], np.arange(9.0) % 4)
    with pytest.raises(Unsupported, match="sets of categories"):
        check_thresholds(OfALaterVersion(fitted.tree_, 3), "DecisionTreeRegressor")
    check_thresholds(OfALaterVersion(fitted.tree_, 0), "DecisionTreeRegressor")
    check_thresholds(fitted.tree_, "DecisionTreeRegressor", fitted)
