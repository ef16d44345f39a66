"""What can go wrong with the execution of a study, apart from its runs."""

from __future__ import annotations

from milp_trees.common.errors import MilpTreesError


class StudyError(MilpTreesError):
    """A study cannot be executed; the message says what to do, and finished rows are safe."""
