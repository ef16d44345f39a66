"""`tangents` against the list of all trees and the methods that it confirms; its bounds; limits."""

from fractions import Fraction as F
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from tangents_cases import TASKS, random_problem

import milp_trees as mt
from milp_trees.common.limits import Limit, Limits
from milp_trees.engines.tangents.areas import MOST_STEPS, Areas, curve_of, shortened
from milp_trees.engines.tangents.method import Tangents
from milp_trees.engines.tangents.sums import Sums
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Leaf
from milp_trees.models.tree import Tree
from milp_trees.problems.questions import Front
from milp_trees.results.result import Status
from milp_trees.tasks.count_views import LeafCounts, PairCounts


def same(a, b):
    """Equal values; irrational ones to twelve digits."""
    if a.exact is not None and b.exact is not None:
        return a.exact == b.exact
    return abs(a.number - b.number) < 1e-12


def beyond(problem, bound, value):
    """How far a bound is above a value (below it, if the task is minimised)."""
    return (bound - value.number) * (1 if problem.task.sense == "max" else -1)


# -- optima --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TASKS)
def test_optima_are_those_of_the_list_of_all_trees(kind):
    """Penalties, smallest leaves, limits on leaves, equal rows, equal tests, leaves of one class."""
    enumerator, rng = registry.method("enumerate-counts"), np.random.default_rng(len(kind))
    infeasible = 0
    for _ in range(40):
        depth = int(rng.integers(0, 4))
        tests = int(rng.integers(1, 5 if depth == 3 else 6))
        problem = random_problem(rng, int(rng.integers(2, 14)), tests, depth, kind)
        expected, found = enumerator.run(problem), Tangents().run(problem)
        assert found.status is expected.status, problem
        infeasible += expected.value is None
        if expected.value is not None:
            assert same(found.value, expected.value), (problem, found.value, expected.value)
            assert beyond(problem, found.bound, expected.value) == pytest.approx(0, abs=1e-12)
    assert infeasible < 10


@pytest.mark.parametrize("kind", TASKS)
def test_optima_are_those_of_the_methods_that_it_confirms(kind):
    """A stopped run has a tree and a bound on the other side of the optimum."""
    other = registry.method("partial-trees" if "auc" in kind else "pareto")
    rng, stopped = np.random.default_rng(len(kind)), 0
    for depth, tests in ((1, 15), (2, 12), (3, 9), (3, 10), (4, 5)):
        problem = random_problem(rng, int(rng.choice([40, 90, 200])), tests, depth, kind)
        expected, found = other.run(problem), Tangents().run(problem)
        assert found.status is expected.status, problem
        assert same(found.value, expected.value), (problem, found.value, expected.value)
        bounds = [point.bound for point in found.trace]
        assert all(beyond(problem, b, expected.value) >= -1e-9 for b in bounds)
        sign = 1 if problem.task.sense == "max" else -1
        assert all(sign * later <= sign * earlier for earlier, later in pairwise(bounds))
        for nodes in (1, 2, 5):
            part = Tangents().run(problem, Limits(nodes=nodes))
            if part.limit is not None:
                stopped += 1
                assert (part.status, part.limit) == (Status.FEASIBLE, Limit.NODES)
                assert not problem.violations(part.tree)
                assert beyond(problem, part.bound, expected.value) >= -1e-12
    assert stopped or kind in ("kappa", "f-beta", "mcc"), "the root alone was enough in all of them"


def test_missing_values_are_tests_like_others():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=2.0) + rng.normal(size=120) * 0.5 > 0.4).astype(int)
    data = mt.Binarizer(kind="quantiles", n_bins=5).dataset(X, y)
    assert any("missing" in test.name for test in data.features)
    for task in (mt.tasks.AUC(), mt.tasks.GeometricMean()):
        result = mt.solve(mt.Problem(data, task, mt.Trees(3)), reference="tangents")
        assert (result.agrees, result.derived_by) == (True, "tangents")


def test_an_optimum_above_the_hull_of_all_trees_is_found():
    """No weighted errors have this optimum; the search has to divide the trees, often more than once."""
    found = divided = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        data = mt.Dataset(rng.integers(0, 2, (40, 4)).astype(np.uint8), y=rng.integers(0, 2, 40))
        problem = mt.Problem(data, mt.tasks.GeometricMean(), mt.Trees(2))
        result = Tangents().run(problem)
        front = mt.solve(mt.Problem(data, problem.task, mt.Trees(2), Front()), "pareto")
        points = np.array([[c.number for c in s.coordinates[:2]] for s in front.solutions])
        mine = np.array([c.number for c in problem.coordinates(result.tree)[:2]])
        weights = np.array([(k, 100 - k) for k in range(1, 100)])
        if (weights @ mine > (weights @ points.T).min(axis=1)).all():
            found += 1
            divided += result.nodes > 1
            assert same(result.value, registry.method("pareto").run(problem).value)
    assert found > divided > 0


