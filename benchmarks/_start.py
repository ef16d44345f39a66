"""How long the first answer takes: import, compilation on a fresh install, and a later process that
finds the kernels in the cache.

Each number is from a process of its own. `cold` starts with an empty folder for compiled kernels,
`cached` with the one that `cold` has filled; in both, the libraries underneath are imported before
the clock starts, the package's own modules are not. `with imports` counts everything after `import
milp_trees`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

PROBLEMS = {
    "accuracy, depth 4": "mt.Problem(mt.load('planted:rows=300,tests=20,depth=4,noise=0.1'), mt.Accuracy(), mt.Trees(4))",
    "three classes, depth 4": "mt.Problem(mt.load('planted:rows=300,tests=20,depth=4,classes=3,noise=0.1'), mt.Accuracy(), mt.Trees(4))",
    "costs per row, depth 4": "mt.Problem(mt.load('random-costs:rows=300,tests=20,actions=3'), mt.tasks.ActionCostMatrix(), mt.Trees(4))",
    "penalty, no depth limit": "mt.Problem(mt.load('planted:rows=300,tests=20,depth=3,noise=0.1'), mt.Accuracy(leaf_penalty='0.01'), mt.Trees(None))",
}
CHILD = """
import json, time
began = time.perf_counter()
import milp_trees as mt
imported = time.perf_counter() - began
if {libraries}:
    import numba, pandas, scipy.sparse, sklearn
problem = {problem}
walls, cpus = [], []
for _ in range(2):
    began, cpu = time.perf_counter(), time.process_time()
    result = mt.solve(problem, method="dp")
    walls.append(time.perf_counter() - began)
    cpus.append(time.process_time() - cpu)
print(json.dumps({{"import": imported, "first": walls[0], "first, processor": cpus[0], "second": walls[1], "status": result.status.value}}))
"""


def run(problem: str, cache: str, libraries: bool) -> dict:
    """One process: seconds of the import, of the first solve (wall and processor) and of the
    second.
    """
    code = CHILD.format(problem=problem, libraries=libraries)
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    if found.returncode:
        last = (found.stderr.strip().splitlines() or [""])[-1]
        return {
            "status": "failed" if found.returncode > 0 else f"signal {-found.returncode}",
            "message": last[:200],
        }
    return json.loads(found.stdout.splitlines()[-1])


def main(out: Path, again: bool) -> None:
    """Measure every problem that the file does not hold yet."""
    done = pd.read_csv(out) if out.exists() and not again else pd.DataFrame(columns=["problem"])
    for name, problem in PROBLEMS.items():
        if name in set(done["problem"]):
            continue
        with tempfile.TemporaryDirectory() as cache:
            runs = {
                "cold": run(problem, cache, True),
                "cached": run(problem, cache, True),
                "cached, with imports": run(problem, cache, False),
            }
        rows = [
            {"problem": name, "process": process, **columns} for process, columns in runs.items()
        ]
        done = pd.concat([done, pd.DataFrame(rows)], ignore_index=True)
        done.round(3).to_csv(out, index=False)
        for row in rows:
            print(
                "start",
                *(f"{k}={v:.3f}" if isinstance(v, float) else f"{v}" for k, v in row.items()),
                flush=True,
            )
