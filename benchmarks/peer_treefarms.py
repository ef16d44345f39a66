"""Near-optimal sets against TreeFARMS (Xin et al. 2022): the same trees, counted per value, and the
seconds.

    python3 -m venv peer && peer/bin/pip install treefarms MILP_TREES_DATA=… python
    benchmarks/peer_treefarms.py --peer peer/bin/python [--time-limit 60] [--sets generated-0,car]

The peer counts trees over every column, equal and complementary ones too, and with
`rashomon_ignore_trivial_extensions` off also those with sibling leaves of one class: what
`near_best` counts by default. It computes in single precision, so a slack that some tree meets
exactly may lose trees there; slacks are therefore halfway between two values that trees can have. A
peer that is missing, fails or takes too long is a row that says so.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

#: Set, depth (None: no limit), penalty per leaf, slack in rows: all within (slack + 1/2)/n of the
#: best.
PUBLIC = [
    ("monk1", 4, "1/50", 2), ("monk2", 3, "1/50", 4), ("monk3", 4, "1/50", 2), ("car", 4, "1/100", 12), ("car", 5, "1/200", 8), ("car", None, "1/100", 12),
    ("tic-tac-toe", 3, "1/100", 8), ("compas-binned", 4, "1/100", 60), ("bar-7", 4, "1/50", 20),
]  # fmt: skip
COLUMNS = [
    "set",
    "rows",
    "tests",
    "depth",
    "leaf_penalty",
    "slack",
    "trees",
    "seconds",
    "peer_trees",
    "peer_seconds",
    "agrees",
    "message",
]

CHILD = r"""
import contextlib, io, json, sys, time
import numpy as np, pandas as pd
from treefarms import TREEFARMS
case = json.load(open(sys.argv[1]))
X, y = np.array(case["X"]), np.array(case["y"])
config = {"regularization": case["penalty"], "rashomon_bound_adder": case["slack"], "rashomon_ignore_trivial_extensions": False,
          "depth_budget": case["depth_budget"], "verbose": False, "time_limit": case["time_limit"]}
began = time.perf_counter()
model = TREEFARMS(config)
model.fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), pd.Series(y, name="y"))
seconds = time.perf_counter() - began
found = model.model_set
values = {}
for at, (_, errors, leaves) in zip(found.available_metrics["metric_pointers"], found.available_metrics["metric_values"]):
    key = f"{int(errors)},{int(leaves)}"
    values[key] = values.get(key, 0) + found.storage[at]["count"]
json.dump({"values": values, "seconds": seconds, "stopped": bool(model.timeout) or seconds >= case["time_limit"]}, open(sys.argv[2], "w"))
"""


def cases(wanted: str) -> list[tuple[str, Any, int | None, str, int]]:
    """Generated sets, and public ones where they are."""
    import numpy as np

    import milp_trees as mt

    out = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (40 + 20 * seed, 5 + seed // 2))
        X[:, 1] = X[:, 0] if seed % 3 == 1 else 1 - X[:, 0] if seed % 3 == 2 else X[:, 1]
        y = (X[:, 0] & X[:, 2]) ^ (rng.random(len(X)) < 0.2)
        out.append(
            (
                f"generated-{seed}",
                mt.Dataset(X, y=y),
                2 + seed % 3,
                f"{1 + seed % 2}/{len(X)}",
                2 + seed % 4,
            )
        )
    folder = Path(os.environ.get("MILP_TREES_DATA", "")) / "gosdt"
    for name, depth, penalty, slack in PUBLIC:
        path = folder / f"{name}.csv"
        if path.exists():
            out.append((name, mt.load(str(path)), depth, penalty, slack))
    return [case for case in out if wanted == "all" or case[0] in wanted.split(",")]


def ask_peer(python: str, case: dict[str, Any], time_limit: float) -> dict[str, Any]:
    """What the peer counts, or why it does not."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer, code = (
            Path(folder) / name for name in ("case.json", "answer.json", "child.py")
        )
        given.write_text(json.dumps(case))
        code.write_text(CHILD)
        try:
            done = subprocess.run(
                [python, str(code), str(given), str(answer)],
                capture_output=True,
                text=True,
                timeout=time_limit + 30,
                cwd=folder,
                check=False,
            )
        except FileNotFoundError:
            return {"message": f"there is no {python}"}
        except subprocess.TimeoutExpired:
            return {"message": f"no answer after {time_limit + 30:.0f} s"}
        if not answer.exists():
            lines = done.stderr.strip().splitlines()
            return {
                "message": f"failed with code {done.returncode}: {lines[-1] if lines else 'no message'}"
            }
        found: dict[str, Any] = json.loads(answer.read_text())
        return found


