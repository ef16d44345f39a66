"""Runs of the engines for areas under curves: limits, traces, and questions that are wrong."""

import time

import numpy as np
import pytest
from rank_cases import RANKED, data
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.engines.pareto.method import ParetoFront
from milp_trees.engines.partial_trees.method import PartialTrees
from milp_trees.methods.callback import callback_scope
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit, Status
from milp_trees.tasks.stored import from_spec
from milp_trees.testing import problem as named

# -- runs ----------------------------------------------------------------------------------------------------


def stopped(problem, method, **limits):
    """A run that ends early: its bound holds and its gap is open."""
    result = method.run(problem, Limits(**limits))
    assert result.status is Status.FEASIBLE
    assert result.bound != result.objective
    better = [point.incumbent for point in result.trace]
    assert better == sorted(better, reverse=problem.task.sense == "min")
    assert [point.bound for point in result.trace] == sorted(
        (point.bound for point in result.trace), reverse=problem.task.sense == "max"
    )
    return result


@pytest.mark.parametrize(
    "task", [mt.tasks.AUC(), mt.tasks.AUC(leaf_penalty="1/500"), mt.tasks.PartialAUC(theta="0.3")]
)
def test_a_limit_leaves_an_incumbent_and_a_bound(task):
    problem = mt.Problem(data(2, 120, 12), task, mt.Trees(4))
    optimum = PartialTrees().run(problem).value
    by_nodes = stopped(problem, PartialTrees(), nodes=2)
    assert by_nodes.limit is Limit.NODES
    assert not by_nodes.value.better_than(optimum)
    assert (by_nodes.bound - optimum.number) * (1 if task.sense == "max" else -1) >= 0
    assert stopped(problem, PartialTrees(), time=1e-4).limit is Limit.TIME
    assert stopped(problem, PartialTrees(), memory_mb=0.001).limit is Limit.MEMORY


LONG_KERNELS = {
    "pareto": ("kernels.pairs_of", "kernels.two_levels", "lines.least_sums", "lines.split"),
    "partial-trees": ("kernels.pair_counts", "kernels.two_levels", "kernels.undominated"),
}


@pytest.mark.parametrize("name", [f"{m}:{k}" for m, ks in LONG_KERNELS.items() for k in ks])
def test_kernels_that_take_long_end_at_the_limit(name, monkeypatch):
    """Each in turn takes as long as it may, as with many thousands of thresholds."""
    from milp_trees.engines.pareto import search as fronts
    from milp_trees.engines.partial_trees import parts

    method, kernel = name.split(":")
    module = fronts if method == "pareto" else parts
    monkeypatch.setattr("milp_trees.engines.partial_trees.beside.LONG", 0)
    until = time.perf_counter() + 20

    def endless(*given):
        while not given[-1][0]:
            assert time.perf_counter() < until, "the kernel was not stopped"
            time.sleep(0.001)
        return given[-1]

    room, _, own = kernel.partition(".")
    task = mt.tasks.Matthews() if method == "pareto" else mt.tasks.AUC()
    problem = mt.Problem(data(2, 60, 8), task, mt.Trees(3))
    engine = ParetoFront() if method == "pareto" else PartialTrees()
    engine.warm_up()
    monkeypatch.setattr(type(engine), "warm_up", lambda _: None)
    monkeypatch.setattr(getattr(module, room), own, endless)
    result = engine.run(problem, Limits(time=0.2))
    assert (result.status, result.limit) == (Status.FEASIBLE, Limit.TIME)


@pytest.mark.parametrize("method", [ParetoFront(), PartialTrees()])
def test_kernels_in_a_thread_of_their_own_find_the_same(method, monkeypatch):
    task = mt.tasks.Matthews() if method.name == "pareto" else mt.tasks.AUC()
    problem = mt.Problem(data(3, 40, 6), task, mt.Trees(3))
    here = method.run(problem)
    monkeypatch.setattr("milp_trees.engines.partial_trees.beside.LONG", 0)
    apart = method.run(problem)
    assert apart.optimal
    assert apart.value == here.value


