"""From a SPEC file to a plan: everything is checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError, MilpTreesError, NoView
from milp_trees.common.registering.from_files import load_file
from milp_trees.studies.planning.lines import Path as Place
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.planning.problems import Stated, stated
from milp_trees.studies.planning.recipes import read_again
from milp_trees.studies.planning.runs import Expansion, refuse_too_many
from milp_trees.studies.planning.source import Source


def read_plan(spec: str | Path | Mapping[str, Any]) -> Plan:
    """The plan of a SPEC.

    The layout, all names, the data files and every problem are checked; the problems are built for
    this, one after the other, because the keys of runs hold fingerprints of the data.
    """
    if isinstance(spec, Mapping):
        return plan_of(Source.of(spec), Path.cwd())
    if not isinstance(spec, (str, Path)):
        raise DataError(f"A SPEC is a TOML file or a mapping; got {spec!r}.")
    path = Path(spec)
    source = Source.read(path)
    return plan_of(source, path.absolute().parent)


def plan_of(source: Source, folder: Path) -> Plan:
    """The plan of a SPEC that was read; see `read_plan`."""
    read_again()
    checked = source.checked()
    for i, name in enumerate(checked.plugins):
        with source.at("plugins", i):
            load_file(folder / name)
    expansion = Expansion(checked, source)
    refuse_too_many(checked, source)
    expansion.check_names()
    problems = _problems(checked, source, str(folder))
    planned = [expansion.add(one.problem, number, *_built(one, source)) for number, one in problems]
    runs, notes = expansion.finished()
    extra = {"library": checked.library} if checked.library else {}
    return Plan(
        checked.title or source.title,
        source.text,
        str(folder),
        tuple(checked.plugins),
        tuple(planned),
        runs,
        notes,
        extra,
    )


def _problems(checked: Any, source: Source, folder: str) -> list[tuple[int, Stated]]:
    """All problems with the numbers of their tables."""
    found: list[tuple[int, Stated]] = []
    places: dict[str, Place] = {}
    for i, table in enumerate(checked.problems):
        for one in stated(table, ("problems", i), folder):
            name, place = one.problem.name, one.places["data"]
            if name in places:
                raise source.error(
                    place,
                    f"Two problems have the name {name!r}, here and at {source.where(places[name])}; give the tables other names, or the data a `name`.",
                )
            places[name] = place
            found.append((i, one))
    return found


def _built(one: Stated, source: Source) -> tuple[Any, Any]:
    """The problem and its test rows; an error names the line of the part that it is about."""
    part = "data"
    try:
        problem, test = one.problem.build()
        part = "task"
        with suppress(NoView):
            _ = problem.scale  # finds what does not fit the data, such as a class that is not there
        return problem, test
    except MemoryError as error:
        raise source.error(
            one.places["data"], f"The problem {one.problem.name} does not fit into memory."
        ) from error
    except MilpTreesError as error:
        place = one.places.get(getattr(error, "part", part), one.places["data"])
        raise source.error(place, f"{error} (problem {one.problem.name})") from error
