"""The curve of all prunings against enumeration, a quadratic program, weakest links, and what must
not change it.
"""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from random_prunings import random_view, repeated, view_of
from row_tests import each_row
from scipy import sparse

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.pruning.engines.enumerate_prunings import hull, prunings
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.testing.random_prunings import random_problem

SEEDS = range(400)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_the_corners_are_the_hull_of_all_prunings(block):
    """Every breakpoint, error and cost as a rational; at every λ, tie or not, the smallest of the
    best prunings.
    """
    for seed in SEEDS[block::4]:
        view = random_view(seed)
        curve = mt.prune_curve(view)
        points = [(*view.totals(keep), int(keep.sum()), keep) for keep in prunings(view)]
        corners = hull(points)[::-1]
        expected = [
            (E * view.error_unit, C * view.cost_unit, splits) for E, C, splits, _ in corners
        ]
        assert [(v.error, v.cost, v.splits) for v in curve.vertices] == expected, seed
        for vertex, corner in zip(curve.vertices, corners, strict=True):
            assert (curve.keep(vertex.lambda_from) == corner[3]).all(), seed
        lams = [Fraction(0), *curve.breakpoints]
        for lam in {
            *lams,
            *((a + b) / 2 for a, b in zip(lams, [*lams[1:], lams[-1] + 1], strict=True)),
        }:
            price = lam * view.cost_unit / view.error_unit
            best = min(E + price * C for E, C, *_ in points)
            optima = [keep for E, C, _, keep in points if best == E + price * C]
            assert (curve.keep(lam) == np.logical_and.reduce(optima)).all(), (
                f"seed {seed}, lambda {lam}"
            )


def test_prunings_are_nested_and_thresholds_fall_along_every_path():
    """A split is kept no longer than its parent; the exact threshold of a node and the mask of any
    λ say the same.
    """
    for seed in SEEDS:
        view = random_view(seed)
        curve = mt.prune_curve(view)
        below = np.flatnonzero(view.parent >= 0)
        assert (curve.theta[below] <= curve.theta[view.parent[below]]).all(), seed
        exact = [curve.exact_theta(h) for h in range(view.n_nodes)]
        assert [np.inf if t is None else float(t) for t in exact] == curve.theta.tolist(), seed
        for lam in (Fraction(0), *curve.breakpoints):
            assert [t is None or lam < t for t in exact] == curve.keep(lam).tolist(), seed


def test_merging_and_libraries_change_nothing():
    """Ranks and figures by the compiled kernel, by OR-tools, by networkx, with and without merging."""
    pytest.importorskip("ortools", reason="OR-tools is not installed")
    for seed in SEEDS[::6]:
        view = random_view(seed)
        curve = mt.prune_curve(view)
        for options in ({"merge": False}, {"cut": "ortools"}, {"cut": "networkx", "merge": False}):
            other = mt.prune_curve(view, **options)
            assert (other.rank == curve.rank).all(), f"seed {seed}, {options}"
            assert (other.gains, other.costs) == (curve.gains, curve.costs), (
                f"seed {seed}, {options}"
            )


def test_dearer_features_scale_the_breakpoints():
    """All prices times q: every breakpoint divided by q, and the same splits at each."""
    for seed in SEEDS[::4]:
        view = random_view(seed)
        curve = mt.prune_curve(view)
        for q in (2, 7):
            dearer = mt.prune_curve(
                replace(view, price=view.price * q, keep_cost=view.keep_cost * q)
            )
            assert dearer.breakpoints == tuple(b / q for b in curve.breakpoints), (
                f"seed {seed}, times {q}"
            )
            assert (dearer.rank == curve.rank).all(), f"seed {seed}, times {q}"


def test_repeated_trees_keep_their_thresholds():
    """Every tree three times, their errors averaged: purchases are shared, so nothing changes."""
    for seed in SEEDS[::4]:
        view = replace(random_view(seed), keep_cost=0 * random_view(seed).keep_cost)
        curve = mt.prune_curve(view)
        thrice = mt.prune_curve(replace(repeated(view, 3), error_unit=view.error_unit / 3))
        assert thrice.breakpoints == curve.breakpoints, seed
        assert (thrice.rank == np.tile(curve.rank, 3)).all(), seed


