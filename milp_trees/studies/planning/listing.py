"""A plan in words: the table of its runs, their number, and what their time is guessed to be."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from milp_trees.studies.planning.plan import Plan, PlannedRun

#: Columns that are shown only if not all runs have the same value in them.
_IF_DIFFERENT = ("options", "start", "seed", "permutation", "limit", "reference")


def run_table(plan: Plan) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of runs; columns that say the same of all runs are left out."""
    rows = [_told(run) for run in plan.runs]
    heads = [
        name
        for name in rows[0]
        if name not in _IF_DIFFERENT or len({row[name] for row in rows}) > 1
    ]
    return heads, [[row[name] for name in heads] for row in rows]


def _told(run: PlannedRun) -> dict[str, str]:
    limit = run.limits.time
    return {
        "run": str(run.number),
        "problem": run.problem,
        "method": run.method,
        "options": ", ".join(f"{name}={_plain(value)}" for name, value in run.options.items()),
        "start": run.start or "none",
        "seed": str(run.seed),
        "permutation": str(run.permutation),
        "reference": run.reference or "none",
        "limit": "none" if limit is None else f"{limit:g} s",
        "guess": duration(run.estimate),
    }


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def totals(plan: Plan, jobs: int = 1) -> dict[str, Any]:
    """The number of runs and their seconds: guessed, and at most by the limits."""
    limits = [run.limits.time for run in plan.runs]
    known = [limit for limit in limits if limit is not None]
    guess = sum(run.estimate for run in plan.runs)
    longest = max(run.estimate for run in plan.runs)
    return {
        "problems": len(plan.problems),
        "methods": len({(run.method, str(run.options)) for run in plan.runs}),
        "runs": len(plan.runs),
        "seconds": max(guess / jobs, longest),
        "at_most": max(sum(known) / jobs, *known) if len(known) == len(limits) else None,
        "basis": dict(Counter(run.basis.partition(": ")[0] for run in plan.runs).most_common()),
    }


def said(plan: Plan, jobs: int = 1) -> list[str]:
    """Lines on the size of a study; they say on what the guess of its time rests."""
    found = totals(plan, jobs)
    at_once = "one run at a time" if jobs == 1 else f"{jobs} runs at a time"
    most = (
        "a run has no time limit, so there is no upper bound"
        if found["at_most"] is None
        else f"at most {duration(found['at_most'])} by the time limits"
    )
    lines = [
        f"plan      {plan.title}: {found['problems']} problems, {found['methods']} methods, {found['runs']} runs",
        f"time      about {duration(found['seconds'])} with {at_once}, a rough guess; {most}. References and starts come on top.",
    ]
    lines += [f"guess     {number} runs: {basis}" for basis, number in found["basis"].items()]
    return lines + [f"note      {note}" for note in plan.notes]


def duration(seconds: float) -> str:
    """Seconds in the unit in which a person would say them."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1g} s"
