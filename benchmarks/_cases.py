"""The cases of `engines.py`: which sets, which settings, which peers can take them."""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import _data
import numpy as np
from _jobs import Job

#: Section → peers that can take it, quick sections first.
PEERS: dict[str, tuple[str, ...]] = {
    "start": (),
    "accuracy": ("pystreed", "pydl8.5"),
    "costs": ("pystreed",),
    "weights": ("pystreed",),
    "min-leaf": ("pystreed", "pydl8.5"),
    "f1": ("pystreed",),
    "sparse": ("gosdt", "pystreed"),
    "threads": (),
    "long": (),
}
#: Sets on which the second core is measured: those that take our engine a while.
LONG = ("german-credit", "ionosphere", "splice-1", "letter", "pendigits", "australian-credit")


def chosen(args: argparse.Namespace, sets: dict, depths: str) -> Iterator[tuple[str, object, int]]:
    """Sets and depths after the filters of the command line."""
    for depth in map(int, (args.depths or depths).split(",")):
        for name, data in sets.items():
            if (args.sets == "all" or name in args.sets.split(",")) and (
                args.max_rows is None or len(data.X) <= args.max_rows
            ):
                yield name, data, depth


def accuracy(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    for name, data, depth in chosen(args, _data.classification(), "3,4,5"):
        yield "", Job(name, data.X, data.y, depth=depth, time_limit=args.time_limit)


def weights(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """Row weights 1 to 10 from a fixed seed; pystreed gets them as a cost vector per row."""
    for name, data, depth in chosen(args, _data.classification(1000), "3,4"):
        given = np.random.default_rng(1).integers(1, 11, len(data.y)).astype(float)
        yield (
            "1 to 10",
            Job(name, data.X, data.y, "weights", depth, weights=given, time_limit=args.time_limit),
        )


def min_leaf(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    for name, data, depth in chosen(args, _data.classification(1000), "3,4"):
        yield (
            "10 rows",
            Job(name, data.X, data.y, depth=depth, min_leaf=10, time_limit=args.time_limit),
        )


def f1(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    for name, data, depth in chosen(args, _data.classification(1000), "3,4"):
        yield "", Job(name, data.X, data.y, "f1", depth, time_limit=args.time_limit)


def costs(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """Misclassification costs of the cost-sensitive benchmark (test costs left out: they depend on
    the path), and algorithm choice by run time.
    """
    for name, data, depth in chosen(args, {n: _Arrays(*_confusion(n)) for n in cost_sets()}, "3,4"):
        yield (
            "matrix",
            Job(
                name,
                data.X,
                data.y,
                "cost-matrix",
                depth,
                matrix=data.matrix,
                time_limit=args.time_limit,
            ),
        )
    for name, data, depth in chosen(args, {"maxsat21-32f": _Arrays(*_per_row())}, "3,4,5"):
        yield (
            "per row",
            Job(
                name,
                data.X,
                data.y,
                "instance-cost",
                depth,
                values=data.matrix,
                time_limit=args.time_limit,
            ),
        )


class _Arrays:
    def __init__(self, X: np.ndarray, y: np.ndarray, matrix) -> None:
        self.X, self.y, self.matrix = X, y, matrix


def cost_sets() -> list[str]:
    return sorted(p.name for p in (_data.root() / "cost-sensitive").iterdir() if p.is_dir())


def _table(path: Path) -> np.ndarray:
    found = path if path.exists() else path.with_name(path.name + ".gz")
    with gzip.open(found, "rt") if found.suffix == ".gz" else open(found) as lines:
        return np.loadtxt(lines)


def _confusion(name: str) -> tuple[np.ndarray, np.ndarray, list[list[float]]]:
    """First training split and the matrix of the high costs: lines of numbers before the header."""
    folder = _data.root() / "cost-sensitive" / name
    rows = _table(folder / f"{name}-train-1.csv").astype(int)
    matrix = []
    for line in (folder / f"{name}-high-costs.csv").read_text().splitlines():
        if line.startswith("Attribute"):
            break
        matrix.append([float(v) for v in line.split()])
    y = rows[:, 0]
    present = np.unique(
        y
    )  # a class without a row in this split stays an action: its costs are in the matrix
    assert present.max() < len(matrix), (
        f"{name}: {present.max() + 1} classes, {len(matrix)} lines of costs"
    )
    return rows[:, 1:].astype(np.uint8), y, matrix


def _per_row() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = _table(_data.root() / "instance-cost" / "maxsat21-32f.txt")
    return rows[:, 9:].astype(np.uint8), rows[:, 0].astype(int), rows[:, 1:9]


def sparse(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """The usual penalties of sparse trees with depth limit 5 and without one."""
    sets = _data.sparse()
    for penalty in ("0.01", "0.005"):
        for depth in (5, None):
            if args.depths and str(depth) not in args.depths.split(","):
                continue
            for name, data in sets.items():
                if args.sets == "all" or name in args.sets.split(","):
                    yield (
                        f"λ = {penalty}",
                        Job(
                            name,
                            data.X,
                            data.y,
                            depth=depth,
                            penalty=penalty,
                            time_limit=args.time_limit,
                        ),
                    )


def threads(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    sets = {n: d for n, d in _data.classification().items() if n in LONG}
    for name, data, depth in chosen(args, sets, "4,5"):
        if (name, depth) not in {("letter", 5), ("splice-1", 5)}:
            yield "", Job(name, data.X, data.y, depth=depth, time_limit=args.time_limit)


def long(args: argparse.Namespace) -> Iterator[tuple[str, Job]]:
    """What no engine is known to prove: ours alone for ten minutes."""
    sets = {n: d for n, d in _data.classification().items() if n in ("splice-1", "letter")}
    for name, data, depth in chosen(args, sets, "5"):
        yield "", Job(name, data.X, data.y, depth=depth, time_limit=max(600.0, args.time_limit))


MAKERS: dict[str, Callable[[argparse.Namespace], Iterator[tuple[str, Job]]]] = {
    "accuracy": accuracy,
    "weights": weights,
    "min-leaf": min_leaf,
    "f1": f1,
    "costs": costs,
    "sparse": sparse,
    "threads": threads,
    "long": long,
}
