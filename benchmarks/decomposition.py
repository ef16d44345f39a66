"""Dantzig–Wolfe and subgradients on pruned forests: rounds, columns, seconds, beside the minimum
cut where that engine is there.

One problem per forest of scikit-learn (breast cancer, trained and counted on all rows, every
feature costs 1), one run per method after compilation.

    python benchmarks/decomposition.py --trees 10,40 --lam 0.001 --limit 60
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt
from milp_trees.mip.registry import registry

METHODS = (
    "min-cut",
    "dantzig-wolfe",
    "dantzig-wolfe:jobs=2",
    "dantzig-wolfe:merge=off",
    "subgradient",
    "subgradient:steps=1000",
    "subgradient:merge=on",
)
COLUMNS = ("trees", "method", "status", "value", "gap %", "rounds", "columns", "links", "seconds")


def problem(n_trees: int, lam: str) -> mt.Problem:
    X, y = load_breast_cancer(return_X_y=True)
    ensemble = mt.read_ensemble(RandomForestClassifier(n_trees, random_state=0).fit(X, y))
    dataset = mt.Dataset(np.zeros((len(y), 0)), y=y, numeric=X, columns=ensemble.columns)
    return mt.Problem(dataset, mt.pruning.PrunedError(lam), mt.PrunedEnsembles(ensemble))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trees", default="10,40")
    parser.add_argument("--lam", default="0.001")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    args = parser.parse_args()
    known = registry.classes("methods")
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for n_trees in map(int, args.trees.split(",")):
        requested = problem(n_trees, args.lam)
        for name in args.methods:
            if name.split(":")[0] not in known:
                print(f"| {n_trees} | {name} | not installed |" + " |" * (len(COLUMNS) - 3))
                continue
            r = registry.method(name).run(requested, mt.Limits(time=args.limit))
            gap = "" if r.gap is None else f"{100 * r.gap:.3f}"
            sizes = [str(r.model_size.get(key, "")) for key in ("rounds", "columns", "links")]
            print(
                "| "
                + " | ".join(
                    [
                        str(n_trees),
                        name,
                        r.status.value,
                        f"{r.objective:.6f}",
                        gap,
                        *sizes,
                        f"{r.seconds:.2f}",
                    ]
                )
                + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
