"""Every formulation × solver at depth 2 on every set of `classification/` with at most 1000 rows:
incumbent, root bound, bound, time.

    MILP_TREES_DATA=… python benchmarks/depth2_table.py [--time-limit 100] [--solvers
    highs,cbc,scip] [--jobs 2]

Every run starts from the dynamic programme's tree and gets nothing else from it: no bound, no
cutoff, no fixed variable. The CSV is written after every run, so that an interrupted table goes on
where it stopped. odtlearn's FlowOCT is measured by `odtlearn.toml` in its own environment.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from _data import classification
from joblib import Parallel, delayed

import milp_trees as mt
from milp_trees.by_name import registry


def measure(name: str, problem: mt.Problem, method: str, time_limit: float) -> dict:
    begin = registry.method("dp").run(problem, mt.Limits(time=time_limit))
    plug_in = registry.method(method)
    why = plug_in.unsupported(problem)
    row = {"set": name, "method": method, "limit": time_limit, "optimum": begin.objective}
    if why:
        return {**row, "status": "unsupported", "message": why}
    r = plug_in.run(problem, mt.Limits(time=time_limit), start=begin.predictor)
    s, t = r.model_size, r.times
    return {
        **row,
        "incumbent": r.objective,
        "root_bound": r.root_bound,
        "bound": r.bound,
        "status": r.status.value,
        "seconds": round(r.seconds, 2),
        "nodes": r.nodes,
        "start_accepted": r.start.get("accepted"),
        "variables": s.get("variables"),
        "binaries": s.get("binaries"),
        "rows": s.get("rows"),
        "nonzeros": s.get("nonzeros"),
        "build": round(t.get("build", 0), 3),
        "hand_over": round(t.get("hand_over", 0), 3),
        "solve": round(t.get("solve", 0), 2),
        "message": r.message,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=100)
    parser.add_argument("--solvers", default="highs")
    parser.add_argument("--formulations", default="all")
    parser.add_argument("--sets", default="all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="benchmarks/results/depth2.csv")
    args = parser.parse_args()
    out = Path(args.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = pd.read_csv(out) if out.exists() else pd.DataFrame(columns=["set", "method", "limit"])
    known = set(zip(done["set"], done["method"], done["limit"], strict=True))
    problems = {
        n: mt.Problem(d, mt.Accuracy(), mt.Trees(2))
        for n, d in classification(1000).items()
        if args.sets == "all" or n in args.sets.split(",")
    }
    formulations = (
        sorted({f for p in problems.values() for f in registry.formulations_for(p)})
        if args.formulations == "all"
        else args.formulations.split(",")
    )
    todo = [
        (n, p, f"{f}@{s}")
        for n, p in problems.items()
        for s in args.solvers.split(",")
        for f in formulations
        if (n, f"{f}@{s}", args.time_limit) not in known
    ]
    print(f"{len(todo)} runs, {len(known)} known")
    for row in Parallel(n_jobs=args.jobs, return_as="generator_unordered")(
        delayed(measure)(*job, args.time_limit) for job in todo
    ):
        done = pd.concat([done, pd.DataFrame([row])], ignore_index=True)
        done.sort_values(["limit", "set", "method"]).to_csv(
            out, index=False
        )  # after every run: an interrupted table goes on where it stopped
        print(
            {
                k: row.get(k)
                for k in (
                    "set",
                    "method",
                    "optimum",
                    "incumbent",
                    "root_bound",
                    "bound",
                    "status",
                    "seconds",
                    "message",
                )
            },
            flush=True,
        )


if __name__ == "__main__":
    main()
