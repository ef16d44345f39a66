"""The identity of a run: everything that can change it.

A stored run is used again only for exactly the same run.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milp_trees.by_name import registry
from milp_trees.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.methods.start import Start
from milp_trees.results.json import json_safe

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problem import Problem


def problem_key(problem: Problem) -> str:
    """Fingerprint of a problem: task, space, question, arrays; not where the data are from."""
    spec = problem.spec()
    return _fingerprint(
        [spec["task"], spec["space"], repr(problem.question), _rows(problem.dataset)]
    )


def run_key(
    problem: Problem, method: Method, limits: Limits, start: Start, test: Dataset | None = None
) -> str:
    """Fingerprint of a run.

    Parameters
    ----------
    problem : Problem
    method : Method
        Its label, its solver's options and the versions of its software.
    limits : Limits
        With threads and seed. The place of the log is ignored, since it changes nothing.
    start : Start
        The predictor and the method that made it: with another time limit the same method may have
        made another one.
    test : Dataset, optional
        Rows on which the answer is scored.

    Returns
    -------
    str
    """
    begin = [start.method, None if start.tree is None else start.tree.to_json()]
    settings = {k: v for k, v in asdict(limits).items() if k != "log_file"}
    software = {**method.software(), **registry.origin(type(problem.task))}
    parts = [
        problem_key(problem),
        method.label,
        getattr(method, "options", {}),
        settings,
        begin,
        None if test is None else _rows(test),
        software,
    ]
    return _fingerprint(parts)


def _rows(dataset: Dataset) -> list[Any]:
    """The arrays and names of a dataset.

    Tests of a group column may be excluded as candidates although the arrays are the same.
    """
    return [dataset.sha256, dataset.group_column]


def _fingerprint(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(json_safe(parts), sort_keys=True).encode()).hexdigest()[:24]
