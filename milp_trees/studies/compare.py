"""Running a comparison: every method on every problem with every seed.

Each row is compared with a reference and stored as its run ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, NoView, UnknownName
from milp_trees.common.limits import Deadline, Limits
from milp_trees.common.registering.labels import split_labels
from milp_trees.methods.callback import callback_scope, is_true
from milp_trees.methods.thresholds import CHOOSING, Choice, settled
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import availability_of
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result, TracePoint
from milp_trees.solving.attempt import AUTO, named_method
from milp_trees.studies.one_run import RUN, Prove, RunContext, RunRequest
from milp_trees.studies.store import StoreError
from milp_trees.studies.study import Study

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class Moment:
    """News of a comparison: the number of a run, and a point of its trace or its result."""

    method: str
    number: int
    total: int
    point: TracePoint | None = None
    result: Result | None = None


#: Called with every `Moment`; True ends the run and the comparison.
Watcher = Callable[[Moment], object]


def method_names(
    methods: str | Iterable[str] | None,
    formulations: str | Iterable[str],
    solvers: str | Iterable[str],
    problems: Iterable[Problem] = (),
) -> list[str]:
    """Labels of the requested methods, each once, even if it was written in several ways.

    Every name is checked before anything runs.
    """
    if methods is not None:
        names = _names(methods, "methods")
        if not names:
            raise UnknownName("No method was named; name some, for example dp and flow-oct@highs.")
    else:
        chosen = (
            _fitting(problems) if formulations == "all" else _names(formulations, "formulations")
        )
        found = (
            [n for n, c in registry.classes("solvers").items() if availability_of(c()).found]
            if solvers == "all"
            else _names(registry.default_solver if solvers == AUTO else solvers, "solvers")
        )
        names = [f"{f}@{s}" for f in chosen for s in found]
        if not names:
            raise UnknownName(
                "No formulation or no solver was named; write for example formulations='all', solvers='all'."
            )
    return list(dict.fromkeys(registry.method(name).label for name in names))


def checked_seeds(seeds: Any) -> list[int]:
    """The seeds of a comparison, without repetition."""
    given = (
        list(seeds) if isinstance(seeds, Iterable) and not isinstance(seeds, (str, bytes)) else None
    )
    if not given:
        raise DataError(
            f"seeds is a list of whole numbers such as [0, 1], of which there is at least one; got {seeds!r}."
        )
    return list(dict.fromkeys(Limits(seed=seed).seed for seed in given))


def _fitting(problems: Iterable[Problem]) -> list[str]:
    """Formulations for the space and task of one of the problems; all if there are no problems."""
    fitting = {name for problem in problems for name in registry.formulations_for(problem)}
    return [name for name in registry.classes("formulations") if name in fitting or not fitting]


def _names(given: Any, what: str) -> list[str]:
    if isinstance(given, str):
        return split_labels(given)
    if not isinstance(given, Iterable):
        raise DataError(
            f"{what} is a list of names, or a text with commas between them; got {given!r}."
        )
    return list(given)


@dataclass
class Comparison:
    """The settings that all runs of a comparison share."""

    study: Study
    limits: Limits
    start: str | Tree | None
    reference: str | None
    options: Mapping[str, Any]
    test_data: Dataset | None
    watch: Watcher | None
    prove: Prove | None = None
    number: int = 0
    total: int = 0

    def all(self, problems: list[Problem], names: list[str], seeds: Iterable[int]) -> Study:
        """Run all rows.

        It stops early, with the finished rows, when a run is interrupted or the store cannot be
        written.
        """
        seeds = checked_seeds(seeds)
        self.total = len(problems) * len(names) * len(seeds)
        try:
            for problem in problems:
                self._check(problem)
                bench = self._bench(self._settled(problem, names), names)
                with callback_scope(self._teller("preparing", self.number + 1)):
                    self.study.reference = bench.reference
                    _ = bench.start
                for name in names:
                    for seed in seeds:
                        self._row(bench, name, seed)
                        if self.study.interrupted:
                            return self.study
        except KeyboardInterrupt:
            self.study.interrupted = True
        except StoreError as error:
            error.study = self.study  # type: ignore[attr-defined]
            raise
        finally:
            with suppress(StoreError):  # a process that ends has no claims anyway
                self.study.release()
        return self.study

    def _check(self, problem: Problem) -> None:
        """Raise an error for a mistake in the problem itself, which is not made a row."""
        try:
            _ = problem.scale
        except NoView:
            return

    def _settled(self, problem: Problem, names: list[str]) -> Problem:
        """The problem with the thresholds that all methods of the comparison get."""
        most = self.limits.time and CHOOSING * self.limits.time
        with callback_scope(self._teller("preparing", self.number + 1)):
            methods = [named_method(name) for name in names]
            return settled(problem, methods, Choice(deadline=Deadline.after(most))).problem

    def _bench(self, problem: Problem, names: list[str]) -> RunContext:
        case = RunRequest(
            problem, self.limits, self.start, self.reference, tuple(names), self.test_data
        )
        return RunContext(case, self.study, prove=self.prove)

    def _row(self, bench: RunContext, name: str, seed: int) -> None:
        self.number += 1
        report = self._teller(named_method(name).label, self.number)
        made = bench.run(name, seed, self.options, report)
        self.study.show(made)
        if made.fresh:
            self.study.keep(made.result, made.key, RUN, seed)
        ended = made.result.limit is not None and made.result.limit.by_user
        self.study.interrupted = (report is not None and report(None, made.result)) or ended

    def _teller(self, label: str, number: int) -> Callable[..., bool] | None:
        """What tells the user's function about a run, and passes on what it answers."""
        watch = self.watch
        if watch is None:
            return None

        def tell(point: TracePoint | None, result: Result | None = None) -> bool:
            return is_true(watch(Moment(label, number, self.total, point, result)))

        return tell


def compare_problems(
    problems: list[Problem],
    names: list[str],
    limits: Limits,
    *,
    start: str | Tree | None = None,
    reference: str | None = None,
    seeds: Iterable[int] = (0,),
    store: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    test_data: Dataset | None = None,
    progress: Watcher | None = None,
    prove: Prove | None = None,
) -> Study:
    """Run a comparison; see `milp_trees.compare`, which reads the arguments of the user."""
    study = Study(store)
    settings = Comparison(
        study, limits, start, reference, options or {}, test_data, progress, prove
    )
    return settings.all(problems, names, seeds)
