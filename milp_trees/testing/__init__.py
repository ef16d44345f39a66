"""For authors of plug-ins: tiny problems, an oracle, and conformance checks.

Every formulation, solver and method must pass the checks:

    from milp_trees.testing import check_formulation, check_deletable_constraints, check_method,
    check_solver, check_solver_pair, check_task

Nothing here needs pytest; `milp_trees.testing.strategies` needs hypothesis.
"""

from milp_trees.testing.checks import CHECKS
from milp_trees.testing.deletion import check_deletable_constraints, deletable_constraints
from milp_trees.testing.expected_checks import expected_failed_checks
from milp_trees.testing.generate import planted_problem, random_cost_problem, random_tree
from milp_trees.testing.metamorphic import METAMORPHIC_CHECKS
from milp_trees.testing.oracle import brute_force
from milp_trees.testing.pairs import check_method, check_solver_pair
from milp_trees.testing.problems import METAMORPHIC, PROBLEMS, problem
from milp_trees.testing.separability import check_separable
from milp_trees.testing.sets import RANDOM, default_problems
from milp_trees.testing.solver_checks import SOLVER_CHECKS, check_solver
from milp_trees.testing.suite import Report, check_formulation
from milp_trees.testing.task_checks import check_task

__all__ = [
    "CHECKS",
    "METAMORPHIC",
    "METAMORPHIC_CHECKS",
    "PROBLEMS",
    "RANDOM",
    "SOLVER_CHECKS",
    "Report",
    "brute_force",
    "check_deletable_constraints",
    "check_formulation",
    "check_method",
    "check_separable",
    "check_solver",
    "check_solver_pair",
    "check_task",
    "default_problems",
    "deletable_constraints",
    "expected_failed_checks",
    "planted_problem",
    "problem",
    "random_cost_problem",
    "random_tree",
]
