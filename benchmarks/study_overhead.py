"""What a study costs beside the runs themselves, and what a second process brings.

    python benchmarks/study_overhead.py [--runs 200] [--short 1000] [--long 40] [--tests 104]

1. `--runs` short runs of `dp`, in a loop of their own and as a study in this process: CPU and wall
   milliseconds per run that the study adds.
2. `--short` runs of about 10 ms as a study with two workers: wall seconds in all, also the first
   seconds in which the workers start.
3. `--long` runs of about 5 s (`dp:cache=off`; `--tests` sets how long they take) with one worker and
   with two: wall seconds, their ratio, and by how much the times of the same runs differ.

Nothing else should run on the machine. `--part 1` (2, 3) measures one of them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from milp_trees.solving.attempt import attempt, named_method
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.planning.reading import read_plan
from milp_trees.studies.running.coordinator import run_plan

SPEC = """
title = "overhead"
[defaults]
time_limit = 60
reference = "none"
[[problems]]
name = "p"
data = [{{generator = "planted", rows = {rows}, tests = {tests}, depth = {depth}, noise = 0.2, seed = [{data}]}}]
space = [{{max_depth = {depth}}}]
[[methods]]
labels = ["{method}"]
seeds = [{seeds}]
"""


def plan_of(folder: Path, number: int, problems: int, **shape: object) -> Plan:
    """A plan of so many runs of one method on so many problems."""
    listed = {
        "data": ", ".join(map(str, range(problems))),
        "seeds": ", ".join(map(str, range(number // problems))),
    }
    path = folder / "spec.toml"
    path.write_text(SPEC.format(**shape, **listed))
    return read_plan(path)


def beside(folder: Path, runs: int) -> None:
    plan = plan_of(folder, runs, 5, rows=200, tests=10, depth=2, method="dp")
    built = {problem.name: problem.build()[0] for problem in plan.problems}
    run_plan(plan.only(plan.runs[:1]), executor="serial")  # what is loaded and compiled once
    seconds: dict[str, list[tuple[float, float]]] = {"bare": [], "study": []}
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        for run in plan.runs:
            attempt(named_method(run.method), built[run.problem], run.limits)
        seconds["bare"].append((time.perf_counter() - wall, time.process_time() - cpu))
        wall, cpu = time.perf_counter(), time.process_time()
        run_plan(plan, folder / f"{time.time_ns()}.db", executor="serial")
        seconds["study"].append((time.perf_counter() - wall, time.process_time() - cpu))
    bare, study = (map(min, zip(*seconds[name])) for name in ("bare", "study"))
    wall, cpu = ((b - a) / runs * 1000 for a, b in zip(bare, study))
    print(f"1. overhead per run in one process: {wall:.1f} ms wall, {cpu:.1f} ms CPU ({runs} runs)")


def short(folder: Path, runs: int) -> None:
    plan = plan_of(folder, runs, 10, rows=2000, tests=24, depth=3, method="dp")
    first: list[float] = []
    began = time.perf_counter()

    def news(now: object) -> None:
        if now.rows and not first:
            first.append(time.perf_counter() - began)

    study = run_plan(plan, folder / "short.db", jobs=2, progress=news)
    wall = time.perf_counter() - began
    mean = statistics.mean(row["seconds"] for row in study.rows) * 1000
    print(
        f"2. {len(study)} runs of {mean:.1f} ms, two workers: {wall:.1f} s wall, first row after {first[0]:.1f} s"
    )


def long(folder: Path, runs: int, tests: int) -> None:
    plan = plan_of(folder, runs, runs, rows=400, tests=tests, depth=5, method="dp:cache=off")
    walls, times = {}, {}
    for jobs in (1, 2):
        began = time.perf_counter()
        study = run_plan(plan, folder / f"long{jobs}.db", jobs=jobs)
        walls[jobs] = time.perf_counter() - began
        times[jobs] = [row["seconds"] for row in study.rows]
    ratios = [b / a for a, b in zip(times[1], times[2])]
    off = sum(abs(ratio - 1) > 0.05 for ratio in ratios)
    print(
        f"3. {runs} runs of {statistics.mean(times[1]):.2f} s: {walls[1]:.1f} s with one worker, {walls[2]:.1f} s with two: "
        f"{walls[1] / walls[2]:.2f} times as fast; the same run takes {statistics.median(ratios):.3f} times as long (median; "
        f"{min(ratios):.3f} to {max(ratios):.3f}; {off} of {runs} by more than 5 %); in all {sum(times[2]) / sum(times[1]):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--short", type=int, default=1000)
    parser.add_argument("--long", type=int, default=40)
    parser.add_argument("--tests", type=int, default=104)
    parser.add_argument("--part", type=int, choices=(1, 2, 3))
    requested = parser.parse_args()
    parts = [
        lambda folder: beside(folder, requested.runs),
        lambda folder: short(folder, requested.short),
        lambda folder: long(folder, requested.long, requested.tests),
    ]
    for number, part in enumerate(parts, 1):
        if requested.part in (None, number):
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))


if __name__ == "__main__":
    main()
