"""Plants faults in the sources and writes down who caught them: `python -m tests.mutation --help`."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from .equivalent import equivalent
from .mutants import ROOT, Mutant, mutants
from .runner import Bench, append, read, sample
from .suite import FILES, labels, sensible

RESULTS = ROOT / "benchmarks" / "results" / "mutation.csv"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--files", nargs="*", default=FILES, help="sources, as paths below the project's folder (default: all formulations)")
    parser.add_argument("--sample", type=int, default=16, help="mutants per file, spread over functions, operators and conditions (default: 16)")
    parser.add_argument("--seed", type=int, default=0, help="which sample (default: 0)")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds for one mutant (default: 180)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="table of results; mutants that are in it are not run again")
    parser.add_argument("--again", action="store_true", help="run survivors of the table again")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    return parser.parse_args()


def chosen(files: list[str], most: int, seed: int) -> list[Mutant]:
    """The sample of every file."""
    found = {file: [m for m in mutants(file) if sensible(file, m.kind, m.condition)] for file in files}
    return [m for all_of_file in found.values() if all_of_file for m in sample(all_of_file, most, seed)]


def main() -> None:
    given, console = arguments(), Console(stderr=True)
    todo = chosen(given.files, given.sample, given.seed)
    if given.list:
        for mutant in todo:
            print(f"{mutant.file}:{mutant.line}  {mutant.id}\n    {mutant.change}")
        return
    known = read(given.out)
    again = {"survived", "timeout"} if given.again else set()
    todo = [m for m in todo if m.id not in known or known[m.id]["verdict"] in again]
    needed = dict.fromkeys(label for m in todo for label in labels(m.file))
    with Progress(console=console) as progress:
        task = progress.add_task("preparing", total=len(todo))
        bench = Bench(needed, lambda said: progress.update(task, description=said[:60]))
        for mutant in todo:
            progress.update(task, description=mutant.id[:60])
            append(given.out, bench.verdict(mutant, given.limit))
            progress.advance(task)
    summary(console, given.out)


def summary(console: Console, table: Path) -> None:
    """The shares, over the whole table."""
    rows, same = read(table), equivalent()
    verdicts = Counter("equivalent" if row["verdict"] in ("survived", "timeout") and key in same else row["verdict"] for key, row in rows.items())
    console.print(dict(verdicts))


if __name__ == "__main__":
    main()
