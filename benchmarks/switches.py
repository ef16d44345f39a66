"""What each technique of `dp` is worth: work with it switched off over work with everything on, as
counted, so free of noise.

    MILP_TREES_DATA=… python benchmarks/switches.py [--depth 4] [--time-limit 60]

Six sets of `classification/` at one depth without penalties, and six problems of `gosdt/` with a
penalty per leaf and no depth limit. Geometric means of counted rows (`rows_counted`: rows whose
pairs of tests were summed), kernel calls, and time. `>`: a run reached the time limit. Rows go to
`results/switches.csv`.
"""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path

import _data
import numpy as np
import pandas as pd
from report import markdown

import milp_trees as mt
from milp_trees.engines.dp import DynamicProgramme

RESULTS = Path(__file__).parent / "results" / "switches.csv"
ERRORS = ("anneal", "heart-cleveland", "hepatitis", "primary-tumor", "tic-tac-toe", "vote")
SPARSE = (
    ("monk1", "0.01"),
    ("monk2", "0.02"),
    ("monk3", "0.005"),
    ("car", "0.02"),
    ("car", "0.01"),
    ("tic-tac-toe", "0.02"),
)
SWITCHES = [f.name for f in fields(DynamicProgramme) if f.type == "bool"]


def cases(depth: int):
    sets = _data.classification(1000)
    for name in ERRORS:
        yield f"depth {depth}", name, mt.Problem(sets[name], mt.Accuracy(), mt.Trees(depth))
    sets = _data.sparse()
    for name, penalty in SPARSE:
        yield (
            "sparse",
            f"{name}, {penalty}",
            mt.Problem(sets[name], mt.Accuracy(leaf_penalty=penalty), mt.Trees(None)),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--time-limit", type=float, default=10.0)
    args = parser.parse_args()
    rows: list[dict[str, object]] = []
    for kind, name, problem in cases(args.depth):
        methods = {"": DynamicProgramme(), **{s: DynamicProgramme(**{s: False}) for s in SWITCHES}}
        for off, method in methods.items():
            result = method.run(problem, mt.Limits(time=args.time_limit))
            found = {
                "kind": kind,
                "problem": name,
                "off": off,
                "seconds": round(result.seconds, 4),
                "status": result.status.value,
                **result.model_size,
            }
            rows.append({**found, "objective": result.objective})
        print(kind, name, len(rows), flush=True)
    table = pd.DataFrame(rows)
    RESULTS.parent.mkdir(exist_ok=True)
    table.to_csv(RESULTS, index=False)
    print(markdown(ratios(table)))


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Geometric means of work without a technique over work with it."""
    everything = table[table.off == ""].set_index(["kind", "problem"])
    out: dict[str, dict[str, str]] = {}
    for (off, kind), part in table[table.off != ""].groupby(["off", "kind"], sort=False):
        without = part.set_index(["kind", "problem"])
        limit = "> " if (without.status != "optimal").any() else ""
        for column, title in (("rows_counted", "rows"), ("calls", "calls"), ("seconds", "time")):
            mean = np.exp(
                np.log(
                    (without[column] + 1e-3) / (everything[column].loc[without.index] + 1e-3)
                ).mean()
            )
            out.setdefault(off, {"switched off": f"`{off}`"})[f"{kind}: {title}"] = (
                f"{limit}{mean:.2f}"
            )
    return pd.DataFrame(out.values())


if __name__ == "__main__":
    main()
