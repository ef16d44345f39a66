"""Forests inside optimisation models: `mt.embed` beside OMLT on one solver, and an audit.

1. The input that maximises a forest over a box, by the formulations of `mt.embed` and by OMLT's
   `GBTBigMFormulation` of the same arrays (`pip install omlt onnx`; it is left out if it is not
   there). Both models are compiled to one matrix and given to the same solver in a process of its
   own, with the same limits and without gaps. Seconds are processor time (needs Linux). Optima are
   those of the forest itself, at the point that is found.
2. Seconds that it takes to build a block, per 100 000 leaves.
3. An audit: random models (trees, rule lists, forests, boosted trees) inside random optimisation
   models; after the solve the model itself predicts the point.

    python benchmarks/embedding.py --trees 100 --depth 6 --columns 20
    python benchmarks/embedding.py --forests "" --audit 10000 --solvers highs,scip,cbc
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import _embedding_cases
import _embedding_omlt
import numpy as np
import pyomo.environ as pyo
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

import milp_trees as mt
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.runner import run, wait_until_ready
from milp_trees.mip.solver import Job

OMLT = "OMLT"
HEAD = "| forest | seed | model | binaries | rows | nonzeros | build s | solve s | status | optimum | solve / OMLT | all / OMLT |"
#: Optima of one forest differ by no more than this, relative to their size.
SAME = 1e-5


def rows(n: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function, with small effects of all columns and noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, y + 5 * X[:, 4] + X[:, 5:].sum(axis=1) + rng.normal(size=n)


def forest(kind: str, args: Any, seed: int, trees: int) -> mt.Ensemble:
    """A fitted forest; the sum of boosted trees is read as an ensemble of as many trees."""
    X, y = rows(args.rows, args.columns, seed)
    some = max(1, args.columns // 3)
    bagged = RandomForestRegressor(
        trees, max_depth=args.depth, max_features=some, random_state=seed
    ).fit(X, y)
    if kind == "boosted":
        boosted = GradientBoostingRegressor(
            n_estimators=trees, max_depth=args.depth, max_features=some, random_state=seed
        ).fit(X, y)
        bagged.estimators_ = list(boosted.estimators_.ravel())
    return _embedding_omlt.rounded(mt.read_ensemble(bagged))


def embedded(ensemble: mt.Ensemble, formulation: str) -> Any:
    """The Pyomo model that maximises an ensemble over the unit box."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(list(ensemble.columns), bounds=(0, 1))
    m.forest = mt.embed(ensemble, {c: m.x[c] for c in ensemble.columns}, formulation)
    m.best = pyo.Objective(expr=-ensemble.n_trees * m.forest.value)
    return m


def point(m: Any, ensemble: mt.Ensemble, name: str) -> np.ndarray:
    """The input in the current solution."""
    if name == OMLT:
        return np.array([[m.tree.inputs[j].value for j in range(len(ensemble.columns))]])
    return np.array([[m.x[c].value for c in ensemble.columns]])