@pytest.mark.parametrize("kind", ["mcc", "kappa", "f-beta"])
def test_weights_suffice_where_level_sets_are_convex(kind):
    """Below a positive level the (FP, FN) are a convex set, so its best point is on the hull."""
    task = TASKS[kind](np.random.default_rng(0), leaf_penalty=0)
    for P, N in ((4, 6), (7, 3), (5, 5)):
        y = np.array([1] * P + [0] * N)
        view = mt.Problem(mt.Dataset(np.eye(P + N), y=y), task, mt.Trees(1)).view(PairCounts)
        value = {at: float(view.units(*at, 1)) for at in product(range(N + 1), range(P + 1))}
        for a, b in product(value, repeat=2):
            if (a[0] + b[0]) % 2 == (a[1] + b[1]) % 2 == 0:
                middle = value[(a[0] + b[0]) // 2, (a[1] + b[1]) // 2]
                assert middle <= 1e-12 or middle <= max(value[a], value[b]) + 1e-12


@pytest.fixture(scope="module")
def public_sets(data_folder):
    """All public sets of two classes by their file's name, read once."""
    folder = data_folder / "classification"
    files = [f for f in sorted(folder.iterdir()) if "SOURCES" not in f.name]
    assert len(files) == 22
    return {file.name: mt.load(str(file)) for file in files}


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [
        mt.tasks.AUC(),
        mt.tasks.PartialAUC(theta="0.2"),
        mt.tasks.Matthews(),
        mt.tasks.CohenKappa(),
        mt.tasks.GeometricMean(),
    ],
)
def test_public_data(task, public_sets):
    """All sets of two classes at depth 2, those with up to 60 tests and 1000 rows at depth 3."""
    for name, data in public_sets.items():
        deep = data.n_features <= 60 and data.n_rows <= 1000
        for depth in (2, 3) if deep else (2,):
            result = mt.solve(mt.Problem(data, task, mt.Trees(depth)), reference="tangents")
            assert (result.agrees, result.derived_by) == (True, "tangents"), name


# -- tangents --------------------------------------------------------------------------------------


def random_leaves(rng, positives, negatives, most=6):
    """Leaves that divide all rows."""
    k = int(rng.integers(1, most))
    p, q = (rng.multinomial(n, rng.dirichlet(np.full(k, 0.5))) for n in (positives, negatives))
    return [(int(a), int(b)) for a, b in zip(p, q, strict=True) if a + b]


@pytest.mark.parametrize("theta", ["1", "1/5", "13/17"])
@pytest.mark.parametrize("penalty", ["0", "3/100"])
def test_a_tangent_is_nowhere_below_the_area_and_touches_it(theta, penalty):
    """At any curve of reference, even one with steps that are nearly vertical or nearly empty."""
    y = np.array([1] * 23 + [0] * 31)
    task = mt.tasks.PartialAUC(theta=theta, leaf_penalty=penalty)
    view = mt.Problem(mt.Dataset(np.eye(54), y=y), task, mt.Trees(1)).view(LeafCounts)
    areas, rng = Areas(view, range(1, 9)), np.random.default_rng(1)

    def bound(tangent, leaves):
        sums = np.full(9, -np.inf)
        sums[len(leaves)] = Sums(None, tangent, 9, lambda: None).of_leaves(leaves)
        return areas.bound(areas.rank([(tangent, sums)]))

    for _ in range(300):
        leaves = random_leaves(rng, 23, 31)
        curve = curve_of(random_leaves(rng, 23, 31, 9))
        if rng.random() < 0.5:
            curve[rng.integers(len(curve)), :2] *= 10.0 ** -rng.integers(1, 14)
            curve[:, 1] *= np.where(rng.random(len(curve)) < 0.2, 1e-13, 1.0)
        assert bound(areas.tangent(curve), leaves) >= view.units(leaves)
        assert bound(areas.tangent(curve_of(leaves)), leaves) == view.units(leaves)


def test_a_curve_of_many_steps_is_shortened_beyond_its_width_first():
    rng = np.random.default_rng(0)
    curve = curve_of([(int(p), int(q)) for p, q in rng.integers(1, 100, (60, 2))])
    short = shortened(curve, 1e-9)
    assert len(short) == MOST_STEPS
    assert short[:, :2].sum(axis=0) == pytest.approx(curve[:, :2].sum(axis=0))
    slopes = short[:, 2] / short[:, 3]
    assert (np.diff(slopes) <= 0).all()
    width = curve[:10, 1].sum()
    assert shortened(curve, width)[:10] == pytest.approx(curve[:10])


# -- runs ------------------------------------------------------------------------------------------


def noise(rows=150, tests=20, seed=0):
    rng = np.random.default_rng(seed)
    return mt.Dataset(
        rng.integers(0, 2, (rows, tests)).astype(np.uint8), y=rng.integers(0, 2, rows)
    )


@pytest.mark.parametrize("task", [mt.tasks.AUC(), mt.tasks.Matthews(positive=0)])
def test_a_start_is_kept_with_its_best_labels_unless_a_better_tree_is_found(task):
    problem = mt.Problem(noise(), task, mt.Trees(2))
    best = Tangents().run(problem)
    again = Tangents().run(problem, start=best.tree)
    assert (again.tree, again.value) == (best.tree, best.value)
    wrong = Tree(_flipped(best.tree.root), best.tree.actions)
    assert Tangents().run(problem, Limits(time=1e-4), start=wrong).value == best.value
    leaf = Tree(Leaf(0), best.tree.actions)
    assert Tangents().run(problem, start=leaf).value == best.value


def _flipped(node):
    """The same tree with the other labels."""
    if isinstance(node, Leaf):
        return Leaf(1 - node.action)
    return type(node)(node.test, _flipped(node.left), _flipped(node.right))


def test_what_it_does_not_take_is_said():
    for problem, message in (
        (mt.Problem(noise(50, 60), mt.tasks.AUC(), mt.Trees(6)), "few tests or levels"),
        (mt.Problem(noise(50, 6), mt.tasks.AUC(), mt.Trees(None)), "depth limit"),
        (mt.Problem(noise(50, 6), mt.Accuracy(), mt.Trees(2)), "cannot take the task"),
    ):
        assert message in Tangents().unsupported(problem)
    many = SimpleNamespace(theta=F(1), totals=(10**7, 10**7))
    assert "too many rows" in Areas.unsupported(many)
