"""What is gained where models, linear programs and bounds are kept between steps.

    MILP_TREES_DATA=… python benchmarks/persistent.py [--sections fronts,sizes,ratios,ties,cuts]
        [--limit 120] [--out FILE.csv] [--draws 0]

Every case is run twice in the same process, without and with what is kept, after a run that is not
measured (it loads and compiles). Times are processor seconds, because other jobs stretch wall time:
`own` of this process (building models, compiling matrices, checking trees) and `solver` of the
solver's process. `same` compares values and coordinates of both answers. In the section `cuts` only
the relaxations with their cuts are measured, from the model without cuts to the first point that
violates none. `--draws N` compares N random fronts and paths of sizes of up to 16 rows, with
several classes, weights and equal or complementary columns, with those of `enumerate` and
`dp-sizes`, before anything is measured; the first that differs ends the script.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np
import psutil
from _data import root

import milp_trees as mt
from milp_trees import registry
from milp_trees.mip import cut_loop, persistent, runner
from milp_trees.plugins import Front
from milp_trees.problems.problem import Problem
from milp_trees.tasks.constraints import Capacity

PLANTED = "planted:rows={},tests={},depth=2,noise=0.2,seed=1"
#: Sections: the sets, the depth, the methods.
FRONTS = (
    ("ricci", 1, ("flow-oct@highs", "state-flow@highs")),
    ("ricci", 2, ("flow-oct@highs", "state-flow@highs")),
    ("ricci", 3, ("state-flow@highs",)),
    ("german-credit", 1, ("state-flow@highs",)),
    ("capacity 60 x 6", 2, ("flow-oct@highs", "state-flow@highs")),
    ("capacity 200 x 10", 2, ("state-flow@highs", "state-flow@scip")),
    ("capacity 200 x 10", 1, ("flow-oct@highs",)),
)
SIZES = (
    ("60 x 6", 2, ("flow-oct@highs", "cut@highs", "benders-oct@scip", "state-flow@highs")),
    ("200 x 10", 2, ("state-flow@highs", "benders-oct@scip")),
)
RATIOS = (("60 x 6", 2, ("flow-oct@highs",)), ("200 x 10", 1, ("flow-oct@highs",)))
CUTS = (
    ("breast-wisconsin", 2, ("benders-oct@highs", "benders-oct@scip")),
    ("german-credit", 2, ("benders-oct@highs", "benders-oct@scip")),
    ("heart-cleveland", 2, ("benders-oct@highs", "benders-oct@scip")),
)
#: Number of steps in the section `ties`.
TIES = 5
COLUMNS = "section case method steps own_without own_with solver_without solver_with same"


def planted(size: str) -> mt.Dataset:
    return mt.load(PLANTED.format(*size.split(" x ")))


def front(name: str, depth: int) -> Problem:
    if name.startswith("capacity "):
        data = planted(name.removeprefix("capacity "))
        return mt.Problem(data, mt.Accuracy(), mt.Trees(depth), Front(against=Capacity(1)))
    data = mt.load(str(root() / "fairness" / f"{name}-binarized.csv"), group=0)
    against = Front(against="statistical-parity")
    return mt.Problem(data, mt.Accuracy(), mt.Trees(depth), against)


def solver_seconds(method: str) -> float:
    """Processor seconds of the solver's idle process."""
    worker = runner._pool.idle.get(method.split("@")[1])
    if worker is None:
        return 0.0
    times = psutil.Process(worker.process.pid).cpu_times()
    return float(times.user + times.system)


def measured(method: str, run: Callable[[], Any]) -> tuple[Any, float, float]:
    """An answer, and the processor seconds of this process and of the solver's."""
    own, solver = time.process_time(), solver_seconds(method)
    found = run()
    return found, time.process_time() - own, solver_seconds(method) - solver


def twice(method: str, run: Callable[[], Any], without: Callable[[], Any]) -> Iterator[Any]:
    """The case without and with what is kept."""
    with without():
        yield measured(method, run)
    yield measured(method, run)


def nothing_kept() -> ExitStack:
    """Within this block every step builds its model, and no bound is known before."""
    stack = ExitStack()
    stack.enter_context(mock.patch.object(persistent, "keep", return_value=None))
    stack.enter_context(mock.patch.object(Problem, "know", return_value=None))
    return stack


