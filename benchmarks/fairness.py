"""Fair trees: every set of `fairness/` under each notion of fairness, beside pystreed in the same run.

    MILP_TREES_DATA=… python benchmarks/fairness.py [--sections tables,notions,groups,fronts,formulations]
        [--sets german-credit,adult] [--depths 2,3,4] [--limit 600] [--peer-limit 600]

`tables`: 1 % statistical parity and 1 % equal opportunity (tables 8 and 9 of the STreeD paper) by
the method that runs by default, and by pystreed, each in a process of its own, taking turns.
`notions`: equalised odds, predictive equality and conditional statistical parity (given column 1).
`groups`: more than two groups: adult by three ages, compas by three ages and by four races.
`fronts`: the whole curve of errors against permitted disparity. `formulations` (not run by
default): 1 % statistical parity, alone and with a minimum leaf size, by every formulation that takes
it, begun with the default engine's tree; seconds are wall time of the solver. Column 0 is the group and is not
split on; times are processor seconds, because other jobs stretch wall time. Every tree is scored
again, and the constraint checked on it, in exact rationals: pystreed compares floats, and a row
says where its answer is another one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _jobs
import _peers
import numpy as np
import pandas as pd
from _data import fairness, root

import milp_trees as mt
from milp_trees.plugins import Front
from milp_trees.tasks.constraints import constraint

TABLES = ("statistical-parity", "equal-opportunity")
NOTIONS = ("equalised-odds", "predictive-equality", "conditional-statistical-parity")
GROUPS = ("statistical-parity", "equal-opportunity", "equalised-odds")
#: Columns of adult that say to which of three ages a row belongs.
AGES = (1, 2, 3)
#: Sets and depths for the formulations, whose models have rows for every row of the data.
SMALL = (("ricci", 2), ("ricci", 3), ("student-mat", 1), ("student-mat", 2), ("german-credit", 1))
#: A solver that takes the rows which `benders-oct` finds on the way.
LAZY = "scip"
RESULTS = Path(__file__).parent / "results"


def job(name: str, data: mt.Dataset, rule: str, depth: int, limit: float) -> _jobs.Job:
    return _jobs.Job(
        name,
        data.X,
        data.y,
        depth=depth,
        time_limit=limit,
        tests=tuple((t.column, t.kind, t.value) for t in data.features),
        rule=rule,
        group_column=data.group_column,
        groups=np.unique(data.groups, return_inverse=True)[1],
        factor=data.X[:, 1].astype(np.int64),
        method="default",
    )


def several_groups() -> Iterator[tuple[str, mt.Dataset]]:
    """Data with more than two groups; columns that tell the group are left out."""
    adult = fairness()["adult"]
    kept = [j for j in range(adult.n_features) if j not in AGES]
    yield (
        "adult by age",
        mt.Dataset(
            adult.X[:, kept],
            [adult.features[j] for j in kept],
            y=adult.y,
            groups=adult.X[:, AGES].argmax(axis=1),
        ),
    )
    file = str(root() / "odtlearn" / "compas_train_1.csv")
    for column in ("age_cat", "race"):
        yield f"compas by {column}", mt.load(file, target="target", group=column)


def cases(section: str, args: Any) -> Iterator[_jobs.Job]:
    """The jobs of a section, small sets first."""
    limit = args.limit
    if section == "groups":
        for name, data in several_groups():
            for depth in args.depths:
                if depth <= 3:
                    yield from (job(name, data, rule, depth, limit) for rule in GROUPS)
        return
    sets = fairness()
    for name in args.sets or sorted(sets, key=lambda n: sets[n].n_rows):
        for depth in args.depths:
            if section == "tables" or depth == 3:
                rules = TABLES if section == "tables" else NOTIONS
                yield from (job(name, sets[name], rule, depth, limit) for rule in rules)


def measured(section: str, args: Any) -> Iterator[dict[str, Any]]:
    """A row per job: ours, and pystreed where it takes the job."""
    for one in cases(section, args):
        engines = {_peers.OURS: sys.executable}
        if section == "tables" and one.depth <= args.peer_depth:
            engines["pystreed"] = _peers.pythons(args)["pystreed"]
        of = _peers.interleaved(one, {_peers.OURS: engines.pop(_peers.OURS)}, repeat=args.repeat)
        # The peer is a compiled library, and it crashes on a part of the rows of one set.
        at_most = _jobs.replace(one, time_limit=args.peer_limit)
        of |= _peers.interleaved(at_most, engines, repeat=args.repeat, warm=False)
        ours, theirs = of[_peers.OURS], of.get("pystreed", {})
        row = {
            "set": one.name,
            "rows": len(one.y),
            "depth": one.depth,
            "rule": one.rule,
            "errors": ours.get("value"),
            "bound": ours.get("bound"),
            "status": ours["status"],
            "cpu": ours.get("cpu"),
            "seconds": ours.get("call"),
            "by": ours.get("by"),
            "message": ours.get("message", ""),
        }
        if section == "tables":
            row |= {
                "pystreed": theirs.get("value"),
                "pystreed_status": theirs.get("status"),
                "pystreed_cpu": theirs.get("cpu"),
                "pystreed_says": _difference(ours, theirs),
            }
            both = ours["status"] == "optimal" and theirs.get("status") == "optimal"
            row["ratio"] = round(ours["cpu"] / theirs["cpu"], 4) if both else None
        yield row


def _difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """What is wrong with the other answer, if anything is."""
    if theirs.get("status") == "infeasible":
        return f"its tree breaks the constraint: {theirs['message']}"
    if theirs.get("status") == "crashed":
        return f"its process ends: {theirs['message']}"
    if theirs.get("value") is None or ours["status"] != "optimal":
        return ""
    if theirs["value"] < ours["value"]:
        return "fewer errors than our proven optimum"
    if theirs["status"] == "optimal" and theirs["value"] > ours["value"]:
        return "called optimal, and is not"
    return ""


def fronts(args: Any) -> Iterator[dict[str, Any]]:
    """The whole curve of every set: corners, whether all are proven, and seconds."""
    sets = fairness()
    for name in args.sets or sorted(sets, key=lambda n: sets[n].n_rows):
        for depth in (d for d in args.depths if d <= 3):
            for rule in TABLES:
                task, space = mt.Accuracy(), mt.Trees(depth)
                problem = mt.Problem(sets[name], task, space, Front(rule))
                began = time.process_time()
                found = mt.solve(problem, time_limit=args.limit)
                cpu = time.process_time() - began
                ends = [s.coordinates for s in found.solutions]
                yield {
                    "set": name,
                    "depth": depth,
                    "rule": rule,
                    "corners": len(ends),
                    "complete": found.complete,
                    "errors": f"{ends[0][0].number:.0f} to {ends[-1][0].number:.0f}",
                    "disparity": f"{ends[0][1].number:.4f} to {ends[-1][1].number:.4f}",
                    "steps": found.model_size.get("steps"),
                    "cpu": round(cpu, 2),
                    "seconds": round(found.seconds, 2),
                    "by": found.method,
                    "message": found.message,
                }


def formulations(args: Any) -> Iterator[dict[str, Any]]:
    """Every formulation on small sets: value, bound and seconds, and the size of the model."""
    sets = fairness()
    for name, depth in SMALL:
        for least in (1, sets[name].n_rows // 20):
            rule = constraint("statistical-parity", max_disparity="0.01")
            space = mt.Trees(depth, min_samples_leaf=least)
            problem = mt.Problem(sets[name], mt.Accuracy(constraints=(rule,)), space)
            best = mt.solve(problem, time_limit=args.limit)
            for formulation in mt.registry.formulations_for(problem):
                if mt.registry.formulation(formulation).unsupported(problem):
                    continue
                label = f"{formulation}@{LAZY if formulation == 'benders-oct' else 'highs'}"
                found = mt.solve(problem, label, time_limit=args.limit)
                yield {
                    "set": name,
                    "rows": sets[name].n_rows,
                    "depth": depth,
                    "min_leaf": least,
                    "method": label,
                    "optimum": best.value.number if best.status.value == "optimal" else None,
                    "errors": found.value and found.value.number,
                    "bound": found.bound,
                    "status": found.status.value,
                    "variables": found.model_size.get("variables"),
                    "model_rows": found.model_size.get("rows"),
                    "seconds": round(found.seconds, 2),
                    "message": found.message,
                }


def summary(section: str, table: pd.DataFrame) -> str:
    if section == "fronts":
        return f"{int(table.complete.sum())} of {len(table)} fronts complete"
    if section == "formulations":
        wrong = table[table.errors != table.optimum]
        proven = int((table.status == "optimal").sum())
        return f"{proven} of {len(table)} proven; {len(wrong)} have another value than the optimum"
    lines = []
    for depth, part in table.groupby("depth"):
        proven = part[part.status == "optimal"]
        longest = f"at most {proven.cpu.max():.2f} CPU s" if len(proven) else "none"
        line = f"depth {depth}: {len(proven)} of {len(part)} proven, {longest}"
        ratios = part["ratio"].dropna() if "ratio" in part else ()
        if len(ratios):
            mean = float(np.exp(np.log(ratios.astype(float)).mean()))
            line += f"; {mean:.4f} x pystreed's time (geometric mean of {len(ratios)})"
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", default="tables,notions,groups,fronts")
    parser.add_argument("--sets", default="", help="comma-separated; default: all")
    parser.add_argument("--depths", default="2,3,4")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a run of ours")
    parser.add_argument("--peer-limit", type=float, default=600, help="seconds for a peer's run")
    parser.add_argument("--repeat", type=int, default=1, help="turns; medians are reported")
    parser.add_argument(
        "--peer-depth", type=int, default=3, help="largest depth at which the peer is run; 0: never"
    )
    parser.add_argument("--out", default=str(RESULTS), help="folder of fairness_SECTION.csv")
    _peers.add_arguments(parser)
    args = parser.parse_args()
    args.sets = [s for s in args.sets.split(",") if s]
    args.depths = [int(d) for d in args.depths.split(",")]
    for section in args.sections.split(","):
        rows = []
        own = {"fronts": fronts, "formulations": formulations}
        for row in own[section](args) if section in own else measured(section, args):
            rows.append(row)
            print("  ".join(f"{k}={v}" for k, v in row.items() if v not in ("", None)), flush=True)
        table = pd.DataFrame(rows)
        file = Path(args.out) / f"fairness_{section}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(file, index=False)
        print(f"{section}: {summary(section, table)}\nwritten to {file}\n", flush=True)


if __name__ == "__main__":
    main()
