"""The runs of a study: every problem with every method, start, seed and permutation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from milp_trees.common.limits import MAX_NONZEROS, Limits
from milp_trees.common.plurals import counted, spaced
from milp_trees.methods.method import Method
from milp_trees.methods.thresholds import chosen_json, is_open, settled
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem
from milp_trees.solving.attempt import default_start
from milp_trees.studies.identity import Statement, run_key
from milp_trees.studies.planning.estimating import Estimate, estimate
from milp_trees.studies.planning.lines import Path
from milp_trees.studies.planning.methods import Chosen, MethodTable
from milp_trees.studies.planning.plan import PlannedProblem, PlannedRun
from milp_trees.studies.planning.problems import count
from milp_trees.studies.planning.source import Source

#: The largest number of runs of a study; a larger number is assumed to be a mistake.
MOST_RUNS = 100_000
#: Settings of runs with the values that they have where the SPEC states none.
SETTINGS: dict[str, Any] = {
    "time_limit": 60.0,
    "memory_limit": None,
    "node_limit": None,
    "max_nonzeros": MAX_NONZEROS,
    "threads": 1,
    "seeds": [0],
    "starts": ["none"],
    "permutations": [0],
}
#: Words for the absence of a start or reference, and for the choice that the package makes.
NONE, AUTO = "none", "auto"


def settings(*tables: Any) -> dict[str, Any]:
    """The settings of runs; the first table that states one decides."""
    found = {}
    for name, usual in SETTINGS.items():
        stated = (getattr(table, name) for table in tables)
        found[name] = next((value for value in stated if value is not None), usual)
    return found


def refuse_too_many(spec: Any, source: Source) -> None:
    """Refuse a product that is too large, before anything of it is made."""
    methods = [MethodTable(t, ("methods", i)) for i, t in enumerate(spec.methods)]
    total, largest, where = 0, 0, 0
    for i, table in enumerate(spec.problems):
        runs = 0
        for each in (one for one in methods if one.may_be_named(table.methods)):
            found = settings(each.table, table, spec.defaults)
            several = (found[name] for name in ("seeds", "starts", "permutations"))
            runs += each.most * math.prod(map(len, several))
        runs *= count(table)
        total += runs
        if runs > largest:
            largest, where = runs, i
    if total > MOST_RUNS:
        table = spec.problems[where]
        raise source.error(
            ("problems", where),
            f"The SPEC asks for up to {spaced(total)} runs, and a study has at most {spaced(MOST_RUNS)}; the problems {table.name!r} alone are {counted(count(table), 'problem')} with up to {spaced(largest)} runs. Shorten a list, or make several studies.",
        )


@dataclass
class Expansion:
    """The runs of a SPEC, problem by problem.

    Parameters
    ----------
    spec : Spec
        The checked SPEC.
    source : Source
        For errors with lines.
    """

    spec: Any
    source: Source

    def __post_init__(self) -> None:
        self.tables = [MethodTable(t, ("methods", i)) for i, t in enumerate(self.spec.methods)]
        self.excluded = [0] * len(self.spec.exclude)
        self._keys: dict[str, PlannedRun] = {}
        self._same = 0
        self._other_kind: dict[str, int] = {}
        self._no_start: dict[str, int] = {}
        self._used: set[str] = set()

    def check_names(self) -> None:
        """Check the names of methods, solvers, starts and references, before data are read."""
        for table in self.tables:
            table.check(self.source)
        for path, table in self._tables():
            for i, start in enumerate(table.starts or ()):
                if start not in (NONE, AUTO):
                    with self.source.at(*path, "starts", i):
                        registry.method(start)
            reference = getattr(table, "reference", None)
            if reference not in (None, NONE, AUTO):
                with self.source.at(*path, "reference"):
                    registry.method(reference)

    def _tables(self) -> Iterator[tuple[Path, Any]]:
        yield ("defaults",), self.spec.defaults
        for name in ("problems", "methods"):
            for i, table in enumerate(getattr(self.spec, name)):
                yield (name, i), table

    def add(
        self, planned: PlannedProblem, number: int, problem: Problem, test: Any
    ) -> PlannedProblem:
        """Add the runs of a problem."""
        table = self.spec.problems[number]
        pairs = list(self._methods_on(problem, table))
        planned, problem = _settled(planned, problem, [chosen.method for _, chosen in pairs])
        statement = Statement.of(problem, test)
        estimates: dict[str, Estimate] = {}
        for each, chosen in pairs:
            found = settings(each.table, table, self.spec.defaults)
            found["reference"] = table.reference or self.spec.defaults.reference
            with self.source.at(*chosen.path):
                self._pair(_Pair(planned, problem, statement, chosen, found, estimates))
        return planned

    def _methods_on(self, problem: Problem, table: Any) -> Iterator[tuple[MethodTable, Chosen]]:
        """The methods on the problems of a table, each with the table that names it."""
        fitting = registry.formulations_for(problem)
        for each in self.tables:
            for chosen in each.of(fitting):
                if table.methods is not None and not each.named(table.methods, chosen):
                    continue
                self._used.add(chosen.label)
                if isinstance(problem.space, chosen.taker.space):
                    yield each, chosen
                else:
                    self._count(self._other_kind, chosen.label)

    def _pair(self, pair: _Pair) -> None:
        """Add the runs of a method on a problem."""
        found = pair.settings
        for stated in found["starts"] if pair.chosen.takes_start else [NONE]:
            start = None if stated == NONE else stated
            if not pair.can_begin(start):
                self._count(self._no_start, stated)
                continue
            for permutation, seed in itertools.product(found["permutations"], found["seeds"]):
                if not self._excluded(pair, stated, seed, permutation):
                    self._run(pair, start, seed, permutation)

    def _run(self, pair: _Pair, start: str | None, seed: int, permutation: int) -> None:
        """Add one run, if the same run is not in the plan yet."""
        limits = pair.limits(seed)
        key = pair.key(start, limits, permutation)
        if key in self._keys:
            self._same += 1
            return
        if len(self._keys) == MOST_RUNS:
            raise self.source.error(
                pair.chosen.path, f"There are more than {spaced(MOST_RUNS)} runs; shorten a list."
            )
        reference = pair.settings["reference"]
        run = PlannedRun(
            len(self._keys),
            pair.planned.name,
            pair.chosen.label,
            dict(pair.chosen.options),
            start,
            pair.begin(start),
            seed,
            permutation,
            limits,
            None if reference == NONE else reference,
            key,
            pair.estimate.under(limits),
            pair.estimate.basis,
        )
        self._keys[key] = run

    def _excluded(self, pair: _Pair, start: str, seed: int, permutation: int) -> bool:
        """Whether an exclusion matches a run; each exclusion counts its runs."""
        message = {
            "problem": pair.planned.name,
            "group": pair.planned.group,
            "kind": pair.planned.kind,
            "method": pair.chosen.label,
            "start": start,
        }
        numbers = {"seed": seed, "permutation": permutation}
        for i, table in enumerate(self.spec.exclude):
            if all(
                not getattr(table, name)
                or any(fnmatchcase(text, pattern) for pattern in getattr(table, name))
                for name, text in message.items()
            ) and all(
                not getattr(table, name) or number in getattr(table, name)
                for name, number in numbers.items()
            ):
                self.excluded[i] += 1
                return True
        return False

    @staticmethod
    def _count(counts: dict[str, int], name: str) -> None:
        counts[name] = counts.get(name, 0) + 1

    def finished(self) -> tuple[tuple[PlannedRun, ...], tuple[str, ...]]:
        """The runs, and a sentence for each thing that was asked for and is no run."""
        for i, table in enumerate(self.spec.problems):
            for j, pattern in enumerate(table.methods or ()):
                if not self._names_something(pattern):
                    raise self.source.error(
                        ("problems", i, "methods", j),
                        f"No table of methods has the name {pattern!r} or a method of this label.",
                    )
        if not self._keys:
            why = " ".join(self._notes())
            raise self.source.error(("methods",), f"No run is left. {why}")
        return tuple(self._keys.values()), tuple(self._notes())

    def _names_something(self, pattern: str) -> bool:
        names = {table.table.name for table in self.tables if table.table.name} | self._used
        return any(fnmatchcase(name, pattern) for name in names)

    def _notes(self) -> Iterator[str]:
        for label, number in self._other_kind.items():
            yield f"{label} searches models of another kind than {counted(number, 'problem')}, and has no runs there."
        for start, number in self._no_start.items():
            yield f"The start {start} makes models of another kind for {counted(number, 'pair')} of a problem and a method, which have no runs with it."
        if self._same:
            yield f"{counted(self._same, 'run')} would be exactly the same as another one (by its key), and {'is' if self._same == 1 else 'are'} made once."
        for i, number in enumerate(self.excluded):
            place = self.source.where(("exclude", i))
            yield f"The exclusion at {place} leaves out {counted(number, 'run')}."


def _settled(
    planned: PlannedProblem, problem: Problem, methods: list[Method]
) -> tuple[PlannedProblem, Problem]:
    """The problem with the thresholds that its methods get, and its recipe with those chosen."""
    if not is_open(problem):
        return planned, problem
    found = settled(problem, methods).problem
    recipe = {**planned.recipe, "chosen": chosen_json(found, problem)}
    return replace(planned, recipe=recipe), found


@dataclass
class _Pair:
    """A method on a problem, with the settings of its runs."""

    planned: PlannedProblem
    problem: Problem
    statement: Statement
    chosen: Chosen
    settings: dict[str, Any]
    estimates: dict[str, Estimate]

    @property
    def estimate(self) -> Estimate:
        """The estimate, which is the same for all solvers and options."""
        label = self.chosen.taker.label
        if label not in self.estimates:
            self.estimates[label] = estimate(self.chosen, self.problem)
        return self.estimates[label]

    def can_begin(self, start: str | None) -> bool:
        """Whether the method of a start makes models of the problem's kind."""
        if start in (None, AUTO):
            return True
        method: Any = registry.method(str(start))
        return isinstance(self.problem.space, getattr(method, "formulation", method).space)

    def begin(self, start: str | None) -> str | None:
        """The method that makes a start."""
        if start is None:
            return None
        return default_start(self.problem) if start == AUTO else registry.method(start).label

    def limits(self, seed: int) -> Limits:
        """The limits of a run."""
        found = self.settings
        return Limits.asked(
            time_limit=found["time_limit"],
            memory_mb=found["memory_limit"],
            node_limit=found["node_limit"],
            max_nonzeros=found["max_nonzeros"],
            threads=found["threads"],
            seed=seed,
        )

    def key(self, start: str | None, limits: Limits, permutation: int) -> str:
        """The key of a run."""
        return run_key(
            self.statement,
            self.chosen.method,
            limits,
            self.begin(start),
            permutation=permutation,
            software=software_of,
        )


_software: dict[str, Mapping[str, str]] = {}


def software_of(method: Method) -> Mapping[str, str]:
    """The versions of everything that a method computes with, found once for each label."""
    if method.label not in _software:
        _software[method.label] = method.software()
    return _software[method.label]
