"""The suite sees beyond small sizes: faults of deep trees, many actions, rows, thresholds and side
rows are caught; the oracle and the designs are right.
"""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import wrong_wide as wrong
from taken_problems import in_turn

import milp_trees as mt
from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import (
    brute_force,
    check_formulation,
    check_solver_pair,
    default_problems,
    deletable_constraints,
)
from milp_trees.testing.between import pairs_of_trees
from milp_trees.testing.drawn import designs, drawn_problem
from milp_trees.testing.exhaustive import best_tree
from milp_trees.testing.limits import just_beyond
from milp_trees.testing.oracle import n_trees
from milp_trees.testing.sets import MOST_NONZEROS, get, is_wide
from milp_trees.testing.solve import minimise
from milp_trees.testing.suite import checks_for, too_large
from milp_trees.testing.wide import WIDE, wide_problems

FlowOCT = type(registry.formulation("flow-oct"))

#: Problems at which the search for a fault begins, to save time; it goes on with the others.
SHOWN_BY = {
    wrong.OpenThirdLevel: "wide-large-leaves-5",
    wrong.SmallLeaves: "wide-large-leaves-5",
    wrong.EightThresholds: "wide-deep-0",
    wrong.OpenFifthSink: "wide-side-rows-16",
    wrong.FreeRows: "wide-plain-16",
    wrong.FourSideRows: "wide-side-rows-22",
    wrong.FourGroups: "wide-side-rows-7",
    wrong.SmallCosts: "wide-side-rows-16",
    wrong.OneLeafMore: "wide-plain-2",
    wrong.SwappedBelow: "wide-side-rows-10",
    wrong.LostOnTheWay: "wide-plain-9",
    wrong.ThreePricedColumns: "wide-large-leaves-4",
    wrong.TooTightThirdLevel: "wide-side-rows-10",
}


def rejected(formulation, names):
    """The problem and check that notice a fault first, those that look at sizes left out; None if
    none does.
    """
    for name in names:
        if formulation.unsupported(get(name)):
            continue
        for claim, run in checks_for(
            name, None, False, too_large(formulation, get(name)) is not None
        ).items():
            try:
                run(formulation, get(name)) if claim != "sizes" else None
            except AssertionError:
                return name, claim
    return None


@pytest.mark.slow
@pytest.mark.parametrize("cls", wrong.WIDE_FAULTS, ids=lambda cls: cls.__name__)
def test_a_fault_that_tiny_problems_do_not_show_is_caught(cls):
    """By the problems that are the formulation's turn, without those of the others."""
    names = sorted(in_turn(cls.name), key=lambda name: name != SHOWN_BY.get(cls))
    assert rejected(cls(), names)


# -- the oracle -----------------------------------------------------------------------------------------------------


def test_the_recursion_equals_the_scoring_of_all_trees():
    """On every tiny problem with a cost matrix, on random ones, and on decisions."""
    some = {
        name: p
        for name, p in (default_problems() | decision_problems()).items()
        if not is_wide(name) and p.task.offers(CostMatrix) and not p.view(CostMatrix).structure
    }
    some |= {
        str(s): drawn_problem(
            s,
            2,
            2 + s % 2,
            9,
            "four-tests",
            "any",
            "leaf",
            3 if s % 2 else None,
            1 + s % 3,
            "band" if s % 3 else "none",
        )
        for s in range(6)
    }
    for name, requested in some.items():
        if n_trees(requested) > 1000:
            continue
        slow, fast = brute_force(requested), best_tree(requested)
        assert (slow is None) == (fast is None), name
        if slow is not None:
            assert not requested.violations(fast), name
            assert requested.value(fast).number == pytest.approx(
                slow[1].number, abs=1e-6 if slow[1].exact is None else 0
            ), name


def test_a_task_that_differs_from_its_view_stops_the_oracle():
    class Own(mt.Accuracy):
        def cost_matrix(self, dataset, space):
            view = super().cost_matrix(dataset, space)
            return replace(view, costs=view.costs + 1)

    X = np.random.default_rng(0).integers(0, 2, (20, 6))
    with pytest.raises(AssertionError, match="its view differ"):
        brute_force(mt.Problem(mt.Dataset(X, y=X[:, 0] ^ X[:, 1]), Own(), mt.Trees(3)))


# -- problems -------------------------------------------------------------------------------------------------------


def test_every_two_values_of_two_axes_meet():
    axes = {"a": (1, 2, 3), "b": "xy", "c": (None, 5)}
    pairs = Counter(pair for design in designs(axes) for pair in combinations(design.items(), 2))
    assert len(pairs) == 3 * 2 + 3 * 2 + 2 * 2


