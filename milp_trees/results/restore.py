"""The problem of a stored result, restored from its description and its data.

Statements that the description makes twice must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import VerificationError
from milp_trees.models.space import Space, all_spaces, space_class
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best, Front
from milp_trees.results.json import json_safe
from milp_trees.results.restore_thresholds import same_part, thresholds_again
from milp_trees.tasks.constraints import constraint
from milp_trees.tasks.stored import from_spec

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


#: Largest limits of a space of trees or rule lists that a stored result may have.
MOST = {
    "max_depth": 1000,
    "max_leaf_nodes": 2**31,
    "min_samples_leaf": 2**31,
    "max_length": 2**31,
    "min_samples_rule": 2**31,
}


@dataclass(frozen=True, eq=False)
class Restored:
    """A problem that was restored.

    Parameters
    ----------
    problem : Problem
        The problem.
    test : Dataset or None
        Rows that were left out for scores, if the data were read again.
    thresholds : str
        Where the thresholds of the features come from.
    not_verified : tuple of str
        Parts of the description that could not be confirmed.
    checked : tuple of str
        A sentence per check.
    complete : Dataset or None
        The same rows with all thresholds of their columns, if thresholds were found again.
    """

    problem: Problem
    test: Dataset | None = None
    thresholds: str = ""
    not_verified: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    complete: Dataset | None = None


def problem_of(
    spec: Mapping[str, Any], dataset: Dataset | None = None, path: str | Path | None = None
) -> Problem:
    """The problem that a result's `problem` describes; its data are read again."""
    return restore(spec, dataset, path, thresholds=False).problem


def restore(
    spec: Mapping[str, Any],
    dataset: Dataset | None = None,
    path: str | Path | None = None,
    *,
    question: str = "best",
    thresholds: bool = True,
) -> Restored:
    """Like `problem_of`, with all that can be confirmed about the description."""
    data = spec["data"]
    stated = spec["question"]
    _same("question", stated["name"] if isinstance(stated, Mapping) else stated, question)
    if dataset is not None:
        problem = _problem(spec, dataset)
        loose = _same_data(data, dataset, given=True)
        return Restored(
            problem,
            None,
            "of the data at hand",
            loose,
            ("The data at hand are those of the result.",),
        )
    from milp_trees.results.reload import reload

    if data.get("numeric") and not isinstance(data["regression"], bool):
        raise VerificationError(
            f"The result is damaged: problem.data.regression must be true or false; it is {data['regression']!r}."
        )
    train, test = reload(data, path)
    if (data.get("split") or {}).get("part") == "test":
        assert test is not None
        train, test = test, None
    found = train.source.get("sha256")
    if found != data.get("sha256"):
        raise VerificationError(
            f"The data file {path or data['path']} has changed: its SHA-256 is {found}, the result was made from {data.get('sha256')}."
        )
    problem = _problem(spec, train)
    loose = _same_data(data, train, given=False, moved=path is not None)
    message, more, complete = thresholds_again(data, train, path) if thresholds else ("", (), None)
    return Restored(
        problem,
        test,
        message,
        (*loose, *more),
        ("The data were read again and are those of the result.",),
        complete,
    )


def _problem(spec: Mapping[str, Any], dataset: Dataset) -> Problem:
    """The problem on the data; its description must equal the stored one."""
    if dataset.sha256 != spec["data"]["arrays_sha256"]:
        raise VerificationError(
            "The data are not those of the result: tests, target or another array differ."
        )
    problem = Problem(
        dataset, from_spec(spec["task"]), space_of(spec["space"]), _question(spec["question"])
    )
    for part, own in (("task", problem.task.spec()), ("space", problem.space.spec())):
        same_part(f"problem.{part}", spec[part], json_safe(own))
    if "group" in spec:  # it follows from the parts above; older results do not state it
        same_part("problem.group", spec["group"], json_safe(problem.group))
    if isinstance(spec["question"], Mapping):
        same_part("problem.question", spec["question"], json_safe(problem.question.spec()))
    unknown = sorted(set(spec) - {"task", "space", "group", "question", "data"})
    if unknown:
        raise VerificationError(f"The problem states {unknown[0]!r}, which no problem has.")
    return problem


def _same_data(
    stated: Mapping[str, Any], dataset: Dataset, given: bool, moved: bool = False
) -> tuple[str, ...]:
    """Compare the description of the data with the data; return what could not be compared.

    Data that were read again have every part of a description. Data that the caller gives may lack
    some parts, and may come from another path.
    """
    own = json_safe(
        {
            **dataset.source,
            **dataset.sizes,
            "arrays_sha256": dataset.sha256,
        }
    )
    apart = {"path"} if given or moved else set()
    unknown = tuple(sorted(set(stated) - set(own) - apart)) if given else ()
    stated, newer = _of_this_version(stated, own)
    if not given:  # numbers of thresholds are compared where thresholds are found again
        apart = {*apart, "thresholds"}
    for key in sorted(({*stated, *own}) - apart - set(unknown)):
        if key == "binarizer" and not given:
            # Data that are read again with these thresholds state that they were given.
            again = {**own[key], "given": stated.get(key, {}).get("given")}
            same_part("problem.data.binarizer", stated.get(key, {}), again)
            continue
        if key not in own or key not in stated:
            same_part(
                "problem.data",
                {k: stated[k] for k in stated if k == key},
                {k: own[k] for k in own if k == key},
            )
        same_part(f"problem.data.{key}", stated[key], own[key])
    loose = (*unknown, *(n for n in sorted(apart - {"thresholds"}) if n in stated), *newer)
    return tuple(f"problem.data.{name}" for name in loose)


def _of_this_version(
    stated: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The description with the engine that groups rows now, if it is known.

    Another engine or version may group the same rows, so it is listed as not verified.
    """
    here, there = own.get("grouped"), stated.get("grouped")
    if not (isinstance(there, Mapping) and isinstance(here, Mapping)):
        return stated, ()
    now = {key: here[key] for key in ("engine", "version") if there.get(key) != here[key]}
    return {**stated, "grouped": {**there, **now}}, tuple(f"grouped.{key}" for key in now)


def space_of(spec: Mapping[str, Any]) -> Space:
    """The space that `space.spec()` described."""
    options = dict(spec)
    name = options.pop("name")
    for limit, most in MOST.items():  # the number 2 to the depth is computed
        if options.get(limit) is not None and not 0 <= options[limit] <= most:
            raise VerificationError(
                f"The result's {limit} is too large to be verified, or negative; at most {most} is."
            )
    if space := space_class(name):
        return space.from_spec(options)
    *nouns, last = (f"{space.noun}s" for space in all_spaces())
    raise VerificationError(
        f"The result's space is {name!r}; {', '.join(nouns)} and {last} can be verified."
    )


def _question(spec: Any) -> Any:
    """The question that `Problem.spec` described; those without parameters are stated by name."""
    if not isinstance(spec, Mapping):
        return Best()
    against = spec.get("against")
    if isinstance(against, Mapping):
        against = constraint(**against)
    return Front(against, spec.get("most"))


def _same(name: str, stated: Any, expected: Any) -> None:
    if stated != expected:
        raise VerificationError(
            f"The result's {name} is {stated!r}; only {expected!r} can be verified."
        )
