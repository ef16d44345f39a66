"""A table of 10^8 rows, generated, grouped and solved: rows per second of every stage, and memory.

The table has 20 binary columns of several frequencies and a target that a tree of depth 4 with
noise decides. It is written as a folder of Parquet files. DuckDB groups equal rows; a second process
with a limit on its memory then reads the folder, groups it and proves the best tree of depth 4.

    python benchmarks/large_tables.py --rows 100000000 --out benchmarks/results/large_tables.csv

The folder takes about 4 bytes per row, and is removed at the end.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FEATURES, DEPTH, FILES = 20, 4, 100


def expressions() -> tuple[list[str], str]:
    """SQL of the columns, from the 64 random bits `h` of a row, and of the target."""
    bit = [f"((h >> {k}) & 1)" for k in range(64)]
    columns = [
        *bit[:10],
        *(f"({bit[10 + 2 * k]} & {bit[11 + 2 * k]})" for k in range(5)),
        *(f"({bit[20 + 2 * k]} | {bit[21 + 2 * k]})" for k in range(5)),
    ]
    x = [f"x{j}" for j in range(FEATURES)]
    parity = f"xor(xor({x[3]}, {x[12]}), {x[17]})"
    rule = (
        f"CASE WHEN {x[0]} = 1 THEN {parity} WHEN {x[7]} = 1 THEN {x[15]} ELSE {x[9]} & {x[18]} END"
    )
    noise = f"CASE WHEN ({' & '.join(bit[40:43])}) = 1 THEN 1 ELSE 0 END"
    return columns, f"xor({rule}, {noise})"


def generate(folder: Path, rows: int, files: int = FILES) -> None:
    """Write the table as Parquet files."""
    import duckdb

    columns, target = expressions()
    named = ", ".join(f"{c}::UTINYINT AS x{j}" for j, c in enumerate(columns))
    connection = duckdb.connect(":memory:", config={"memory_limit": "1GB"})
    for k in range(files):
        first, last = rows * k // files, rows * (k + 1) // files
        connection.execute(
            f"COPY (SELECT * EXCLUDE h, ({target})::UTINYINT AS y FROM (SELECT {named}, h FROM "
            f"(SELECT hash(range) AS h FROM range({first}, {last})))) "
            f"TO '{folder / f'part-{k:03}.parquet'}' (FORMAT parquet)"
        )


class Stages:
    """Seconds and processor seconds of named stages."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.rows.append(
            {
                "stage": name,
                "seconds": time.perf_counter() - wall,
                "cpu_seconds": time.process_time() - cpu,
                "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )


def solve_there(folder: Path, memory_mb: int, time_limit: float) -> dict[str, Any]:
    """Group and solve, in this process, whose data segment is limited; stages and the answer."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory_mb * 2**20,) * 2)
    import milp_trees as mt
    from milp_trees.data import grouped
    from milp_trees.data.duckdb_table import DuckTable
    from milp_trees.data.engine_sources import opened

    stages = Stages()
    for name in ("extents", "distinct", "group"):  # what load_grouped asks the engine
        setattr(DuckTable, name, _timed(getattr(DuckTable, name), stages, f"engine: {name}"))
    grouped.opened = _timed(opened, stages, "hash and open the files")
    with stages.stage("load_grouped (the stages above and the Dataset)"):
        data = mt.load_grouped(folder, target="y", memory_mb=memory_mb // 3)
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=DEPTH))
    with stages.stage("view and presolve"):
        merged = problem.presolved_view()
    small = mt.load("planted:rows=60,depth=2")  # so that nothing is compiled below
    mt.solve(mt.Problem(small, mt.Accuracy(), mt.Trees(max_depth=DEPTH)), "dp")
    with stages.stage(f"dp, depth {DEPTH}"):
        result = mt.solve(problem, "dp", time_limit=time_limit)
    return {
        "stages": stages.rows,
        "rows": data.total_rows,
        "distinct": data.n_rows,
        "merged": merged.n_rows,
        "status": result.status.value,
        "value": str(result.value),
        "bound": result.bound,
        "tree": str(result.predictor),
        "grouped": data.source["grouped"],
    }


def _timed(function: Any, stages: Stages, name: str) -> Any:
    def run(*given: Any, **options: Any) -> Any:
        with stages.stage(name):
            return function(*given, **options)

    return run


def summed(stages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per stage: times are added up, memory is the largest."""
    out: dict[str, dict[str, Any]] = {}
    for row in stages:
        known = out.setdefault(row["stage"], {**row, "seconds": 0.0, "cpu_seconds": 0.0})
        known["seconds"] += row["seconds"]
        known["cpu_seconds"] += row["cpu_seconds"]
        known["peak_memory_mb"] = max(known["peak_memory_mb"], row["peak_memory_mb"])
    return list(out.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--memory-mb", type=int, default=4096)
    parser.add_argument("--time-limit", type=float, default=3600)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folder", type=Path, help="Solve this folder only (the second process).")
    given = parser.parse_args()
    if given.folder is not None:
        print(json.dumps(solve_there(given.folder, given.memory_mb, given.time_limit)))
        return
    with tempfile.TemporaryDirectory(prefix="large-tables-") as name:
        folder, stages = Path(name), Stages()
        with stages.stage("generate and write the files"):
            generate(folder, given.rows)
        size = sum(f.stat().st_size for f in folder.iterdir())
        command = [sys.executable, __file__, "--folder", name]
        command += ["--memory-mb", str(given.memory_mb), "--time-limit", str(given.time_limit)]
        message = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(message.splitlines()[-1])
    rows = summed([*stages.rows, *found["stages"]])
    shared = {
        "rows": found["rows"],
        "distinct_rows": found["distinct"],
        "merged_rows": found["merged"],
        "file_mb": round(size / 2**20),
        "engine": f"{found['grouped']['engine']} {found['grouped']['version']}",
        "status": found["status"],
        "value": found["value"],
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }
    for row in rows:
        row |= {"rows_per_second": round(found["rows"] / row["seconds"])}
        row |= {k: round(row[k], 2) for k in ("seconds", "cpu_seconds", "peak_memory_mb")} | shared
        print(f"{row['stage']:<50} {row['seconds']:>9.2f} s  {row['rows_per_second']:>12} rows/s")
    print(found["tree"], found["status"], found["value"], f"peak {rows[-1]['peak_memory_mb']} MB")
    if given.out is not None:
        with given.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
