"""From recipes to problems: what a plan says about a problem, made into arrays, task and space.

A recipe is plain values. Paths in it are relative to the folder of the SPEC, and everything random
has its seed in it, so a recipe gives the same problem on every machine.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, MilpTreesError, UnknownName
from milp_trees.common.registering import families
from milp_trees.studies.planning.tasks import made_task

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

    #: A function that makes the problem and its test rows from a recipe and its folder.
    Build = Callable[[Mapping[str, Any], Path], tuple[Problem, Dataset | None]]

#: Keys of data that are read from a path: a table, a policy file, a table larger than memory.
PATHS = ("file", "policy", "grouped")


def build_problem(
    kind: str, recipe: Mapping[str, Any], folder: Path, permutation: int = 0
) -> tuple[Problem, Dataset | None]:
    """The problem of a recipe, and its test rows."""
    from milp_trees.studies.permuting import permuted_problem

    others: dict[str, Build] = dict(families.parts("recipes"))
    problem, test = others.get(kind, partial(_of_table, kind))(recipe, folder)
    return permuted_problem(problem, permutation), test


def kinds() -> set[str]:
    """All kinds of problems."""
    from milp_trees.models.space import all_spaces

    return {space.name for space in all_spaces()} | {kind for kind, _ in families.parts("recipes")}


@contextmanager
def about(part: str) -> Iterator[None]:
    """Note in an error which part of the recipe it is about."""
    try:
        yield
    except MilpTreesError as error:
        error.part = part  # type: ignore[attr-defined]
        raise


def _of_table(kind: str, recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    """A problem about rows with binary features; its kind is the name of a space."""
    from milp_trees.models.space import space_class
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.constraints import check_groups_differ

    found = space_class(kind)
    assert found is not None, kind
    with about("space"):
        space = found.of_options(**recipe["space"])
    with about("data"):
        train, test = table(recipe["data"], folder)
    with about("task"):
        task = made_task(recipe["task"], folder)
        check_groups_differ(getattr(task, "constraints", ()), train)
    problem = Problem(train, task, space)
    if "chosen" in recipe:
        from milp_trees.methods.thresholds import with_chosen

        problem = with_chosen(problem, recipe["chosen"])
    return problem, test


def table(data: Mapping[str, Any], folder: Path) -> tuple[Dataset, Dataset | None]:
    """The rows that a recipe names; those that were read last are kept for the next problem.

    `read_again` forgets them, for the case that a file has changed.
    """
    return _table(json.dumps(data, sort_keys=True), str(folder))


@lru_cache(maxsize=4)
def _table(data: str, folder: str) -> tuple[Dataset, Dataset | None]:
    given = json.loads(data)
    _check_source(given)
    policy, grouped = "policy" in given, "grouped" in given
    name, binarizer = place(given, Path(folder)), _binarizer(given.pop("binarize", "auto"))
    if policy:
        from milp_trees.data.policy_files import load_policy

        return load_policy(name, **given)[0], None
    if grouped:
        from milp_trees.data.grouped import load_grouped

        return load_grouped(name, binarizer=binarizer, **given), None
    from milp_trees.data.load import load_split

    if "label" in given:
        given["label"] = _path(given["label"], Path(folder))
    return load_split(
        name,
        binarizer=binarizer,
        test_size=given.pop("test_size", None),
        seed=given.pop("split_seed", 0),
        **given,
    )


read_again = _table.cache_clear


def _check_source(data: Mapping[str, Any]) -> None:
    """Refuse data that are neither a file, nor built in, nor made by a generator of rows."""
    from milp_trees.data.builtin import BUILTIN
    from milp_trees.data.generate import GENERATORS

    for key, known in (("name", BUILTIN), ("generator", GENERATORS)):
        if key in data and data[key] not in known:
            close = get_close_matches(data[key], known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            what = (
                "built-in data set" if key == "name" else "generator of rows with binary features"
            )
            raise UnknownName(
                f"There is no {what} called {data[key]!r}.{hint} Known: {', '.join(known)}."
            )


def _binarizer(given: str | Mapping[str, Any]) -> Any:
    """A binarizer by its name, or by a table with the parameters of `Binarizer`."""
    if isinstance(given, str):
        return given
    from milp_trees.data.binarize import Binarizer

    return Binarizer(**given)


def place(data: dict[str, Any], folder: Path) -> str:
    """Take the source out of the data's description: a built-in or generated name, or a path."""
    for key in PATHS:
        if key in data:
            return _path(data.pop(key), folder)
    if "generator" in data:
        kind, given = data.pop("generator"), data.pop("given")
        return f"{kind}:{given}" if given else str(kind)
    return str(data.pop("name"))


def _path(stated: str, folder: Path) -> str:
    """A path of a SPEC on this machine; `$NAME` stands for an environment variable."""
    found = os.path.expandvars(stated)
    if absent := re.search(r"\$\{?(\w+)", found):
        raise DataError(
            f"The path {stated!r} names the environment variable {absent[1]}, which is not set; set {absent[1]} to the folder that is meant."
        )
    return str(folder / found)
