"""`Plan`: the problems and runs of a study as plain data, the same on every machine.

A plan is made from a SPEC file once (`milp_trees.studies.planning.reading`). Workers read only the plan: it
holds everything that a run needs, except for the data files and plug-in files that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.studies.planning.recipes import build_problem

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

#: Version of the layout of `Plan.to_json`.
LAYOUT = 1


@dataclass(frozen=True)
class PlannedProblem:
    """A problem of a study, by the recipe that makes it.

    Parameters
    ----------
    name : str
        Unique in the study, such as `uci/iris/depth=2`.
    group : str
        The group under which the study shows it; empty if the SPEC names none.
    kind : str
        `trees`, `rule-lists`, `pruned` or `decisions`.
    data : str
        A short name of the data, such as `iris`.
    recipe : mapping
        Plain values from which the problem is made; see `milp_trees.studies.planning.recipes`.
    folder : str
        The folder in which relative paths of the recipe begin: that of the SPEC.
    """

    name: str
    group: str
    kind: str
    data: str
    recipe: Mapping[str, Any]
    folder: str = ""

    def build(self, permutation: int = 0) -> tuple[Problem, Dataset | None]:
        """The problem, with the same arrays on every machine."""
        return build_problem(self.kind, self.recipe, Path(self.folder), permutation)


@dataclass(frozen=True)
class PlannedRun:
    """One run of a study.

    Parameters
    ----------
    number : int
        Its place in the plan, from 0 on.
    problem : str
        Name of the problem.
    method : str
        Full label of the method.
    options : mapping
        Options of the solver, by its own names.
    start : str or None
        What the run begins with, as stated: None for no start, `auto`, or a method. It is None for
        methods that take no start.
    begin : str or None
        The full label of the method that makes the start; it differs from `start` for `auto`.
    seed : int
        Seed of the solver.
    permutation : int
        0 for the problem as stated, otherwise the seed of the permutation.
    limits : Limits
        With the seed.
    reference : str or None
        What judges the answer: None for no check, `auto`, or a method.
    key : str
        Fingerprint of everything that can change the run (`milp_trees.studies.identity`).
    estimate : float
        Estimated seconds of the run; it is at most about the time limit.
    basis : str
        What the estimate rests on, in words.
    """

    number: int
    problem: str
    method: str
    options: Mapping[str, Any]
    start: str | None
    begin: str | None
    seed: int
    permutation: int
    limits: Limits
    reference: str | None
    key: str
    estimate: float
    basis: str = ""


@dataclass(frozen=True)
class Plan:
    """The problems and runs of a study.

    Parameters
    ----------
    title : str
    spec_text : str
        The SPEC, as it was written.
    folder : str
        The folder of the SPEC, where relative paths begin.
    plugins : tuple of str
        Python files that register plug-ins when they are imported; relative to `folder`.
    problems : tuple of PlannedProblem
    runs : tuple of PlannedRun
    notes : tuple of str
        A sentence for each thing that the SPEC asks for and that is no run.
    extra : mapping
        The tables of the SPEC that are not about runs, such as `library`.
    """

    title: str
    spec_text: str
    folder: str
    plugins: tuple[str, ...]
    problems: tuple[PlannedProblem, ...]
    runs: tuple[PlannedRun, ...]
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, PlannedProblem]:
        """The problems by their names."""
        return {problem.name: problem for problem in self.problems}

    def load_plugins(self) -> None:
        """Import the plug-in files, so that their methods and tasks can be made by name."""
        from milp_trees.common.registering.from_files import load_file

        for name in self.plugins:
            load_file(Path(self.folder) / name)

    def to_json(self) -> dict[str, Any]:
        """The plan as plain values that JSON can hold."""
        problems = [asdict(problem) for problem in self.problems]
        for problem in problems:
            del problem["folder"]
        return {
            "layout": LAYOUT,
            "title": self.title,
            "spec_text": self.spec_text,
            "folder": self.folder,
            "plugins": list(self.plugins),
            "problems": problems,
            "runs": [asdict(run) for run in self.runs],
            "notes": list(self.notes),
            "extra": dict(self.extra),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], folder: str | Path | None = None) -> Plan:
        """The plan that `to_json` described."""
        try:
            if stored["layout"] > LAYOUT:
                raise DataError(
                    f"The plan has the layout {stored['layout']}, and this version of milp-trees reads layouts up to {LAYOUT}; install a newer version."
                )
            return cls._read(stored, folder)
        except (TypeError, KeyError, AttributeError) as error:
            raise DataError(
                "The plan of the study is damaged; start the study again with its SPEC."
            ) from error

    @classmethod
    def _read(cls, stored: Mapping[str, Any], folder: str | Path | None) -> Plan:
        place = str(stored["folder"] if folder is None else folder)
        return cls(
            stored["title"],
            stored["spec_text"],
            place,
            tuple(stored["plugins"]),
            tuple(PlannedProblem(**problem, folder=place) for problem in stored["problems"]),
            tuple(_run(run) for run in stored["runs"]),
            tuple(stored["notes"]),
            stored["extra"],
        )

    def only(self, runs: tuple[PlannedRun, ...]) -> Plan:
        """The plan with some of its runs."""
        return replace(self, runs=runs)


def _run(stored: Mapping[str, Any]) -> PlannedRun:
    return PlannedRun(**{**stored, "limits": Limits(**stored["limits"])})
