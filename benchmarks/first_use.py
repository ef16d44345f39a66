"""How long a first answer takes: of a process, and of every engine on a fresh installation.

    python benchmarks/first_use.py [--parts warm,engines] [--only dp,state-flow,tutorial] [--docs]

`warm`: the first `fit` of a process against pystreed's, and what commands cost, where everything was
compiled before, with and without byte code (some two minutes).

`engines`: every line is a command that runs in a process of its own with an empty folder for compiled code,
and once more with the folder that the first run has filled. Times are wall and processor seconds of
the whole process, from the start of Python to its end. Last comes the tutorial, as `tutorial`: what its
steps compile, one after the other, from one empty folder. `--docs` writes the table into
`docs/reference/engines.md`, between its two marks. On a machine with other work wall times say little.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import _tutorial
import _warm_starts

#: Engine (or what it is asked) → command.
COMMANDS = {
    "dp": "solve iris",
    "dp, depth 4": "solve iris --depth 4",
    "dp, leaf penalty": "solve iris --leaf-penalty 0.01",
    "dp, at most 5 leaves": "solve iris --depth 4 --leaves 5",
    "dp for MCC": "solve breast-cancer --task mcc",
    "dp-sizes": "size-path iris --depth 3",
    "dp-sorted": "solve iris --method dp-sorted",
    "near-best": "near-best iris --relative 0.1",
    "pareto": "solve breast-cancer --task f1 --method pareto",
    "partial-trees": "solve breast-cancer --task auc",
    "state-flow@highs": "solve iris --method state-flow@highs",
    "cart": "solve iris --method cart",
    "dp-oracle": "spo --rows 60 --test-rows 100 --thresholds 5 --methods dp-oracle",
    "greedy-spo": "spo --rows 60 --test-rows 100 --methods greedy",
    "cart-spo": "spo --rows 60 --test-rows 100 --methods cart",
    "min-cut": "prune breast-cancer --trees 10",
    "dantzig-wolfe": "prune breast-cancer --trees 3 --lambda 0.001 --method dantzig-wolfe",
    "budget-rf, min-cut": "prune breast-cancer --trees 2 --model budget-rf",
}
DOCS = Path(__file__).parents[1] / "docs" / "reference" / "engines.md"
MARKS = "<!-- first use -->", "<!-- end of first use -->"


def seconds(command: str, folder: str) -> tuple[float, float, int]:
    """Wall and processor seconds of a process (with its children), and its exit code."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    code = subprocess.run(
        [sys.executable, "-m", "milp_trees", *command.split()],
        env={**os.environ, "NUMBA_CACHE_DIR": folder},
        capture_output=True,
    ).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu, code


def table(only: set[str]) -> str:
    """The rows as Markdown; printed as they are measured."""
    lines = [
        "| engine | command | first use, s | processor, s | again, s |",
        "|---|---|---|---|---|",
    ]
    for name, command in COMMANDS.items():
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            first, cpu, code = seconds(command, folder)
            again, _, _ = seconds(command, folder)
        failed = f" (exit code {code})" if code else ""
        lines.append(f"| {name} | `{command}`{failed} | {first:.1f} | {cpu:.1f} | {again:.1f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def warm(args: argparse.Namespace) -> None:
    """Print what a process pays where everything was compiled before."""
    for made in _warm_starts.TABLES.values():
        print(made(args.repeats), flush=True)
        print()


def engines(args: argparse.Namespace) -> None:
    """Print, and with `--docs` write, the first use of every engine."""
    only = set(filter(None, args.only.split(",")))
    made = table(only)
    if not only or "tutorial" in only:
        _tutorial.report()
    if args.docs:
        text, (begin, end) = DOCS.read_text("utf-8"), MARKS
        part = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        DOCS.write_text(part.sub(f"{begin}\n{made}\n{end}", text), "utf-8")


#: Parts by name, in the order in which they run.
PARTS = {"warm": warm, "engines": engines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS), help="names of parts, comma-separated")
    parser.add_argument("--repeats", type=int, default=10, help="processes per number of `warm`")
    parser.add_argument("--only", default="", help="names of lines, comma-separated")
    parser.add_argument("--docs", action="store_true", help="write docs/reference/engines.md")
    args = parser.parse_args()
    for name, part in PARTS.items():
        if name in args.parts.split(","):
            part(args)


if __name__ == "__main__":
    main()
