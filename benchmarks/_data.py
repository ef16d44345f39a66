"""The public data sets that benchmarks run on, found through MILP_TREES_DATA."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

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


#: Tables with numeric columns, below the data folder; and built-in ones.
NUMERIC = (
    *(
        f"gosdt/{n}.csv"
        for n in (
            "fourclass-numeric",
            "gaussian-1000",
            "sine-1000",
            "spiral",
            "compas",
            "compas-2016",
        )
    ),
    *(f"numeric/{n}.txt" for n in ("bank", "raisin")),
    *(f"numeric/{n}.txt.gz" for n in ("bidding", "fault", "page", "rice", "segment", "wilt")),
    *(f"pruning/{n}.csv" for n in ("heart-statlog", "sonar")),
    "pruning/miniboone-tiny-train.csv.gz",
)
BUILTIN = ("iris", "wine", "breast-cancer", "digits")


def numeric_tables(names: list[str]) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Columns and classes of tables with numeric columns by name; all for an empty list."""
    found = {}
    files = (
        {Path(n).name.split(".")[0]: n for n in NUMERIC}
        if not set(names) <= set(BUILTIN) or not names
        else {}
    )
    for name in names or (*BUILTIN, *files):
        data = mt.load_numeric(name if name in BUILTIN else str(root() / files[name]))
        assert data.numeric is not None
        assert data.y is not None
        found[name] = pd.DataFrame(data.numeric, columns=list(data.columns or ())), data.y
    return found


def _last_columns(path: Path, targets: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of a CSV file: those before its last `targets` ones, and these."""
    table = pd.read_csv(path, encoding="latin-1")
    return table.iloc[:, :-targets].to_numpy(), table.iloc[:, -targets:].to_numpy(dtype=float)


def regression() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Binary columns and targets of every `regression/*-binary.csv*` by name, smallest first."""
    files = sorted((root() / "regression").glob("*-binary.csv*"))
    sets = {p.name.split("-binary")[0]: _last_columns(p, 1) for p in files}
    found = {name: (X.astype(np.uint8), y[:, 0]) for name, (X, y) in sets.items()}
    return dict(sorted(found.items(), key=lambda item: item[1][0].size))


def regression_raw(n_bins: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Every set of `regression-raw/`, its columns cut at quantiles into at most `n_bins` bins."""
    found = {}
    for path in sorted((root() / "regression-raw").glob("*.csv*")):
        table = pd.read_csv(path, encoding="latin-1")
        columns = table.iloc[:, :-1]
        X = mt.Binarizer(kind="quantiles", n_bins=n_bins).fit(columns).transform(columns)
        found[path.name.split(".")[0]] = (
            np.asarray(X, dtype=np.uint8),
            table.iloc[:, -1].to_numpy(float),
        )
    return dict(sorted(found.items(), key=lambda item: item[1][0].size))


def survival() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Binary columns, and times and events (1: seen), of every set of `survival/` by name."""
    found = {}
    for path in sorted((root() / "survival").iterdir()):
        if path.suffix == ".txt":  # time and event first
            table = np.loadtxt(path)
            X, targets = table[:, 2:], table[:, :2]
        else:
            X, targets = _last_columns(path, 2)
            targets = targets[:, ::-1]
        name = path.name.split(".")[0].replace("_", "-").removesuffix("-binary")
        found[name] = (X.astype(np.uint8), np.ascontiguousarray(targets))
    return dict(sorted(found.items(), key=lambda item: item[1][0].size))
