"""A stored run used again in place of a new one.

It is checked first, so that a row that contradicts itself is never used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milp_trees.results.result import Limit, Result, Status
from milp_trees.results.stored import result_from_json
from milp_trees.studies.rows import UNREADABLE, DamagedRow, said

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: A row with one of these statuses has no answer; it is run again when the study is resumed.
_RETRY = {Status.ERROR.value}


def is_final(row: Mapping[str, Any]) -> bool:
    """Whether a row is an answer; an error or an interrupted run is made again."""
    limit = row["limit"]
    return row["status"] not in _RETRY and not (limit is not None and Limit(limit).by_user)


def recalled(row: Mapping[str, Any], problem: Problem) -> Result:
    """The result in a stored row."""
    try:
        found = result_from_json(row, problem)
        _check_tree(found)
    except UNREADABLE as error:
        raise DamagedRow(said(error)) from error
    return found


def _check_tree(found: Result) -> None:
    """Refuse a stored run whose status and tree do not fit, or whose tree has another value."""
    tree, value = found.predictor, found.value
    if (tree is None) == (found.status in (Status.OPTIMAL, Status.FEASIBLE)):
        raise DamagedRow(
            f"its status is {found.status.value!r}, and it holds {'no' if tree is None else 'a'} tree"
        )
    if tree is None or value is None:
        return
    own = found.problem.value(tree)
    if own.exact != value.exact or not math.isclose(
        own.number, value.number, rel_tol=1e-9, abs_tol=1e-9
    ):
        raise DamagedRow(f"its tree has the value {own}, and it states {value}")
    if wrong := found.problem.violations(tree):
        raise DamagedRow(f"its tree is not feasible: {wrong[0]}")