def from_the_beginning(method: str) -> ExitStack:
    """Within this block every relaxation is solved from the beginning."""
    solver = type(registry.method(method).solver)
    stack = ExitStack()
    without = solver.capabilities - {"lp-cuts"}
    stack.enter_context(mock.patch.object(solver, "capabilities", without))
    return stack


def fronts(limit: float) -> Iterator[tuple[Any, ...]]:
    for name, depth, methods in FRONTS:
        for method in methods:

            def run(name: str = name, depth: int = depth, method: str = method) -> Any:
                problem = front(name, depth)
                return mt.solve(problem, method, start=None, reference=None, time_limit=limit)

            before, after = twice(method, run, nothing_kept)
            answers = [[s.coordinates for s in r[0].solutions] for r in (before, after)]
            whole = before[0].complete and after[0].complete
            steps = after[0].model_size.get("steps")
            yield (
                "fronts",
                f"{name}, depth {depth}",
                method,
                steps,
                before,
                after,
                (answers[0] == answers[1] if whole else "not complete"),
            )


def sizes(limit: float) -> Iterator[tuple[Any, ...]]:
    for name, depth, methods in SIZES:
        for method in methods:

            def run(name: str = name, depth: int = depth, method: str = method) -> Any:
                problem = mt.Problem(planted(name), mt.Accuracy(), mt.Trees(depth))
                return mt.size_path(problem, max_leaves=2**depth, method=method, time_limit=limit)

            before, after = twice(method, run, nothing_kept)
            values = [[p.value for p in r[0].points] for r in (before, after)]
            case = f"{name}, depth {depth}"
            yield "sizes", case, method, len(values[1]), before, after, values[0] == values[1]


def ratios(limit: float) -> Iterator[tuple[Any, ...]]:
    from milp_trees.tasks.ratio import F1

    for name, depth, methods in RATIOS:
        for method in methods:

            def run(name: str = name, depth: int = depth, method: str = method) -> Any:
                problem = mt.Problem(planted(name), F1(), mt.Trees(depth))
                return mt.solve(problem, method, start=None, reference=None, time_limit=limit)

            before, after = twice(method, run, nothing_kept)
            same = before[0].value == after[0].value
            steps = after[0].model_size.get("steps")
            yield "ratios", f"{name}, depth {depth}", method, steps, before, after, same


def ties(limit: float) -> Iterator[tuple[Any, ...]]:
    """Single steps whose value an earlier step has proved: a tighter limit leaves it as it is."""
    from milp_trees.common.limits import Limits

    method, found = registry.method("flow-oct@highs"), 0
    for seed in range(1, 100):
        data = mt.load(PLANTED.format(60, 6).replace("seed=1", f"seed={seed}"))
        free = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
        best = mt.solve(free, "dp")
        treated = int((free.routes(best.tree).action == 1).sum())
        if not treated:
            continue
        step = free.under(Capacity(1, at_most=treated - 1))
        if mt.solve(step, reference=None).value != best.value:
            continue
        known = free.under(Capacity(1, at_most=treated - 1))
        known.know(best.value.exact, "an earlier step")
        before, after = (
            measured("flow-oct@highs", lambda p=p: method.step(p, Limits(time=limit), None, None))
            for p in (step, known)
        )
        same = before[0].value == after[0].value == best.value
        yield "ties", f"60 x 6, depth 2, seed {seed}", "flow-oct@highs", 1, before, after, same
        found += 1
        if found == TIES:
            return


