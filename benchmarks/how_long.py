"""How long the commands of the README and more take, first and afterwards.

    python benchmarks/how_long.py [--only tree,rule-list] [--docs]

Every command is a process of its own, in a folder with all example tables: once with an empty
folder for compiled code, and then three times with the folder that the first run has filled, of
which the fastest counts. Seconds are those of a clock on the wall, from the start of Python to its
end. `--docs` writes the tables into README.md and docs/start/times.md, between their marks.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from milp_trees.data.examples import EXAMPLES

ROOT = Path(__file__).parents[1]
MARKS = "<!-- times -->", "<!-- end of times -->"
#: Name of a line → what is done, and its command.
COMMANDS = {
    "help": ("start, and say what there is", "--help"),
    "tree": ("best tree of depth 2, 150 rows", "solve iris"),
    "depth-3": ("best tree of depth 3, 1000 rows", "solve people.csv --depth 3"),
    "depth-4": ("best tree of depth 4, 1000 rows", "solve people.csv --depth 4"),
    "penalty": ("no limit on depth, a price per leaf", "solve people.csv --leaf-penalty 0.01"),
    "sizes": (
        "best tree of every size up to 8 leaves",
        "size-path people.csv --depth 4 --leaves 8",
    ),
    "near": ("all trees within 5 % of the best", "near-best people.csv --depth 3 --relative 0.05"),
    "rule-list": ("best rule list", "rule-list people.csv --negations --length-penalty 0.02"),
    "f1": ("best F1", "solve people.csv --depth 3 --task f1"),
    "front": (
        "errors against unfairness, all compromises",
        "front hiring.csv --depth 2 --group sex --against statistical-parity",
    ),
    "policy": (
        "policy from a trial, 300 rows",
        "solve trial.csv --task policy-ipw --treatment given --outcome weeks --propensity p",
    ),
    "prune": (
        "all prunings of a forest of 10 trees",
        "prune heart.csv --feature-costs prices.txt --path",
    ),
    "milp": (
        "a formulation on HiGHS, with its proof",
        "solve people.csv --depth 3 --method state-flow@highs --out result.json",
    ),
    "verify": ("that answer derived again", "verify result.json"),
    "compare": (
        "two formulations on HiGHS, 569 rows",
        "compare breast-cancer --formulations state-flow,path-cut --binarize quantiles:4",
    ),
}
#: The lines that README.md shows.
README = ("tree", "depth-3", "rule-list", "near", "milp", "verify")


def seconds(command: str, folder: str, compiled: str) -> float:
    """Wall seconds of a process; a command that fails is an error."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "milp_trees", *command.split()],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": compiled},
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - began


def rows(only: set[str]) -> dict[str, str]:
    """A line of the table per command; printed as they are measured."""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for one in EXAMPLES.values():
            one.write(Path(folder) / one.file)
        for name, (what, command) in COMMANDS.items():
            if only and name not in only:
                continue
            with tempfile.TemporaryDirectory() as compiled:
                first = seconds(command, folder, compiled)
                again = min(seconds(command, folder, compiled) for _ in range(3))
            out[name] = f"| {what} | `milp-trees {command}` | {first:.0f} s | {again:.1f} s |"
            print(out[name], flush=True)
    return out


def put(path: Path, lines: list[str]) -> None:
    """Write the table between the marks of a page."""
    head = [
        "| what | command | the first time, with compilation | afterwards |",
        "|---|---|---|---|",
    ]
    part = re.compile(re.escape(MARKS[0]) + ".*?" + re.escape(MARKS[1]), re.DOTALL)
    table = "\n".join([MARKS[0], *head, *lines, MARKS[1]])
    path.write_text(part.sub(lambda _: table, path.read_text("utf-8")), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="names of lines, comma-separated")
    parser.add_argument("--docs", action="store_true", help="write the pages")
    args = parser.parse_args()
    made = rows(set(filter(None, args.only.split(","))))
    if args.docs:
        put(ROOT / "README.md", [made[name] for name in README if name in made])
        put(ROOT / "docs" / "start" / "times.md", list(made.values()))


if __name__ == "__main__":
    main()
