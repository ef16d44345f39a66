"""What engines claim: damaged claims become errors, and bounds of stopped runs hold."""

import sys
from fractions import Fraction

import pytest
from claims_cases import SMALL, trees

import milp_trees as mt
from milp_trees.common.limits import Limit, Limits
from milp_trees.engines.dp import runs
from milp_trees.engines.dp.by_leaves import fronts
from milp_trees.engines.kit import run
from milp_trees.methods import dinkelbach, watch
from milp_trees.methods import finish as finishing
from milp_trees.mip import run as mip_run
from milp_trees.results.result import Status, bound_of
from milp_trees.tasks.comparing import slack, units


def test_every_exact_engine_has_small_problems():
    exact = {n for n in mt.registry.classes("methods") if mt.registry.method(n).exact}
    assert exact <= set(SMALL)


def a_unit(problem, bound, number):
    """A bound that is higher by so many units, in which all values are minimised."""
    scale = problem.scale
    one = scale.from_value(1) - scale.from_value(0)
    return bound + Fraction(number * max(1, 2 * scale.tolerance)) / one


def simplest(problem, tree):
    """The worst of the models that need no search, or of those that keep all or nothing."""
    if hasattr(problem.space, "ensemble"):
        ensemble = problem.space.ensemble
        found = [ensemble.pruned(k) for k in (ensemble.kept & False, ensemble.kept | tree.kept)]
    else:
        found = problem.space.simplest(problem.task.actions(problem.dataset)) or [tree]
    scale = problem.scale
    return max(found, key=lambda one: units(problem.value(one), scale))


#: Engines that end these problems before they look at a limit, or whose bounds are below the
#: optimum until they end.
LOOSE = {
    "dp",
    "dp-oracle",
    "dp-paid",
    "dp-sorted",
    "enumerate-counts",
    "enumerate-oblique",
    "lagrangian",
    "robust-fronts",
    "separable",
}

#: Modules whose `finish` an engine's search ends in.
ENGINES = {type(mt.registry.method(name)).__module__ for name in SMALL} | {
    "milp_trees.pruning.engines.dantzig_wolfe.method"
}

FAULTS = {
    "a bound too high": lambda p, tree, bound: (tree, a_unit(p, bound, 1)),
    "a bound too low": lambda p, tree, bound: (tree, a_unit(p, bound, -1)),
    "another unit": lambda p, tree, bound: (tree, p.scale.from_value(bound) * 2),
    "a worse model": lambda p, tree, bound: (simplest(p, tree), bound),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_damaged_claim_of_an_engine_is_an_error(name, fault, monkeypatch):
    """Whatever an engine gets wrong, the recomputed value meets the bound or nothing is optimal."""
    method, problem = mt.registry.method(name), SMALL[name](0)
    modules = [sys.modules[cls.__module__] for cls in type(method).__mro__]
    refuse(
        method, problem, fault, monkeypatch, [run, *(m for m in modules if m.__name__ in ENGINES)]
    )


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("name", "task", "module"),
    [("dp", mt.tasks.F1(), dinkelbach), ("flow-oct@highs", mt.Accuracy(), mip_run)],
)
def test_a_damaged_claim_of_a_wrapper_is_an_error(name, task, module, fault, monkeypatch):
    problem = trees(task, 2, 12)(2)
    refuse(mt.registry.method(name), problem, fault, monkeypatch, [module])


def refuse(method, problem, fault, monkeypatch, modules):
    """Check that a run with a fault before `finish` is an error."""
    best = method.run(problem, Limits(time=None))
    assert best.optimal
    own = finishing.finish

    def damaged(problem, label, tree, *, bound, **more):
        tree, bound = FAULTS[fault](problem, tree, Fraction(bound))
        return own(problem, label, tree, bound=bound, **more)

    assert any(hasattr(module, "finish") for module in modules)
    for module in modules:
        if hasattr(module, "finish"):
            monkeypatch.setattr(module, "finish", damaged)
    result = method.run(problem, Limits(time=None))
    if fault == "a worse model" and result.value == best.value:
        return  # here one leaf is as good
    assert result.status is Status.ERROR, result.message
    assert ("calls its" in result.message) or ("claims the bound" in result.message)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_bounds_of_stopped_runs_hold(name, monkeypatch):
    """Stopped at the first, second, third, … moment at which a run looks at its limits, no bound
    and no moment of the trace excludes the optimum; some bounds are tight, so that one unit more
    would.
    """
    monkeypatch.setattr(runs, "TURN", 0.0)  # dp looks at its limits after every node,
    monkeypatch.setattr(fronts, "QUOTA", 1)  # and so do searches for few leaves
    method, polled, tight = mt.registry.method(name), watch.Watch.over, 0
    for seed in range(4):
        problem = SMALL[name](seed)
        optimum, scale = method.run(problem, Limits(time=None)), problem.scale
        best = units(optimum.value, scale)
        for most in (1, 2, 3, 5, 9, 17, 33, 65):
            calls = 0

            def over(self, ended=None, most=most):
                nonlocal calls
                calls += 1
                return Limit.TIME if calls >= most else polled(self, ended)

            with monkeypatch.context() as patch:
                patch.setattr(watch.Watch, "over", over)
                result = method.run(problem, Limits(time=None, nodes=max(1, most // 2)))
            assert result.status in (Status.OPTIMAL, Status.FEASIBLE), result.message
            bounds = [bound_of(result), *(moment.bound for moment in result.trace)]
            for bound in (b for b in bounds if b is not None):
                assert units(bound, scale) <= best + slack(scale, bound, optimum.value), (
                    seed,
                    most,
                )
            stated, stopped = bound_of(result), calls >= most or result.limit is not None
            tight += stopped and stated is not None and units(stated, scale) >= best
            if not stopped:
                break
    assert tight or name in LOOSE
