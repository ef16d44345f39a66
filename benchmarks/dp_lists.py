"""How fast `dp-lists` proves optimal rule lists, what its parts are worth, and `corels` beside it.

    MILP_TREES_DATA=… python benchmarks/dp_lists.py [--part penalties|adult|lengths|antecedents|worth]
                                                    [--methods dp-lists,corels] [--limit 60]

*penalties*: COMPAS (`compas_train.out`, 6489 rows in 194 classes of equal rows, 155 antecedents) for
falling penalties. *adult*: the same on adult, below. *lengths*: lists of at most so many rules for nothing, on COMPAS and on adult
(`adult_test.out`, 14 924 rows in 5142 classes, 69 antecedents). *antecedents*: conjunctions of two
literals with negations, of the 14 columns of `compas_train-binary.csv` and of the 155 of
`compas_train.out`. *worth*: the options of the search, one changed at a time.

Seconds are those of the processor, preparation included and compilation excluded, the least of
`--repeat` runs in turns. Rows go to `results/dp_lists_PART.csv`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import _data
import pandas as pd
from report import markdown

import milp_trees as mt
from milp_trees.common.limits import Limits

RESULTS = Path(__file__).parent / "results"
#: What a changed option is called in the table of worth.
WORTH = (
    "dp-lists",
    "dp-lists:tables=0",
    "dp-lists:rows=8",
    "dp-lists:rows=12",
    "dp-lists:tables=16",
    "dp-lists:tables=256",
    "dp-lists:share=20",
    "dp-lists:share=500",
    "dp-lists:dive=1000000",
)


def compas(penalty: str, **space: object) -> mt.Problem:
    data = mt.load(str(_data.root() / "rulelist/corels/compas_train.out"))
    return mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists(**space))


def adult(penalty: str, **space: object) -> mt.Problem:
    data = mt.load(str(_data.root() / "rulelist/faircorels/adult_test.out"))
    return mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists(**space))


def columns(penalty: str, **space: object) -> mt.Problem:
    path = str(_data.root() / "rulelist/corels/compas_train-binary.csv")
    data = mt.load(path)
    return mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists(**space))


def pairs(min_support: str) -> mt.Antecedents:
    return mt.Antecedents(max_literals=2, negations=True, min_support=min_support)


def problems(part: str) -> Iterator[tuple[str, mt.Problem]]:
    """The problems of a part by their names."""
    if part == "penalties":
        for penalty in ("0.015", "0.01", "0.0075", "0.005", "0.0025", "0.0015"):
            yield f"compas, {penalty}", compas(penalty)
    elif part == "adult":
        for penalty in ("0.02", "0.01", "0.005"):
            yield f"adult, {penalty}", adult(penalty)
    elif part == "lengths":
        for longest in range(1, 7):
            yield f"compas, at most {longest} rules", compas("0", max_length=longest)
        for longest in range(1, 5):
            yield f"adult, at most {longest} rules", adult("0", max_length=longest)
    elif part == "antecedents":
        for penalty in ("0.01", "0.005", "0.0025"):
            stated = pairs("0")
            yield f"14 columns, pairs, {penalty}", columns(penalty, antecedents=stated)
        for support in ("0.05", "0.01", "0"):
            stated = pairs(support)
            yield f"155 rules, pairs of support {support}, 0.01", compas("0.01", antecedents=stated)
    else:
        for penalty in ("0.01", "0.005", "0.0025"):
            yield f"compas, {penalty}", compas(penalty)
        yield "compas, at most 5 rules", compas("0", max_length=5)
        yield "14 columns, pairs, 0.0025", columns("0.0025", antecedents=pairs("0"))


def measured(method: str, problem: mt.Problem, limit: float, repeat: int) -> dict[str, object]:
    """One row: value, bound, seconds and counters of a method on a problem."""
    engine = mt.registry.method(method)
    engine.warm_up()
    seconds = []
    for _ in range(repeat):
        began = time.process_time()
        result = engine.run(problem, Limits(time=limit))
        seconds.append(time.process_time() - began)
        if seconds[0] > 5:
            break
    sizes = result.model_size
    view = problem.presolved_view()
    return {
        "method": method,
        "antecedents": view.n_features,
        "status": result.status.value,
        "value": None if result.value is None else result.value.number,
        "bound": result.bound,
        "seconds": round(min(seconds), 3),
        "prefixes": result.nodes,
        "sets": sizes.get("sets"),
        "megabytes": sizes.get("megabytes"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", default="penalties")
    parser.add_argument("--methods", default="dp-lists")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    methods = WORTH if args.part == "worth" else args.methods.split(",")
    rows = []
    for name, problem in problems(args.part):
        problem.space.table(problem.dataset)  # mined before the clock, as part of the problem
        for method in methods:
            rows.append({"problem": name, **measured(method, problem, args.limit, args.repeat)})
            print(rows[-1], flush=True)
            RESULTS.mkdir(exist_ok=True)
            pd.DataFrame(rows).to_csv(RESULTS / f"dp_lists_{args.part}.csv", index=False)
    print(markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