def test_thresholds_are_the_optimum_of_a_quadratic_program():
    """min ½ Σ c_v θ_v² - Σ g_h θ_h under the same differences, θ ≥ 0, by HiGHS: the same objective,
    and θ where a split has a price or a gain.
    """
    import highspy

    from milp_trees.pruning.engines.min_cut.closure import closure_of

    checked = 0
    for seed in SEEDS[::2]:
        view = replace(random_view(seed), error_unit=Fraction(1), cost_unit=Fraction(1))
        closure, curve = closure_of(view, merge=False), mt.prune_curve(view)
        if not closure.n_splits or not curve.breakpoints or not np.isfinite(curve.theta).all():
            continue
        n, tails = closure.n_items, np.repeat(np.arange(closure.n_items), np.diff(closure.start))
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, closure.n_arcs
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = (
            -closure.gain.astype(float),
            np.zeros(n),
            np.full(n, 1e3),
        )
        lp.row_lower_, lp.row_upper_ = (
            np.full(closure.n_arcs, -highspy.kHighsInf),
            np.zeros(closure.n_arcs),
        )
        rows = np.arange(closure.n_arcs)
        A = sparse.csr_matrix(
            (
                np.repeat([1.0, -1.0], len(rows)),
                (np.tile(rows, 2), np.concatenate([tails, closure.head])),
            ),
            (len(rows), n),
        )
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
        highs.passModel(lp)
        hessian = highspy.HighsHessian()
        hessian.dim_, hessian.format_ = n, highspy.HessianFormat.kTriangular
        hessian.start_, hessian.index_, hessian.value_ = (
            np.arange(n + 1),
            np.arange(n),
            closure.cost.astype(float),
        )
        highs.passHessian(hessian)
        highs.run()
        assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal, seed
        theta = np.zeros(n)
        theta[: closure.n_splits] = curve.theta[closure.splits]
        np.maximum.at(
            theta, closure.head, theta[tails]
        )  # what is bought stays as long as the last split that needs it
        mine = 0.5 * closure.cost @ theta**2 - closure.gain @ theta
        assert mine == pytest.approx(highs.getObjectiveValue(), rel=1e-6, abs=1e-6), seed
        assert (theta[tails] <= theta[closure.head] + 1e-12).all(), seed
        checked += 1
    assert checked > 60


def weakest_links(view):
    """Breiman et al. 1984 for one tree that pays per leaf: again and again cut the split that saves
    least per leaf below it; ties together.
    """
    left, right = view.left.tolist(), view.right.tolist()
    kept, alphas = set(view.splits.tolist()), []

    def below(h):
        if h not in kept:
            return int(view.error[h]), 1
        (a, m), (b, n) = below(left[h]), below(right[h])
        return a + b, m + n

    while kept:
        links = {h: Fraction(int(view.error[h]) - below(h)[0], below(h)[1] - 1) for h in kept}
        alpha = min(links.values())
        alphas.append(alpha)
        for h in [h for h in kept if links[h] <= alpha]:
            stack = [h]
            while stack:
                if (node := stack.pop()) in kept:
                    kept.discard(node)
                    stack += [left[node], right[node]]
    return sorted({a for a in alphas if a > 0})


def test_one_tree_that_pays_per_leaf_gives_the_weakest_links():
    """The same breakpoints as CART's pruning, where no split loses."""
    compared = 0
    for seed in range(300):
        view = random_view(seed, trees=1, depth=5, rows=12, prunings=4000)
        view = replace(
            view,
            keep_cost=view.is_split.astype(np.int64),
            price=0 * view.price,
            error_unit=Fraction(1),
            cost_unit=Fraction(1),
        )
        if (view.gain < 0).any():
            continue
        assert list(mt.prune_curve(view).breakpoints) == weakest_links(view), seed
        compared += len(view.splits) > 3
    assert compared > 15


# -- asking -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_budget_gets_a_hull_point_and_a_bound_that_holds():
    """The bound is below the best pruning within the budget and the point above; `proven` is said
    exactly where they meet.
    """
    gaps = 0
    for seed in SEEDS[::2]:
        view = random_view(seed)
        curve = mt.prune_curve(view)
        points = [view.totals(keep) for keep in prunings(view)]
        for budget in {C * view.cost_unit + d for _, C in points for d in (0, Fraction(1, 7))}:
            below = curve.below(budget)
            best = min(E for E, C in points if C * view.cost_unit <= budget) * view.error_unit
            assert below.point.cost <= budget, seed
            assert below.bound <= best <= below.point.error, f"seed {seed}, budget {budget}"
            assert below.proven == (below.bound == below.point.error), seed
            assert ("not proven" in below.note) != below.proven, seed
            gaps += best < below.point.error
    assert gaps > 50


def test_a_knapsack_hides_its_best_from_the_curve():
    """Two single splits with gains 3 and 4 and costs 2 and 3, budget 3: the best is the second one,
    and no λ gives it.
    """
    problem = EXAMPLES["two-items"]()
    curve = mt.prune_curve(problem)
    budget = next(p.cost for p in curve.vertices if p.splits == 1) * Fraction(3, 2)
    below = curve.below(budget)
    exact = mt.solve(
        replace(problem, task=replace(problem.task, lam=0, max_cost=budget)), "enumerate-prunings"
    )
    assert float(below.bound) < exact.objective < float(below.point.error)
    assert below.predictor.n_splits == 1
    assert "ip3-closure" in str(below)
    with pytest.raises(mt.DataError, match="No pruning costs so little"):
        curve.below(-1)


def test_lambda_is_read_as_written_and_checked():
    """Text, Fraction and float give the same; a negative one is refused."""
    curve = mt.prune_curve(EXAMPLES["figure-1"]())
    for lam in ("0.1", 0.1, Fraction(1, 10)):
        assert (curve.keep(lam) == curve.keep("1/10")).all()
    for wrong in (-1, "x", float("nan")):
        with pytest.raises(mt.DataError):
            curve.keep(wrong)
    with pytest.raises(mt.DataError, match="has no ensemble"):
        mt.prune_curve(random_view(0)).pruned(0)


