"""Comparing methods: runs, stored rows, agreement, tables and plots."""

from milp_trees.study.store import StoreError
from milp_trees.study.study import Study

__all__ = ["StoreError", "Study"]
