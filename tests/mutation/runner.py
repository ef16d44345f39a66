"""Runs mutants one after another, each in a forked child of a process that knows all problems,
oracles and optima already.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from milp_trees.mip import formulation as formulation_module
from milp_trees.models.space import Trees
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.testing.checks import best_pruning
from milp_trees.testing import brute_force, deletion, solve
from milp_trees.testing import checks as testing_checks
from milp_trees.testing.sets import is_wide

from . import fault
from .calls import Calls
from .checkers import CHECKER_FILES, corpus, first_difference
from .mutants import Mutant
from .planting import Planted, plant
from .suite import (
    OF_FORM,
    SOLVING,
    Remembered,
    checks,
    digest,
    effort,
    formulation,
    labels,
    problems,
    takes_as_before,
)
from .task_tests import TASK_FILES, first_breach, first_failure, noted, noted_tests, tests_of

#: Words in the names of functions that only declare models, and of those that turn an optimum into
#: a predictor.
DECLARING = (
    "declare",
    ".add_",
    "._add_",
    "minimise",
    "penalties",
    "_single_sink",
    "_multi_sink",
    "add_objective",
)
DECODING = (
    "decode",
    "read_threshold",
    "best_label",
    "chosen_action",
    "_last_split",
    "branch",
    "completed",
)


class Bench:
    """Everything that does not depend on the fault: problems, the oracle's answers, true models,
    and optima of some of them.

    Parameters
    ----------
    names : iterable of str
        Labels of the formulations that will be needed.
    most : int, optional
        On how many formulations a fault in a shared file is tried; all by default.
    tests : bool, default=True
        Whether what definitions of tasks do not catch is run on tests.
    """

    def __init__(
        self,
        names: Iterable[str],
        most: int | None = None,
        tests: bool = True,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.most, self.by_tests, self.calls = most, tests, Calls()
        self.tests: dict[tuple[str, ...], Calls] = {}
        self.remembered = Remembered()
        self.true: dict[tuple[str, str], bytes] = {}
        for label in names:
            for name, problem in problems(label).items():
                report(f"oracle: {name}")
                (best_pruning if isinstance(problem.space, PrunedEnsembles) else brute_force)(
                    problem
                )

    def verdict(self, mutant: Mutant, limit: float) -> dict[str, Any]:
        """Plants one mutant and says who caught it."""
        if mutant.file in CHECKER_FILES:
            corpus(Path(mutant.file).stem)  # made by the true code, here and once
        defined = mutant.file in TASK_FILES and not mutant.file.startswith("milp_trees/data/")
        if defined and not self.calls.of:
            self.calls = in_child(noted, 1800)
        began = time.perf_counter()
        found: dict[str, Any] = {"verdict": "survived"}
        if defined or mutant.file not in TASK_FILES:
            found = in_child(lambda: self._attempt(mutant), limit)
        if self.by_tests and mutant.file in TASK_FILES and found["verdict"] == "survived":
            part = tests_of(mutant.file)
            if part not in self.tests:
                self.tests[part] = in_child(lambda: noted_tests(mutant.file), 1800)
            found = in_child(lambda: self._attempt(mutant, by_tests=True), limit)
        self.remembered.points.update(found.pop("points", {}))
        self.true.update(found.pop("true", {}))
        return {
            "id": mutant.id,
            "file": mutant.file,
            "line": mutant.line,
            "operator": mutant.operator,
            "condition": mutant.condition,
            "change": mutant.change,
            **found,
            "seconds": round(time.perf_counter() - began, 2),
        }

    def _attempt(self, mutant: Mutant, by_tests: bool = False) -> dict[str, Any]:
        """In the child; tasks and spaces by their definitions first, then by tests."""
        fresh()
        self.remembered.install()
        try:
            planted = plant(mutant)
        except (SyntaxError, ValueError, StopIteration) as unfit:
            return {"verdict": "unfit", "message": f"{type(unfit).__name__}: {unfit}"}
        known, true = set(self.remembered.points), set(self.true)
        if by_tests:
            found = first_failure(mutant, self.tests[tests_of(mutant.file)])
        elif mutant.file in TASK_FILES:
            callers = self.calls.callers(mutant.file, mutant.function)
            found = first_breach(callers) or {"verdict": "survived"}
        elif mutant.file in CHECKER_FILES:
            found = first_difference(mutant)
        else:
            found = self._reference(mutant, planted)
        # A condition on something that is no number where the fault stands is no fault.
        if found["verdict"] == "survived" and fault.misfits and not fault.fits:
            found["verdict"] = "unfit"
        points = (
            {k: p for k, p in self.remembered.points.items() if k not in known}
            if _any(DECODING, mutant)
            else {}
        )
        return found | {
            "active": fault.hits,
            "points": points,
            "true": {k: d for k, d in self.true.items() if k not in true},
        }

    def _reference(self, mutant: Mutant, planted: Planted) -> dict[str, Any]:
        """The first check of values that fails; if none does, the first of form."""
        of_form: dict[str, Any] = {}
        refused: dict[str, Any] = {}
        for label, name in self.ordered(mutant):
            claim = "build"
            try:
                todo = checks(label, name)
                if not takes_as_before(label, name):
                    return _caught(
                        "caught",
                        label,
                        name,
                        "taken",
                        f"{label} {'takes' if todo else 'refuses'} {name}",
                    )
                if not todo and self._taken(label, name, planted):
                    refused = refused or _caught("refused", label, name, "unsupported", "")
                same = todo and self._unchanged(mutant, label, name, planted)
                if same and _any(DECLARING, mutant):
                    continue
                for claim, run in todo.items():
                    # Deciding what to decode needs an optimum; on wide problems, trees that are
                    # encoded and decoded again do instead.
                    if same and claim in SOLVING and (is_wide(name) or not _any(DECODING, mutant)):
                        continue
                    try:
                        run()
                    except AssertionError as caught:
                        found = _caught("caught", label, name, claim, str(caught))
                        if claim not in OF_FORM or _any(("sizes", "counts"), mutant):
                            return found
                        of_form = of_form or found
            except Exception as raised:
                return _caught("raised", label, name, claim, f"{type(raised).__name__}: {raised}")
        return of_form or refused or {"verdict": "survived"}

    def _taken(self, label: str, name: str, planted: Planted) -> bool:
        """Whether a formulation without its fault takes a problem."""
        with planted.lifted():
            return formulation(label).unsupported(problems(label)[name].without_views()) is None

    def _unchanged(self, mutant: Mutant, label: str, name: str, planted: Planted) -> bool:
        """Whether a fault leaves a model as it was, so that solving it says what it says without
        the fault.
        """
        plan, problem, before = formulation(label), problems(label)[name], fault.hits
        b = solve.built(plan, problem)
        if b.separator is not None and not _any(
            DECLARING, mutant
        ):  # the matrix is not all of the model
            return False
        if mutant.condition != "always" and fault.hits == before:
            return True
        if (label, name) not in self.true:
            with planted.lifted():
                self.true[label, name] = digest(
                    solve.built.__wrapped__(plan, problem.without_views()).matrix
                )
        return self.true[label, name] == digest(b.matrix)

    def ordered(self, mutant: Mutant) -> Iterator[tuple[str, str]]:
        """Formulations and problems that see a mutant and can meet its condition; the suite's tiny
        problems, then the wide ones, cheap before dear.
        """
        pairs = [
            (label, name)
            for label in labels(mutant.file)[: self.most]
            for name in problems(label)
            if reaches(mutant, label, name)
        ]
        yield from sorted(
            pairs, key=lambda pair: (is_wide(pair[1]), effort(problems(pair[0])[pair[1]]))
        )


def fresh() -> None:
    """In the child: nothing is left that was made by the true formulations, and rules are called
    with every index.
    """
    build = formulation_module.fast_building
    formulation_module.fast_building = lambda templates: build(False)
    for cached in (solve.built, testing_checks.solved, deletion._noticed):
        cached.cache_clear()


def _any(words: Iterable[str], mutant: Mutant) -> bool:
    """Whether the name of a mutant's function has one of the words."""
    return any(word in f".{mutant.function}" for word in words)


