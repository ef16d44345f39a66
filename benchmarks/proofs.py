"""Proofs of optimal models: seconds to solve, to write the proof, and to check it, with sizes.

    python benchmarks/proofs.py [--only depth-3,depth-4] [--sets lymph,heart-cleveland] [--limit 300]

A row per problem in `benchmarks/results/proofs.csv`; rows that are there already are not measured
again. One thread. `solve` and `emit` are the second of two runs in one process, `check` is a process
of its own that runs the stand-alone checker, whole: it reads the data, and imports numpy. `plain`
is the yardstick: the optimum recomputed from the raw rows and tests without any claims, by pair sums
of both sides of every test (depth 3), or of the sides of their sides (depth 4); it stops after a
minute. Of prunings `tests` are the splits of the forest. Every proof's value is compared with that of the solve.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _data import fairness
from threadpoolctl import threadpool_limits

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.common.limits import Limits, Stopped
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import ByPrice
from milp_trees.pruning.from_table import Growing, pruning_problem
from milp_trees.pruning.view import NodeGains
from milp_trees.tasks.constraints import EqualOpportunity, StatisticalParity
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.proof_files import write_proof

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "proofs.csv"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
CHECKERS = ROOT / "milp_trees" / "verification"
COLUMNS = [
    "kind",
    "set",
    "rows",
    "tests",
    "value",
    "solve",
    "emit",
    "allowed",
    "claims",
    "bytes",
    "check",
    "plain",
    "cheaper",
    "verdict",
]
#: Seconds after which the yardstick is stopped.
PLAIN = 60
#: Sparse problems: set → penalty per leaf.
SPARSE = {
    "monk1": "0.01",
    "monk2": "0.01",
    "monk3": "0.01",
    "compas-binned": "0.01",
    "tic-tac-toe": "0.01",
    "car": "0.01",
    "bar-7": "0.01",
}


def data_sets(folder: str) -> dict[str, Path]:
    """Files of a folder of the public data by name."""
    place = Path(os.environ["MILP_TREES_DATA"]) / folder
    files = sorted(p for p in place.iterdir() if p.name.split(".")[1:2] in (["txt"], ["csv"]))
    return {p.name.split(".")[0]: p for p in files if "SOURCES" not in p.name}


def problems(kinds: list[str], sets: list[str]) -> Any:  # noqa: C901
    """(kind, name, file, problem, method) of all rows that are asked for."""
    for kind in kinds:
        if kind.startswith("depth-"):
            depth = int(kind[6:])
            for name, path in data_sets("classification").items():
                if not sets or name in sets:
                    data = mt.load(path)
                    yield kind, name, path, mt.Problem(data, mt.Accuracy(), mt.Trees(depth)), "dp"
        elif kind.startswith("midpoints-"):
            depth = int(kind[10:])
            for name, path in data_sets("numeric").items():
                if not sets or name in sets:
                    data = mt.load(path, binarizer="midpoints")
                    trees = mt.Trees(depth)
                    yield kind, name, path, mt.Problem(data, mt.Accuracy(), trees), "dp-sorted"
        elif kind.startswith("fairness-"):
            for name, data in fairness().items():
                for rule in (StatisticalParity("0.01"), EqualOpportunity("0.01")):
                    if not sets or name in sets:
                        task = mt.Accuracy(constraints=(rule,))
                        problem = mt.Problem(data, task, mt.Trees(int(kind[9:])))
                        place = Path(data.source["path"])
                        yield kind, f"{name} ({rule.name})", place, problem, "lagrangian"
        elif kind == "sparse":
            files = data_sets("gosdt")
            for name, penalty in SPARSE.items():
                if not sets or name in sets:
                    task = mt.Accuracy(leaf_penalty=penalty)
                    data = mt.load(files[name])
                    yield kind, name, files[name], mt.Problem(data, task, mt.Trees(None)), "dp"
        elif kind == "prunings":
            yield from prunings()
        elif kind == "lists":
            path = data_sets("gosdt")["compas-binned"]
            task = mt.Accuracy(split_penalty="0.01")
            lists = mt.RuleLists(mt.Antecedents(max_literals=2))
            for method in ("dp-lists", "corels"):
                yield (
                    kind,
                    f"compas-binned ({method})",
                    path,
                    mt.Problem(mt.load(path), task, lists),
                    method,
                )


def prunings() -> Any:
    """Forests on breast cancer at λ = 0.001 with unit prices, by two methods, and whole curves."""
    for trees in (3, 10, 30):
        grown = pruning_problem("breast-cancer", Growing(trees=trees), lam="0.001").problem
        name = f"breast-cancer, {trees} trees"
        for method in ("min-cut", "dantzig-wolfe"):
            yield "prunings", f"{name} ({method})", None, grown, method
        curve = replace(grown, question=ByPrice())
        yield "prunings", f"{name} (all λ)", None, curve, "min-cut"


def plain(view: CostMatrix, depth: int, limit: float) -> float | None:
    """Seconds to recompute the optimum from pair sums alone; None beyond the limit."""
    X = view.X.astype(np.float32)
    d = (view.costs[:, 0] - view.costs[:, 1:].T).T.astype(np.float32)
    first = view.costs[:, 0]
    end = time.perf_counter() + limit

    def best(rows: np.ndarray, levels: int) -> int:
        A, g, base = X[rows], d[rows], int(first[rows].sum())
        if levels == 2:
            total, one = -g.sum(axis=0), -(g.T @ A)
            both = np.array([-(A.T * g[:, k]) @ A for k in range(g.shape[1])])
            yes = np.minimum(both.min(axis=0), 0) + np.minimum(
                (one[:, :, None] - both).min(axis=0), 0
            )
            other = one[:, None, :] - both
            rest = total[:, None, None] - one[:, :, None] - one[:, None, :] + both
            no = np.minimum(other.min(axis=0), 0) + np.minimum(rest.min(axis=0), 0)
            return base + int((yes.min(axis=1) + no.min(axis=1)).min())
        if time.perf_counter() > end:
            raise TimeoutError
        values = [base + int(min(0, (-g.sum(axis=0)).min()))]
        for f in range(X.shape[1]):
            yes = rows[X[rows, f] > 0]
            if 0 < len(yes) < len(rows):
                no = rows[X[rows, f] == 0]
                values.append(best(yes, levels - 1) + best(no, levels - 1))
        return min(values)

    began = time.perf_counter()
    try:
        best(np.arange(len(X)), depth)
    except TimeoutError:
        return None
    return time.perf_counter() - began


def measure(
    kind: str, name: str, path: Path | None, problem: Any, label: str, limit: float
) -> dict[str, Any]:
    """One row."""
    method = registry.method(label)
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof"
        for _ in range(2):
            result = method.run(problem, Limits(time=limit))
            if not result.optimal:
                raise MilpTreesError(f"not proven within {limit:g} s")
            began = time.perf_counter()
            claims = method.prove(problem, result, Limits(time=limit))
            found = write_proof(proof, problem, result, claims)
            emit = time.perf_counter() - began
        checker = "check_gap.py" if "closed" in claims.notes else "check_proof.py"
        checker = "check_flow.py" if path is None else checker
        data = [] if path is None else [str(path)]
        command = [sys.executable, str(CHECKERS / checker), str(proof), *data]
        try:
            began = time.perf_counter()
            run = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=limit,
                env={**os.environ, **ONE_THREAD},
            )
            check = time.perf_counter() - began
            verdict = run.stdout.strip().split("  ")[0]
        except subprocess.TimeoutExpired:
            check, verdict = limit, "not checked within the limit"
    view = problem.view(NodeGains) if path is None else problem.presolved_view()
    depth = problem.space.max_depth if kind.startswith("depth-") else None
    bare = plain(problem.view(CostMatrix), depth, min(limit, PLAIN)) if depth in (3, 4) else None
    return {
        "kind": kind,
        "set": name,
        "rows": problem.dataset.n_rows if path is None else view.n_rows,
        "tests": len(view.splits) if path is None else view.n_features,
        "value": str(result.value),
        "solve": round(result.seconds, 4),
        "emit": round(emit, 4),
        "allowed": round(5 * result.seconds + 0.05, 4),
        "claims": found["claims"],
        "bytes": found["bytes"],
        "check": round(check, 3),
        "plain": None if bare is None else round(bare, 3),
        "cheaper": None if bare is None else round(bare / check, 2),
        "verdict": verdict,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only",
        default="depth-3,depth-4,depth-5,fairness-2,fairness-3,midpoints-2,sparse,lists,prunings",
    )
    parser.add_argument("--sets", default="")
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    sets = [s for s in given.sets.split(",") if s]
    done = set()
    if given.out.exists():
        with given.out.open() as file:
            done = {(row["kind"], row["set"]) for row in csv.DictReader(file)}
    else:
        given.out.write_text(",".join(COLUMNS) + "\n")
    for kind, name, path, problem, label in problems(given.only.split(","), sets):
        if (kind, name) in done:
            continue
        try:
            row = measure(kind, name, path, problem, label, given.limit)
        except (MilpTreesError, MemoryError, Stopped) as why:
            row = {"kind": kind, "set": name, "verdict": f"no proof: {why}"}
        with given.out.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
        print(*row.values(), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
