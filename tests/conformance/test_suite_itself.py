"""The conformance suite is tested: wrong models are rejected, right ones pass."""

import pyomo.environ as pyo
import pytest
import wrong_formulations as wrong

import milp_trees as mt
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry
from milp_trees.testing import (
    brute_force,
    check_deletable_constraints,
    check_formulation,
    default_problems,
    problem,
)
from milp_trees.testing.sets import get
from milp_trees.testing.solve import built, minimise

#: Claims that depend on values only: wrong models must be caught by them even where their sizes
#: give nothing away.
VALUE_CHECKS = (
    "optimum_equals_oracle",
    "decoded_value",
    "every_tree_can_be_encoded",
    "relaxation_is_a_bound",
)
SIZE_ONLY = {wrong.Undocumented, wrong.WrongSizes, wrong.UnrepeatableBuild, wrong.SupportsNothing}


@pytest.mark.slow
@pytest.mark.parametrize("cls", wrong.REJECTED, ids=lambda c: c.__name__)
def test_a_wrong_formulation_is_rejected(cls):
    """Each deliberately wrong FlowOCT fails a check; those that are wrong in value fail one of the
    checks of values.
    """
    from milp_trees.testing import CHECKS

    checks = CHECKS if cls in SIZE_ONLY else {name: CHECKS[name] for name in VALUE_CHECKS}
    with pytest.raises(AssertionError, match=r"flow-oct"):
        check_formulation(cls(), checks=checks, metamorphic=False)


@pytest.mark.parametrize(
    "cls",
    [wrong.MissingOneArc, wrong.ForbiddenLabel, wrong.FractionalSplits],
    ids=lambda c: c.__name__,
)
def test_random_costs_alone_reject_subtle_mistakes(cls):
    """The random cost matrices suffice, without any named problem."""
    random = {name: p for name, p in default_problems().items() if name.startswith("random")}
    with pytest.raises(AssertionError):
        check_formulation(
            cls(),
            random,
            {k: v for k, v in _checks().items() if k in VALUE_CHECKS},
            metamorphic=False,
        )


@pytest.mark.slow
def test_a_valid_cut_is_accepted():
    """A redundant row changes nothing that the suite asserts."""
    report = check_formulation(wrong.DeclaredCut(), _few())
    assert not report.skipped
    assert len(report.passed) >= 9 * 12


def test_a_declared_cut_passes_the_deletion_test():
    """A cut that the formulation declares may be deleted."""
    check_deletable_constraints(wrong.DeclaredCut(), _few())


@pytest.mark.slow
@pytest.mark.parametrize("cls", wrong.REJECTED_BY_DELETION, ids=lambda c: c.__name__)
def test_declarations_of_redundancy_are_checked(cls):
    """An undeclared cut, a needed constraint called redundant and an unknown name are all refused."""
    with pytest.raises(AssertionError, match="redundant"):
        check_deletable_constraints(cls(), _few())


def test_the_oracle_by_hand():
    """The enumeration of all trees, on problems small enough to do in one's head."""
    by_hand = {
        "xor": 0,
        "depth_0": 1,
        "one_row": 0,
        "equal_rows": 2,
        "absent_class": 2,
        "no_tests": 1,
        "perfect_first_split": 0.4,
        "group_not_split": 2,
    }
    assert {name: brute_force(problem(name))[1].number for name in by_hand} == by_hand
    assert brute_force(problem("cannot_hold")) is None


def test_a_leaf_that_randomises_would_be_cheaper_than_any_tree():
    """The relaxed labels of the multi-sink model meet the parity row at 2 errors; honest leaves
    need 4.
    """
    trap = problem("randomising_leaf")
    relaxed, honest = (built(cls(), trap) for cls in (wrong.ContinuousLabels, wrong.FlowOCT))
    assert minimise(relaxed.matrix).objective == pytest.approx(2)
    assert minimise(honest.matrix).objective == pytest.approx(4)


class TooDear(wrong.FlowOCT):
    """Every tree costs seven more than it does."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.objective.set_value(m.objective.expr + 7)


class NothingIsFeasible(wrong.FlowOCT):
    """Two constraints that contradict each other."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.one_leaf = pyo.Constraint(expr=m.p[1] >= 1, doc="the root predicts")
        m.no_leaf = pyo.Constraint(expr=m.p[1] <= 0, doc="the root does not")


@pytest.mark.parametrize(
    "cls",
    [wrong.ForbiddenLabel, TooDear, wrong.WrongDecode, wrong.SwappedSides, NothingIsFeasible],
    ids=lambda c: c.__name__,
)
def test_a_wrong_model_is_never_reported_as_a_proof(cls):
    """Given a feasible start, a model that contradicts it is an error, not an optimum."""
    made = mt.Problem(
        mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=[1, 1, 1, 0]),
        mt.Accuracy(),
        mt.Trees(2),
    )
    start = brute_force(made)[0].prune_empty(made.dataset)
    method = FormulationMethod(cls(), registry.solver("highs"))
    result = method.run(made, start=start)
    assert result.status is mt.plugins.Status.ERROR, result
    assert result.message


def _checks():
    from milp_trees.testing import CHECKS

    return CHECKS


def _few():
    names = [
        "xor",
        "one_row",
        "min_leaf",
        "max_leaves",
        "leaf_penalty",
        "randomising_leaf",
        "cost_matrix",
        "capacity_from_below",
        "random-0",
    ]
    return {name: get(name) for name in names}
