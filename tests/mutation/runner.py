"""Runs mutants one after another, each in a forked child of a process that knows all problems, oracles and optima already."""

from __future__ import annotations

import contextlib
import csv
import os
import pickle
import random
import select
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from milp_trees import formulation as formulation_module
from milp_trees.space import Trees
from milp_trees.space_pruned import PrunedEnsembles
from milp_trees.testing import brute_force, checks, deletion, solve
from milp_trees.testing.pruning_checks import best_pruning

from . import fault
from .mutants import Mutant, plant
from .suite import Claim, Remembered, Unchanged, claims, labels, problems, true_models

COLUMNS = (
    "id", "file", "line", "operator", "condition", "change", "verdict", "check", "formulation", "problem", "seconds", "active", "message",
)  # fmt: skip


#: Words in the names of functions that turn a model's optimum into a predictor.
DECODING = ("decode", "read_threshold", "best_label", "chosen_action", "_last_split", "branch", "completed")


class Bench:
    """Everything that does not depend on the fault: problems, the oracle's answers, and what the true models are."""

    def __init__(self, names: Iterable[str], report: Callable[[str], None] = lambda text: None) -> None:
        self.remembered = Remembered()
        self.seconds: dict[tuple[str, str], float] = {}
        for label in names:
            report(f"without faults: {label}")
            true, seconds = in_child(lambda label=label: self._true_models(label), 1800)
            self.remembered.true |= true
            self.seconds |= seconds
        for label, name in self.seconds:
            report(f"oracle: {name}")
            problem = problems(label)[name]
            (best_pruning if isinstance(problem.space, PrunedEnsembles) else brute_force)(problem)

    def _true_models(self, label: str) -> Any:
        self._prepare("")
        return true_models(label)

    def _prepare(self, function: str) -> None:
        """In the child: nothing that was made by the true formulations is left but optima by matrix, and rules are called with every index."""
        build = formulation_module._fast_building
        formulation_module._fast_building = lambda templates: build(False)
        for cached in (solve.built, checks.solved, deletion.noticed):
            cached.cache_clear()
        self.remembered.install(any(word in function for word in DECODING))

    def verdict(self, mutant: Mutant, limit: float) -> dict[str, Any]:
        """Plants one mutant and says who caught it."""
        began = time.perf_counter()
        found = in_child(lambda: self._attempt(mutant), limit)
        self.remembered.points.update(found.pop("points", {}))
        return {
            "id": mutant.id, "file": mutant.file, "line": mutant.line, "operator": mutant.operator, "condition": mutant.condition,
            "change": mutant.change, **found, "seconds": round(time.perf_counter() - began, 2),
        }  # fmt: skip

    def _attempt(self, mutant: Mutant) -> dict[str, Any]:
        try:
            plant(mutant)
        except (SyntaxError, ValueError, StopIteration) as unfit:
            return {"verdict": "unfit", "message": f"{type(unfit).__name__}: {unfit}"}
        self._prepare(mutant.function)
        known, claim = set(self.remembered.points), None
        found = {"verdict": "survived"}
        try:
            for claim in self.ordered(mutant):
                with contextlib.suppress(Unchanged):
                    claim.run()
        except AssertionError as caught:
            found = _caught("caught", claim, str(caught))
        except Exception as raised:
            found = _caught("raised", claim, f"{type(raised).__name__}: {raised}")
        # A condition on something that is no number where the fault stands is no fault.
        if found["verdict"] == "survived" and fault.misfits and not fault.fits:
            found["verdict"] = "unfit"
        return found | {"active": fault.hits, "points": {k: p for k, p in self.remembered.points.items() if k not in known}}

    def ordered(self, mutant: Mutant) -> Iterator[Claim]:
        """The checks that see a mutant's file on problems that its condition may reach: cheap before dear, claims of form last."""
        found = [c for label in labels(mutant.file) for c in claims(label) if reaches(mutant, label, c.problem)]
        of_form_first = "sizes" in mutant.function or "counts" in mutant.function

        def key(c: Claim) -> Any:
            return c.of_form != of_form_first, self.seconds.get((c.label, c.problem), 1.0), c.label, c.problem

        yield from sorted(found, key=key)


def _caught(verdict: str, claim: Claim | None, message: str) -> dict[str, Any]:
    where = ("", "", "") if claim is None else claim.name
    return {
        "verdict": verdict, "formulation": where[0], "problem": where[1], "check": where[2],
        "message": " ".join(message.split())[:300],
    }  # fmt: skip


def reaches(mutant: Mutant, label: str, name: str) -> bool:
    """Whether a mutant's condition can be met on a problem: false only where the problem is too small for it, and so nothing is different there."""
    problem, kind = problems(label)[name], mutant.kind
    if ">=" not in mutant.condition or not isinstance(problem.space, Trees) or ":result" in mutant.condition:
        return True
    least = int(mutant.condition.rpartition(">=")[2]) + (":size" not in mutant.condition)
    space = problem.space
    sizes = {"row": problem.dataset.n_rows, "min-leaf": space.min_samples_leaf, "level": space.max_depth}
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
    """What a function returns in a forked child; a verdict `timeout` or `died` where it returns nothing."""
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


# -- samples and tables ---------------------------------------------------------------------------------------------


def sample(found: Iterable[Mutant], most: int, seed: int) -> list[Mutant]:
    """Some mutants of one file, spread over its functions, operators and conditions; formulas for sizes make up little of it."""
    order = list(found)
    random.Random(f"{seed} {order[0].file if order else ''}").shuffle(order)
    taken: list[Mutant] = []
    count: Counter[tuple[str, str]] = Counter()

    def crowd(m: Mutant) -> float:
        often = 0.25 if m.condition == "always" else 1.0
        dull = 4.0 if "sizes" in m.function or "counts" in m.function else 1.0
        return count["function", m.function] * dull + count["operator", m.operator] + 2 * often * count["kind", m.kind] + dull

    while order and len(taken) < most:
        best = min(order, key=crowd)
        order.remove(best)
        taken.append(best)
        for what, value in (("function", best.function), ("operator", best.operator), ("kind", best.kind)):
            count[what, value] += 1
    return taken


def read(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a table of results by id."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def append(path: Path, row: dict[str, Any]) -> None:
    """One more row; the header where the table is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        if new:
            writer.writeheader()
        writer.writerow(row)
