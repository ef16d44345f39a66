"""The contract of solvers: every check of `check_solver`, of every registered solver that is here. Faults
of single adapters are in `tests/unit/solvers`.
"""

import pytest
from solver_params import solver_params
from wrong_solvers import WRONG, Few

from milp_trees.common.registering import plugins
from milp_trees.mip.registry import registry
from milp_trees.testing import SOLVER_CHECKS, check_solver
from milp_trees.testing.solver_checks import left_out


@pytest.mark.parametrize(
    ("solver", "claim"),
    [
        pytest.param(*there.values, claim, marks=there.marks)
        for there in solver_params()
        for claim in SOLVER_CHECKS
        if left_out(registry.solver(*there.values), claim) is None
    ],
)
def test_a_solver_keeps_what_it_claims(solver, claim):
    SOLVER_CHECKS[claim][0](solver)


# -- the checks themselves -------------------------------------------------------------------------------


@pytest.fixture
def registered(monkeypatch):
    """Registers a class for the length of a test, and returns its name."""

    def add(cls):
        monkeypatch.setitem(
            plugins._classes, "solvers", {**registry.classes("solvers"), cls.name: cls}
        )
        return cls.name

    return add


@pytest.mark.slow
def test_a_solver_that_can_do_little_and_says_so_passes(registered):
    """No start, no seed, no gap, no threads, no events, no log."""
    report = check_solver(registered(Few))
    assert {"gaps", "start", "repeated search", "root bound"} <= set(report.skipped)


@pytest.mark.slow
@pytest.mark.parametrize("cls", WRONG, ids=lambda cls: cls.name)
def test_an_adapter_that_breaks_the_contract_is_found(registered, monkeypatch, cls):
    """By the check of what it breaks; the others may pass."""
    name, claim = registered(cls), WRONG[cls]
    monkeypatch.setattr(
        "milp_trees.testing.solver_checks.SOLVER_CHECKS", {claim: SOLVER_CHECKS[claim]}
    )
    with pytest.raises(AssertionError, match=f"{name}, {claim}: "):
        check_solver(name)
