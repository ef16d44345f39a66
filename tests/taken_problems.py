"""Which problems of the suite a method takes, read from the golden file `taken.json`.

Tests are made for these pairs, so that no problem is built and no method asked while tests are
collected, and nothing is skipped. A test in `tests/golden` compares the file with the methods. A
method that is not in the file, such as that of a plug-in, is asked.
"""

from functools import cache
from pathlib import Path

from milp_trees.mip.registry import registry
from milp_trees.testing.sets import get
from milp_trees.testing.taken import FILE, suites, takers_by_problem
from milp_trees.testing.wide import WIDE

#: Wide problems that show a planted fault of a formulation (`tests/conformance/test_wide.py`): they
#: are always left to it.
SHOWS_FAULTS = {
    "benders-oct": ("wide-plain-9",),
    "bin-oct": ("wide-deep-0",),
    "cut": ("wide-plain-2",),
    "flow-oct": (
        "wide-large-leaves-4",
        "wide-side-rows-7",
        "wide-side-rows-10",
        "wide-side-rows-16",
        "wide-side-rows-22",
    ),
    "oct": ("wide-large-leaves-5",),
    "oct-binary": ("wide-plain-16",),
}
GOLDEN = Path(__file__).parent / "golden" / FILE


@cache
def _takers() -> dict[tuple[str, str], set[str]]:
    return takers_by_problem(GOLDEN.read_text())


@cache
def _listed() -> set[str]:
    return set().union(*_takers().values())


def taken_problems(kind: str, label: str) -> list[str]:
    """Names of the problems of a kind (`trees`, `decisions`, `prunings`, `lists`) that a method takes;
    an option in its label (`ip3:option=value`) does not matter.
    """
    method = label.partition(":")[0]
    if method in _listed():
        return [
            name for (of, name), methods in _takers().items() if of == kind and method in methods
        ]
    group = "methods" if registry.is_engine(method) else "formulations"
    requested = registry.classes(group)[method]()
    return [
        name for name, problem in suites()[kind]().items() if not requested.unsupported(problem)
    ]


def in_turn(label: str) -> list[str]:
    """The wide problems that are left to a formulation: each goes to one of those that take it, in
    turn, to those of which it shows a planted fault, and to each that is not in the golden file.
    """
    if label not in _listed():
        return list(WIDE)
    formulations = registry.formulations_for(get("xor"))
    return [
        name
        for number, name in enumerate(WIDE)
        if (takers := [f for f in formulations if f in _takers()["trees", name]])
        and (takers[number % len(takers)] == label or name in SHOWS_FAULTS.get(label, ()))
    ]
