"""The identity of a run: everything that can change it, known before it begins.

A stored run is used again only for exactly the same run. This is the one place where the keys of
runs are made: `compare` and planned studies find each other's rows by them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.methods.start import Start
from milp_trees.mip.registry import registry
from milp_trees.results.json import json_safe

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

#: The `Start.method` of a predictor that the user gave.
GIVEN = "given"


def problem_key(problem: Problem) -> str:
    """Fingerprint of a problem: task, space, question, arrays; not where the data are from."""
    spec = problem.spec()
    return _fingerprint(
        [spec["task"], spec["space"], repr(problem.question), _rows(problem.dataset)]
    )


@dataclass(frozen=True)
class Statement:
    """What identifies the problem of many runs, computed once for all of them.

    Parameters
    ----------
    problem : str
        The `problem_key`.
    test : list or None
        Fingerprint of the rows on which answers are scored.
    origin : dict
        The package of a third party's task.
    """

    problem: str
    test: Any
    origin: dict[str, str]

    @classmethod
    def of(cls, problem: Problem, test: Dataset | None = None) -> Statement:
        """The statement of a problem (as given, without a permutation) and its test rows."""
        rows = None if test is None else _rows(test)
        return cls(problem_key(problem), rows, registry.origin(type(problem.task)))


def run_key(
    problem: Problem | Statement,
    method: Method,
    limits: Limits,
    start: Start | str | None,
    test: Dataset | None = None,
    permutation: int = 0,
    software: Callable[[Method], Mapping[str, str]] | None = None,
) -> str:
    """Fingerprint of a run."""
    stated = problem if isinstance(problem, Statement) else Statement.of(problem, test)
    software = software or (lambda maker: maker.software())
    settings = {k: v for k, v in asdict(limits).items() if k != "log_file"}
    parts = [
        stated.problem,
        method.label,
        getattr(method, "options", {}),
        settings,
        _begin(start, software),
        stated.test,
        {**software(method), **stated.origin},
        permutation,
    ]
    return _fingerprint(parts)


def _begin(start: Start | str | None, software: Callable[[Method], Mapping[str, str]]) -> list[Any]:
    """What identifies a start, before it is made."""
    label = start.method if isinstance(start, Start) else start
    if not label:
        return []
    if label == GIVEN:
        assert isinstance(start, Start)
        return [label, None if start.tree is None else start.tree.to_json()]
    return [label, software(registry.method(label))]


def _rows(dataset: Dataset) -> list[Any]:
    """The arrays and names of a dataset.

    Tests of a group column may be excluded as candidates although the arrays are the same.
    """
    return [dataset.sha256, dataset.group_column]


def _fingerprint(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(json_safe(parts), sort_keys=True).encode()).hexdigest()[:24]