def compare(
    name: str, data: Any, depth: int | None, penalty: str, slack: int, peer: str, time_limit: float
) -> dict[str, Any]:
    """One row of the table."""
    import milp_trees as mt

    # Penalties of whole rows, so that values are multiples of 1/n on both sides.
    n = data.n_rows
    each = max(1, round(Fraction(penalty) * n))
    problem = mt.Problem(data, mt.Accuracy(leaf_penalty=Fraction(each, n)), mt.Trees(depth))
    began = time.perf_counter()
    ours = mt.near_best(problem, slack=Fraction(2 * slack + 1, 2 * n), time_limit=time_limit)
    seconds = time.perf_counter() - began
    case = {
        "X": data.X.tolist(),
        "y": data.y.tolist(),
        "penalty": each / n,
        "slack": (slack + 0.5) / n,
        "depth_budget": 0 if depth is None else depth + 1,
        "time_limit": int(time_limit),
    }
    theirs = ask_peer(peer, case, time_limit)
    if theirs.get("stopped"):  # it then counts what it has, around a tree that need not be the best
        theirs = {"message": f"stopped at its limit of {time_limit:.0f} s"}
    counted: dict[Fraction, int] = {}
    for key, count in theirs.get("values", {}).items():
        errors, leaves = map(int, key.split(","))
        value = Fraction(errors + leaves * each, n)
        counted[value] = counted.get(value, 0) + count
    # It sets its bound before its search is exact, and may count far beyond the slack; what lies
    # within must be ours.
    assert ours.optimum.exact is not None
    within = {
        value: count for value, count in counted.items() if value <= ours.optimum.exact + ours.slack
    }
    if len(within) < len(counted):
        beyond = sum(counted.values()) - sum(within.values())
        theirs["message"] = (
            f"took a worse tree for the best, and counted {beyond} trees beyond the slack"
        )
    return {
        "set": name,
        "rows": n,
        "tests": data.n_features,
        "depth": depth,
        "leaf_penalty": f"{each}/{n}",
        "slack": f"{slack}/{n}",
        "trees": ours.count if ours.complete else f"incomplete ({ours.count})",
        "seconds": round(seconds, 3),
        "peer_trees": sum(within.values()) or None,
        "peer_seconds": None if "seconds" not in theirs else round(theirs["seconds"], 3),
        "agrees": None if not counted else within == ours.values(),
        "message": theirs.get("message", ""),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--peer", default="peer/bin/python", help="the Python that treefarms is installed in"
    )
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--sets", default="all")
    parser.add_argument("--out", default="benchmarks/results/near_best_treefarms.csv")
    args = parser.parse_args()
    from milp_trees.mip.registry import registry

    registry.method("near-best").warm_up()  # compiling is not counted
    peer = str(Path(args.peer).absolute()) if os.sep in args.peer else args.peer
    rows = []
    for name, data, depth, penalty, slack in cases(args.sets):
        rows.append(compare(name, data, depth, penalty, slack, peer, args.time_limit))
        print("  ".join(f"{k} {v}" for k, v in rows[-1].items() if v not in ("", None)), flush=True)
        Path(args.out).parent.mkdir(parents=True, exist_ok=True)
        with open(args.out, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    sys.exit(any(row["agrees"] is False for row in rows))


if __name__ == "__main__":
    main()
