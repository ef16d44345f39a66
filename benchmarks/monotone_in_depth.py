"""Whether a stopped run is ever worse than a shallower one, in every engine that deepens.

    MILP_TREES_DATA=… python benchmarks/monotone_in_depth.py [--quick] [--ladders dp,dp-lists]
    [--sets lymph,car] [--penalties 0.01,0.002] [--limits 0.3,1,3] [--sizes 3,4,5,none]

A *ladder* is a method with problems of rising size: the depth of trees (`dp`, `dp-free`,
`dp-sorted`, `dp-paid`, `pareto`, `separable`, `partial-trees`, `side-fronts`), their number of
leaves (`dp-leaves`, `dp-sizes`), or the length of rule lists (`dp-lists`, `corels`). For every set,
penalty and time limit each size is run once. It is a violation if the value at the limit is worse
than that of a smaller size whose run ended, with a proof, within a third of the limit. Other work
on the machine can make one by itself, so a violation counts only if it shows again. The table of
violations is printed, and the exit code is 1 if there is any. Runs go to
`results/monotone_in_depth.csv` as they come, in place of earlier runs of the same problem and
limit; all others stay there. The default, 20 sets, three penalties and three limits on `dp`,
takes half an hour; `--quick` takes two minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import _data
import pandas as pd
from report import markdown

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parent / "results" / "monotone_in_depth.csv"
#: What a run is known by in the table of results.
KEYS = ("ladder", "set", "penalty", "limit", "size")
#: A size that ended within this part of the limit must not be better.
SHARE = 1 / 3
LIMITS, QUICK_LIMITS = (0.3, 1.0, 3.0), (1.0, 3.0)
PENALTIES, QUICK_PENALTIES = ("0.01", "0.005", "0.002"), ("0.01", "0.002")

SETS = (
    "sparse/lymph", "sparse/lymph-f", "sparse/krvskp", "classification/heart-cleveland", "classification/australian-credit",
    "classification/german-credit", "classification/diabetes", "classification/anneal", "classification/soybean",
    "classification/primary-tumor", "classification/hepatitis", "classification/vote", "classification/ionosphere",
    "classification/splice-1", "classification-nl/biodeg", "classification-nl/spambase", "gosdt/car", "gosdt/tic-tac-toe",
    "gosdt/coupon_carryout", "sparse/balance",
)  # fmt: skip
NUMERIC = ("numeric/bank", "numeric/raisin", "numeric/wilt", "numeric/rice", "gosdt/fourclass-numeric")  # fmt: skip
PRICED = ("car", "diabetes", "heart", "hepatitis", "tictactoe", "wine")
FAIR = ("fairness/ricci", "fairness/student-mat", "fairness/german-credit")

Size = int | None


class Ladder(NamedTuple):
    """A method, what it is tried on, and how a problem of a size is stated."""

    method: str
    sets: tuple[str, ...]
    sizes: tuple[Size, ...]
    problem: Callable[[str, str, Size], mt.Problem]
    penalised: bool = True


_loaded: dict[tuple[str, str], mt.Dataset] = {}


def load(name: str, binarizer: str = "auto", **how: str) -> mt.Dataset:
    """A set by folder and name."""
    key = (name, binarizer)
    if key not in _loaded:
        folder, _, stem = name.partition("/")
        found = [
            p
            for p in sorted((_data.root() / folder).iterdir())
            if p.name.split(".")[0].removesuffix("-binarized") == stem
        ]
        if not found:
            sys.exit(f"No file of {folder}/ is called {stem}.")
        _loaded.clear()
        _loaded[key] = mt.load(str(found[0]), binarizer=binarizer, **how)
    return _loaded[key]


def by_depth(name: str, penalty: str, size: Size) -> mt.Problem:
    return mt.Problem(load(name), mt.Accuracy(leaf_penalty=penalty), mt.Trees(size))


def by_sorted_depth(name: str, penalty: str, size: Size) -> mt.Problem:
    data = load(name, "midpoints")
    return mt.Problem(data, mt.Accuracy(leaf_penalty=penalty), mt.Trees(size))


def by_leaves(name: str, penalty: str, size: Size) -> mt.Problem:
    space = mt.Trees(None, max_leaf_nodes=size)
    return mt.Problem(load(name), mt.Accuracy(leaf_penalty=penalty), space)


def by_length(name: str, penalty: str, size: Size) -> mt.Problem:
    return mt.Problem(load(name), mt.Accuracy(split_penalty=penalty), mt.RuleLists(max_length=size))


def by_priced_depth(name: str, penalty: str, size: Size) -> mt.Problem:
    folder = _data.root() / "cost-sensitive" / name
    table = min(p for p in folder.iterdir() if "-train-" in p.name)
    data = _loaded.setdefault((name, "prices"), mt.load(str(table)))
    task = mt.tasks.CostSensitive(file=folder / f"{name}-low-costs.csv")
    return mt.Problem(data, task, mt.Trees(size))


def by_f1_depth(name: str, penalty: str, size: Size) -> mt.Problem:
    return mt.Problem(load(name), mt.tasks.F1(leaf_penalty=penalty), mt.Trees(size))


def by_area_depth(name: str, penalty: str, size: Size) -> mt.Problem:
    return mt.Problem(load(name), mt.tasks.AUC(leaf_penalty=penalty), mt.Trees(size))


def by_fair_depth(name: str, penalty: str, size: Size) -> mt.Problem:
    fair = mt.Accuracy(constraints=(mt.tasks.StatisticalParity("0.01"),))
    return mt.Problem(load(name, group="0"), fair, mt.Trees(size))


SHORT = ("sparse/lymph", "classification/heart-cleveland", "classification/tic-tac-toe", "classification/primary-tumor")  # fmt: skip
LADDERS = {
    "dp": Ladder("dp", SETS, (3, 4, 5, 6, 7, 8, None), by_depth),
    "dp-free": Ladder("dp", SETS, (3, 4, 5, 6, 8, 12), by_depth, False),
    "dp-sorted": Ladder("dp-sorted", NUMERIC, (2, 3, 4, 5, 8), by_sorted_depth),
    "dp-leaves": Ladder("dp", SETS, (3, 4, 5, 6, 8, 10, 12, 16), by_leaves),
    "dp-sizes": Ladder("dp-sizes", SETS, (3, 4, 5, 6, 8, 10, 12, 16), by_leaves, False),
    "dp-lists": Ladder("dp-lists", SETS, (1, 2, 3, 4, 5, 6, 8, None), by_length),
    "corels": Ladder("corels", SETS, (1, 2, 3, 4, 5, 6, 8, None), by_length),
    "dp-paid": Ladder("dp-paid", PRICED, (2, 3, 4, 5, 6), by_priced_depth, False),
    "pareto": Ladder("pareto", SHORT, (2, 3, 4, 5), by_f1_depth, False),
    "separable": Ladder("separable", SHORT, (2, 3, 4, 5, 6), by_depth),
    "partial-trees": Ladder("partial-trees", SHORT, (2, 3, 4, 5, 6, None), by_area_depth),
    "side-fronts": Ladder("side-fronts", FAIR, (1, 2, 3, 4), by_fair_depth, False),
}


class Run(NamedTuple):
    """What one run ended with; `value` is what is made small."""

    value: Fraction | float
    proven: bool
    seconds: float
    bound: float | None


def run(ladder: Ladder, problem: mt.Problem, seconds: float) -> Run | None:
    """One run; None if the method does not take the problem."""
    method = registry.method(ladder.method)
    if method.unsupported(problem):
        return None
    result = method.run(problem, Limits(time=seconds))
    if result.value is None:
        return Run(float("inf"), result.optimal, result.seconds, None)
    number = result.value.exact if result.value.exact is not None else result.value.number
    sign = -1 if result.value.sense == "max" else 1
    return Run(sign * number, result.optimal, result.seconds, result.bound)


def measure(
    name: str, ladder: Ladder, which: str, penalty: str, seconds: float, sizes: tuple[Size, ...]
) -> Iterator[dict[str, object]]:
    """The rows of one set, penalty and limit; those that are violations say what they miss."""
    best: tuple[Run, Size] | None = None
    for size in sizes:
        problem = ladder.problem(which, penalty, size)
        found = run(ladder, problem, seconds)
        if found is None:
            continue
        worse = best is not None and found.value > best[0].value
        if worse:  # once more, as other work may have taken the time
            found = run(ladder, problem, seconds) or found
            worse = best is not None and found.value > best[0].value
        yield {
            "ladder": name,
            "set": which.split("/")[-1],
            "penalty": penalty,
            "limit": seconds,
            "size": "none" if size is None else size,
            "value": float(found.value),
            "bound": found.bound,
            "proven": found.proven,
            "seconds": round(found.seconds, 3),
            "smaller": (best[1] or "none") if worse and best else None,
            "its_value": float(best[0].value) if worse and best else None,
        }
        ended = found.proven and found.seconds <= SHARE * seconds
        if ended and (best is None or found.value < best[0].value):
            best = found, size


def warm_up(ladder: Ladder, sets: tuple[str, ...]) -> None:
    """Compile what the ladder needs before any clock matters."""
    for size in {ladder.sizes[0], ladder.sizes[-1]}:
        run(ladder, ladder.problem(sets[0], "0.01" if ladder.penalised else "0", size), 0.2)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few sets, penalties and limits")
    parser.add_argument("--ladders", default="dp", help=f"all, or of {', '.join(LADDERS)}")
    for name in ("sets", "penalties", "limits", "sizes"):
        parser.add_argument(f"--{name}", help="comma-separated")
    return parser.parse_args()


def rows(args: argparse.Namespace) -> Iterator[dict[str, object]]:
    """All rows that are asked for, told and stored as they come."""
    names = list(LADDERS) if args.ladders == "all" else args.ladders.split(",")
    limits = QUICK_LIMITS if args.quick else LIMITS
    if args.limits:
        limits = tuple(map(float, args.limits.split(",")))
    for name in names:
        ladder = LADDERS[name]
        sets, sizes = ladder.sets[:3] if args.quick else ladder.sets, ladder.sizes
        if args.sets:
            sets = tuple(s for s in ladder.sets if s.split("/")[-1] in args.sets.split(","))
        if args.sizes:
            sizes = tuple(None if s == "none" else int(s) for s in args.sizes.split(","))
        penalties = QUICK_PENALTIES if args.quick else PENALTIES
        if args.penalties:
            penalties = tuple(args.penalties.split(","))
        warm_up(ladder, sets)
        for which in sets:
            for penalty in penalties if ladder.penalised else ("0",):
                for seconds in limits:
                    found = list(measure(name, ladder, which, penalty, seconds, sizes))
                    text = " ".join(f"{r['value']:.5g}{'' if r['proven'] else '*'}" for r in found)
                    print(f"{name} {which} {penalty} {seconds:g} s: {text}", flush=True)
                    store(found)
                    yield from found


def store(found: list[dict[str, object]]) -> None:
    """Put rows into the table of results, in place of those of the same problem and limit."""
    if not found:
        return
    table, keys = pd.DataFrame(found).astype({"size": str, "smaller": object}), list(KEYS)
    if RESULTS.exists():
        stored = pd.read_csv(RESULTS, dtype=dict.fromkeys((*KEYS, "smaller"), str))
        given = table[keys].astype(str).agg(" ".join, axis=1)
        kept = stored[~stored[keys].agg(" ".join, axis=1).isin(given)]
        table = pd.concat([part for part in (kept, table) if len(part)])
    RESULTS.parent.mkdir(exist_ok=True)
    table.to_csv(RESULTS, index=False)


def main() -> None:
    """Measure, and exit with 1 if a stopped run was worse than a shallower one."""
    table = pd.DataFrame(rows(parsed()))
    if table.empty:
        sys.exit("No method took any of these problems.")
    wrong = table[table.smaller.notna()]
    print(
        f"\n{len(table)} runs, {int(table.proven.sum())} proven, {len(wrong)} violations (* stopped)\n"
    )
    if len(wrong):
        print(markdown(wrong.drop(columns=["ladder"]) if table.ladder.nunique() == 1 else wrong))
        sys.exit(1)


if __name__ == "__main__":
    main()
