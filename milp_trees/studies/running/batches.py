"""Batches of runs with about equal estimated time.

Runs keep the order of the plan, so that those on one problem stay together: its data, its start and
its reference are then made in one place.
"""

from __future__ import annotations

from collections.abc import Sequence

from milp_trees.studies.planning.plan import PlannedRun

#: Seconds that a run costs at least, whatever its estimate.
LEAST = 0.02


def batches(runs: Sequence[PlannedRun], number: int) -> list[list[int]]:
    """Cut runs into batches."""
    total = sum(max(run.estimate, LEAST) for run in runs)
    cut: list[list[int]] = []
    spent, last = 0.0, 0
    for run in runs:
        seconds = max(run.estimate, LEAST)
        # A run belongs to the batch in which its middle lies.
        place = min(int((spent + seconds / 2) / total * number), number - 1)
        if not cut or place > last:
            cut.append([])
        cut[-1].append(run.number)
        last, spent = place, spent + seconds
    return cut
