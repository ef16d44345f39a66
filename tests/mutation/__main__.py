"""Plants faults in the sources of formulations and writes down who caught them: `python -m
tests.mutation --help`.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from .checkers import CHECKER_FILES
from .equivalent import equivalent
from .mutants import ROOT, Mutant, find, mutants
from .results import append, read, sample, tidy
from .runner import Bench
from .suite import FILES, OF_FORM, labels, sensible
from .task_tests import TASK_FILES

RESULTS = ROOT / "benchmarks" / "results" / "mutation.csv"
#: All sources in which faults are planted.
EVERY_FILE = [*FILES, *TASK_FILES, *CHECKER_FILES]
#: The few faults that the normal tests plant.
SAMPLE = Path(__file__).with_name("sample.csv")
#: What can become of a fault: caught by a check of values, by one of form only, an exception before
#: any check, …
VERDICTS = (
    "caught",
    "form",
    "raised",
    "refused",
    "timeout",
    "survived",
    "died",
    "equivalent",
    "unfit",
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument(
        "--files",
        nargs="*",
        default=EVERY_FILE,
        help="sources, as paths below the project's folder (default: all)",
    )
    parser.add_argument("--only", nargs="*", help="ids of the mutants to run, in place of a sample")
    parser.add_argument(
        "--sample",
        type=int,
        default=16,
        help="mutants per file, spread over functions, operators and conditions (default: 16)",
    )
    parser.add_argument("--seed", type=int, default=0, help="which sample (default: 0)")
    parser.add_argument(
        "--limit", type=float, default=180.0, help="seconds for one mutant (default: 180)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=RESULTS,
        help="table of results; mutants that are in it are not run again",
    )
    parser.add_argument(
        "--most",
        type=int,
        help="on how many formulations a fault in a shared file is tried (default: all that use the file)",
    )
    parser.add_argument(
        "--again", action="store_true", help="run those again that survived by the table"
    )
    parser.add_argument(
        "--definitions",
        action="store_true",
        help="try faults in tasks on definitions only, and not on tests, which takes a minute more",
    )
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--summary", action="store_true", help="only count what the table holds")
    parser.add_argument(
        "--write-sample",
        action="store_true",
        help="only choose the faults of the normal tests from the table",
    )
    return parser.parse_args()


def main() -> None:
    given, console = arguments(), Console(stderr=True)
    if given.write_sample:
        write_sample(given.out)
    elif given.summary:
        summary(Console(), given.out)
    elif given.list:
        for mutant in chosen(given):
            print(f"{mutant.file}:{mutant.line}  {mutant.id}\n    {mutant.change}")
    else:
        run(given, console)
        summary(console, given.out)


def chosen(given: argparse.Namespace) -> list[Mutant]:
    """The sample of every file, one of each file after the other, so that a run that is stopped has
    seen all files.
    """
    if given.only:
        found = find(given.only)
        return [found[name] for name in given.only if name in found]
    samples = [
        sample(
            (m for m in mutants(file) if sensible(file, m.kind, m.condition)),
            given.sample,
            given.seed,
        )
        for file in given.files
    ]
    return [mutant for turn in zip_longest(*samples) for mutant in turn if mutant is not None]


def run(given: argparse.Namespace, console: Console) -> None:
    """Plant what is not in the table yet."""
    known = read(given.out)
    again, same = {"survived", "timeout", "died"} if given.again else set(), equivalent()
    todo = [
        m
        for m in chosen(given)
        if m.id not in known or (known[m.id]["verdict"] in again and m.id not in same)
    ]
    with Progress(console=console) as progress:
        task = progress.add_task("preparing", total=len(todo))
        needed = dict.fromkeys(label for m in todo for label in labels(m.file)[: given.most])
        bench = Bench(
            needed,
            given.most,
            not given.definitions,
            lambda said: progress.update(task, description=said[:60]),
        )
        for mutant in todo:
            progress.update(task, description=mutant.id[:60])
            append(given.out, bench.verdict(mutant, given.limit))
            progress.advance(task)
    tidy(given.out)


def verdict(row: dict[str, str], same: dict[str, str]) -> str:
    """What became of a fault, checks of form and equivalents told apart."""
    if row["verdict"] == "caught" and row["check"] in OF_FORM:
        return "form"
    return (
        "equivalent"
        if row["verdict"] in ("survived", "timeout") and row["id"] in same
        else row["verdict"]
    )


def summary(console: Console, path: Path) -> None:
    """Counts by file, operator and kind of condition."""
    rows, same = read(path).values(), equivalent()
    for title, of in (
        ("file", lambda row: row["file"]),
        ("operator", lambda row: row["operator"]),
        ("condition", lambda row: row["condition"].partition(":")[0]),
    ):
        table = Table(title, *VERDICTS, box=None)
        count = Counter((of(row), verdict(row, same)) for row in rows)
        for name in sorted({of(row) for row in rows}):
            table.add_row(name, *(str(count[name, v] or "") for v in VERDICTS))
        console.print(table)
    for what, files in (
        ("formulations", FILES),
        ("tasks and spaces", [f for f in TASK_FILES if not f.startswith("milp_trees/data/")]),
        ("binarizer", [f for f in TASK_FILES if f.startswith("milp_trees/data/")]),
        ("checkers", CHECKER_FILES),
    ):
        total = Counter(verdict(row, same) for row in rows if row["file"] in files)
        # An exception fails the check or the test that it leaves.
        caught = total["caught"] + total["form"] + total["raised"]
        compared = sum(total.values()) - total["unfit"] - total["equivalent"]
        console.print(
            f"{what}: {compared + total['equivalent']} planted, {total['equivalent']} of them equivalent. Of the other {compared}, {caught} were caught "
            f"({caught / max(1, compared):.0%}): {total['raised']} by an exception, {total['form']} by checks of form only; "
            f"{total['survived']} survived, {total['timeout']} did not end."
        )


def write_sample(path: Path) -> None:
    """Of the faults that the table says were caught, the quickest of every operator with and
    without condition and of every kind of condition.
    """
    rows = sorted(
        (r for r in read(path).values() if r["verdict"] == "caught" and r["formulation"]),
        key=lambda r: float(r["seconds"]),
    )
    taken: dict[str, dict[str, str]] = {}
    count: Counter[tuple[str, str]] = Counter()
    for row in rows:
        kind = row["condition"].partition(":")[0]
        features = [
            (row["operator"], "always" if kind == "always" else "under a condition"),
            ("any", kind),
        ]
        if any(not count[f] for f in features):
            taken[row["id"]] = row
            count.update(features)
    with SAMPLE.open("w", newline="") as file:
        writer = csv.DictWriter(
            file,
            ("id", "file", "formulation", "problem", "check"),
            extrasaction="ignore",
            lineterminator="\n",
        )
        writer.writeheader()
        writer.writerows(sorted(taken.values(), key=lambda row: row["id"]))


if __name__ == "__main__":
    main()
