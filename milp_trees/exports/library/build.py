"""Building a library: the problems of a SPEC in several processes, resumed from what is there."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from milp_trees.common.errors import DataError
from milp_trees.exports.library.making import About, Effort, Made, make_problem
from milp_trees.exports.library.page import page
from milp_trees.exports.library.processes import each
from milp_trees.exports.library.registry import (
    CSV,
    JSON,
    PAGE,
    SOLU,
    SUMS,
    UNFINISHED,
    Instance,
    Registry,
    checksums,
    files_of,
    instance_name,
    read_instance,
    read_registry,
    replace_text,
    sha256,
)
from milp_trees.exports.library.solving import readers
from milp_trees.methods.finish import versions
from milp_trees.mip.open_thresholds import for_models
from milp_trees.mip.registry import registry as plugins
from milp_trees.mip.solver import availability_of
from milp_trees.results.json import json_safe
from milp_trees.studies.running.environment import environment
from milp_trees.studies.running.gauges import load_average


class Stated(Protocol):
    """A problem of a SPEC, as `milp_trees.studies.planning.plan.PlannedProblem` states it."""

    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def recipe(self) -> Mapping[str, Any]: ...

    def build(self) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class Entry:
    """A problem with the formulations in which it is to be in the library.

    Parameters
    ----------
    problem : Stated
    formulations : tuple of str
    licence : str, default=""
        The licence that the SPEC states for the data; empty if it states none.
    """

    problem: Stated
    formulations: tuple[str, ...]
    licence: str = ""

    def key(self, effort: Effort, solvers: Mapping[str, str]) -> str:
        """Fingerprint of everything that can change the instances of this problem."""
        parts = [
            self.problem.kind,
            self.problem.group,
            self.problem.recipe,
            self.formulations,
            self.licence,
            asdict(effort),
            dict(versions()),
            dict(solvers),
        ]
        return hashlib.sha256(json.dumps(json_safe(parts), sort_keys=True).encode()).hexdigest()


def build(
    entries: Sequence[Entry],
    folder: Path,
    about: Mapping[str, Any],
    effort: Effort | None = None,
    *,
    jobs: int = 1,
    plugin_files: Sequence[Path] = (),
    progress: Callable[[str], None] | None = None,
) -> Registry:
    """Make the instances of all entries that are not in the folder yet, and describe them all."""
    effort, say = effort or Effort(), progress or (lambda line: None)
    _check_names(entries)
    folder.mkdir(parents=True, exist_ok=True)
    before = read_registry(folder) if (folder / JSON).exists() else None
    foreign = [path for path in folder.iterdir() if not path.name.startswith(".")]
    if before is None and foreign and not (folder / UNFINISHED).is_dir():
        raise DataError(
            f"{folder} holds other files and no library; name a folder that is new or empty."
        )
    (folder / UNFINISHED).mkdir(exist_ok=True)
    solvers = {name: availability_of(plugins.solver(name)).version for name in readers()}
    keys = {entry.problem.name: entry.key(effort, solvers) for entry in entries}
    made = dict(_made_before(folder, before, keys))
    left = [entry for entry in entries if entry.problem.name not in made]
    if made:
        say(f"{len(made)} of {len(entries)} problems are there already")
    for entry, done in each(
        _make, left, jobs, folder, effort, first=partial(_load, tuple(plugin_files))
    ):
        name = entry.problem.name
        made[name] = done
        _keep(folder, name, keys[name], done)
        say(f"[{len(made)}/{len(entries)}] {name}: {_said(done)}")
    about = {
        **about,
        "solver_seconds": effort.solver_seconds,
        "proof_seconds": effort.proof_seconds,
        "solvers": solvers,
        "versions": dict(versions()),
        "machine": machine(),
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "keys": keys,
    }
    parts = [made[entry.problem.name] for entry in entries]
    rows = sorted((one for part in parts for one in part.instances), key=lambda one: one.instance)
    finished = Registry(about, tuple(rows), tuple(one for part in parts for one in part.refused))
    _finish(folder, finished, before)
    return finished


def _check_names(entries: Sequence[Entry]) -> None:
    seen: dict[str, str] = {}
    for entry in entries:
        for formulation in entry.formulations:
            name = instance_name(entry.problem.name, formulation)
            this = f"{entry.problem.name} as {formulation}"
            if name in seen:
                raise DataError(
                    f"{seen[name]} and {this} would both be the instance {name}; give the problems names that differ in letters or digits."
                )
            seen[name] = this
    if not seen:
        raise DataError("The SPEC states no formulation for any problem; add some to its methods.")


def machine() -> str:
    """The processor of this machine, without the machine's name, and how busy it is."""
    found, busy = environment(), load_average()
    message = f"{found['cpu'] or 'a processor'}, {found['logical_cores']} cores"
    return message if busy is None else f"{message}, load average {busy:.1f}"


