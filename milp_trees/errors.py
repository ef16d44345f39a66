"""The errors this package raises: one clear sentence that names the remedy."""


class MilpTreesError(Exception):
    """Base class: everything the package raises on purpose derives from it."""


class DataError(MilpTreesError, ValueError):
    """The data cannot be used as given."""


class Infeasible(DataError):
    """No tree satisfies the limits and constraints."""


class NoView(MilpTreesError):
    """A task has no view of the kind a method asked for; the message says why."""


class Unsupported(MilpTreesError):
    """A method cannot take a problem; the message says why and what can."""


class UnknownName(MilpTreesError, KeyError):
    """No plug-in, data set, task or option of that name."""

    def __str__(self) -> str:
        # KeyError would print the representation of its argument.
        return str(self.args[0]) if self.args else ""


class SolverUnavailable(MilpTreesError):
    """A solver is absent, broken or not licensed; the message says which and how to get it."""


class SolverFailure(MilpTreesError):
    """A solver crashed, was killed, or answered something its adapter does not know."""


class NothingFound(SolverFailure):
    """No tree was found within the limits, though there may be one."""


class VerificationError(MilpTreesError):
    """A stored result does not stand up to recomputation."""


class PluginWarning(UserWarning):
    """A plug-in cannot be imported and is left out; the message names its package."""


class DamagedRowWarning(UserWarning):
    """A row of a study's file cannot be read and is left out; the message says which and why."""
