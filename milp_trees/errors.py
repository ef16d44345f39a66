"""The errors of this package; each message is one sentence that says what to do."""


class MilpTreesError(Exception):
    """Base class of all errors that the package raises on purpose."""


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
