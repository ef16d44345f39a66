"""How long `fit` takes beside the search alone, and beside pystreed's `fit` on the same arrays.

    python benchmarks/estimators.py [--depth 3] [--only lymph,vote] [--rounds 15] [--out FILE]

Every set of `classification/`: arrays of 0/1. Three calls in one process, in turns: `fit` of
`OptimalTreeClassifier(max_depth=3)`, `mt.solve` on a dataset of the same rows, and `fit` of
`STreeDClassifier("accuracy", max_depth=3)` of pystreed, if it is installed. Milliseconds are the
smallest wall-clock time of the rounds; slow sets get fewer of them. A call before the first round is
not counted.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _data import classification

import milp_trees as mt

RESULTS = Path(__file__).parent / "results" / "estimators.csv"
#: No further round begins after so many seconds on one set.
ENOUGH = 20.0
#: Sets on which pystreed's `fit` takes less are not judged, in milliseconds.
LEAST = 1.0


def peer(depth: int) -> Callable[[np.ndarray, np.ndarray], Any] | None:
    """`fit` of pystreed; None if it is not installed."""
    try:
        module = importlib.import_module("pystreed")
    except ImportError:
        return None
    return lambda X, y: module.STreeDClassifier("accuracy", max_depth=depth).fit(X, y)


def milliseconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def row(name: str, dataset: mt.Dataset, depth: int, rounds: int) -> dict[str, Any]:
    """The smallest times of the calls on one set."""
    X, y = np.asarray(dataset.X, dtype=np.int64), np.asarray(dataset.y)
    theirs = peer(depth)

    def fit() -> Any:
        return mt.OptimalTreeClassifier(max_depth=depth).fit(X, y)

    def solve() -> Any:
        return mt.solve(problem)

    calls: dict[str, Callable[[], Any]] = {"fit ms": fit, "solve ms": solve}
    if theirs is not None:
        calls["pystreed ms"] = lambda: theirs(X, y)
    times: dict[str, list[float]] = {what: [] for what in calls}
    fitted, ended = fit(), time.perf_counter() + ENOUGH
    for number in range(rounds):
        if number and time.perf_counter() > ended:
            break
        for what, call in calls.items():
            # What a problem keeps of a run must not serve the next one.
            problem = mt.Problem(mt.Dataset(X, y=y), mt.Accuracy(), mt.Trees(max_depth=depth))
            times[what].append(milliseconds(call))
    return {
        "set": name,
        "rows": len(X),
        "tests": X.shape[1],
        "errors": fitted.result_.value,
        "status": fitted.status_,
        **{what: min(found) for what, found in times.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--only", default="", help="sets, comma-separated; all by default")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    found = []
    for name, dataset in classification().items():
        if not wanted or name in wanted:
            found.append(row(name, dataset, given.depth, given.rounds))
            print(
                ", ".join(
                    f"{k} {v:.2f}" if isinstance(v, float) else f"{v}" for k, v in found[-1].items()
                ),
                flush=True,
            )
    table = pd.DataFrame(found)
    table["fit / solve"] = table["fit ms"] / table["solve ms"]
    print(
        f"fit / solve: at most {table['fit / solve'].max():.2f}, median {table['fit / solve'].median():.2f}"
    )
    if "pystreed ms" in table:
        table["fit / pystreed"] = table["fit ms"] / table["pystreed ms"]
        judged = table[table["pystreed ms"] >= LEAST]
        mean = float(np.exp(np.log(judged["fit / pystreed"]).mean()))
        slower = judged[judged["fit / pystreed"] > 1]["set"].tolist()
        print(
            f"fit / pystreed on {len(judged)} sets: geometric mean {mean:.3f}, slower on {', '.join(slower) or 'none'}"
        )
    table.round(4).to_csv(given.out, index=False)


if __name__ == "__main__":
    main()
