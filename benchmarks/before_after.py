"""Two checkouts of the package in turns: which of them takes less processor time, and do they agree?

    MILP_TREES_DATA=… python benchmarks/before_after.py OLD NEW [--cases PATTERN] [--repeat N]
                                                                [--smallest]

OLD and NEW are folders of the package, each with its own `.venv` in which it is installed:

    git worktree add --detach ../old COMMIT
    python3 -m venv ../old/.venv && ../old/.venv/bin/pip install -e ../old

In every one of the N turns a fresh process of each checkout runs all cases; the two take turns three
times in every case, and who begins changes. Amounts are the least processor seconds of a call, after
one that is not counted; of `commands`, those of a whole process, `first` with an empty folder
for compiled code; of `memory`, the megabytes that one problem takes beyond those of a tiny one.
Cases are called GROUP/NAME, and the pattern is one of groups (`dp*`) or of cases (`dp/4 *`).

Ratios are NEW over OLD, with their geometric mean for each group. The table goes to
`results/before_after.csv`. It ends with 1 if two values differ.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

RESULTS = Path(__file__).parent / "results" / "before_after.csv"
WORKER = Path(__file__).with_name("_before_after_worker.py")
#: Commands whose processes are timed; `{folder}` holds the result that the first one writes.
COMMANDS = {
    "solve": "solve iris --out {folder}/result.json",
    "predict": "predict {folder}/result.json iris",
    "verify": "verify {folder}/result.json",
    "help": "--help",
}
#: Problems whose tables of row sets are large: set and depth.
TABLES = (("german-credit", 5), ("ionosphere", 5), ("splice-1", 4))
#: A group above it is marked.
MOST = 1.05

Found = Iterator[tuple[str, float, str]]


class Checkout:
    """A folder of the package, its interpreter, and a place for the files of its commands."""

    def __init__(self, folder: Path, place: Path) -> None:
        self.python = folder.absolute() / ".venv" / "bin" / "python"
        if not self.python.exists():
            sys.exit(f"{folder} has no .venv/bin/python; see --help.")
        self.place, without = place, "PYTHONDONTWRITEBYTECODE"
        self.environment = {k: v for k, v in os.environ.items() if k != without}
        code = "import milp_trees; print(milp_trees.__file__)"
        found = Path(self.output("-c", code).strip())
        if folder.resolve() not in found.resolve().parents:
            sys.exit(f"{self.python} imports {found}, which is not in {folder}.")

    def output(self, *words: str, **changed: str) -> str:
        """What a process of this checkout prints; it runs outside of all checkouts."""
        command = [str(self.python), *words]
        environment = {**self.environment, **changed}
        return subprocess.run(
            command, cwd=self.place, env=environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    def cases(self, pattern: str, number: int) -> Found:
        """A process that runs the cases: their names, amounts and values, one after the other.

        It runs the next one only when asked for it.
        """
        command = [str(self.python), str(WORKER), "run", pattern, str(number)]
        with subprocess.Popen(
            command,
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin
            assert process.stdout
            while (name := json.loads(process.stdout.readline() or '"stopped"')) is not None:
                process.stdin.write("\n")
                process.stdin.flush()
                line = process.stdout.readline()
                if not line:
                    sys.exit(f"{self.python} stopped in {name}.")
                yield name, *json.loads(line).values()

    def tables(self, pattern: str, number: int) -> Found:
        """Megabytes of single problems."""
        for name, depth in TABLES[: number or None]:
            label = f"memory/{name} {depth}"
            if chosen(label, pattern):
                yield (
                    label,
                    *json.loads(self.output(str(WORKER), "memory", name, str(depth))).values(),
                )

    def commands(self, pattern: str, number: int) -> Found:
        """Processor seconds of commands."""
        requested = dict(list(COMMANDS.items())[: number or None])
        if any(chosen(f"commands/{name}", pattern) for name in (*requested, "first")):
            for name, command in requested.items():
                yield f"commands/{name}", *self.command(command)
            if not number:
                with tempfile.TemporaryDirectory() as empty:
                    yield "commands/first", *self.command(COMMANDS["solve"], NUMBA_CACHE_DIR=empty)

    def command(self, command: str, **changed: str) -> tuple[float, str]:
        """Processor seconds of a process, and its exit code."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.output("-m", "milp_trees", *command.format(folder=self.place).split(), **changed)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "0"


def chosen(label: str, pattern: str) -> bool:
    """Whether a pattern of groups or of cases names a case."""
    return fnmatch.fnmatch(label, pattern if "/" in pattern else f"{pattern}/*")


def turns(both: list[Checkout], args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for every case of every turn: its amount and value in both checkouts."""
    number = 1 if args.smallest else 0
    for turn in range(args.repeat):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        for part in (Checkout.cases, Checkout.tables, Checkout.commands):
            with contextlib.ExitStack() as stack:
                runs = {k: part(both[k], args.cases, number) for k in order}
                for run in runs.values():
                    stack.callback(run.close)
                while True:
                    # The same case in both, one after the other.
                    found = {k: next(run, None) for k, run in runs.items()}
                    old, new = found[0], found[1]
                    if old is None or new is None:
                        assert old is new, (old, new)
                        break
                    assert old[0] == new[0], (old, new)
                    yield {"case": old[0], "old": old[1], "new": new[1], "values": (old[2], new[2])}


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """The least amounts of every case in order, their ratio, and whether all values are equal."""
    cases = rows.groupby("case", sort=False)
    table = cases[["old", "new"]].min()
    table["ratio"] = table["new"] / table["old"]
    values = cases["values"].agg(lambda pairs: {value for pair in pairs for value in pair})
    table["value"] = [" / ".join(sorted(found)) for found in values]
    table["equal"] = [len(found) == 1 for found in values]
    return table.reset_index()


def report(table: pd.DataFrame) -> None:
    """Print the cases, the geometric means of groups, and the cases that differ."""
    shown = table.drop(columns=["value", "equal"])
    print(shown.to_string(index=False, float_format=lambda x: f"{x:.4f}"))
    group = table["case"].str.partition("/")[0]
    print("\nGroup, number of cases, geometric mean of the ratios, largest ratio:")
    for name, cases in table.groupby(group, sort=False):
        mean = math.exp(sum(map(math.log, cases["ratio"])) / len(cases))
        mark = f"  above {MOST:g}" if mean > MOST else ""
        print(f"{name:15}{len(cases):5}{mean:8.3f}{cases['ratio'].max():8.3f}{mark}")
    for row in table[~table["equal"]].itertuples():
        print(f"DIFFERENT: {row.case}: {row.value}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--cases", default="*", help="pattern of groups or cases (default: all)")
    parser.add_argument("--repeat", type=int, default=2, help="turns (default 2)")
    parser.add_argument("--smallest", action="store_true", help="the first case of every group")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("old", "new")]
        for place in places:
            place.mkdir()
        both = [Checkout(given, place) for given, place in zip((args.old, args.new), places)]
        rows = []
        for row in turns(both, args):
            rows.append(row)
            print(f"{row['case']:45} {row['new'] / row['old']:6.3f}", file=sys.stderr, flush=True)
    if not rows:
        sys.exit(f"No case is called {args.cases}.")
    table = summary(pd.DataFrame(rows))
    report(table)
    table.round(6).to_csv(args.out, index=False)
    return int(not table["equal"].all())


if __name__ == "__main__":
    sys.exit(main())
