"""Optimal regression trees beside pystreed, OSRT and a greedy tree, in the same run.

    MILP_TREES_DATA=… python benchmarks/regression.py [--sections nine,published] [--sets airfoil]
    [--depths 3,4] [--peers pystreed,scikit-learn] [--peer-python osrt=peer/bin/python]

Sections, each a CSV file in `results`:

- `nine`: the nine sets in OSRT's coding, at depths 3 to 6 (airfoil and servo also 7): the whole
  call from arrays to tree, processor seconds, every engine in a process of its own and warm, in
  turns. Values are recomputed exactly from the trees.
- `long`: deeper trees, at most `--long-limit` seconds each.
- `published`: the losses in `published-loss.csv` beside ours with as many leaves.
- `penalised`: small random problems with a penalty per split, against enumeration in fractions.
- `raw`: numeric columns with 20 thresholds each at depth 5, at most `--raw-limit` seconds each.
- `models`: absolute error by published integer programs on HiGHS, beside the search.

OSRT wants libraries of its own: make an environment with `pip install osrt` and name it with
`--peer-python`. pystreed and OSRT are asked for no penalty. A peer that is missing, fails or takes
too long is a row that says so.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import _data
import _jobs
import _peers
import numpy as np
import pandas as pd

import milp_trees as mt

RESULTS = Path(__file__).parent / "results"
SECTIONS = ("nine", "long", "published", "penalised", "raw", "models")
DEPTHS = (3, 4, 5, 6)
DEEPER = {"airfoil": (7,), "servo": (7,)}
LONG = (("airfoil", 8), ("real-estate", 8), ("insurance", 8), ("seoul-bike", 6))
#: Two values are the same if they differ by no more than this share: what "optimal" states.
SAME = 1e-9
#: Peers that prove nothing.
GREEDY = ("scikit-learn",)
#: A ratio below this many seconds of the peer is mostly preparation.
SHORT = 0.1


def case(name: str, X: np.ndarray, y: np.ndarray, depth: int, limit: float, args: Any) -> dict:
    """One line of a table: every engine on one set at one depth."""
    job = _jobs.Job(name, X, y, "squared-error", depth=depth, time_limit=limit)
    found = _peers.interleaved(job, _peers.pythons(args), args.repeat)
    row: dict[str, Any] = {"set": name, "rows": len(X), "tests": X.shape[1], "depth": depth}
    ours = found[_peers.OURS]
    row |= {
        "sse": exactly(ours.get("value")),
        "bound": exactly(ours.get("bound")),
        "leaves": ours.get("leaves"),
        "status": ours["status"],
        "seconds": ours.get("cpu"),
    }
    for peer, theirs in found.items():
        if peer == _peers.OURS:
            continue
        row |= {
            f"{peer} sse": exactly(theirs.get("value")),
            f"{peer} status": theirs["status"],
            f"{peer} seconds": theirs.get("cpu"),
        }
        if peer not in GREEDY and "cpu" in theirs and "cpu" in ours:
            row[f"{peer} ratio"] = round(ours["cpu"] / theirs["cpu"], 4)
    row["limit"] = limit
    row["note"] = "; ".join(f"{n}: {r['message']}" for n, r in found.items() if r.get("message"))
    return row


def exactly(value: float | None) -> str | None:
    """A value with all its digits, so that tables show what was found."""
    return None if value is None else repr(float(value))


def nine(args: argparse.Namespace) -> Iterator[dict]:
    """The nine sets, by depth."""
    sets = chosen(_data.regression(), args)
    wanted = [*map(int, filter(None, args.depths.split(",")))]
    for depth in wanted or (*DEPTHS, 7):
        for name, (X, y) in sets.items():
            if wanted or depth in DEPTHS or depth in DEEPER.get(name, ()):
                yield case(name, X, y, depth, args.time_limit, args)


def long(args: argparse.Namespace) -> Iterator[dict]:
    """Deeper trees."""
    sets = chosen(_data.regression(), args)
    for name, depth in LONG:
        if name in sets:
            yield case(name, *sets[name], depth, args.long_limit, args)


def raw(args: argparse.Namespace) -> Iterator[dict]:
    """Numeric columns with twenty thresholds each."""
    for name, (X, y) in chosen(_data.regression_raw(21), args).items():
        yield case(name, X, y, 5, args.raw_limit, args)


def published(args: argparse.Namespace) -> Iterator[dict]:
    """Losses of other programs beside ours: the best tree of that depth with so many leaves.

    A proven tree of any size that has no more leaves than asked for answers its limit too.
    """
    sets = chosen(_data.regression(), args)
    table = pd.read_csv(_data.root() / "regression" / "published-loss.csv")
    depths = [*map(int, filter(None, args.depths.split(",")))] or [2, 3, 4, 5]
    for (name, depth), rows in table.groupby(["set", "depth"], sort=False):
        if name not in sets or depth not in depths:
            continue
        X, y = sets[name]
        data = mt.Dataset(X, y=y)
        for row in rows.itertuples():
            space = mt.Trees(int(depth), max_leaf_nodes=int(row.leaves))
            problem = mt.Problem(data, mt.tasks.SquaredError(), space)
            began = time.process_time()
            result = mt.solve(problem, time_limit=args.time_limit)
            used = time.process_time() - began
            mse = None if result.value is None else float(result.value.number) / len(y)
            others = {who: getattr(row, f"{who}_mse") for who in ("osrt", "iai", "evtree", "cart")}
            given = {who: loss for who, loss in others.items() if not math.isnan(loss)}
            yield {
                "set": name,
                "depth": depth,
                "leaves": row.leaves,
                "mse": None if mse is None else round(mse, 6),
                "status": result.status.value,
                "method": result.method,
                "seconds": round(used, 4),
                **others,
                "verdict": verdict(mse, result.optimal, given),
            }


def verdict(mse: float | None, is_proven: bool, others: dict[str, float]) -> str:
    """Whose loss is smaller than ours, or than whose ours is; tables hold six decimals."""
    if mse is None:
        return "nothing found"
    room = 1e-6 * max(1.0, abs(mse))
    better = [who for who, loss in others.items() if loss < mse - room]
    if better:
        return f"{', '.join(better)} better" + (", though ours is proven" if is_proven else "")
    worse = [who for who, loss in others.items() if loss > mse + room]
    return f"better than {', '.join(worse)}" if worse else "same"


# -- penalties -----------------------------------------------------------------------------------


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, int, Fraction]:
    """A small random problem: columns, targets, depth, and the price of a split."""
    rng = np.random.default_rng(seed)
    n, tests = int(rng.integers(4, 10)), int(rng.integers(2, 5))
    X = rng.integers(0, 2, (n, tests)).astype(np.uint8)
    y = rng.integers(0, 10, n).astype(float)
    while len(set(y)) < 2:
        y = rng.integers(0, 10, n).astype(float)
    return X, y, int(rng.integers(2, 5)), Fraction(int(rng.integers(1, 21)), 100)


#: Six rows on which pystreed 1.4.0 says "optimal" of a tree that another one beats.
TINY = (
    np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]], dtype=np.uint8),
    np.array([6.0, 0.0, 5.0, 9.0, 0.0, 3.0]),
    3,
    Fraction(1, 10),
)


def squared_error(y: list[int]) -> Fraction:
    """Squared error of one leaf."""
    return sum(t * t for t in y) - Fraction(sum(y) ** 2, len(y))


def enumerated(X: np.ndarray, y: np.ndarray, depth: int, price: Fraction) -> Fraction:
    """The least squared error plus `price` per split over all trees, in fractions."""

    def best(rows: list[int], left: int) -> Fraction:
        found = squared_error([int(y[i]) for i in rows])
        for f in range(X.shape[1]) if left else ():
            sides = [[i for i in rows if X[i, f] == s] for s in (0, 1)]
            if all(sides):
                found = min(found, price + sum(best(side, left - 1) for side in sides))
        return found

    return best([*range(len(y))], depth)


def penalised(args: argparse.Namespace) -> Iterator[dict]:
    """Random problems with a penalty per split: who finds the best tree, by enumeration."""
    for name, given in (
        ("six rows", TINY),
        *((str(seed), drawn(seed)) for seed in range(args.problems)),
    ):
        X, y, depth, share = given
        price = share * squared_error([*map(int, y)])
        best = enumerated(X, y, depth, price)
        problem = mt.Problem(
            mt.Dataset(X, y=y), mt.tasks.SquaredError(split_penalty=share), mt.Trees(depth)
        )
        result = mt.solve(problem, "dp")
        assert result.tree is not None
        row = {
            "problem": name,
            "rows": len(y),
            "tests": X.shape[1],
            "depth": depth,
            "penalty": str(share),
            "best": str(best),
            "ours": str(paid(result.tree, problem, price)),
            "status": result.status.value,
        }
        for bound in ("kmeans", "equivalent") if "pystreed" in args.peers else ():
            tree, is_proven = pystreed(X, y, depth, share, bound)
            row[f"pystreed {bound}"] = str(paid(_jobs.tree(tree, problem), problem, price))
            row[f"pystreed {bound} proven"] = is_proven
        yield row


def paid(tree: mt.Tree, problem: mt.Problem, price: Fraction) -> Fraction:
    """Squared error of a tree with the means of its leaves as fractions, plus its splits."""
    leaf, data = tree.routes(problem.dataset).leaf, problem.dataset
    numbers = [int(data.classes[k]) for k in data.y]
    groups: dict[int, list[int]] = {}
    for at, target in zip(leaf.tolist(), numbers, strict=True):
        groups.setdefault(at, []).append(target)
    return sum(map(squared_error, groups.values()), price * (tree.n_leaves - 1))


def pystreed(
    X: np.ndarray, y: np.ndarray, depth: int, share: Fraction, bound: str
) -> tuple[Any, bool]:
    """Its tree as nested lists, and whether it says that the tree is optimal."""
    from pystreed import STreeDRegressor

    model = STreeDRegressor(
        max_depth=depth, cost_complexity=float(share), regression_lower_bound=bound
    ).fit(X.astype(int), y)

    def part(node: Any) -> Any:
        if node.is_leaf_node():
            return float(node.label)
        return [int(node.feature), part(node.left_child), part(node.right_child)]

    return part(model.tree_), bool(model.fit_result.is_optimal())


#: Ours, and published models with a solver.
MODELS = ("dp", "ort-binary@highs", "dtip-regression@highs", "flow-oct@highs")


def models(args: argparse.Namespace) -> Iterator[dict]:
    """Absolute error of the small sets: what programs reach from nothing in the time limit."""
    sets = chosen(_data.regression(), args)
    for name in ("airquality", "servo", "real-estate"):
        if name not in sets:
            continue
        X, y = sets[name]
        data = mt.Dataset(X, y=y)
        for depth in map(int, (args.depths or "1,2").split(",")):
            problem = mt.Problem(data, mt.tasks.AbsoluteError(), mt.Trees(depth))
            for method in MODELS:
                result = mt.solve(problem, method, time_limit=args.time_limit, start=None)
                yield {
                    "set": name,
                    "depth": depth,
                    "method": method,
                    "status": result.status.value,
                    "value": None if result.value is None else exactly(result.value.number),
                    "bound": exactly(result.bound),
                    "seconds": round(result.seconds, 3),
                    "columns": result.model_size.get("variables"),
                }


# -- the tables ----------------------------------------------------------------------------------


def chosen(sets: dict, args: argparse.Namespace) -> dict:
    """The sets that were asked for."""
    return {n: s for n, s in sets.items() if args.sets == "all" or n in args.sets.split(",")}


def summary(table: pd.DataFrame, peer: str, value: str = "sse") -> pd.DataFrame:
    """By depth: geometric mean of ratios, the largest where the peer takes long, and values."""
    out = []
    if f"{peer} ratio" not in table:
        return pd.DataFrame()
    for depth, part in table.groupby("depth"):
        theirs = part[f"{peer} {value}"].astype(float)
        ours, ratio = part[value].astype(float), part[f"{peer} ratio"].dropna()
        slow = part[part[f"{peer} seconds"] >= SHORT][f"{peer} ratio"]
        apart = (theirs - ours) / ours.abs().clip(lower=1e-300)
        out.append(
            {
                "depth": depth,
                "sets": len(part),
                "proven": int((part.status == "optimal").sum()),
                f"{peer} proven": int((part[f"{peer} status"] == "optimal").sum()),
                "lower": int((apart > SAME).sum()),
                "higher": int((apart < -SAME).sum()),
                "geometric mean": round(float(np.exp(np.log(ratio).mean())), 3),
                f"largest, peer ≥ {SHORT:g} s": round(float(slow.max()), 3) if len(slow) else "",
            }
        )
    return pd.DataFrame(out)


def wrong(table: pd.DataFrame) -> pd.DataFrame:
    """Of all penalised problems, how many have a better tree than the one that was found."""
    best = table["best"].map(Fraction)
    out = []
    for name in ("ours", "pystreed kmeans", "pystreed equivalent"):
        if name in table:
            worse = table[name].map(Fraction) > best
            out.append({"program": name, "problems": len(table), "wrong": int(worse.sum())})
    return pd.DataFrame(out)


def keep(rows: list[dict], path: Path, keys: list[str]) -> pd.DataFrame:
    """The table with new rows in the place of old ones; written at once."""
    old = pd.read_csv(path, dtype={"problem": str}) if path.exists() else pd.DataFrame()
    both = pd.concat([old, pd.DataFrame(rows)], ignore_index=True)
    both = both.drop_duplicates(keys, keep="last")
    both = both.sort_values(keys, kind="stable") if "depth" in keys else both
    both.to_csv(path, index=False)
    return both


MAKERS = {
    "nine": nine,
    "long": long,
    "published": published,
    "penalised": penalised,
    "raw": raw,
    "models": models,
}
KEYS = {
    "published": ["set", "depth", "leaves"],
    "penalised": ["problem"],
    "models": ["set", "depth", "method"],
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _peers.add_arguments(parser)
    parser.set_defaults(peers="pystreed,scikit-learn")
    parser.add_argument("--sections", default="nine", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--sets", default="all")
    parser.add_argument("--depths", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--long-limit", type=float, default=60)
    parser.add_argument("--raw-limit", type=float, default=600)
    parser.add_argument("--problems", type=int, default=2000, help="of the section penalised")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for section in args.sections.split(","):
        keys, rows = KEYS.get(section, ["set", "depth"]), []
        path = args.out / f"regression_{section}.csv"
        table = pd.DataFrame()
        for row in MAKERS[section](args):
            rows.append(row)
            if section != "penalised":
                shown = {k: v for k, v in row.items() if v not in (None, "")}
                print("  ".join(f"{k}={v}" for k, v in shown.items()), flush=True)
                table = keep(rows, path, keys)
        if section == "penalised":
            table = keep(rows, path, keys)
            print(wrong(table).to_string(index=False))
        elif section != "published" and "pystreed sse" in table:
            print(summary(table, "pystreed").to_string(index=False))
        elif section == "published" and len(table):
            print(table.verdict.str.split(" ").str[0].value_counts().to_string())


if __name__ == "__main__":
    main()
