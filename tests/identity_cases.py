"""Every plug-in with every option changed, for the tests of what identifies a run."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.common.registering import labels
from milp_trees.mip.registry import registry

PLUG_INS = [("methods", name) for name in registry.classes("methods")] + [
    ("formulations", name) for name in registry.classes("formulations")
]


OPTIONS = [
    (group, name, option)
    for group, name in PLUG_INS
    for option in labels.declared(registry.classes(group)[name])
]


def alternatives(group, name, option):
    """Labels of a plug-in with every other value of an option: both states, the next number, each
    of the words that it takes.
    """
    cls = registry.classes(group)[name]
    default = labels.declared(cls)[option]
    if isinstance(default, bool):
        values = [not default]
    elif isinstance(default, int):
        values = [default + 1]
    else:
        values = [word for word in words(cls, option) if word != default]
    at = "@highs" if group == "formulations" else ""
    return [f"{name}:{option}={spelled(value)}{at}" for value in values]


def spelled(value):
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def words(cls, option):
    """What an option allows, from its own refusal; any word where it refuses none."""
    try:
        cls(**{option: "nonsense"})
        return ["nonsense"]
    except MilpTreesError as error:
        message = str(error)
    listed = (
        message.rpartition("one of")[2] if "one of" in message else message.partition(" is ")[2]
    )
    found = [
        word
        for word in re.findall(r"[a-z][a-z-]*", listed.partition("got")[0])
        if word not in ("or", "and")
    ]
    assert len(found) > 1, f"{cls.name}:{option} does not list its words: {message}"
    return found


class Random(mt.plugins.Method):
    """A third party's engine that is no dataclass, and signs with its bare name."""

    name = "random"

    def __init__(self, tries: int = 100, share: float = 0.5, kind: str = "plain") -> None:
        self.tries, self.share, self.kind = tries, share, kind

    def search(self, problem, limits, start, progress):
        found = registry.method("cart").search(problem, limits, start, progress)
        return replace(
            found,
            method=self.name,
            certificate=replace(found.certificate, proved_by=self.name),
            nodes=self.tries,
        )


@dataclass(frozen=True)
class Chance(Random):
    """The same as a dataclass, whose options are fields."""

    name: ClassVar[str] = "chance"
    tries: int = 100
