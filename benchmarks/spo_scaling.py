"""How the time of trees that decide grows with rows, thresholds, decisions and depth: greedy, exact
on listed decisions, exact with an oracle.

    python benchmarks/spo_scaling.py [--time-limit 60] [--methods greedy-spo,dp,dp-oracle] [--only
    largest]

Noisy shortest paths (Elmachtoub, Grigas 2022) with five features, degree 6 and noise 0.25; a grid
of 4 × 4 nodes has 20 paths, one of 13 × 13 has 2.7 million. From a middling case one size is
changed at a time; then comes the large case, 10 000 rows with 100 thresholds per feature on the 4 ×
4 grid. `dp` takes decisions that can be listed (at most 1000). One process, one thread; compilation
is not counted. `cpu` is what the process was given, of interest where others use the machine too.
Rows go to `results/spo_scaling.csv`; what is in it already is not run again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import pandas as pd

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parent / "results" / "spo_scaling.csv"
KEY = ["what", "rows", "thresholds", "side", "depth", "method"]
MIDDLING = {"rows": 2000, "thresholds": 20, "side": 4, "depth": 2}
SERIES = {
    "rows": [500, 1000, 2000, 4000, 8000],
    "thresholds": [5, 10, 20, 40, 80],
    "side": [3, 4, 6, 8, 13],
    "depth": [1, 2, 3],
}
LARGEST = [{"rows": 10_000, "thresholds": 100, "side": 4, "depth": d} for d in (1, 2, 3)]


def cases(only: str | None) -> list[dict[str, object]]:
    """What is measured: one size at a time, then the large case."""
    out = [
        {"what": name, **MIDDLING, name: value}
        for name, values in SERIES.items()
        for value in values
    ]
    out += [{"what": "largest", **sizes} for sizes in LARGEST]
    return [case for case in out if only in (None, case["what"])]


def problem(rows: int, thresholds: int, side: int, depth: int) -> mt.Problem:
    """Shortest paths with thresholds at quantiles."""
    made = mt.decisions.shortest_path_data(rows, degree=6, noise=0.25, grid=(side, side), seed=0)
    frame = pd.DataFrame(made.X, columns=[f"x{j}" for j in range(made.X.shape[1])])
    data = mt.Binarizer(kind="quantiles", n_bins=thresholds + 1).dataset(
        frame, values=made.C, actions=list(made.decisions.components)
    )
    return mt.Problem(
        data, mt.decisions.Decision(decisions=made.decisions, normalised=True), mt.Trees(depth)
    )


def measure(
    case: dict[str, object], methods: list[str], limit: float, table: pd.DataFrame
) -> pd.DataFrame:
    """One row per method that takes the case and is not in the table."""
    sizes = {name: case[name] for name in MIDDLING}
    requested = problem(**sizes)  # type: ignore[arg-type]
    S = requested.task.decisions
    for name in methods:
        key = {**case, "method": name}
        if (table[KEY].astype(str) == [str(key[k]) for k in KEY]).all(axis=1).any():
            continue
        method = registry.method(name)
        if method.unsupported(requested):
            continue
        calls, cpu = S.calls, time.process_time()
        result = method.run(requested, Limits(time=limit))
        cpu = time.process_time() - cpu
        row = {
            **key,
            "tests": requested.dataset.n_features,
            "edges": S.dimension,
            "decisions": S.n_vertices,
            "status": result.status.value,
            "loss": result.objective,
            "bound": result.bound,
            "seconds": round(result.seconds, 3),
            "cpu": round(cpu, 3),
            "calls": S.calls - calls,
            "limit": limit,
        }
        table = pd.concat([table, pd.DataFrame([row])], ignore_index=True).convert_dtypes()
        if case["what"] != "warm":
            table.to_csv(RESULTS, index=False)
            print(*(f"{k}={v}" for k, v in row.items()), flush=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--methods", default="greedy-spo,dp,dp-oracle")
    parser.add_argument("--only", choices=[*SERIES, "largest"])
    args = parser.parse_args()
    table = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=KEY)
    methods = args.methods.split(",")
    for name in methods:
        registry.method(name).warm_up()
    measure(
        {"what": "warm", "rows": 200, "thresholds": 3, "side": 3, "depth": 2},
        methods,
        30.0,
        pd.DataFrame(columns=KEY),
    )
    for case in cases(args.only):
        table = measure(case, methods, args.time_limit, table)


if __name__ == "__main__":
    main()
