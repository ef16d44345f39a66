"""What `state-flow@highs` proves alone, without a start: enumeration, build, hand-over and solve
apart.

    MILP_TREES_DATA=… python benchmarks/state_flow.py [--out benchmarks/results/state_flow.csv]

Depth 2 on every set of `classification/`, depth 3 on five of them, depth 2 under 1 % statistical
parity and 1 % equal opportunity on every set of `fairness/`, and adult at depth 3. Every
unconstrained optimum is compared with the dynamic programme's. One thread; kernels are compiled
before the clock starts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from _data import classification, fairness

import milp_trees as mt
from milp_trees.by_name import registry

DEPTH_3 = ("anneal", "heart-cleveland", "german-credit", "pendigits", "ionosphere")


def cases():
    sets = classification()
    for name, data in sets.items():
        yield f"{name}, 2", mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    for name in DEPTH_3:
        yield f"{name}, 3", mt.Problem(sets[name], mt.Accuracy(), mt.Trees(3))
    for name, data in fairness().items():
        for rule, short in (
            (mt.tasks.StatisticalParity, "parity"),
            (mt.tasks.EqualOpportunity, "opportunity"),
        ):
            for depth in (2, 3) if name == "adult" else (2,):
                yield (
                    f"{name}, {depth}, 1 % {short}",
                    mt.Problem(data, mt.Accuracy(constraints=(rule(0.01),)), mt.Trees(depth)),
                )


def row(name: str, problem: mt.Problem, time_limit: float) -> dict:
    result = registry.method("state-flow@highs").run(problem, mt.Limits(time=time_limit))
    oracle = registry.method("dp")
    exact = (
        None
        if oracle.unsupported(problem)
        else oracle.run(problem, mt.Limits(time=time_limit)).objective
    )
    t, s = result.times, result.model_size
    return {
        "set, depth": name,
        "rows": problem.dataset.n_rows,
        "tests": s.get("data_tests"),
        "states": s.get("states"),
        "columns": s.get("variables"),
        **{
            stage: round(t.get(stage, 0.0), 3)
            for stage in ("prepare", "enumerate", "build", "hand_over", "solve")
        },
        "seconds": round(result.seconds, 2),
        "objective": result.objective,
        "bound": result.bound,
        "status": result.status.value,
        "dp": exact,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=100)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--out", default="benchmarks/results/state_flow.csv")
    args = parser.parse_args()
    rows = []
    for name, problem in cases():
        if args.only in name:
            rows.append(row(name, problem, args.time_limit))
            print("  ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    table = pd.DataFrame(rows)
    Path(args.out).parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(args.out, index=False)
    wrong = table[(table.dp.notna()) & (table.status == "optimal") & (table.objective != table.dp)]
    print(
        f"{(table.status == 'optimal').sum()} of {len(table)} proven; {len(wrong)} differ from the dynamic programme; written to {args.out}"
    )


if __name__ == "__main__":
    main()
