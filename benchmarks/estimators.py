"""What does `fit` cost beside the search? The estimator, `solve` and pystreed's `fit`, in turns.

    python benchmarks/estimators.py [--only lymph,soybean] [--depth 3] [--turns 15] [--out FILE]

Every set of `classification/` as a pair of integer arrays, in one process, which has fitted once
before anything is counted: `OptimalTreeClassifier(max_depth=d).fit(X, y)`; `solve` on a problem that
was built from the same arrays just before, outside of the clock; `STreeDClassifier.fit(X, y)` if
pystreed is installed; then `predict` of all rows and of one, from an array and from a frame. They take
turns, and of each the fastest turn, the median and the least processor time are written down, in
milliseconds; the processor time is what is compared, since other programs add least to it. A set has at most `--turns`
turns, and fewer when they take long (`--seconds`), but two at least.

It ends with 1 if two that finished disagree about the errors. Ratios are printed, never judged.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _data import classification

import milp_trees as mt

RESULTS = Path(__file__).parent / "results" / "estimators.csv"
#: Below so many milliseconds of the peer's processor time nobody waits for either.
SMALL = 1.0
PREDICTIONS = ("predict", "predict one", "predict frame", "predict one of frame")


def peer(depth: int, limit: float) -> tuple[Callable[[], Any] | None, str]:
    """What makes an estimator of pystreed, and its version; None if it is not installed."""
    try:
        from pystreed import STreeDClassifier
    except ImportError:
        return None, ""
    from importlib.metadata import version

    make = lambda: STreeDClassifier("accuracy", max_depth=depth, time_limit=limit)  # noqa: E731
    return make, version("pystreed")


class Turns:
    """The times of each of several pieces of work on one set: of the clock and of the processor."""

    def __init__(self) -> None:
        self.times: dict[str, list[tuple[float, float]]] = {}

    def run(self, name: str, work: Callable[[], Any]) -> Any:
        """Do a piece of work on both clocks."""
        began = time.perf_counter(), time.process_time()
        found = work()
        took = time.perf_counter() - began[0], time.process_time() - began[1]
        self.times.setdefault(name, []).append(took)
        return found

    def columns(self) -> dict[str, float]:
        """Of each its least processor time, and minimum and median of the clock, in milliseconds."""
        found = {}
        for name, times in self.times.items():
            clock, processor = zip(*times, strict=True)
            found[name] = round(min(processor) * 1000, 4)
            found[f"{name} clock"] = round(min(clock) * 1000, 4)
            found[f"{name} median"] = round(statistics.median(clock) * 1000, 4)
        return found


def row(name: str, X: np.ndarray, y: np.ndarray, given: Any, make: Any) -> dict[str, Any]:
    """The columns of one set."""
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    by_name = mt.OptimalTreeClassifier(max_depth=given.depth, time_limit=given.limit).fit(frame, y)
    turns, began, errors, proven = Turns(), time.perf_counter(), {}, {}
    for turn in range(given.turns):
        if turn >= 2 and time.perf_counter() - began > given.seconds:
            break
        model = mt.OptimalTreeClassifier(max_depth=given.depth, time_limit=given.limit)
        turns.run("fit", lambda m=model: m.fit(X, y))
        problem = mt.Problem(mt.Dataset(X, y=y), mt.Accuracy(), mt.Trees(max_depth=given.depth))
        result = turns.run("solve", lambda p=problem: mt.solve(p, time_limit=given.limit))
        errors["fit"] = int((turns.run("predict", lambda m=model: m.predict(X)) != y).sum())
        turns.run("predict one", lambda m=model: m.predict(X[:1]))
        turns.run("predict frame", lambda: by_name.predict(frame))
        turns.run("predict one of frame", lambda: by_name.predict(frame.iloc[:1]))
        proven["fit"] = model.status_ == "optimal"
        errors["solve"] = int(result.value.number)
        proven["solve"] = result.status.value == "optimal"
        if make is not None:
            other = make()
            turns.run("pystreed", lambda m=other: m.fit(X, y))
            errors["pystreed"] = int((other.predict(X) != y).sum())
            proven["pystreed"] = bool(other.fit_result.is_optimal())
    found = {e for n, e in errors.items() if proven[n]}
    return {
        "set": name,
        "rows": len(X),
        "tests": X.shape[1],
        "depth": given.depth,
        "errors": errors["fit"],
        "proven": " ".join(n for n, done in proven.items() if done),
        "agree": len(found) <= 1,
        "turns": len(turns.times["fit"]),
        **turns.columns(),
        "load": round(os.getloadavg()[0], 1),
    }


def geometric_mean(ratios: pd.Series) -> float:
    """The geometric mean; not a number if there are none."""
    return float(np.exp(np.log(ratios).mean()))


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """`fit` over `solve` and over pystreed's `fit`, per set; no number where nobody waits for it."""
    shown = table[["set", "rows", "tests", "fit", "solve"]].copy()
    shown["over solve"] = table["fit"] / table["solve"]
    if "pystreed" in table:
        shown["pystreed"] = table["pystreed"]
        shown["over pystreed"] = (table["fit"] / table["pystreed"]).where(
            table["pystreed"] >= SMALL
        )
    return shown


def summary(table: pd.DataFrame) -> list[str]:
    """Sentences about the ratios: their means, and the sets above 1.5 and above 1."""
    shown = ratios(table)
    kinds = [("over solve", "`solve`", 1.5), ("over pystreed", "pystreed's", 1.0)]
    lines = []
    for column, other, most in kinds:
        if column not in shown:
            continue
        counted = shown.dropna(subset=[column])
        above = counted[counted[column] > most]
        pairs = zip(above["set"], above[column], strict=True)
        named = ", ".join(f"{name} ({ratio:.2f})" for name, ratio in pairs)
        lines.append(
            f"`fit` over {other}: geometric mean {geometric_mean(counted[column]):.2f} on {len(counted)} sets, above {most:g} on {named or 'none'}."
        )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="sets, comma-separated; all by default")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--turns", type=int, default=15, help="most turns of a set")
    parser.add_argument("--seconds", type=float, default=20.0, help="no new turn after so many")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of each fit")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    make, version = peer(given.depth, given.limit)
    print(f"pystreed {version}" if make else "pystreed is not installed: fit and solve only")
    names = {name for name in given.only.split(",") if name}
    sets = classification()
    if names - set(sets):
        sys.exit(f"There is no set {sorted(names - set(sets))[0]!r}; known are {', '.join(sets)}.")
    found = []
    warnings.simplefilter("ignore")  # of limits, which the status says too
    first = next(iter(sets.values()))
    mt.OptimalTreeClassifier(max_depth=given.depth).fit(first.X.astype(int), np.asarray(first.y))
    for name, data in sets.items():
        if names and name not in names:
            continue
        found.append(row(name, np.asarray(data.X).astype(int), np.asarray(data.y), given, make))
        last = found[-1]
        print(
            f"{name:<18} {last['rows']:>6} x {last['tests']:<4} fit {last['fit']:>9.2f} ms, solve {last['solve']:>9.2f}"
            + (f", pystreed {last['pystreed']:>9.2f}" if make else "")
            + f"; predict {last['predict']:.2f}, of one row {last['predict one']:.2f}"
            + ("" if last["agree"] else "  DISAGREE"),
            flush=True,
        )
    table = pd.DataFrame(found)
    table["version"] = version
    table.to_csv(given.out, index=False)
    print("\n".join(summary(table)))
    return 0 if table["agree"].all() else 1


if __name__ == "__main__":
    sys.exit(main())