def test_every_breakpoint_has_a_certificate():
    """A checked flow at, below and above each."""
    for seed in SEEDS[::20]:
        curve = mt.prune_curve(random_view(seed))
        for b in curve.breakpoints:
            for lam in (b, b / 2, 2 * b):
                assert (curve.certificate(lam).keep == curve.keep(lam)).all(), seed


@each_row("name", EXAMPLES)
def test_the_question_path_is_answered_by_min_cut_and_enumeration(name):
    """The same curve from both on every example, and the optimum for the task's own λ beside it."""
    problem = EXAMPLES[name]()
    problem = replace(
        problem, task=replace(problem.task, max_cost=None), question=mt.plugins.ByPrice()
    )
    mine, theirs = (registry.method(m).run(problem) for m in ("min-cut", "enumerate-prunings"))
    assert mine.optimal, mine.message
    assert theirs.optimal, theirs.message
    assert mine.curve.rows() == theirs.curve.rows()
    assert (mine.curve.rank == theirs.curve.rank).all()
    assert mine.objective == pytest.approx(theirs.objective, abs=1e-9)
    for vertex in mine.curve.vertices:
        error, cost = problem.task.parts(
            mine.curve.pruned(vertex.lambda_from).routes(problem.dataset), problem.dataset
        )
        assert (float(error), float(cost)) == pytest.approx(
            (float(vertex.error), float(vertex.cost)), abs=1e-6
        )


def test_random_ensembles_on_data_give_the_hull_of_the_scorer():
    """From a Dataset through the task: error and cost of every corner are those that the task
    computes from routes, exactly.
    """
    for seed in range(25):
        problem = random_problem(np.random.default_rng(seed))
        curve = mt.prune_curve(problem)
        assert (
            curve.rows()
            == registry.method("enumerate-prunings")
            .run(replace(problem, question=mt.plugins.ByPrice()))
            .curve.rows()
        ), seed
        for vertex in curve.vertices:
            parts = problem.task.parts(
                curve.pruned(vertex.lambda_from).routes(problem.dataset), problem.dataset
            )
            assert parts == (vertex.error, vertex.cost), seed


# -- showing ------------------------------------------------------------------------------------------------------


def test_json_holds_every_breakpoint_as_a_fraction():
    """Plain data that a file takes, exact to the last digit."""
    for seed in SEEDS[::40]:
        curve = mt.prune_curve(random_view(seed))
        read = json.loads(json.dumps(curve.to_json()))
        assert [Fraction(b) for b in read["breakpoints"]] == list(curve.breakpoints)
        assert [Fraction(v["cost"]) for v in read["vertices"]] == [v.cost for v in curve.vertices]
        json.dumps(curve.below(curve.vertices[0].cost).to_json())


def test_frame_and_plot_show_every_corner():
    """A row per corner, the last open to infinity; a step, a line and points."""
    import matplotlib

    matplotlib.use("Agg")
    curve = mt.prune_curve(EXAMPLES["two-items"]())
    frame = curve.frame()
    assert list(frame.columns) == ["lambda_from", "lambda_to", "error", "cost", "splits"]
    assert np.isinf(frame["lambda_to"].iloc[-1])
    assert frame["splits"].tolist() == [2, 1, 0]
    axes = curve.plot()
    assert len(axes.lines) == 3
    assert "PruningCurve: 3 prunings" in repr(curve)


def test_a_split_that_costs_nothing_is_always_kept():
    """Gain without price: no breakpoint, an infinite threshold; neither gain nor price: dropped."""
    leaf = np.array([[1]], dtype=np.int32)
    for error, expected in ((3, np.inf), (0, 0.0)):
        view = view_of(
            [-1, 0, 0],
            [1, -1, -1],
            [2, -1, -1],
            [0] * 3,
            [0, -1, -1],
            leaf,
            [[0], [0], []],
            1,
            1,
            [error, 0, 0],
            [0],
        )
        curve = mt.prune_curve(view)
        assert curve.breakpoints == ()
        assert curve.theta[0] == expected
        assert len(curve.vertices) == 1
        assert curve.keep(10**9)[0] == (expected > 0)


def test_ctrl_c_while_compiled_code_runs_is_a_keyboard_interrupt(monkeypatch):
    """Python finds the signal when results are packed, as a SystemError; another SystemError stays
    one.
    """
    from milp_trees.pruning.engines.min_cut import frontier

    def interrupted(cause):
        def divide(*_):
            raise SystemError("returned a result with an exception set") from cause

        return divide

    problem = EXAMPLES["two-items"]()
    packed = SystemError("a result with an exception set")
    packed.__cause__ = KeyboardInterrupt()
    for cause in (KeyboardInterrupt(), packed):
        monkeypatch.setattr(frontier, "_divide", interrupted(cause))
        with pytest.raises(KeyboardInterrupt):
            mt.prune_curve(problem)
    monkeypatch.setattr(frontier, "_divide", interrupted(None))
    with pytest.raises(SystemError):
        mt.prune_curve(problem)
