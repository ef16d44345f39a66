"""The heading of a page: what was compared, when, on which machine, in plain words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from milp_trees.common.plurals import counted

if TYPE_CHECKING:
    from milp_trees.exports.pages.content import Content

#: Characters of a name; of longer ones the heading lists fewer.
LONG = 24


def headline(content: Content) -> tuple[str, list[str]]:
    """Title of a page and the sentences below it."""
    rows = content.flat
    title = content.title or "A comparison of methods"
    kinds = _listed(sorted({str(row["kind"]).replace("-", " ") for row in rows if row["kind"]}), 4)
    data = sorted({str(row["data"]) for row in rows if row["data"]}, key=natural)
    long = max(map(len, data), default=0) > LONG
    seeds = {row["seed"] for row in rows}
    limits = sorted({row["time_limit"] for row in rows if row["time_limit"] is not None})
    what = (
        f"{counted(len({row['variant'] for row in rows}), 'method')} on "
        f"{counted(len(content.problems), 'problem')} ({kinds})"
        f"{f', made from the data {_listed(data, 3 if long else 6)}' if data else ''}"
        f"{f', with {len(seeds)} seeds' if len(seeds) > 1 else ''}: {counted(len(rows), 'run')}"
    )
    most = _listed([f"{x:g}" for x in limits], 4)
    limit = f", each with at most {most} second{'' if most == '1' else 's'}" if limits else ""
    return title, [f"This page compares {what}{limit}.", *_when(rows), _where(content)]


def _when(rows: list[dict[str, Any]]) -> list[str]:
    times = sorted(row[name] for row in rows for name in ("started", "finished") if row[name])
    if not times:
        return []
    first, last = (t[:16].replace("T", " ") for t in (times[0], times[-1]))
    return [
        f"The runs were made {f'on {first}' if first == last else f'from {first} to {last}'} UTC."
    ]


def _where(content: Content) -> str:
    machines = [_machine(one) for one in content.environments.values()]
    machines = machines or sorted({row["machine"] for row in content.flat if row["machine"]})
    if not machines:
        return "The study does not say on which machine it ran."
    if len(machines) == 1:
        return f"They ran on {machines[0]}."
    return (
        f"They ran on {len(machines)} different machines or software environments "
        f"({_listed(machines, 3)}), whose times are not averaged."
    )


def _machine(environment: dict[str, Any]) -> str:
    cores, memory = environment.get("cores"), environment.get("memory_mb")
    if isinstance(cores, dict):
        cores = cores.get("physical") or cores.get("logical")
    facts = [
        environment.get("cpu"),
        f"{cores} cores" if cores else None,
        f"{memory / 1024:.0f} GiB of memory" if isinstance(memory, (int, float)) else None,
    ]
    message = ", ".join(str(fact) for fact in facts if fact)
    return f"{environment.get('machine') or 'a machine without a name'}{f' ({message})' if message else ''}"


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts the numbers in names as numbers: `seed=2` is before `seed=10`."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _listed(names: list[str], most: int) -> str:
    """The first names, and how many more there are."""
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return (
        shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""
    )