def test_the_problems_reach_where_faults_hide():
    """Depth 3 and 4, five actions, 60 rows that differ, 17 thresholds, 20 side rows of five groups,
    leaves of five rows, costs beyond a million.
    """
    views = {
        name: (get(name).view(CostMatrix), get(name).presolved_view(), get(name).space)
        for name in WIDE
    }
    assert {3, 4} <= {space.max_depth for _, _, space in views.values()}
    assert max(view.n_actions for view, _, _ in views.values()) == 5
    assert max(merged.n_rows for _, merged, _ in views.values()) > 50
    assert max(len(tests) for view, _, _ in views.values() for _, tests in view.columns) == 17
    assert max(len(view.side) for view, _, _ in views.values()) == 20
    assert max(space.min_samples_leaf for _, _, space in views.values()) == 5
    assert max(int(view.regret.max()) for view, _, _ in views.values()) > 10**6 / 2
    assert any(
        len(view.columns) >= 4 and len(set(view.split_costs.tolist())) >= 4
        for view, _, _ in views.values()
    )
    assert any(space.max_depth == 3 and space.limits_leaves for _, _, space in views.values())


def test_a_drawn_problem_is_the_same_whenever_it_is_drawn():
    name = next(iter(WIDE))
    assert drawn_problem.__wrapped__(**WIDE[name]).dataset.sha256 == get(name).dataset.sha256
    assert eval(get(name).dataset.source["testing"]).dataset.sha256 == get(name).dataset.sha256


def test_trees_just_beyond_a_limit_break_one():
    """All kinds: leaves, rows of a leaf, weight, and each side row."""
    for name in ("max_leaves", "min_leaf", "capacity", "capacity_from_below", "three_groups"):
        found = just_beyond(get(name))
        assert found, name
        assert all(get(name).violations(tree) for tree in found)
    assert just_beyond(get("xor")) == []
    assert just_beyond(decision_problems()["weight-one-unit-short"])


def test_pairs_of_trees_are_feasible_and_differ_somewhere():
    requested = get(next(iter(WIDE)))
    pairs = pairs_of_trees(requested)
    assert any(one != other for one, other in pairs)
    assert not [tree for pair in pairs for tree in pair if requested.violations(tree)]


# -- levels and what is left out ------------------------------------------------------------------------------------


def test_the_levels():
    quick, thorough = default_problems(), default_problems("thorough")
    assert set(quick) < set(thorough)
    assert set(wide_problems()) == set(WIDE)
    with pytest.raises(mt.errors.UnknownName, match="no level 'slow'; known are quick, thorough"):
        default_problems("slow")


def test_a_large_model_is_not_solved_and_the_report_says_so(monkeypatch):
    """Everything else is checked, and a fault is still found."""
    from milp_trees.testing import suite

    name = next(name for name in WIDE if too_large(FlowOCT(), get(name)))
    monkeypatch.setattr(suite, "problems_of", lambda space, level: {name: get(name)})
    report = check_formulation(FlowOCT())
    assert f"models of at most {MOST_NONZEROS['quick']:,} are solved" in report.unsolved[name]
    assert ("between_trees", name) in report.passed
    assert ("optimum_equals_oracle", name) not in report.passed


@pytest.mark.slow
def test_a_search_that_is_stopped_is_judged_by_its_bound_and_its_point():
    """As many nodes for everybody, however loaded the machine is."""
    from milp_trees.testing.checks import optimum_fault
    from milp_trees.testing.solve import Point, built

    requested = get("wide-plain-0")
    point = minimise(built(FlowOCT(), requested).matrix, nodes=1)
    assert point.status in ("stopped", "optimal")
    best = FlowOCT().presolved_view(requested).objective(brute_force(requested)[0])
    assert optimum_fault(FlowOCT(), requested, Point("stopped", None, None, best - 3)) is None
    assert "bound" in optimum_fault(FlowOCT(), requested, Point("stopped", None, None, best + 3))
    assert "expected" in optimum_fault(
        FlowOCT(), requested, Point("stopped", None, best - 2, best - 3)
    )


# -- the other checks -----------------------------------------------------------------------------------------------


class DecodesWithNext(FlowOCT):
    """`decode` raises what `next` raises where it finds nothing."""

    def decode(self, m):
        return next(v for v in m.nodes if v < 0)


def test_deleting_constraints_survives_a_decode_that_raises_anything():
    """A point that is no tree may break `decode` in any way, StopIteration among them."""
    found = deletable_constraints(
        DecodesWithNext(), {name: get(name) for name in ("xor", "one_row")}
    )
    assert any("raised StopIteration" in (message or "") for message in found.values())


def test_a_pair_skips_what_the_formulation_skips_and_has_default_problems():
    assert {name for _, name in check_solver_pair("flow-oct", "highs").passed} == {
        "two_action_costs",
        "cannot_hold",
        "capacity_from_below",
    }
    report = check_solver_pair(
        "flow-oct",
        "highs",
        {name: get(name) for name in ("two_action_costs", "f1_leaf_penalty", "auc")},
    )
    assert set(report.skipped) == {"f1_leaf_penalty", "auc"}


def test_a_pair_with_a_solver_that_is_not_there_is_skipped_with_the_reason(monkeypatch):
    from milp_trees.mip.solver import Availability

    monkeypatch.setattr(
        type(registry.solver("highs")),
        "availability",
        lambda self: Availability(False, reason="It is not there."),
    )
    report = check_solver_pair("flow-oct", "highs")
    assert not report.passed
    assert set(report.skipped.values()) == {"It is not there."}
