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
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.errors import DataError, MilpTreesError, UnknownName
from milp_trees.planning.tasks import exact, made_task

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problem import Problem

#: Parameters of the antecedents of rule lists, which stand beside the other limits of the space.
OF_ANTECEDENTS = ("max_literals", "negations", "min_support", "max_support", "max_antecedents")


def build_problem(
    kind: str, recipe: Mapping[str, Any], folder: Path, permutation: int = 0
) -> tuple[Problem, Dataset | None]:
    """The problem of a recipe, and its test rows.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    recipe : mapping
        Plain values, as a plan holds them.
    folder : Path
        Where relative paths begin.
    permutation : int, default=0
        The seed of another order of the rows and columns; 0 is the order as given.

    Returns
    -------
    problem : Problem
    test : Dataset or None

    Raises
    ------
    DataError
        The data cannot be read, or do not fit the task or the space.
    """
    from milp_trees.studies.permuting import permuted_problem

    problem, test = KINDS[kind](recipe, folder)
    return permuted_problem(problem, permutation), test


@contextmanager
def _about(part: str) -> Iterator[None]:
    """Note in an error which part of the recipe it is about."""
    try:
        yield
    except MilpTreesError as error:
        error.part = part  # type: ignore[attr-defined]
        raise


def _trees(recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    from milp_trees.spaces.trees import Trees

    with _about("space"):
        space = Trees(**recipe["space"])
    return _of_table(recipe, folder, space)


def _rule_lists(recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    from milp_trees.data.antecedents import Antecedents
    from milp_trees.spaces.rule_lists import RuleLists

    given = dict(recipe["space"])
    mined = {name: given.pop(name) for name in OF_ANTECEDENTS if name in given}
    with _about("space"):
        space = RuleLists(Antecedents(**mined), **given)
    return _of_table(recipe, folder, space)


def _of_table(
    recipe: Mapping[str, Any], folder: Path, space: Any
) -> tuple[Problem, Dataset | None]:
    """A problem about rows with binary features."""
    from milp_trees.problem import Problem
    from milp_trees.tasks.constraints import check_groups_differ

    with _about("data"):
        train, test = table(recipe["data"], folder)
    with _about("task"):
        task = made_task(recipe["task"], folder)
        check_groups_differ(getattr(task, "constraints", ()), train)
    return Problem(train, task, space), test


def table(data: Mapping[str, Any], folder: Path) -> tuple[Dataset, Dataset | None]:
    """The rows that a recipe names; those that were read last are kept for the next problem."""
    return _table(json.dumps(data, sort_keys=True), str(folder))


@lru_cache(maxsize=4)
def _table(data: str, folder: str) -> tuple[Dataset, Dataset | None]:
    from milp_trees.data.load import load_split

    given = json.loads(data)
    _check_source(given)
    name = place(given, Path(folder))
    if "label" in given:
        given["label"] = str(Path(folder) / given["label"])
    return load_split(
        name,
        binarizer=_binarizer(given.pop("binarize")),
        test_size=given.pop("test_size", None),
        seed=given.pop("split_seed", 0),
        **given,
    )


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
    if "file" in data:
        given = data.pop("file")
        path = os.path.expandvars(given)  # such as $MILP_TREES_DATA, on the machine of the run
        if missing := re.search(r"\$\{?(\w+)", path):
            raise DataError(
                f"The file {given} is in the folder {missing[0]}, and there is no such variable of the environment; set {missing[1]}."
            )
        return str(folder / path)
    if "generator" in data:
        kind, given = data.pop("generator"), data.pop("given")
        return f"{kind}:{given}" if given else str(kind)
    return str(data.pop("name"))


def _pruned(recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    from milp_trees.planning.tasks import feature_costs
    from milp_trees.studies.pruning import Growing, pruning_problem

    task = dict(recipe["task"])
    data = dict(recipe["data"])
    max_cost, lam = exact(task.pop("max_cost", None)), exact(task.pop("lam"))
    with _about("task"):
        costs = feature_costs(task, folder)
    with _about("grow"):
        growing = Growing(**recipe["grow"])
    grown = pruning_problem(
        place(data, folder),
        growing,
        lam=lam,
        costs=costs,
        max_cost=max_cost,
        **data,
    )
    return grown.problem, grown.test


def _decisions(recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    from milp_trees.decisions.generated import DecisionData
    from milp_trees.spaces.trees import Trees
    from milp_trees.studies.spo import generated_problem

    data = DecisionData.from_text(place(dict(recipe["data"]), folder))
    with _about("space"):
        space = Trees(**recipe["space"])
    problem, test = generated_problem(data, 0, **exact(recipe["task"]))
    return replace(problem, space=space), test


#: Kinds of problems that a SPEC can state.
KINDS: dict[str, Callable[[Mapping[str, Any], Path], tuple[Problem, Dataset | None]]] = {
    "trees": _trees,
    "rule-lists": _rule_lists,
    "pruned": _pruned,
    "decisions": _decisions,
}
