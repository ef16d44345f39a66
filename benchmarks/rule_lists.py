"""Optimal rule lists on COMPAS: engines, policies, every bound by itself, memory.

    MILP_TREES_DATA=… CORELS_PROGRAM=…/src/corels python benchmarks/rule_lists.py
        [--sections peers,policies,ablation,memory] [--penalties 0.015,0.01] [--limit 60] [--repeat 3]

`peers`: the methods of this package beside the authors' program, in the same run on one core, taking
turns; processor seconds, the least of all turns. The program is built from its public sources
(`git clone https://github.com/corels/corels; make -C corels/src corels`); with GMP it reads
the minority file of this data only if the first row is a minority row, so it is given the rows in
that order. Without a program its columns are empty. `policies`: every policy. `ablation`: every bound
and map switched off by itself. `memory`: bytes per prefix as the search grows to ten million
prefixes, with bounds off that would keep it small.

A section is a function below with `@section`; it yields rows.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
from _data import root

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.lists.engines.corels.switches import BOUNDS
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parent / "results"
METHODS = ("corels", "dp-lists")
POLICIES = ("bound", "objective", "curiosity", "breadth", "depth", "stochastic")
MAPS = ("permutations", "none")
#: Switches that matter only together, or under another policy.
TOGETHER = (
    "corels:hierarchical=off,look_ahead=off",
    "corels:support=off,correct_support=off,similar_support=off",
    "corels:policy=depth",
    "corels:policy=depth,collection=off",
)
#: Megabytes and seconds of the run that fills the memory.
FULL_MB, FULL_SECONDS, FULL_PREFIXES = 8192, 900, 10_000_000

Rows = Iterator[dict[str, Any]]
SECTIONS: dict[str, Callable[[Any], Rows]] = {}


def section(function: Callable[[Any], Rows]) -> Callable[[Any], Rows]:
    """Make a function a section of its name."""
    SECTIONS[function.__name__] = function
    return function


def compas(penalty: str) -> mt.Problem:
    data = mt.load(str(root() / "rulelist" / "corels" / "compas_train.out"))
    return mt.Problem(data, mt.Accuracy(split_penalty=Fraction(penalty)), mt.RuleLists())


def measured(label: str, problem: mt.Problem, limits: Limits) -> dict[str, Any]:
    """One run of a method: value, bound, processor seconds, and what the search counted."""
    began = time.process_time()
    found = registry.method(label).run(problem, limits)
    sizes = found.model_size
    return {
        "status": found.status.value,
        "value": round(found.objective, 10),
        "bound": None if found.bound is None else round(found.bound, 10),
        "cpu": round(time.process_time() - began, 3),
        "prefixes": sizes.get("prefixes", found.nodes),
        "evaluated": sizes.get("evaluated"),
        "inserted": sizes.get("inserted"),
        "megabytes": round(sizes.get("bytes", 0) / 2**20, 1),
    }


# -- beside the authors' program -------------------------------------------------------------------


def _lines(name: str) -> list[tuple[str, list[str]]]:
    """A file of the authors: names and bits."""
    file = root() / "rulelist" / "corels" / name
    packed = file.with_name(name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else file.read_bytes()
    text = content.decode()
    return [(line.partition(" ")[0], line.split()[1:]) for line in text.splitlines()]


def _for_program(folder: Path) -> list[str]:
    """The data with a minority row first; the paths."""
    files = {kind: _lines(f"compas_train.{kind}") for kind in ("out", "label", "minor")}
    flags = files["minor"][0][1]
    first = flags.index("1")
    order = [first, *(i for i in range(len(flags)) if i != first)]
    for kind, lines in files.items():
        text = "".join(f"{name} {' '.join(bits[i] for i in order)}\n" for name, bits in lines)
        (folder / f"compas.{kind}").write_text(text)
    return [str(folder / f"compas.{kind}") for kind in files]


def _program(path: str, penalty: str, files: list[str], folder: Path) -> dict[str, Any]:
    """One run of the program, best first by lower bound, with the prefix map."""
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "run").mkdir(exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    message = subprocess.run(
        [path, "-c", "2", "-p", "1", "-r", penalty, "-n", "1000000000", *files],
        capture_output=True,
        text=True,
        cwd=folder / "run",
        check=True,
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = re.search(r"minimum objective: ([\d.]+)", message)
    assert found, message[-500:]
    return {
        "value": float(found[1]),
        "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3),
    }


@section
def peers(args: Any) -> Rows:
    """Methods and program in turns; the least processor seconds of all turns."""
    methods = [name for name in METHODS if name in registry.classes("methods")]
    for name in methods:
        registry.method(name).warm_up()
    with tempfile.TemporaryDirectory() as made:
        files = _for_program(Path(made))
        for penalty in args.penalties:
            problem, best = compas(penalty), dict[str, dict[str, Any]]()
            for _ in range(args.repeat):
                turns = {
                    n: measured(n, problem, Limits(time=args.limit, memory_mb=FULL_MB))
                    for n in methods
                }
                if args.program and Fraction(penalty) >= args.program_from:
                    turns["program"] = _program(args.program, penalty, files, Path(made))
                for name, turn in turns.items():
                    if name not in best or turn["cpu"] < best[name]["cpu"]:
                        best[name] = turn
            theirs = best.get("program")
            for name, turn in best.items():
                ratio = round(turn["cpu"] / theirs["cpu"], 4) if theirs else None
                yield {"penalty": penalty, "method": name, **turn, "ratio": ratio}


# -- policies and bounds ---------------------------------------------------------------------------


def _variants(args: Any, labels: list[str]) -> Rows:
    registry.method("corels").warm_up()
    for penalty in args.penalties:
        problem, usual = compas(penalty), None
        for label in labels:
            limits = Limits(time=args.limit, memory_mb=FULL_MB)
            turns = [measured(label, problem, limits)]
            while len(turns) < args.repeat and turns[0]["cpu"] < args.limit / 10:
                turns.append(measured(label, problem, limits))
            row = min(turns, key=lambda turn: turn["cpu"])
            usual = usual or row
            times = round(row["evaluated"] / usual["evaluated"], 2)
            yield {"penalty": penalty, "method": label, **row, "times evaluated": times}


@section
def policies(args: Any) -> Rows:
    """Every policy side by side."""
    yield from _variants(args, [f"corels:policy={policy}" for policy in POLICIES])


@section
def ablation(args: Any) -> Rows:
    """Every bound and every map off by itself, and the bounds that imply others with them."""
    off = [f"corels:{name}=off" for name in BOUNDS]
    maps = [f"corels:map={kind}" for kind in MAPS]
    yield from _variants(args, ["corels", *off, *maps, *TOGETHER])


# -- memory ----------------------------------------------------------------------------------------


@section
def memory(args: Any) -> Rows:
    """Bytes of the arrays and of the process as a search grows to ten million prefixes."""
    label = "corels:policy=breadth,similar_support=off,collection=off"
    problem = compas("0.001")
    registry.method("corels").warm_up()
    nodes = 1000
    while True:
        limits = Limits(time=FULL_SECONDS, memory_mb=FULL_MB, nodes=nodes)
        row = measured(label, problem, limits)
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        each = row["megabytes"] * 2**20 / max(1, row["inserted"])
        yield {
            "prefixes": row["inserted"],
            "megabytes": row["megabytes"],
            "bytes per prefix": round(each, 1),
            "process megabytes": round(resident),
            "cpu": row["cpu"],
        }
        if row["inserted"] >= FULL_PREFIXES or row["cpu"] > FULL_SECONDS:
            return
        nodes *= 4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--penalties", default="0.015,0.01")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run of ours")
    parser.add_argument("--repeat", type=int, default=3, help="turns; the least time is reported")
    parser.add_argument(
        "--program", default=os.environ.get("CORELS_PROGRAM", ""), help="the authors' program"
    )
    parser.add_argument(
        "--program-from", type=Fraction, default=Fraction("0.01"), help="its smallest penalty"
    )
    parser.add_argument("--core", type=int, default=0, help="the core on which all runs")
    parser.add_argument("--out", default=str(RESULTS), help="folder of rule_lists_SECTION.csv")
    args = parser.parse_args()
    args.penalties = args.penalties.split(",")
    os.sched_setaffinity(0, {args.core})
    for name in args.sections.split(","):
        rows = []
        for row in SECTIONS[name](args):
            rows.append(row)
            print("  ".join(f"{k}={v}" for k, v in row.items() if v not in ("", None)), flush=True)
        file = Path(args.out) / f"rule_lists_{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(file, index=False)
        print(f"written to {file}\n", flush=True)


if __name__ == "__main__":
    main()
