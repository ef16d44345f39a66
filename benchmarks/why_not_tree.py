"""Why not the greedy tree: what it costs, at which penalties it is optimal, and for which weights.

    MILP_TREES_DATA=… python benchmarks/why_not_tree.py [--sets vote,hepatitis] [--max-rows 1000]
        [--depth 3] [--leaf-penalty 0] [--time-limit 60]

For every set of `classification/` the greedy tree of the depth is explained (`mt.why_not`). A line
has its errors and those of the optimum, the range of penalties per leaf at which it is optimal, the
least change of row weights after which it is, with how many other trees that were compared, and the
seconds of one solve and of the whole explanation. A range or change that is not proven within the
limit has a question mark.
"""

from __future__ import annotations

import argparse
import time

from _data import classification

import milp_trees as mt


def line(name: str, data: mt.Dataset, depth: int, penalty: str, limit: float) -> str:
    """The line of one set."""
    problem = mt.Problem(data, mt.Accuracy(leaf_penalty=penalty), mt.Trees(max_depth=depth))
    plain = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=depth))
    greedy = mt.solve(plain, "cart").predictor
    mt.solve(problem, time_limit=limit)  # kernels are compiled and tables read
    began = time.perf_counter()
    best = mt.solve(problem, time_limit=limit)
    one = time.perf_counter() - began
    why = mt.why_not(problem, greedy, time_limit=limit)
    errors = [f"{plain.value(tree).number:.0f}" for tree in (greedy, best.predictor)]
    penalties, weights = why.penalty, why.weights
    if penalties is None:
        span = why.notes["penalty"]
    elif penalties.empty:
        span = "none"
    else:
        most = "∞" if penalties.most is None else str(penalties.most)
        span = f"{penalties.least} to {most}" + ("" if penalties.proven else " ?")
    if weights is None:
        change, rivals = why.notes["weights"], 0
    else:
        total = "impossible" if weights.impossible else f"{float(weights.total or 0):g}"
        change = total if weights.proven else f"{weights.note} ?"
        rivals = weights.rivals
    cells = [name, data.n_rows, *errors, span, change, rivals, f"{one:.2f}", f"{why.seconds:.2f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--sets", default="", help="names, with commas; by default all")
    parser.add_argument("--max-rows", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--leaf-penalty", default="0")
    parser.add_argument("--time-limit", type=float, default=60.0)
    args = parser.parse_args()
    chosen = [name for name in args.sets.split(",") if name]
    print(
        "| set | rows | greedy errors | least errors | penalties per leaf | change of weight | trees compared | one solve (s) | explanation (s) |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, data in classification(args.max_rows).items():
        if not chosen or name in chosen:
            print(line(name, data, args.depth, args.leaf_penalty, args.time_limit), flush=True)


if __name__ == "__main__":
    main()
