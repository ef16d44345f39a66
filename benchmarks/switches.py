"""Which techniques of `dp` earn their place: greedy elimination on problems that take the engine
about a second.

    MILP_TREES_DATA=… python benchmarks/switches.py [--problems letter,ionosphere] [--worst 1.1]

All techniques are on at first. In every round each one that is still on is switched off in turn;
the one without which the geometric mean of the processor seconds is smallest stays off. The
elimination ends when every further one costs at least a tenth (`--worst`) on some problem.

Both sides of a ratio run in turns. Beside the seconds (minimum of the repeats) stand rows counted
(rows whose pairs of tests were summed) and kernel calls, which are free of noise. A run that takes
five times as long as with everything on is stopped and counted as that. Rows go to
`results/switches.csv`. A round takes about ten minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import _data
import numpy as np
import pandas as pd
from report import markdown

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.engines.dp.switches import Switches

RESULTS = Path(__file__).parent / "results" / "switches.csv"
SEARCH = tuple(f.name for f in fields(Switches))
#: Set and depth, without penalties.
ERRORS = (
    ("german-credit", 5),
    ("australian-credit", 5),
    ("pendigits", 5),
    ("ionosphere", 4),
    ("letter", 4),
    ("splice-1", 4),
)
#: Set and penalty per leaf, without a depth limit.
SPARSE = (("heart-cleveland", "0.02"), ("australian-credit", "0.02"))
SPARSE_GOSDT = (("car", "0.001"), ("tic-tac-toe", "0.001"))
#: A run is stopped after this many times the seconds with everything on.
PATIENCE = 5.0
COUNTED = ("seconds", "rows_counted", "calls")


def problems() -> dict[str, mt.Problem]:
    """Every problem by its name."""
    sets = _data.classification()
    out = {f"{n}, depth {d}": mt.Problem(sets[n], mt.Accuracy(), mt.Trees(d)) for n, d in ERRORS}
    out["heart-cleveland, depth 5, 10 rows in a leaf"] = mt.Problem(
        sets["heart-cleveland"], mt.Accuracy(), mt.Trees(5, min_samples_leaf=10)
    )
    raisin = mt.load(str(_data.root() / "numeric" / "raisin.txt"), binarizer="quantiles:40")
    out["raisin, 273 thresholds, depth 4"] = mt.Problem(raisin, mt.Accuracy(), mt.Trees(4))
    out["random costs of 5 actions, depth 5"] = mt.Problem(
        _costs(), mt.tasks.ActionCostMatrix(), mt.Trees(5)
    )
    gosdt = _data.sparse()
    for chosen, source in ((SPARSE, sets), (SPARSE_GOSDT, gosdt)):
        for n, penalty in chosen:
            out[f"{n}, {penalty} per leaf"] = mt.Problem(
                source[n], mt.Accuracy(leaf_penalty=penalty), mt.Trees(None)
            )
    return out


def _costs() -> mt.Dataset:
    """Costs per row that depend on the features, as decisions of SPO trees do."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 36)).astype(np.uint8)
    values = rng.integers(0, 1000, (400, 5)) + 300 * X[:, :5].astype(np.int64)
    return mt.Dataset(X=X, values=values, actions=tuple(range(5)))


class Measured:
    """Work on every problem, by the techniques that are off."""

    def __init__(self, chosen: dict[str, mt.Problem], repeats: int) -> None:
        self.problems, self.repeats = chosen, repeats
        self.rows: list[dict[str, object]] = []
        for problem in chosen.values():
            DynamicProgramme().run(problem, Limits(time=0.01))  # compiles

    def run(self, off: tuple[str, ...], against: tuple[str, ...] = ()) -> pd.DataFrame:
        """Seconds, counted rows and calls per problem with these techniques off, and their ratios to those `against`, run in turns."""
        found = []
        for name, problem in self.problems.items():
            old, new = (
                self._least(name, problem, one) for one in self._turns(name, problem, against, off)
            )
            ratios = {f"{c} ratio": (new[c] + 1e-3) / (old[c] + 1e-3) for c in COUNTED}
            found.append(
                {
                    "off": " ".join(off),
                    "against": " ".join(against),
                    "problem": name,
                    **new,
                    **ratios,
                }
            )
        self.rows += found
        return pd.DataFrame(found).set_index("problem")

    def _turns(
        self, name: str, problem: mt.Problem, *both: tuple[str, ...]
    ) -> list[list[dict[str, object]]]:
        """Runs of two choices of techniques, one after the other, as often as repeated."""
        out: list[list[dict[str, object]]] = [[], []]
        for _ in range(self.repeats):
            for k, off in enumerate(both):
                limit = PATIENCE * out[0][0]["seconds"] + 0.1 if out[0] else 600.0
                began = time.process_time()
                result = DynamicProgramme(**dict.fromkeys(off, False)).run(
                    problem, Limits(time=limit)
                )
                seconds = time.process_time() - began
                out[k].append(
                    {
                        **result.model_size,
                        "seconds": seconds,
                        "status": result.status.value,
                        "objective": result.objective,
                    }
                )
            if out[1][-1]["seconds"] > 2 * out[0][-1]["seconds"]:
                break  # noise is smaller than that
        return out

    @staticmethod
    def _least(name: str, problem: mt.Problem, runs: list[dict[str, object]]) -> dict[str, object]:
        best = min(runs, key=lambda run: run["seconds"])
        return {key: best[key] for key in (*COUNTED, "status", "objective")}


def eliminate(measured: Measured, worst: float, show: Callable[[str], None]) -> list[str]:
    """The techniques that can stay off, in the order in which they were switched off."""
    off: list[str] = []
    while len(off) < len(SEARCH):
        tried = {s: measured.run((*off, s), tuple(off)) for s in SEARCH if s not in off}
        means = {s: mean(table["seconds ratio"]) for s, table in tried.items()}
        show(_table(tried, means))
        able = [
            s
            for s in sorted(means, key=means.__getitem__)
            if tried[s]["seconds ratio"].max() < worst
        ]
        if not able:
            break
        off.append(able[0])
        show(f"Switched off: {' '.join(off)}")
    return off


def mean(ratios: pd.Series) -> float:
    """Geometric mean."""
    return float(np.exp(np.log(ratios).mean()))


def _table(tried: dict[str, pd.DataFrame], means: dict[str, float]) -> str:
    """A row per technique: mean ratios, and the ratio of seconds per problem."""
    rows = []
    for s in sorted(means, key=means.__getitem__):
        table = tried[s]
        overall = {f"mean {c}": f"{mean(table[f'{c} ratio']):.2f}" for c in COUNTED}
        each = {f"({k})": f"{ratio:.2f}" for k, ratio in enumerate(table["seconds ratio"], 1)}
        rows.append({"off": s, **overall, **each})
    return markdown(pd.DataFrame(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--problems",
        default="",
        help="only problems whose names contain one of these, separated by commas",
    )
    parser.add_argument("--worst", type=float, default=1.1)
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args()
    wanted = args.problems.split(",")
    measured = Measured(
        {n: p for n, p in problems().items() if any(w in n for w in wanted)}, args.repeats
    )
    for k, name in enumerate(measured.problems, 1):
        print(f"({k}) {name}")
    off = eliminate(measured, args.worst, lambda text: print(text, flush=True))
    print(f"Off in the end: {' '.join(off) or 'none'}")
    RESULTS.parent.mkdir(exist_ok=True)
    pd.DataFrame(measured.rows).to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
