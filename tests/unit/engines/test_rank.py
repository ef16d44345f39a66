"""Areas under the ROC hull, metrics of FP and FN: tasks, engines, their switches, bounds and
limits.
"""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from rank_cases import RANKED, data
from row_tests import each_row
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef, roc_auc_score

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.engines.enumerate_counts import enumerate_counts
from milp_trees.engines.pareto.method import ParetoFront
from milp_trees.engines.partial_trees.method import PartialTrees
from milp_trees.methods.watch import Watch
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit
from milp_trees.tasks.count_views import hull_area
from milp_trees.tasks.surd import Surd
from milp_trees.testing import problem as named

SWITCHES = (
    "equal_rows",
    "look_ahead",
    "apart",
    "leaf_limit",
    "permutations",
    "dominance",
    "refinement",
    "plunge",
)


def problems(seed, make):
    """Problems with and without penalty and limits, depth 1 to 3."""
    for depth, penalty, space in itertools.product(
        (1, 2, 3), (0, "1/30"), ({}, {"min_samples_leaf": 2}, {"max_leaf_nodes": 3})
    ):
        yield mt.Problem(data(seed, 10 + depth), make(penalty), mt.Trees(depth, **space))


# -- values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_scikit_learn(seed):
    rows = data(seed, 30)
    a, b, c, _ = rows.features
    tree = Tree(Branch(a, Branch(b, Leaf(0), Leaf(1)), Branch(c, Leaf(1), Leaf(0))), (0, 1))
    routes = tree.routes(rows)
    share = np.array([rows.y[routes.leaf == leaf].mean() for leaf in range(4)])
    assert mt.tasks.AUC().value(routes, rows).number == pytest.approx(
        roc_auc_score(rows.y, share[routes.leaf])
    )
    assert mt.tasks.Matthews().value(routes, rows).number == pytest.approx(
        matthews_corrcoef(rows.y, routes.action)
    )
    assert mt.tasks.CohenKappa().value(routes, rows).number == pytest.approx(
        cohen_kappa_score(rows.y, routes.action)
    )
    assert mt.tasks.GeometricMean().value(routes, rows).number ** 2 == pytest.approx(
        np.mean(routes.action[rows.y == 1]) * np.mean(1 - routes.action[rows.y == 0])
    )


def test_one_leaf():
    rows = data(0)
    routes = Tree(Leaf(0), (0, 1)).routes(rows)
    assert mt.tasks.AUC().value(routes, rows).exact == F(1, 2)
    assert mt.tasks.PartialAUC(theta="0.3").value(routes, rows).exact == F(9, 200)  # θ² / 2
    assert mt.tasks.AUC(leaf_penalty="1/10").value(routes, rows).exact == F(6, 10)
    assert mt.tasks.Matthews().value(routes, rows).number == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_auc_of_labels_is_balanced_accuracy(seed):
    """Two leaves that predict different labels."""
    rows = data(seed, 20)
    tree = Tree(Branch(rows.features[0], Leaf(0), Leaf(1)), (0, 1))
    balanced = mt.tasks.BalancedAccuracy().value(tree.routes(rows), rows).exact
    assert mt.tasks.AUC().value(tree.routes(rows), rows).exact == max(
        balanced, 1 - balanced
    )  # the hull ranks the better leaf first


@each_row("seed", range(10))
def test_the_three_forms_of_the_area(seed):
    """Sorted leaves, misranked pairs, and half plus the zonotope of the leaves."""
    leaves = [
        (int(p), int(q)) for p, q in np.random.default_rng(seed).integers(0, 5, (6, 2)) if p + q
    ] + [(1, 1)]
    P, N = (sum(leaf[k] for leaf in leaves) for k in (0, 1))
    area = hull_area(leaves, F(N)) / (P * N)
    assert area == F(1, 2) + F(
        sum(abs(a[0] * b[1] - a[1] * b[0]) for a, b in itertools.combinations(leaves, 2)), 2 * P * N
    )
    assert area == 1 - F(
        sum(min(a[0] * b[1], a[1] * b[0]) for a in leaves for b in leaves), 2 * P * N
    )


def test_the_area_up_to_one_is_the_area():
    for seed in range(5):
        rows = data(seed)
        optima = [
            mt.solve(mt.Problem(rows, task, mt.Trees(2)), reference=None).value.exact
            for task in (mt.tasks.AUC(), mt.tasks.PartialAUC(theta=1))
        ]
        assert optima[0] == optima[1]