# -- what is there already -------------------------------------------------------------------------


def _made_before(
    folder: Path, before: Registry | None, keys: Mapping[str, str]
) -> Iterator[tuple[str, Made]]:
    """Problems of the same fingerprint whose files are there, unchanged."""
    old = {} if before is None else before.about.get("keys", {})
    for name, key in keys.items():
        path = folder / UNFINISHED / f"{_file(name)}.json"
        if path.exists():
            try:
                held = json.loads(path.read_text(encoding="utf-8"))
                made = Made(tuple(map(read_instance, held["instances"])), tuple(held["refused"]))
                there = held["key"]
            except (ValueError, KeyError, TypeError, ArithmeticError):
                continue  # a damaged file: the problem is made again
        elif before is not None and name in old:
            made = Made(
                tuple(one for one in before.instances if one.problem == name),
                tuple(one for one in before.refused if one["problem"] == name),
            )
            there = old[name]
        else:
            continue
        if there == key and all(_unchanged(folder, one) for one in made.instances):
            yield name, made


def _unchanged(folder: Path, one: Instance) -> bool:
    files = [(one.model, one.model_sha256)]
    if one.solution is not None:
        files.append((one.solution, one.solution_sha256))
    if one.proof is not None:
        files.append((one.proof, one.proof_sha256))
    return all((folder / n).is_file() and sha256(folder / n) == digest for n, digest in files)


def _keep(folder: Path, name: str, key: str, made: Made) -> None:
    """Write what was made for a problem, so that a build that is stopped goes on from there."""
    held = {
        "key": key,
        "instances": [asdict(one) for one in made.instances],
        "refused": list(made.refused),
    }
    replace_text(folder / UNFINISHED / f"{_file(name)}.json", json.dumps(json_safe(held)))


def _file(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:24]


def _finish(folder: Path, finished: Registry, before: Registry | None) -> None:
    """Write what describes all instances, and remove those of an earlier library."""
    replace_text(folder / CSV, finished.to_csv())
    replace_text(folder / SOLU, finished.to_solu())
    replace_text(folder / PAGE, page(finished))
    replace_text(folder / JSON, finished.to_json())
    names = files_of(finished)
    replace_text(folder / SUMS, checksums(folder, names))
    if before is not None:
        for name in set(files_of(before)) - set(names):
            (folder / name).unlink(missing_ok=True)
    for path in (folder / UNFINISHED).glob("*.json"):
        path.unlink()
    (folder / UNFINISHED).rmdir()


def _said(made: Made) -> str:
    counts = {s: sum(one.status == s for one in made.instances) for s in ("easy", "hard", "open")}
    parts = [f"{n} {status}" for status, n in counts.items() if n]
    if made.refused:
        parts.append(f"{len(made.refused)} not written")
    return ", ".join(parts) or "nothing"


# -- making ----------------------------------------------------------------------------------------


def _load(files: Sequence[Path]) -> None:
    """Import files that register plug-ins."""
    if files:
        from milp_trees.common.registering.from_files import load_file

        for file in files:
            load_file(file)


def _make(entry: Entry, folder: Path, effort: Effort) -> Made:
    stated = entry.problem
    problem, _ = stated.build()
    about = About(stated.name, stated.group, stated.kind, entry.licence)
    return make_problem(about, for_models(problem), entry.formulations, folder, effort)