def cpu_of_children() -> float:
    """Seconds of processor time of the processes of solvers, which do not wait for other programs."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK") + ended.ru_utime + ended.ru_stime


def measured(ensemble: mt.Ensemble, name: str, args: Any) -> dict[str, Any]:
    """Build, solve and predict once."""
    wait_until_ready(args.solver)
    began = time.process_time()
    m = _embedding_omlt.model_of(ensemble, 0.0, 1.0) if name == OMLT else embedded(ensemble, name)
    matrix = compile_model(m)
    built = time.process_time() - began
    limits = mt.Limits(time=args.limit, rel_gap=1e-6, abs_gap=0.0)
    began = cpu_of_children()
    answer = run(args.solver, Job(matrix, limits))
    solved = cpu_of_children() - began
    out = {
        "binaries": int(matrix.integer.sum()),
        "rows": matrix.n_rows,
        "nonzeros": matrix.A.nnz,
        "build": built,
        "solve": solved,
        "status": answer.status.value,
        "optimum": -math.inf,
        "predicted": -math.inf,
    }
    if answer.x is not None:
        matrix.load(answer.x)
        if name != OMLT:
            m.forest.audit()  # moves the point into its leaf where the solver's is beyond a threshold
        out["optimum"] = -float(answer.objective or 0.0)
        x = point(m, ensemble, name)
        out["predicted"] = float(ensemble.predict(np.clip(x, 0.0, 1.0))[0]) * ensemble.n_trees
    return out


def forests(args: Any) -> None:
    """The table of maximised forests."""
    print(HEAD + "\n" + "|---" * 12 + "|")
    ratios: dict[str, list[tuple[float, float]]] = {}
    for kind in filter(None, args.forests.split(",")):
        for seed in range(args.seeds):
            ensemble = forest(kind, args, seed, args.trees)
            found = {name: measured(ensemble, name, args) for name in args.models.split(",")}
            peer = found.get(OMLT)
            for name, one in found.items():
                share = ["", ""]
                if peer is not None and name != OMLT:
                    parts = [
                        one["solve"] / peer["solve"],
                        (one["build"] + one["solve"]) / (peer["build"] + peer["solve"]),
                    ]
                    share = [f"{x:.2f}" for x in parts]
                    ratios.setdefault(f"{kind}, {name}", []).append((parts[0], parts[1]))
                    proved = {one["status"], peer["status"]} == {"optimal"}
                    close = math.isclose(one["optimum"], peer["optimum"], rel_tol=SAME)
                    assert close or not proved, (kind, seed, name, one["optimum"], peer["optimum"])
                off = abs(one["predicted"] - one["optimum"])
                note = (
                    ""
                    if off <= SAME * abs(one["optimum"])
                    else f" (predicts {one['predicted']:.6g})"
                )
                print(
                    f"| {kind} | {seed} | {name} | {one['binaries']} | {one['rows']} | {one['nonzeros']} "
                    f"| {one['build']:.2f} | {one['solve']:.2f} | {one['status']} | {one['optimum']:.6g}{note} "
                    f"| {share[0]} | {share[1]} |",
                    flush=True,
                )
    for name, pairs in ratios.items():
        solve, everything = (
            float(np.exp(np.mean(np.log(part)))) for part in zip(*pairs, strict=True)
        )
        print(f"\n{name}: {solve:.2f} x the time to solve, {everything:.2f} x with the building")


def building(args: Any) -> None:
    """Seconds to build blocks, per 100 000 leaves."""
    print(
        "\n| formulation | trees | leaves | seconds | seconds per 100 000 leaves |\n"
        + "|---" * 5
        + "|"
    )
    for name in args.models.split(","):
        trees = args.build // 4 if name == OMLT else args.build
        ensemble = forest("bagged", args, 0, trees)
        began = time.perf_counter()
        if name == OMLT:
            _embedding_omlt.model_of(ensemble, 0.0, 1.0)
        else:
            embedded(ensemble, name)
        seconds = time.perf_counter() - began
        share = seconds * 1e5 / ensemble.n_leaves
        print(
            f"| {name} | {trees} | {ensemble.n_leaves} | {seconds:.2f} | {share:.1f} |", flush=True
        )


def audits(args: Any) -> Iterator[tuple[str, str]]:
    """The audits of random cases: a solver and what came of it."""
    solvers = args.solvers.split(",")
    formulations = args.audited.split(",")
    for seed in range(args.first, args.first + args.audit):
        case = _embedding_cases.random_case(seed)
        solver, name = solvers[seed % len(solvers)], formulations[seed // 3 % len(formulations)]
        try:
            done = _embedding_cases.check(case, name, solver)
        except _embedding_cases.NoAnswer as why:
            print(f"seed {seed}, {case.kind}, {name}: {why}", flush=True)
            yield solver, "the solver gave no point that keeps the rows"
            continue
        if done is None:
            yield solver, "no point has the wanted output"
        elif not done.audit:
            print(f"seed {seed}, {case.kind}, {name}@{solver}: {done.audit}", flush=True)
            yield solver, "the model predicts something else"
        else:
            yield solver, "moved, then equal" if done.audit.moved else "equal"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--forests", default="bagged,boosted", help="bagged, boosted, or empty")
    parser.add_argument("--models", default=f"log-paths,strong-paths,{OMLT}")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--solver", default="highs")
    parser.add_argument("--build", type=int, default=0, help="trees of the forests that are built")
    parser.add_argument("--audit", type=int, default=0, help="number of random models")
    parser.add_argument("--first", type=int, default=0, help="seed of the first random model")
    parser.add_argument("--solvers", default="highs,scip,cbc", help="solvers of the audit")
    parser.add_argument("--audited", default="auto,leaf-boxes,log-paths,strong-paths,paths,big-m")
    args = parser.parse_args()
    if args.forests:
        forests(args)
    if args.build:
        building(args)
    if args.audit:
        found: Counter[tuple[str, str]] = Counter()
        for outcome in audits(args):
            found[outcome] += 1
            if found.total() % 500 == 0:
                print(f"{found.total()} models: {dict(found)}", file=sys.stderr, flush=True)
        print("\n| solver | what came of it | models |\n" + "|---" * 3 + "|")
        for (solver, what), times in sorted(found.items()):
            print(f"| {solver} | {what} | {times} |")


if __name__ == "__main__":
    main()