def test_surds_are_compared_exactly():
    near = Surd(F(0), F(2)), Surd(F(665857, 470832))  # √2 and a fraction that is larger by 1.6e-12
    assert near[0] < near[1]
    assert not near[1] < near[0]
    assert Surd(F(1), F(2)) == Surd(F(1), F(2))
    assert Surd(F(3)) == Surd(F(1), F(4))
    assert Surd(F(0), F(-9, 4)).exact == F(-3, 2)
    assert Surd(F(0), F(2)).exact is None
    # √8 - √2 = √2: told apart only after squaring twice.
    assert (Surd(F(1), F(-1)) > Surd(F(-1, 10**12))) is True


@pytest.mark.parametrize(
    "task", [mt.tasks.Matthews(), mt.tasks.GeometricMean(), mt.tasks.CohenKappa()]
)
def test_metrics_fall_in_both_errors(task):
    for P, N in itertools.product(range(1, 6), repeat=2):
        for fp, fn in itertools.product(range(N + 1), range(P + 1)):
            here = task.worth(fp, fn, P, N)
            if float(here) >= 0:
                assert not fp or task.worth(fp - 1, fn, P, N) >= here
                assert not fn or task.worth(fp, fn - 1, P, N) >= here


# -- optima --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row("seed", range(4))
@each_row(
    "make",
    [
        lambda penalty: mt.tasks.AUC(leaf_penalty=penalty),
        lambda penalty: mt.tasks.PartialAUC(theta="0.35", leaf_penalty=penalty),
        lambda penalty: mt.tasks.Matthews(leaf_penalty=penalty),
        lambda penalty: mt.tasks.CohenKappa(leaf_penalty=penalty, positive=0),
    ],
)
def test_engines_equal_the_list_of_all_trees(seed, make):
    for problem in problems(seed, make):
        result, oracle = (
            mt.solve(problem, reference=None),
            registry.method("enumerate-counts").run(problem),
        )
        assert result.optimal, result
        if oracle.value.exact is not None:
            assert (result.value.exact, result.certificate.bound_exact or result.value.exact) == (
                oracle.value.exact,
                oracle.value.exact,
            )
        assert result.objective == pytest.approx(oracle.objective, abs=1e-12)
        assert result.bound == pytest.approx(oracle.objective, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("hulls", [0, 1, 2, 3])
def test_all_combinations_of_switches_agree(hulls):
    for name in RANKED:
        problem = named(name)
        expected = registry.method("enumerate-counts").run(problem).value.exact
        for off in itertools.islice(
            itertools.product((True, False), repeat=len(SWITCHES)), hulls, None, 3
        ):
            result = PartialTrees(hulls=hulls, **dict(zip(SWITCHES, off, strict=True))).run(problem)
            assert result.optimal, (name, off)
            assert result.value.exact == expected, (name, hulls, off)


def test_a_leaf_limit_keeps_the_optimum_that_the_printed_bound_cuts_off():
    """H' < H + ⌊(R - b)/λ⌋ would leave the single leaf only; with and without every bound two
    leaves are found.
    """
    problem = named("auc_perfect_first_split")
    single, perfect, penalty = F(1, 2) + F(3, 10), F(0) + F(3, 10), F(3, 10)
    assert 1 + (single - perfect) // penalty == 2  # the printed form: fewer than two leaves
    for switches in (
        {},
        {"hulls": 0, **dict.fromkeys(SWITCHES, False)},
        {"look_ahead": False},
        {"leaf_limit": False},
    ):
        result = PartialTrees(**switches).run(problem)
        assert (result.value.exact, result.tree.n_leaves) == (F(6, 10), 2)


@each_row(
    ("switch", "off", "counter", "task"),
    [
        ("permutations", False, "duplicates", mt.tasks.AUC()),
        ("dominance", False, "dominated", mt.tasks.AUC()),
        ("refinement", False, "not_fixed", mt.tasks.AUC()),
        ("leaf_limit", False, "limited", mt.tasks.AUC(leaf_penalty="1/60")),
        ("hulls", 0, "generated", mt.tasks.AUC()),
        ("apart", False, "apart", mt.tasks.AUC(leaf_penalty="1/60")),
        ("equal_rows", False, "bounded", mt.tasks.AUC(leaf_penalty="1/60")),
        ("look_ahead", False, "bounded", mt.tasks.AUC(leaf_penalty="1/60")),
        ("plunge", False, "expanded", mt.tasks.AUC(leaf_penalty="1/60")),
    ],
)
def test_every_switch_changes_a_counter(switch, off, counter, task):
    problem = mt.Problem(data(1, 40, 4 if switch == "equal_rows" else 7), task, mt.Trees(3))
    plain = {"hulls": 1} if switch == "equal_rows" else {}
    on, without = (
        PartialTrees(**plain).run(problem),
        PartialTrees(**{**plain, switch: off}).run(problem),
    )
    assert on.value.exact == without.value.exact
    assert on.model_size[counter] != without.model_size[counter]


def test_no_depth_limit():
    """With a penalty the limit on leaves limits the depth."""
    rows = data(1, 12, 3)
    for task in (
        mt.tasks.AUC(leaf_penalty="1/40"),
        mt.tasks.PartialAUC(theta="1/2", leaf_penalty="1/100"),
        mt.tasks.AUC(),
    ):
        free, deep = (
            mt.solve(mt.Problem(rows, task, mt.Trees(depth)), reference=None) for depth in (None, 3)
        )
        assert free.optimal
        assert free.value.exact == deep.value.exact


@each_row("seed", range(3))
@each_row(
    "task",
    [
        mt.tasks.F1(),
        mt.tasks.FBeta(beta=2),
        mt.tasks.Jaccard(positive=0),
        mt.tasks.F1(leaf_penalty="1/50"),
    ],
)
def test_ratios_by_fronts_equal_ratios_by_steps(seed, task):
    problem = mt.Problem(data(seed, 40, 6), task, mt.Trees(3, min_samples_leaf=2))
    assert (
        ParetoFront().run(problem).value.exact
        == mt.solve(problem, "dp", reference=None).value.exact
    )


def test_a_front_is_complete():
    """The engine's front at the root is that of all trees, without an incumbent to cut it."""
    from milp_trees.engines.pareto.search import ErrorFronts

    problem = mt.Problem(data(5, 14, 4), mt.tasks.Matthews(), mt.Trees(3))
    view = problem.view(mt.plugins.PairCounts)
    fronts = ErrorFronts(view, 1, 8, lambda: None, Watch(Limits()).beside)
    found = {tuple(point) for point in fronts.front(fronts.root, 3).tolist()}
    everything = set(enumerate_counts(view, 3, leaves_apart=False))
    best = {
        x
        for x in everything
        if not any(y != x and all(a <= b for a, b in zip(y, x, strict=True)) for y in everything)
    }
    assert found == best


# -- public data ---------------------------------------------------------------------------------------------


def test_german_credit(data_folder):
    """Depth 3 is proven in about a second; two levels agree with the list of all pairs of splits."""
    rows = mt.load(str(data_folder / "classification" / "german-credit.txt"))
    result = mt.solve(mt.Problem(rows, mt.tasks.AUC(), mt.Trees(3)), reference=None)
    assert result.optimal
    assert result.objective == pytest.approx(0.7720952381)
    assert mt.solve(
        mt.Problem(rows, mt.tasks.Matthews(), mt.Trees(3)), reference=None
    ).objective == pytest.approx(0.4363032781)


@pytest.mark.parametrize(
    ("task", "method"),
    [
        (["auc"], "partial-trees"),
        (["partial-auc:theta=0.2"], "partial-trees"),
        (["mcc:positive=0"], "pareto"),
    ],
)
def test_the_command_line_picks_the_engine(task, method):
    import json

    from typer.testing import CliRunner

    from milp_trees.cli.main import app

    found = CliRunner().invoke(
        app,
        [
            "solve",
            "planted:rows=60,tests=5,depth=2,noise=0.2,seed=4",
            "--task",
            *task,
            "--reference",
            "none",
            "--json",
        ],
    )
    data = json.loads(found.stdout)
    assert (data["method"], data["status"], data["sense"], data["bound"]) == (
        method,
        "optimal",
        "max",
        data["objective"],
    )


def test_a_penalty_that_no_split_can_pay_for_needs_no_search():
    """Perfect separation already says that further leaves do not pay: neither hulls nor parts are
    made.
    """
    data = mt.load("planted:rows=80,tests=12,depth=3,noise=0.2,seed=1")
    result = mt.solve(mt.Problem(data, mt.tasks.AUC(leaf_penalty="1/2"), mt.Trees(max_depth=None)))
    assert result.status.value == "optimal"
    assert result.predictor.n_leaves == 1
    assert result.model_size["expanded"] == 0
    assert result.model_size["parts"] == 1


def test_a_memory_limit_leaves_the_best_pair_counts_so_far():
    """Fronts are counted: at the limit there is a tree and a bound that is not crossed."""
    problem = mt.Problem(
        mt.load("planted:rows=300,tests=60,depth=4,noise=0.3,seed=2"),
        mt.tasks.Matthews(),
        mt.Trees(max_depth=4),
    )
    result = mt.solve(problem, "pareto", memory_mb=1, time_limit=60)
    assert result.limit is Limit.MEMORY
    assert 0 < result.value.number <= result.bound
