"""Comparing methods: runs, stored rows, agreement, tables and plots."""

from milp_trees.studies.store import StoreError
from milp_trees.studies.study import Study

__all__ = ["StoreError", "Study"]
