"""The time limit holds for every stage of a run: preparing, building, handing over, solving,
reading. What is known then is kept.
"""

import time

import pytest
from in_time import demand_in_time, kept

import milp_trees as mt
from milp_trees.common.limits import Stopped
from milp_trees.methods import unprepared
from milp_trees.mip import runner
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry

FlowOCT = type(registry.formulation("flow-oct"))
BendersOCT = type(registry.formulation("benders-oct"))
SMALL = mt.Problem(mt.load("planted:rows=40,tests=5,depth=2,noise=0.2"), mt.Accuracy(), mt.Trees(2))


def spin() -> None:
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        pass


# -- stages of Python code that knows no clock --------------------------------------------------------------------------


class SlowToDeclare(FlowOCT):
    def declare(self, m, view, space):
        super().declare(m, view, space)
        spin()


class SlowToSupport(FlowOCT):
    def unsupported_view(self, view, space):
        spin()


class SlowToCount(FlowOCT):
    def model_size(self, view, space):
        spin()


class SlowToEncode(FlowOCT):
    def encode(self, tree, m):
        spin()


class SlowRule(FlowOCT):
    """Within a constraint of Pyomo's, where its own state is in the making."""

    def declare(self, m, view, space):
        import pyomo.environ as pyo

        super().declare(m, view, space)
        m.slow = pyo.Constraint(m.rows, rule=lambda m, i: spin() or m.p[1] <= 1, doc="never made")


class SlowToSeparate(BendersOCT):
    def separator(self, m, matrix):
        return SlowCuts()


class SlowCuts:
    def separate(self, x, integral):
        spin()


@pytest.mark.slow
@pytest.mark.parametrize(
    "cls",
    [SlowToSupport, SlowToCount, SlowToDeclare, SlowRule, SlowToEncode, SlowToSeparate],
    ids=lambda c: c.__name__,
)
def test_a_stage_that_does_not_end_is_stopped_and_the_start_is_the_incumbent(cls, caplog):
    start = mt.solve(SMALL, "cart").predictor
    result = demand_in_time(
        FormulationMethod(cls(), registry.solver("highs")), SMALL, 0.6, start=start
    )
    assert (result.status, result.limit) == (mt.plugins.Status.FEASIBLE, mt.plugins.Limit.TIME), (
        result.message
    )
    assert result.value == SMALL.value(start)
    assert result.start["value"] == SMALL.value(start).number
    assert not [r for r in caplog.records if r.name.startswith("pyomo")]


def test_a_run_that_was_stopped_leaves_nothing_behind():
    """Pyomo's switches and the garbage collector are as before, and the next run is right."""
    import gc

    from pyomo.core.base import constraint

    before = constraint.TEMPLATIZE_CONSTRAINTS
    demand_in_time(FormulationMethod(SlowRule(), registry.solver("highs")), SMALL, 0.6)
    assert gc.isenabled()
    assert before == constraint.TEMPLATIZE_CONSTRAINTS
    result = registry.method("flow-oct@highs").run(SMALL, mt.Limits(time=30))
    assert result.status is mt.plugins.Status.OPTIMAL
    assert result.value == mt.solve(SMALL, "dp").value


def test_pyomo_is_repaired_where_it_was_stopped_in_the_middle():
    """At the worst moment: its own `sum` and iteration of sets are in place, and nobody puts back
    the former ones.
    """
    import builtins

    from pyomo.core.base.set import _FiniteSetMixin
    from pyomo.core.expr.template_expr import (
        GetAttrExpression,
        GetItemExpression,
        _template_iter_context,
        _TemplateIterManager,
    )

    from milp_trees.mip.building import repaired

    before = builtins.sum, _FiniteSetMixin.__iter__
    with pytest.raises(Stopped), repaired():  # noqa: PT012
        _TemplateIterManager.init(
            _template_iter_context(), _FiniteSetMixin, GetItemExpression, GetAttrExpression
        ).acquire()
        assert before != (builtins.sum, _FiniteSetMixin.__iter__)
        raise Stopped
    assert before == (builtins.sum, _FiniteSetMixin.__iter__)
    assert (
        registry.method("flow-oct@highs").run(SMALL, mt.Limits(time=30)).status
        is mt.plugins.Status.OPTIMAL
    )


def test_preparation_is_part_of_the_limit(monkeypatch):
    """What a solver gets is what is left."""
    seen = []
    whole = runner.run

    def look(name, job, *args):
        seen.append(job.limits.time)
        return whole(name, job, *args)

    class SlowlySupported(FlowOCT):
        def unsupported_view(self, view, space):
            time.sleep(1.0)

    monkeypatch.setattr(runner, "run", look)
    method = FormulationMethod(SlowlySupported(), registry.solver("highs"))
    result = method.run(SMALL, mt.Limits(time=20))
    assert seen[0] < 19.2
    assert result.seconds > 1
    assert result.options["time_limit"] == 20


def test_time_up_is_never_seen_outside(monkeypatch):
    """Engines have no such stage; a method that leaves one gets an answer all the same."""

    def up(self, limits, problem):
        raise Stopped

    method = registry.method("dp")
    monkeypatch.setattr(type(method), "unsupported_within", up)
    monkeypatch.setattr(unprepared, "GROWING", 0.0)
    start = mt.solve(SMALL, "cart").predictor
    for given, least_leaves in (
        (None, 1),
        (start, start.n_leaves),
    ):  # the best single leaf, or the start
        result = method.run(SMALL, mt.Limits(time=1), start=given)
        assert (result.status, result.limit, result.bound) == (
            mt.plugins.Status.FEASIBLE,
            mt.plugins.Limit.TIME,
            None,
        )
        assert result.predictor.n_leaves == least_leaves


@pytest.mark.parametrize(
    "name, case",
    [
        ("state-flow@highs", "large"),
        ("flow-oct@highs", "large"),
        ("path-cut@highs", "trees"),
        ("oct@cbc", "numeric"),
        ("benders-oct@scip", "trees"),
        ("path-cut@pulp", "trees"),
    ],
)
def test_a_second_is_kept(name, case):
    kept(name, case, 1.0)
