"""What HiGHS proves of the SPO tree's mixed-integer program (Elmachtoub, Liang, McNellis 2020,
Theorem 2) on the paper's shortest paths.

    python benchmarks/spo_milp.py [--time-limit 60] [--out benchmarks/results/spo_milp.csv]

200 rows, 4 × 4 grid, depths 1 to 3. The program is started from the dynamic programme's tree, with
the least big-M of every row and with the paper's, which is the largest of all rows; with the cut of
Appendix B, with its strengthened form, and without either. `greedy` and `dp` are the training
losses of the greedy tree and of the best one; the last line says whether exact <= incumbent <=
greedy holds in every row. Losses are means per row. One thread.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

import milp_trees as mt
from milp_trees.decisions.generated import DecisionData
from milp_trees.decisions.generated_problems import generated_problem
from milp_trees.mip.registry import registry

#: Spelling of the program → its big-M and its cut.
PROGRAMS = {
    "spot": ("of each row", "sum"),
    "spot:rows_m=off": ("largest", "sum"),
    "spot:leaf_cut=on": ("of each row", "leaf"),
    "spot:rows_m=off,lower_cut=off": ("largest", "none"),
    "spot:lower_cut=off": ("of each row", "none"),
}


def cases(args: argparse.Namespace):
    for degree in map(float, args.degrees.split(",")):
        data = DecisionData(
            "shortest-path",
            args.rows,
            0,
            degree,
            args.noise,
            thresholds=args.thresholds,
            seed=args.seed,
        )
        for depth in map(int, args.depths.split(",")):
            yield degree, depth, generated_problem(data, depth)[0]


def measure(problem: mt.Problem, program: str, start: str, args: argparse.Namespace) -> dict:
    """One run; `problem` may have been solved before, the run prepares its data anew."""
    first = registry.method(start).run(problem, mt.Limits(time=args.time_limit))
    result = registry.method(f"{program}@highs").run(
        problem, mt.Limits(time=args.time_limit, nonzeros=None), start=first.predictor
    )
    return {
        "start": start,
        "variables": result.model_size["variables"],
        "binaries": result.model_size["binaries"],
        "constraints": result.model_size["rows"],
        "start_loss": first.objective,
        "start_accepted": result.start.get("accepted"),
        "incumbent": result.objective,
        "root_bound": result.root_bound,
        "bound": result.bound,
        "status": result.status.value,
        "nodes": result.nodes,
        "build": round(result.times["build"] + result.times["hand_over"], 2),
        "solve": round(result.times.get("solve", 0.0), 2),
        "message": result.message,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--degrees", default="2,10")
    parser.add_argument("--noise", type=float, default=0.25)
    parser.add_argument("--depths", default="1,2,3")
    parser.add_argument("--thresholds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", default=";".join(PROGRAMS), help="separated by semicolons")
    parser.add_argument("--starts", default="dp", help="methods, separated by commas")
    parser.add_argument("--out", default="benchmarks/results/spo_milp.csv")
    args = parser.parse_args()
    rows = []
    for degree, depth, problem in cases(args):
        best = registry.method("dp").run(problem, mt.Limits(time=600.0))
        greedy = registry.method("greedy-spo").run(problem)
        for program in args.programs.split(";"):
            for start in args.starts.split(","):
                big_m, cut = PROGRAMS[program]
                rows.append(
                    {
                        "rows": args.rows,
                        "thresholds": args.thresholds,
                        "degree": degree,
                        "noise": args.noise,
                        "depth": depth,
                        "big_m": big_m,
                        "cut": cut,
                        **measure(problem, program, start, args),
                        "dp": best.objective,
                        "dp_status": best.status.value,
                        "dp_seconds": round(best.seconds, 2),
                        "greedy": greedy.objective,
                        "time_limit": args.time_limit,
                    }
                )
                print("  ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
                Path(args.out).parent.mkdir(parents=True, exist_ok=True)
                pd.DataFrame(rows).to_csv(args.out, index=False)
    table = pd.DataFrame(rows)
    near = 1e-6 * table.greedy.abs()
    ordered = (table.dp <= table.incumbent + near) & (
        table.incumbent <= table[["greedy", "start_loss"]].max(axis=1) + near
    )
    proven = table.status == "optimal"
    same = (table.dp - table.incumbent).abs() <= near
    print(
        f"{proven.sum()} of {len(table)} proven, {(~same & proven).sum()} of them differ from dp; exact <= program <= greedy in {ordered.sum()} rows; {args.out}"
    )


if __name__ == "__main__":
    main()
