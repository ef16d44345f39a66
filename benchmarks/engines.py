"""Our engine against the compiled peers: the same optimum, one thread each, in turns on the same
machine.

    MILP_TREES_DATA=… python benchmarks/engines.py --peers pystreed,pydl8.5,gosdt [--sections
    accuracy,sparse] [--depths 3,4,5] [--sets anneal,vote]

Sections: `accuracy`, `costs` (a cost matrix per set, and a cost vector per row), `weights`,
`min-leaf`, `f1` (by ratio steps and by
the front of errors), `sparse` (a penalty per leaf, with and without a depth limit), `threads` (our
second core), `long` (ours alone, ten minutes), `start` (compilation, import, first solve). Every
engine runs in a process of its own and is warm before its clock starts; values are recomputed from
the trees that come back. Rows are kept as each case ends, so an interrupted table goes on where it
stopped; `--again` measures cases anew. `engine` is the processor time of preparation and search,
`cpu` and `call` are processor and wall time of the whole call from arrays to tree.

pystreed comes with the extra `bench`. The others want older libraries, hence environments of their
own: `python benchmarks/peers/environments.py pydl8.5 gosdt` makes them, and says where.

    benchmarks/engines.py --peer-python pydl8.5=…/bin/python --peer-python gosdt=…/bin/python
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import _cases
import _engine_tables
import _jobs
import _peers
import _start
import pandas as pd

RESULTS = Path(__file__).parent / "results"
KEY = ["section", "set", "depth", "setting", "limit"]


@dataclass(frozen=True)
class Case:
    """One line of a table: a job and the engines that can take it."""

    section: str
    setting: str
    job: _jobs.Job
    engines: dict[str, str]

    def key(self) -> tuple:
        depth = "none" if self.job.depth is None else str(self.job.depth)
        return (self.section, self.job.name, depth, self.setting, float(self.job.time_limit))


def cases(args: argparse.Namespace, engines: dict[str, str]) -> Iterator[Case]:
    """Everything that was asked for, quick sections first."""
    wanted = args.sections.split(",")
    ours = {_peers.OURS: engines[_peers.OURS]}
    for section, peers in _cases.PEERS.items():
        if section not in wanted or section == "start":
            continue
        able = {n: p for n, p in engines.items() if n == _peers.OURS or n in peers}
        if section == "f1":  # the whole front of errors, beside the ratio steps
            able[_peers.FRONT] = ours[_peers.OURS]
        for setting, job in _cases.MAKERS[section](args):
            if section == "threads":
                for threads in (1, 2):
                    yield Case(
                        section, f"{threads} threads", _jobs.replace(job, threads=threads), ours
                    )
            elif section == "long" or len(able) > 1:
                yield Case(section, setting, job, able)


def due(case: Case, done: pd.DataFrame, args: argparse.Namespace) -> dict[str, str]:
    """The engines that a case is still to be measured with."""
    old = (
        done[(done[KEY] == pd.Series(case.key(), index=KEY)).all(axis=1)].set_index("method")
        if len(done)
        else done
    )
    if args.ours == "skip":
        case = replace(case, engines={n: p for n, p in case.engines.items() if n != _peers.OURS})
    if not args.again:
        return {} if all(n in old.index for n in case.engines) else case.engines
    return {
        n: p
        for n, p in case.engines.items()
        if n.startswith(_peers.OURS) or n not in old.index or not old.call[n] > args.keep_long
    }


def keep(out: Path, done: pd.DataFrame, rows: list[dict]) -> pd.DataFrame:
    """The table with new rows in place of old ones of the same case and engine; written at once."""
    both = pd.concat([done, pd.DataFrame(rows)], ignore_index=True)
    both["depth"] = both["depth"].astype(str)
    both = both.drop_duplicates([*KEY, "method"], keep="last").sort_values(
        [*KEY, "method"], kind="stable"
    )
    both.to_csv(out, index=False)
    return both


def read(out: Path) -> pd.DataFrame:
    return _engine_tables.read(out) if out.exists() else pd.DataFrame(columns=[*KEY, "method"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _peers.add_arguments(parser)
    parser.add_argument("--sections", default=",".join(_cases.PEERS))
    parser.add_argument(
        "--depths", default="", help="comma-separated; by default those of each section"
    )
    parser.add_argument("--sets", default="all")
    parser.add_argument(
        "--max-rows", type=int, default=None, help="only sets with at most so many rows"
    )
    parser.add_argument("--time-limit", type=float, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--again", action="store_true", help="measure cases anew that the table holds"
    )
    parser.add_argument(
        "--keep-long",
        type=float,
        default=float("inf"),
        help="with --again: keep rows of peers whose run took longer, in seconds",
    )
    parser.add_argument(
        "--ours",
        choices=("measure", "skip"),
        default="measure",
        help="skip: peers only, for a table that is completed later",
    )
    parser.add_argument("--out", default=str(RESULTS / "engines.csv"))
    args = parser.parse_args()
    engines, out = _peers.pythons(args), Path(args.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    done = read(out)
    for case in cases(args, engines):
        engines_due = due(case, done, args)
        if not engines_due:
            continue
        measured = _peers.interleaved(case.job, engines_due, args.repeat)
        shared = {
            **dict(zip(KEY, case.key(), strict=True)),
            "rows": len(case.job.X),
            "tests": case.job.X.shape[1],
        }
        done = keep(
            out, done, [{**shared, "method": name, **columns} for name, columns in measured.items()]
        )
        for name, columns in measured.items():
            shown = {
                k: columns.get(k)
                for k in ("status", "value", "engine", "call", "peak_mb", "message")
            }
            print(
                *case.key()[:4],
                name,
                *(f"{k}={v}" for k, v in shown.items() if v not in (None, "")),
                flush=True,
            )
    if "start" in args.sections.split(","):
        _start.main(out.with_name("start.csv"), args.again)
    for _, title, tables in _engine_tables.sections(
        done.fillna({"setting": ""}), out.with_name("start.csv")
    ):
        print(f"\n{title}\n")
        for table in tables:
            print(table.to_string(index=False), end="\n\n")


if __name__ == "__main__":
    main()
