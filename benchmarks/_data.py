"""The public data sets that benchmarks run on, found through MILP_TREES_DATA."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import milp_trees as mt


def root() -> Path:
    """The data folder, or an exit with the remedy."""
    folder = os.environ.get("MILP_TREES_DATA")
    if not folder or not Path(folder).is_dir():
        sys.exit(
            "Set MILP_TREES_DATA to the folder with the public data sets (classification/, fairness/, …)."
        )
    return Path(folder)


def classification(max_rows: int | None = None) -> dict[str, mt.Dataset]:
    """Every set of `classification/` by name, smallest first."""
    sets = {
        p.name.split(".")[0]: mt.load(str(p))
        for p in sorted((root() / "classification").iterdir())
        if p.name.endswith((".txt", ".txt.gz")) and "SOURCES" not in p.name
    }
    return dict(
        sorted(
            ((n, d) for n, d in sets.items() if max_rows is None or d.n_rows <= max_rows),
            key=lambda item: item[1].n_rows * item[1].n_features,
        )
    )


def fairness() -> dict[str, mt.Dataset]:
    """Every set of `fairness/`; column 0 is the group."""
    files = sorted(p for p in (root() / "fairness").iterdir() if "binarized.csv" in p.name)
    return {p.name.split("-binarized")[0]: mt.load(str(p), group="0") for p in files}


def sparse() -> dict[str, mt.Dataset]:
    """The binary sets of `gosdt/` by name, smallest first; targets are in the last column."""
    names = (
        "monk1",
        "monk2",
        "monk3",
        "tic-tac-toe",
        "car",
        "bar-7",
        "coupon_carryout",
        "compas-binned",
    )
    sets = {n: mt.load(str(root() / "gosdt" / f"{n}.csv")) for n in names}
    return dict(sorted(sets.items(), key=lambda item: item[1].n_rows * item[1].n_features))
