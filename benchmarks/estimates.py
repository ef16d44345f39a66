"""Estimates of work beside the seconds that proofs over all thresholds took.

    python benchmarks/estimates.py [--only iris,fault] [--depths 1,2,3,4] [--limit 30] [--keep]
    [--out FILE]

Estimates (`Method.expected_seconds`) decide whether `auto` thresholds are all of them, and which
engine searches them. Every set of numeric columns is solved by `dp-sorted`, and by `dp` where it
takes so many tests, without and with a price per leaf. Seconds are processor seconds of one thread;
of runs under one second the faster one of two counts. A run that reaches the limit is kept as such,
and larger depths of it are left out. `--keep` measures nothing: it takes the seconds of the file and
writes today's estimates beside them.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _data import BUILTIN, NUMERIC, root

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.methods.work import ENOUGH, sizes_of
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parent / "results" / "estimates.csv"
COLUMNS = (
    "set",
    "rows",
    "columns",
    "thresholds",
    "depth",
    "penalty",
    "method",
    "status",
    "estimated_seconds",
    "seconds",
    "ratio",
)
METHODS = ("dp", "dp-sorted")
PENALTIES = ("0", "1/100")
#: Seconds below which an estimate decides nothing, and those that are far too many.
LITTLE, TOO_LONG = 0.1, 20.0
KEY = ("set", "depth", "penalty", "method")


def tables(names: list[str]) -> Iterator[tuple[str, mt.Dataset]]:
    """Sets by name, with all midpoints."""
    files = {Path(n).name.split(".")[0]: str(root() / n) for n in NUMERIC}
    for name in names or (*BUILTIN, *files):
        yield name, mt.load(files.get(name, name), binarizer="midpoints")


def measured(method: Any, problem: mt.Problem, limit: float) -> tuple[str, float]:
    """Status and processor seconds of a run."""
    seconds = math.inf
    for _ in range(2):
        began = time.process_time()
        result = method.run(problem, Limits(time=limit, threads=1))
        seconds = min(seconds, time.process_time() - began)
        if seconds > 1:
            break
    return result.status.value, seconds


def rows_of(
    name: str, data: mt.Dataset, depths: list[int], limit: float, kept: dict[tuple[str, ...], Any]
) -> Iterator[dict[str, Any]]:
    """One row per depth, price and method."""
    for penalty in PENALTIES:
        for method in map(registry.method, METHODS):
            late = False
            for depth in depths:
                problem = mt.Problem(data, mt.Accuracy(leaf_penalty=penalty), mt.Trees(depth))
                sizes = sizes_of(problem)
                expected = method.expected_seconds(sizes)
                key = (name, str(depth), penalty, method.name)
                if kept and key not in kept:
                    continue
                if late or not math.isfinite(expected) or method.unsupported(problem):
                    break
                if kept:
                    status, seconds = kept[key]["status"], float(kept[key]["seconds"])
                else:
                    if depth == depths[0]:  # compile
                        method.run(problem, Limits(time=limit, threads=1))
                    status, seconds = measured(method, problem, limit)
                late = status != "optimal"
                yield {
                    "set": name,
                    "rows": data.n_rows,
                    "columns": len(sizes.cuts),
                    "thresholds": sizes.tests,
                    "depth": depth,
                    "penalty": penalty,
                    "method": method.name,
                    "status": status,
                    "estimated_seconds": f"{expected:.4g}",
                    "seconds": f"{seconds:.4g}",
                    "ratio": f"{seconds / expected:.3g}" if expected else "",
                }


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """How far estimates are from seconds, and which problems they decide wrongly."""
    for method in METHODS:
        pairs = [
            (float(r["seconds"]), float(r["estimated_seconds"]))
            for r in rows
            if r["method"] == method and r["status"] == "optimal"
        ]
        factors = [max(a / b, b / a) for a, b in pairs if max(a, b) >= LITTLE]
        if factors:
            yield (
                f"{method}: {len(pairs)} proofs, {len(factors)} of which took or were expected to take "
                f"{LITTLE} s; the estimate is within a factor of {np.quantile(factors, 0.9):.1f} in 90 % "
                f"of these, {np.median(factors):.1f} in half, {max(factors):.1f} in all."
            )
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for r in rows:
        cases.setdefault((r["set"], str(r["depth"]), r["penalty"]), []).append(r)
    tried = slow = missed = 0
    for key, found in cases.items():
        least = min(found, key=lambda r: float(r["estimated_seconds"]))
        done = [float(r["seconds"]) for r in found if r["status"] == "optimal"]
        if float(least["estimated_seconds"]) <= ENOUGH:
            tried += 1
            if float(least["seconds"]) > TOO_LONG or least["status"] != "optimal":
                slow += 1
                yield f"all thresholds, but {least['seconds']} s: {', '.join(key)}"
        elif done and min(done) < ENOUGH:
            missed += 1
            yield f"a chosen set, though all thresholds take {min(done):.2f} s: {', '.join(key)}"
    yield (
        f"{len(cases)} problems, {tried} of which get all thresholds: {slow} of these take more than "
        f"{TOO_LONG:.0f} s; {missed} of the others would have taken less than {ENOUGH:.0f} s."
    )


def main() -> None:
    """Measure, write and summarise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--depths", default="1,2,3,4")
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    kept = {}
    if args.keep:
        with args.out.open(newline="") as file:
            kept = {tuple(r[k] for k in KEY): r for r in csv.DictReader(file)}
    depths, rows = [int(d) for d in args.depths.split(",")], []
    for name, data in tables([n for n in args.only.split(",") if n]):
        for row in rows_of(name, data, depths, args.limit, kept):
            print(*row.values(), flush=True)
            rows.append(row)
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(*summary(rows), sep="\n")


if __name__ == "__main__":
    main()
