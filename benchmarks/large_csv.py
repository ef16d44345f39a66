"""A CSV file of a million rows and 50 columns: read, made binary, solved; memory against the file.

The table has 20 columns of numbers, 24 of 0 and 1, 5 of texts and a target that a tree of depth 3
with noise decides. With `quantiles:6` it gives 150 binary features. The file is generated in a
temporary folder. A second process then loads it and proves the best tree of depth 3; the largest
resident memory is that of the second process, with Python and all libraries.

    python benchmarks/large_csv.py --rows 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

NUMBERS, FLAGS, DEPTH, BINARIZER = 20, 24, 3, "quantiles:6"
#: Number of different texts of each column of texts.
TEXTS = (6, 5, 5, 5, 5)
CHUNK = 50_000


def rows_of(draw: np.random.Generator, n: int) -> dict[str, Any]:
    """Some rows of the table; every fourth column of numbers holds whole numbers."""
    table: dict[str, Any] = {}
    for j in range(NUMBERS):
        values = draw.normal(50, 20, n)
        table[f"number{j}"] = np.rint(values).astype(int) if j % 4 == 0 else np.round(values, 4)
    for j in range(FLAGS):
        table[f"flag{j}"] = (draw.random(n) < (j + 2) / (FLAGS + 4)).astype(int)
    for j, many in enumerate(TEXTS):
        table[f"text{j}"] = np.array([f"kind-{k}" for k in range(many)])[
            draw.integers(many, size=n)
        ]
    planted = np.where(
        table["flag11"] == 1,
        np.where(table["text0"] == "kind-2", table["number1"] > 50, table["number4"] > 40),
        np.where(table["number2"] > 60, table["flag7"] == 1, table["flag16"] == 0),
    )
    return {**table, "y": (planted ^ (draw.random(n) < 0.1)).astype(int)}


def generate(file: Path, rows: int) -> None:
    """Write the table, the same one every time."""
    import pandas as pd

    draw = np.random.default_rng(0)
    for begin in range(0, rows, CHUNK):
        part = pd.DataFrame(rows_of(draw, min(CHUNK, rows - begin)))
        part.to_csv(file, mode="a" if begin else "w", header=not begin, index=False)


def peak_bytes() -> int:
    """Largest resident memory of this process since it was started."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage may state the memory of the process that started this one
        lines = status.read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def solve_there(file: Path, time_limit: float) -> dict[str, Any]:
    """Load and solve, in this process; stages and the answer."""
    import milp_trees as mt
    from milp_trees.data import load
    from milp_trees.data.binarize import Binarizer

    stages: list[dict[str, Any]] = []

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        spent = {"s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        stages.append({"stage": name, **spent, "peak": peak_bytes()})

    def timed(function: Any, name: str) -> Any:
        def run(*given: Any, **options: Any) -> Any:
            with stage(name):
                return function(*given, **options)

        return run

    small = mt.load("planted:rows=60,depth=2")  # so that nothing is compiled below
    mt.solve(mt.Problem(small, mt.Accuracy(), mt.Trees(max_depth=DEPTH)), "dp")
    with stage("imports and compiled functions"):
        pass
    for place, function, name in (
        (load, "read_table", "load: read the file"),
        (load, "usable", "load: check the columns"),
        (Binarizer, "fit", "load: choose thresholds"),
        (Binarizer, "dataset", "load: make features"),
    ):
        setattr(place, function, timed(getattr(place, function), name))
    with stage("load (the stages above)"):
        data = mt.load(file, target="y", binarizer=BINARIZER)
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=DEPTH))
    with stage("group equal rows, presolve"):
        problem.presolved_view()
    with stage(f"dp, depth {DEPTH}"):
        result = mt.solve(problem, "dp", time_limit=time_limit)
    with stage("hash of the data"):
        digest = data.sha256
    return {
        "stages": stages,
        "rows": data.n_rows,
        "features": data.n_features,
        "status": result.status.value,
        "value": str(result.value),
        "bound": str(result.bound),
        "tree": str(result.predictor),
        "data_sha256": digest,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--time-limit", type=float, default=600)
    parser.add_argument("--file", type=Path, help="Solve this file only (the second process).")
    given = parser.parse_args()
    if given.file is not None:
        print(json.dumps(solve_there(given.file, given.time_limit)))
        return
    with tempfile.TemporaryDirectory(prefix="large-csv-") as name:
        file = Path(name) / "large.csv"
        generate(file, given.rows)
        size = file.stat().st_size
        command = [sys.executable, __file__, "--file", str(file)]
        command += ["--time-limit", str(given.time_limit)]
        message = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(message.splitlines()[-1])
    for row in found["stages"]:
        print(
            f"{row['stage']:<32} {row['s']:>7.2f} s  {row['cpu_s']:>7.2f} s of processors  "
            f"largest memory so far {row['peak'] / 1e6:>7.0f} MB"
        )
    print(found["tree"])
    print(f"{found['status']}: value {found['value']}, bound {found['bound']}")
    print(f"{found['rows']} rows, {found['features']} features, SHA-256 {found['data_sha256']}")
    peak = found["stages"][-1]["peak"]
    print(f"file {size / 1e6:.0f} MB, memory {peak / 1e6:.0f} MB, {peak / size:.2f} times the file")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
