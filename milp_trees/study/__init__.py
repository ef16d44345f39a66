"""Comparing methods: running, storing, judging, tabulating and plotting."""

from milp_trees.study.store import StoreError
from milp_trees.study.study import Study

__all__ = ["StoreError", "Study"]
