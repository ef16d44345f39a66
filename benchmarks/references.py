"""The two exact methods of areas and of metrics of errors against each other: do they prove the same
optimum, and how long does each take?

    MILP_TREES_DATA=… python benchmarks/references.py [--time-limit 60] [--depths 2,3]
    [--sets planted-15,german-credit]

The method by default (`partial-trees` for areas, `pareto` for metrics of errors) and its reference
`tangents` have no part in common. They run on generated tables of 1000 rows (*planted*: a tree with a
fifth of wrong labels; *sums*: a noisy sum of five tests; *columns*: thresholds of three numeric
columns, and a label that depends on two; each with 15 and 30 tests) and on the public sets of up to
1000 rows and 120 tests, with and without a penalty per leaf. Seconds are processor seconds of one
thread, after everything is compiled. A difference between two proven optima ends the script with exit
code 1. Rows go to `results/references.csv`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import _data
import numpy as np
import pandas as pd
from report import markdown

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.mip.registry import registry
from milp_trees.results.result import Result
from milp_trees.solving.agreement import agreement, built_on

RESULTS = Path(__file__).parent / "results" / "references.csv"
REFERENCE = "tangents"
TASKS = ("auc", "partial-auc:theta=0.2", "mcc", "kappa", "g-mean")
PENALTIES = ("0", "0.002")
KINDS, TESTS, ROWS, SEED = ("planted", "sums", "columns"), (15, 30), 1000, 5
#: Public sets with at most so many rows and tests.
MOST_ROWS, MOST_TESTS = 1000, 120


def generated(kind: str, tests: int) -> mt.Dataset:
    """A table of 1000 rows."""
    if kind == "planted":
        return mt.load(f"planted:rows={ROWS},tests={tests},depth=4,noise=0.2,seed={SEED}")
    rng = np.random.default_rng(SEED)
    if kind == "sums":
        X = rng.integers(0, 2, (ROWS, tests))
        y = X[:, :5].sum(axis=1) + 1.5 * rng.normal(size=ROWS) > 2.5
    else:
        columns, at = rng.random((ROWS, 3)), np.arange(tests)
        X = columns[:, at % 3] <= (at // 3 + 1) / (tests / 3 + 1)
        y = columns[:, 0] * columns[:, 1] + 0.2 * rng.normal(size=ROWS) > 0.3
    return mt.Dataset(X.astype(np.uint8), y=y.astype(int))


def tables() -> Iterator[tuple[str, mt.Dataset]]:
    """Name and data of every table."""
    for kind in KINDS:
        for tests in TESTS:
            yield f"{kind}-{tests}", generated(kind, tests)
    for name, data in _data.classification(MOST_ROWS).items():
        if data.n_features <= MOST_TESTS:
            yield name, data


def timed(name: str, problem: mt.Problem, limits: Limits) -> tuple[Result, float]:
    """The result of a method, and its processor seconds."""
    method = registry.method(name)
    method.warm_up()
    began = time.process_time()
    return method.run(problem, limits), time.process_time() - began


def row(problem: mt.Problem, limits: Limits) -> dict[str, object]:
    """What both methods find for one problem."""
    default = "partial-trees" if "auc" in problem.task.name else "pareto"
    assert not built_on(default) & built_on(REFERENCE)
    (one, seconds), (two, others) = (timed(name, problem, limits) for name in (default, REFERENCE))
    return {
        "method": default,
        "value": one.value.number,
        "reference value": two.value.number,
        "agrees": agreement(one, two),
        "proven": one.optimal,
        "reference proven": two.optimal,
        "s": round(seconds, 3),
        "reference s": round(others, 3),
        "expanded": two.nodes,
        "tangents": two.model_size["tangents"],
    }


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """A row per depth and task."""
    rows = []
    for (depth, task), part in table.groupby(["depth", "task"], sort=False):
        rows.append(
            {
                "depth": depth,
                "task": task,
                "problems": len(part),
                "agree": int((part["agrees"] == True).sum()),  # noqa: E712
                "differ": int((part["agrees"] == False).sum()),  # noqa: E712
                "proven": int(part["proven"].sum()),
                "reference proven": int(part["reference proven"].sum()),
                "median s": part["s"].median(),
                "reference median s": part["reference s"].median(),
                "largest s": part["s"].max(),
                "reference largest s": part["reference s"].max(),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--depths", default="2,3")
    parser.add_argument("--sets", default="")
    args = parser.parse_args()
    limits, wanted, rows = Limits(time=args.time_limit), args.sets.split(","), []
    for name, data in tables():
        if args.sets and name not in wanted:
            continue
        for depth in map(int, args.depths.split(",")):
            for label in TASKS:
                kind, given = registry.task_from_label(label)
                for penalty in PENALTIES:
                    problem = mt.Problem(data, kind(**given, leaf_penalty=penalty), mt.Trees(depth))
                    sizes = {"set": name, "rows": data.n_rows, "tests": data.n_features}
                    requested = {"depth": depth, "task": label, "penalty": penalty}
                    rows.append({**sizes, **requested, **row(problem, limits)})
                    print(*rows[-1].values(), flush=True)
    table = pd.DataFrame(rows)
    if not args.sets:
        RESULTS.parent.mkdir(exist_ok=True)
        table.to_csv(RESULTS, index=False)
    print("\n" + markdown(summary(table)))
    if (table["agrees"] == False).any():  # noqa: E712
        sys.exit(1)


if __name__ == "__main__":
    main()
