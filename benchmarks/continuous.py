"""All midpoints of continuous features: `dp-sorted` against ConTree (Brița, van der Linden,
Demirović 2025; PyPI `pycontree`) on its data.

One thread each, alternating, processor seconds of one process per engine: what loading and
compiling takes is apart. Both engines get the columns in memory and return a tree; its errors are
counted here. A peer that is not installed, fails or does not finish is a row that says so.

    MILP_TREES_DATA=... python benchmarks/continuous.py --depths 2,3 --limit 120 --peer-python PATH
    --out benchmarks/results/continuous.csv
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import _data

SETS = ("bank", "raisin", "rice", "wilt", "bidding", "segment", "fault", "page")
COLUMNS = (
    "set",
    "rows",
    "columns",
    "classes",
    "thresholds",
    "depth",
    "engine",
    "status",
    "errors",
    "seconds",
    "ratio",
    "note",
)

#: Runs in the peer's interpreter, which need not have this package. Prints one JSON line per
#: repetition.
PEER = """
import json, sys, time, warnings
import numpy as np
from pycontree import ConTree
table = np.loadtxt(sys.argv[1])
X, y = table[:, 1:], table[:, 0].astype(int)
depth, limit, repeats = int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
for _ in range(repeats):
    model = ConTree(max_depth=depth, time_limit=limit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
    late = any("time limit" in str(w.message) for w in caught)
    print(json.dumps({"errors": int((model.predict(X) != y).sum()), "seconds": seconds, "status": "feasible" if late else "optimal"}))
"""

OURS = """
import json, sys, time
import milp_trees as mt
data = mt.load(sys.argv[1], binarizer="midpoints")
depth, limit, repeats = int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(min(depth, 2))), "dp-sorted")
for _ in range(repeats):
    began = time.process_time()
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(depth)), "dp-sorted", time_limit=limit)
    seconds = time.process_time() - began
    print(json.dumps({
        "errors": int(result.value.number), "seconds": seconds, "status": result.status.value, "note": f"bound {result.bound:g}",
        "thresholds": data.n_features, "rows": data.n_rows, "classes": len(data.classes), "columns": data.ranked.codes.shape[1],
    }))
"""


def run(python: str, code: str, file: Path, depth: int, limit: float, repeats: int) -> dict:
    """Median of the repetitions, or why there is none."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [python, "-c", code, str(file), str(depth), str(limit), str(repeats)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=repeats * limit * 3 + 600,
            env={**os.environ, **one_thread},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"status": "killed", "note": f"no answer after {repeats * limit * 3 + 600:.0f} s"}
    except OSError as error:
        return {"status": "missing", "note": str(error)}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"status": "missing" if "ModuleNotFoundError" in last else "failed", "note": last}
    answers = sorted(
        (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")),
        key=lambda a: a["seconds"],
    )
    return answers[len(answers) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--depths", default="2,3")
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--peer-python", default=os.environ.get("MILP_TREES_PEER_PYCONTREE", sys.executable)
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for depth in map(int, args.depths.split(",")):
        ratios = []
        for name in args.sets.split(","):
            file = next(
                p for p in (_data.root() / "numeric").iterdir() if p.name.split(".")[0] == name
            )
            ours = run(sys.executable, OURS, file, depth, args.limit, args.repeats)
            peer = run(args.peer_python, PEER, file, depth, args.limit, args.repeats)
            ratio = None
            if ours.get("status") == peer.get("status") == "optimal":
                ratio = ours["seconds"] / peer["seconds"]
                ratios.append(ratio)
                if ours["errors"] != peer["errors"]:
                    ours["note"] = f"{ours['note']}; the peer has {peer['errors']} errors"
            about = {key: ours.get(key) for key in ("rows", "columns", "classes", "thresholds")}
            for engine, answer in (("dp-sorted", ours), ("ConTree", peer)):
                shown = {key: answer.get(key) for key in ("status", "errors", "seconds", "note")}
                rows.append(
                    {
                        "set": name,
                        **about,
                        "depth": depth,
                        "engine": engine,
                        **shown,
                        "ratio": ratio if engine == "dp-sorted" else None,
                    }
                )
                print(
                    "  ".join(
                        f"{k}={rows[-1][k]:.3g}"
                        if isinstance(rows[-1][k], float)
                        else f"{k}={rows[-1][k]}"
                        for k in COLUMNS
                    ),
                    flush=True,
                )
        if ratios:
            print(
                f"depth {depth}: geometric mean of ratios {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f} over {len(ratios)} sets"
            )
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with args.out.open("w", newline="") as to:
            writer = csv.DictWriter(to, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
