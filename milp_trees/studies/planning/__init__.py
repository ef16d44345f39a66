"""Plans of studies: a SPEC file is read, checked as a whole, and becomes a list of runs."""

from milp_trees.studies.planning.plan import Plan, PlannedProblem, PlannedRun

__all__ = ["Plan", "PlannedProblem", "PlannedRun"]
