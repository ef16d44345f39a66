"""Is it worth to hand points to a solver while it searches? The gap over time with and without them.

    MILP_TREES_DATA=… python benchmarks/points.py [--sets hepatitis,lymph] [--depths 2,3]
        [--pairs flow-oct@highs,path-cut@scip] [--arms cold,points,greedy] [--limit 12] [--out FILE]

Every formulation and solver on small sets of `classification/`, in arms that take turns: `cold`
begins with nothing; `points` too, and the solver gets its own points rounded and improved
(`round_points`); `greedy` begins with the greedy tree; `both` with that tree, and gets points;
`optimal` begins with an optimal tree. `gap` is the mean over the time limit of the distance of the
incumbent from the optimum, as a share of the errors of a single leaf (1 while there is none);
`final` is this distance at the end, in errors; `proof` is the share of the distance between optimum
and 0 that the bound leaves at the end. Seconds are wall-clock seconds; the points are made in the
parent process, whose processor seconds are `own s`. With `--own` the models have a row that is not
of the problem, as a modeller may add one: the test at the root sends 40 to 60 % of the rows to each
side. Then no engine knows a feasible tree; the optimum is found by solving both sides of every test.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
from _data import root

import milp_trees as mt
from milp_trees.plugins import CostMatrix

RESULTS = Path(__file__).parent / "results" / "points.csv"
STARTS = {"greedy": "cart", "both": "cart", "optimal": "dp"}


def mean_gap(result: mt.Result, best: float, leaf: float, limit: float) -> float:
    """The mean of the incumbent's distance from the optimum over the time limit."""
    total, since, held = 0.0, 0.0, 1.0
    for point in result.trace:
        moment = min(point.seconds, limit)
        total += held * (moment - since)
        since = moment
        if point.incumbent is not None:
            held = min(held, (point.incumbent - best) / (leaf - best))
    return (total + held * (limit - since)) / limit


def allowed(view: Any) -> np.ndarray:
    """Tests that send 40 to 60 % of the rows to each side."""
    share = view.counts @ view.X / view.counts.sum()
    return np.flatnonzero((share >= 0.4) & (share <= 0.6))


def with_own_row(formulation: Any) -> Any:
    """The formulation with a row that is not of the problem."""

    class Own(type(formulation)):  # type: ignore[misc]
        def declare(self, m: Any, view: Any, space: Any) -> None:
            super().declare(m, view, space)
            m.own = pyo.Constraint(expr=sum(m.b[1, f] for f in allowed(view).tolist()) == 1)

    return Own(**vars(formulation))


def best_own(problem: mt.Problem) -> float:
    """The optimum with the own row."""
    view, found = problem.view(CostMatrix), []
    for f in allowed(view).tolist():
        parts = [problem.dataset.subset(view.X[:, f] == side) for side in (0, 1)]
        space = mt.Trees(problem.space.depth - 1)
        found.append(
            sum(mt.solve(mt.Problem(p, problem.task, space), "dp").value.number for p in parts)
        )
    return min(found)


def measured(
    problem: mt.Problem, pair: str, arm: str, limit: float, best: float, own: bool
) -> dict[str, Any]:
    """One run."""
    method: Any = mt.registry.method(pair)
    if own:
        method.formulation = with_own_row(method.formulation)
    method.options["round_points"] = arm in ("points", "both")
    start = mt.solve(problem, STARTS[arm]).tree if arm in STARTS else None
    method.warm_up()
    began = time.process_time()
    result = method.run(problem, mt.Limits(time=limit), start)
    seconds = time.process_time() - began
    leaf = mt.solve(mt.Problem(problem.dataset, problem.task, mt.Trees(0)), "dp").value.number
    found = None if result.value is None else result.value.number
    bound = result.bound if result.bound is not None else 0.0
    sizes = result.model_size
    return {
        "status": result.status.value,
        "errors": found,
        "optimum": best,
        "gap": mean_gap(result, best, leaf, limit),
        "final": (leaf if found is None else found) - best,
        "bound": float(bound),
        "proof": (best - float(bound)) / best if best else 0.0,
        "seconds": result.seconds,
        "own s": seconds,
        "nodes": result.nodes,
        "points": sizes.get("points", 0),
        "better": sizes.get("better_points", 0),
    }


def rows(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row per set, depth, pair and arm."""
    for name in given.sets.split(","):
        data = mt.load(root() / "classification" / f"{name}.txt")
        for depth in map(int, given.depths.split(",")):
            problem = mt.Problem(data, mt.tasks.Accuracy(), mt.Trees(depth))
            best = best_own(problem) if given.own else mt.solve(problem, "dp").value.number
            for pair in given.pairs.split(","):
                for arm in given.arms.split(","):
                    row = measured(problem, pair, arm, given.limit, best, given.own)
                    yield {"set": name, "depth": depth, "pair": pair, "arm": arm, **row}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", default="hepatitis,lymph,primary-tumor")
    parser.add_argument("--depths", default="2,3")
    parser.add_argument(
        "--pairs", default="path-cut@highs,flow-oct@highs,path-cut@scip,flow-oct@scip"
    )
    parser.add_argument("--arms", default="cold,points,greedy,both")
    parser.add_argument("--limit", type=float, default=12.0, help="seconds of each run")
    parser.add_argument("--own", action="store_true", help="add a row that is not of the problem")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    for row in rows(given):
        found.append(row)
        print(
            f"{row['set']:16} {row['depth']} {row['pair']:16} {row['arm']:8} gap {row['gap']:.3f} final {row['final']:.0f} bound {row['bound']:.2f} {row['seconds']:.1f} s points {row['points']}/{row['better']}",
            flush=True,
        )
        pd.DataFrame(found).round(4).to_csv(given.out, index=False)
    table = pd.DataFrame(found)
    wide = table.pivot_table(
        index=["depth", "pair"], columns="arm", values=["gap", "final", "proof", "seconds"]
    )
    print(wide.round(3).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