@each_row("name", [*RANKED, "mcc", "mcc_leaf_penalty", "kappa"])
def test_a_start_is_kept_unless_a_better_tree_is_found(name):
    problem = named(name)
    first = mt.solve(problem, reference=None)
    assert mt.solve(problem, start=first.tree, reference=None).value == first.value
    leaf = Tree(Leaf(0), problem.task.actions(problem.dataset))
    assert mt.solve(problem, start=leaf, reference=None).value == first.value


@each_row("name", [*RANKED, "mcc", "geometric_mean", "kappa"])
def test_results_are_verified(name):
    result = mt.solve(named(name), reference="dp")
    assert result.agrees is True
    found = mt.verify(result)
    assert (found.verdict, found.derived_by) == (mt.plugins.Verdict.DERIVED, "enumerate-counts")


# -- questions that are wrong ----------------------------------------------------------------------------------


def test_sentences():
    rows = data(0)
    three = mt.Dataset(rows.X, y=np.arange(12) % 3)
    with pytest.raises(mt.DataError, match="two classes"):
        mt.solve(mt.Problem(three, mt.tasks.AUC(), mt.Trees(1)))
    with pytest.raises(mt.DataError, match="no row is of class b"):
        mt.solve(
            mt.Problem(
                mt.Dataset(rows.X, y=[0] * 12, classes=("a", "b")), mt.tasks.Matthews(), mt.Trees(1)
            )
        )
    with pytest.raises(mt.DataError, match="theta"):
        mt.tasks.PartialAUC(theta=0)
    with pytest.raises(mt.DataError, match="none of the classes"):
        mt.solve(mt.Problem(rows, mt.tasks.PartialAUC(theta="0.5", positive="x"), mt.Trees(1)))
    with pytest.raises(mt.DataError, match="round it"):
        mt.solve(
            mt.Problem(rows, mt.tasks.AUC(leaf_penalty="0.0123456789012345678901"), mt.Trees(1))
        )
    with pytest.raises(mt.errors.Unsupported, match="LeafCounts"):
        mt.solve(mt.Problem(rows, mt.tasks.AUC(), mt.Trees(1)), "pareto")
    with pytest.raises(mt.errors.Unsupported, match="falls in"):
        mt.solve(mt.Problem(rows, mt.tasks.Precision(), mt.Trees(1)), "pareto")


@pytest.mark.parametrize(
    "task",
    [
        mt.tasks.AUC(),
        mt.tasks.PartialAUC(theta="0.2", positive=0, leaf_penalty="1/9"),
        mt.tasks.Matthews(leaf_penalty="0.01"),
    ],
)
def test_tasks_are_read_back(task):
    assert from_spec(task.spec()) == task


def test_a_tree_is_read_after_the_user_has_stopped_the_run(monkeypatch):
    """Also where reading takes kernels that run beside the clock."""
    from milp_trees.engines.pareto import kernels
    from milp_trees.engines.pareto.search import ErrorFronts

    whole = kernels.find_two

    def slowly(*given):
        time.sleep(0.15)
        return whole(*given)

    monkeypatch.setattr("milp_trees.engines.partial_trees.beside.LONG", 0)
    monkeypatch.setattr(kernels, "find_two", slowly)
    problem = mt.Problem(data(3, 60, 8), mt.tasks.Matthews(), mt.Trees(2))
    with callback_scope(lambda point: False) as callback:
        view, beside = problem.view(mt.plugins.PairCounts), Watch(Limits(time=None)).beside
        fronts = ErrorFronts(view, 1, None, lambda: None, beside)
        front = [tuple(point) for point in fronts.front(fronts.root, 2).tolist()]
        shallow = {tuple(point) for point in fronts.front(fronts.root, 1).tolist()}
        callback.limit = Limit.CALLBACK
        deep = next(point for point in front if point not in shallow)
        assert isinstance(fronts.read(fronts.root, 2, deep), Branch)
