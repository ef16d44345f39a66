"""odtlearn's FlowOCT with CBC on the same sets as `depth2.toml`, in an environment of its own
(it needs an old python-mip).

    python3 -m venv peer && peer/bin/pip install odtlearn "mip<2" cbcbox MILP_TREES_DATA=…
    PMIP_CBC_LIBRARY=peer/lib/python3.*/site-packages/cbcbox/cbc_dist/lib/libCbc.so \\
        peer/bin/python benchmarks/peer_odtlearn.py [--time-limit 100] [--sets
        primary-tumor,hepatitis]

odtlearn 1.1.0 does not find CBC as installed, and python-mip 2 has another interface than the one
it calls: hence the pin and the variable. Errors are counted by us on its predictions. A run that
fails is a row that says so.
"""

import argparse
import csv
import gzip
import multiprocessing
import os
import queue as queues
import sys
import time
from pathlib import Path


def solve(path: Path, time_limit: int, out) -> None:
    import numpy as np
    import pandas as pd
    from odtlearn.flow_oct import FlowOCT

    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt") as lines:
        data = np.loadtxt(lines, dtype=int)
    y, X = (
        data[:, 0],
        pd.DataFrame(data[:, 1:], columns=[f"f{j}" for j in range(data.shape[1] - 1)]),
    )
    began = time.perf_counter()
    model = FlowOCT(solver="cbc", depth=2, time_limit=time_limit, num_threads=1)
    try:
        model.fit(X, y)
        seconds = time.perf_counter() - began
        bound = model._solver.get_objective_bound()
        out.put(
            {
                "incumbent": int((model.predict(X) != y).sum()),
                "bound": len(y) - bound,
                "seconds": round(seconds, 2),
                "status": str(model._solver.model.status.name).lower(),
            }
        )
    except Exception as failure:  # a peer's failure, whatever it is, is a row of the table
        out.put(
            {
                "status": "failed",
                "seconds": round(time.perf_counter() - began, 2),
                "message": f"{type(failure).__name__}: {failure}",
            }
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=int, default=100)
    parser.add_argument("--sets", default="all")
    parser.add_argument("--out", default="benchmarks/results/depth2_odtlearn.csv")
    args = parser.parse_args()
    folder = (
        Path(os.environ.get("MILP_TREES_DATA") or sys.exit("Set MILP_TREES_DATA."))
        / "classification"
    )
    rows = []
    for path in sorted(p for p in folder.iterdir() if ".txt" in p.name and "SOURCES" not in p.name):
        name = path.name.split(".")[0]
        if args.sets != "all" and name not in args.sets.split(","):
            continue
        queue = multiprocessing.Queue()
        child = multiprocessing.Process(target=solve, args=(path, args.time_limit, queue))
        child.start()
        try:
            row = queue.get(timeout=args.time_limit * 2 + 30)
        except queues.Empty:
            row = {
                "status": "killed",
                "message": f"no answer {args.time_limit * 2 + 30} s after the start with a limit of {args.time_limit} s",
            }
        child.kill()
        rows.append({"set": name, "method": "odtlearn FlowOCT@cbc", **row})
        print(rows[-1], flush=True)
        Path(args.out).parent.mkdir(parents=True, exist_ok=True)
        with open(args.out, "w", newline="") as f:
            writer = csv.DictWriter(
                f, ["set", "method", "incumbent", "bound", "status", "seconds", "message"]
            )
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
