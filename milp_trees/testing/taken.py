"""The methods that take each problem of the suite.

If a formulation or an engine refuses a problem, the checks skip it there. Without this list a new
refusal would not be seen. `taken.json` among the golden files groups the problems by the methods
that take them; `python -m milp_trees.testing.golden FOLDER --refresh` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from milp_trees.problems.problem import Problem
from milp_trees.testing import family_suites

FILE = "taken.json"


def suites() -> dict[str, Callable[[], Mapping[str, Problem]]]:
    """Functions that make the suite's problems, by the kind of predictor."""
    from milp_trees.testing.sets import default_problems

    return {"trees": default_problems, **{one.name: one.problems for one in family_suites.suites()}}


def takers(problem: Problem) -> list[str]:
    """Names of this package's engines and formulations that take a problem."""
    from milp_trees.mip.registry import registry

    found: list[str] = []
    for group, get in (("methods", registry.method), ("formulations", registry.formulation)):
        own = [
            name
            for name, cls in registry.classes(group).items()
            if cls.__module__.startswith("milp_trees.")
        ]
        found += [name for name in own if get(name).unsupported(problem) is None]
    return sorted(found)


def taken_text(kinds: Collection[str] | None = None) -> str:
    """The content of the golden file: groups of problems (of some kinds) with their methods."""
    groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for kind, problems in suites().items():
        for name, problem in problems().items() if kinds is None or kind in kinds else ():
            groups.setdefault(tuple(takers(problem)), {}).setdefault(kind, []).append(name)
    lines = [
        json.dumps({"methods": methods, "problems": problems})
        for methods, problems in groups.items()
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def takers_by_problem(text: str) -> dict[tuple[str, str], set[str]]:
    """Methods by kind and name of the problem, from a golden file's text."""
    groups: list[dict[str, Any]] = json.loads(text)
    return {
        (kind, name): set(g["methods"])
        for g in groups
        for kind, names in g["problems"].items()
        for name in names
    }


def changes(before: str, after: str) -> list[str]:
    """A sentence per method that now refuses or takes a problem that it did not before."""
    old, new = takers_by_problem(before), takers_by_problem(after)
    message = []
    for problem in sorted(old.keys() | new.keys()):
        if problem not in old or problem not in new:
            message.append(
                f"the problem {problem[1]} ({problem[0]}) is {'new' if problem in new else 'gone'}"
            )
            continue
        message += [
            f"{name} refuses {problem[1]} ({problem[0]})"
            for name in sorted(old[problem] - new[problem])
        ]
        message += [
            f"{name} takes {problem[1]} ({problem[0]})"
            for name in sorted(new[problem] - old[problem])
        ]
    return message
