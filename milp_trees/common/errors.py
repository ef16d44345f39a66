"""The errors of this package; each message is one sentence that says what to do.

Messages are written with the options of the command line. Outside of a command `worded` puts the
arguments of Python in their place, so that a remedy is in the language of where the user is.
"""

import contextlib
import os
import re
from collections.abc import Iterator

#: Set in the environment while a command runs, so that the processes it starts see it too.
_COMMAND = "MILP_TREES_COMMAND"
#: Options whose argument in Python has another name; all others differ in their dashes only.
ARGUMENTS = {
    "--memory-limit": "memory_mb=",
    "--depth": "max_depth=",
    "--leaves": "max_leaf_nodes=",
    "--min-leaf": "min_samples_leaf=",
    "--binarize": "binarizer=",
    "--rule-lists": "mt.RuleLists(…)",
    "--regression": "regression=True",
    "--no-solution": "solution=False",
    "--costs": "file=",
}
#: Options of which a text says that a command wrote a file with them.
_WRITTEN = ("--out", "--json")
_OPTION = r"--[a-z]+(?:-[a-z]+)*"
_VALUE = r"'[^']*'|target\b|hash\b|day-first|month-first|\.(?= )|,(?= |,|$)"
#: Options that are followed by the name of a column, which a shell may need in quotes or not.
_NAMED = r"(--drop|--features|--text) (?!names\b)([\w*][^\s()]*?)(?=[.,;]?(?:\s|$))"


@contextlib.contextmanager
def on_the_command_line() -> Iterator[None]:
    """Within this block messages name options."""
    before = os.environ.get(_COMMAND)
    os.environ[_COMMAND] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_COMMAND]


def worded(text: str) -> str:
    """A message in the words of where the user is."""
    if "--" not in text or _COMMAND in os.environ or "milp-trees " in text:
        return text
    text = re.sub(rf" \({_OPTION}(?: (?:{_VALUE}|[a-z]+))?\)", "", text)  # said in Python before it
    text = re.sub(rf"\(([a-z_]+=[^(),]*), {_OPTION}\)", r"(\1)", text)
    text = re.sub(rf"\({_OPTION}, ([a-z_]+=[^(),]*)\)", r"(\1)", text)
    text = re.sub(rf"{_OPTION} \(([a-z_]+=[^()]*)\)", r"\1", text)
    text = re.sub(_NAMED, _argument, text)
    return re.sub(rf"(?<![\w`-])({_OPTION})(?: ({_VALUE}))?", _argument, text)


def _argument(found: re.Match[str]) -> str:
    """The argument of Python for an option, with the value that follows it."""
    option, value = found[1], found[2]
    if option in _WRITTEN:
        return found[0]
    name = ARGUMENTS.get(option, option[2:].replace("-", "_") + "=")
    if value is None:
        return name
    return name + (value if value.startswith("'") else repr(value))


class MilpTreesError(Exception):
    """Base class of all errors that the package raises on purpose."""

    def __init__(self, *given: object) -> None:
        super().__init__(*(worded(part) if isinstance(part, str) else part for part in given))


class DataError(MilpTreesError, ValueError):
    """The data cannot be used as given."""


class Infeasible(DataError):
    """No tree satisfies the limits and constraints."""


class NoView(MilpTreesError):
    """A task has no view of the kind that a method needs; the message gives the reason."""


class Unsupported(MilpTreesError):
    """A method cannot solve a problem; the message gives the reason, and methods that can."""


class NotInTime(Unsupported):
    """A model is too large to be built within the time limit."""


class UnknownName(MilpTreesError, KeyError):
    """There is no plug-in, data set, task or option of that name."""

    def __str__(self) -> str:
        # KeyError would print the representation of its argument.
        return str(self.args[0]) if self.args else ""


class SolverUnavailable(MilpTreesError):
    """A solver is absent, broken or not licensed; the message says which, and how to get it."""


class SolverFailure(MilpTreesError):
    """A solver crashed, was killed, or returned something that its adapter does not expect."""


class NothingFound(SolverFailure):
    """No tree was found within the limits, though there may be one."""


class VerificationError(MilpTreesError):
    """A stored result contradicts what was recomputed."""


class PluginWarning(UserWarning):
    """A plug-in cannot be imported and is left out; the message names its package."""


class IncompleteModelWarning(UserWarning):
    """A model was built whose cuts are found while it is solved: its optimum is another one."""


class DataWarning(UserWarning):
    """A file contradicts another one, and is not used; the message says where, and what to do."""


class DamagedRowWarning(UserWarning):
    """A row of a study's file cannot be read and is left out; the message says which and why."""