def cuts(limit: float) -> Iterator[tuple[Any, ...]]:
    """Relaxations only: the search that follows would hide them."""
    from milp_trees.common.limits import Limits

    for name, depth, methods in CUTS:
        file = next((root() / "classification").glob(f"{name}.txt*"))
        problem = mt.Problem(mt.load(str(file)), mt.Accuracy(), mt.Trees(depth))
        for name_of_method in methods:
            method, ends = registry.method(name_of_method), []

            def relaxations(method: Any, run: Any, separator: Any, ends: list[Any] = ends) -> None:
                if "lp-cuts" in method.solver.capabilities:
                    answer = method.solve_once(run, relax=True, lazy=separator)
                else:
                    cut_loop._cut_relaxation(method, run, separator)
                    answer = run.answers[-1]
                ends.append((answer.bound, run.matrix.n_rows))

            def run(method: Any = method, problem: Any = problem) -> Any:
                return method.run(problem, Limits(time=limit))

            with mock.patch("milp_trees.mip.method.solve_by_cuts", relaxations):
                before, after = twice(
                    name_of_method, run, lambda n=name_of_method: from_the_beginning(n)
                )
            (low, rows), (also, more) = ends[-2:]
            same = abs(low - also) <= 1e-6 * max(1.0, abs(low))
            case, size = f"{name}, depth {depth}", f"{rows} and {more} rows"
            yield "cuts", case, name_of_method, size, before, after, same


def drawn(rng: np.random.Generator) -> mt.Dataset:
    """A random set of few rows."""
    n, F, K = (int(rng.integers(*ends)) for ends in ((4, 17), (1, 5), (2, 4)))
    X = rng.integers(0, 2, (n, F))
    X[:, F // 2] = X[:, 0] if rng.random() < 0.5 else 1 - X[:, 0]
    weights = rng.integers(1, 9, n) if rng.random() < 0.5 else None
    y, groups = rng.integers(0, K, n), np.arange(n) % 2
    y[:2] = 0, 1
    return mt.Dataset(X, y=y, groups=groups, weights=weights)


def compared(draws: int) -> None:
    """Random fronts and paths of sizes by formulations, against methods that need no solver."""
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        data, space = drawn(rng), mt.Trees(int(rng.integers(1, 3)))
        if seed % 2:
            against = (
                "statistical-parity"
                if rng.random() < 0.5
                else Capacity(mt.Accuracy().actions(data)[0])
            )
            problem = mt.Problem(data, mt.Accuracy(), space, Front(against=against))
            name = ("state-flow@highs", "flow-oct@highs", "state-flow@scip")[seed % 3]
            found = mt.solve(problem, name, start=None, reference=None)
            exact = mt.solve(problem, "enumerate", reference=None)
            points = [[s.coordinates for s in r.solutions] for r in (found, exact)]
        else:
            problem = mt.Problem(data, mt.Accuracy(), space)
            some = ("benders-oct@scip", "flow-oct@highs", "cut@highs", "oct-binary@highs")
            name, most = some[seed // 2 % 4], 2**space.depth
            paths = [mt.size_path(problem, max_leaves=most, method=m) for m in (name, "dp-sizes")]
            points = [[p.value for p in path.points] for path in paths]
            points[1] += points[1][-1:] * (len(points[0]) - len(points[1]))
        if points[0] != points[1]:
            sys.exit(f"seed {seed}, {name}: {points}")
    if draws:
        print(f"{draws} random fronts and paths of sizes are those of methods without a solver")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sections", default="fronts,sizes,ratios,ties,cuts")
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--out", help="a CSV file")
    parser.add_argument("--draws", type=int, default=0)
    args = parser.parse_args()
    known = {"fronts": fronts, "sizes": sizes, "ratios": ratios, "ties": ties, "cuts": cuts}
    runner.REUSABLE = 10**6  # a process that was replaced would take its seconds with it
    warm()
    compared(args.draws)
    rows = []
    for section in filter(None, args.sections.split(",")):
        for part, case, method, steps, before, after, same in known[section](args.limit):
            numbers = [f"{x:.2f}" for x in (before[1], after[1], before[2], after[2])]
            rows.append([part, case, method, steps, *numbers, same])
            print(" | ".join(map(str, rows[-1])), flush=True)
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS.split(), *rows])


def warm() -> None:
    """Load and compile everything once, so that it is not measured."""
    problem = front("capacity 60 x 6", 1)
    tree = mt.Problem(problem.dataset, problem.task, mt.Trees(1))
    for method in ("flow-oct@highs", "state-flow@highs", "state-flow@scip"):
        mt.solve(problem, method, start=None, reference=None)
    mt.size_path(tree, max_leaves=2, method="benders-oct@scip")


if __name__ == "__main__":
    sys.exit(main())