def _caught(verdict: str, label: str, name: str, claim: str, message: str) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "formulation": label,
        "problem": name,
        "check": claim,
        "message": " ".join(message.split())[:300],
    }


def reaches(mutant: Mutant, label: str, name: str) -> bool:
    """Whether a mutant's condition can be met on a problem: false only where the problem is too
    small for it, and so nothing is different there.
    """
    problem, kind = problems(label)[name], mutant.kind
    if (
        ">=" not in mutant.condition
        or not isinstance(problem.space, Trees)
        or ":result" in mutant.condition
    ):
        return True
    least = int(mutant.condition.rpartition(">=")[2]) + (":size" not in mutant.condition)
    space = problem.space
    sizes = {
        "row": problem.dataset.n_rows,
        "min-leaf": space.min_samples_leaf,
        "level": space.max_depth,
    }
    if kind == "action":
        sizes["action"] = len(problem.task.actions(problem.dataset)) or least
    if kind == "leaf-limit":
        sizes["leaf-limit"] = space.max_depth if space.max_leaf_nodes else 0
    if kind == "node" and label != "state-flow":
        sizes["node"] = 2 ** ((space.max_depth or 9) + 1)
    found = sizes.get(kind, least)
    return found is None or found >= least


# -- children -------------------------------------------------------------------------------------------------------


def in_child(work: Callable[[], Any], limit: float) -> Any:
    """What a function returns in a forked child; a verdict `timeout` or `died` where it returns
    nothing.
    """
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        with contextlib.suppress(BaseException):
            os.close(read)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            try:
                answer: Any = ("answer", work())
            except Exception as failed:
                answer = ("failed", f"{type(failed).__name__}: {failed}")
            with os.fdopen(write, "wb") as pipe:
                pickle.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    data, until = b"", time.monotonic() + limit
    try:
        while True:
            ready, _, _ = select.select([read], [], [], max(0.0, until - time.monotonic()))
            part = os.read(read, 1 << 20) if ready else None
            if part is None:
                return {"verdict": "timeout"}
            if not part:
                break
            data += part
    finally:
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not data:
        return {"verdict": "died"}
    kind, value = pickle.loads(data)
    if kind == "failed":
        raise RuntimeError(value)
    return value
