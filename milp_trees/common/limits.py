"""Limits and settings of a run, with the same meaning for every method.

The deadline of a time limit, and the error that ends a computation at its limit, are here too.
"""

from __future__ import annotations

import contextlib
import enum
import gc
import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import DataError

#: A model with more nonzeros is built only on request: it takes about a minute and some gigabytes.
MAX_NONZEROS = 20_000_000

#: The first line of a file of --log, by which it is known.
LOG_HEAD = "The log of a solver that milp-trees ran.\n"


class Limit(enum.Enum):
    """Why a method stopped early."""

    TIME = "time"
    NODES = "nodes"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    #: The user's `progress` function returned True.
    CALLBACK = "callback"

    @property
    def by_user(self) -> bool:
        """Whether the user ended the run: nothing else that belongs to it is begun then."""
        return self in (Limit.INTERRUPTED, Limit.CALLBACK)


class Stopped(Exception):
    """Raised inside a computation when a limit is reached; `limit` is this limit.

    It never reaches a caller of the package.
    """

    def __init__(self, limit: Limit = Limit.TIME) -> None:
        super().__init__(limit.value)
        self.limit = limit


@dataclass(frozen=True)
class Deadline:
    """The time at which a computation has to end.

    Parameters
    ----------
    at : float, default=infinity
        A reading of `run_clock`; infinity is no deadline.
    sooner : callable, optional
        Its answer, if it is not None, is a limit that ends the computation before that time.
    """

    at: float = math.inf
    sooner: Callable[[], Limit | None] | None = None

    @classmethod
    def after(cls, seconds: float | None, began: float | None = None) -> Deadline:
        """The deadline some seconds after `began`; None means no deadline.

        `began` is a reading of `run_clock`, by default now.
        """
        if seconds is None:
            return cls()
        return cls((run_clock() if began is None else began) + seconds)

    @property
    def passed(self) -> bool:
        """Whether the computation has to end."""
        return self.limit is not None

    @property
    def limit(self) -> Limit | None:
        """The limit that has been reached, or None."""
        if self.sooner is not None and (limit := self.sooner()) is not None:
            return limit
        return Limit.TIME if run_clock() >= self.at else None

    @property
    def left(self) -> float | None:
        """Remaining seconds, 0 after the deadline; None if there is none."""
        return None if self.at == math.inf else max(0.0, self.at - run_clock())

    def check(self) -> None:
        """Raise `Stopped` if the deadline has passed."""
        limit = self.limit
        if limit is not None:
            raise Stopped(limit)

    def later(self, seconds: float) -> Deadline:
        """The deadline moved by some seconds, for a computation that was held up."""
        return Deadline(self.at + seconds, self.sooner)

    def share(self, share: float, at_least: float = 0.0) -> Deadline:
        """The deadline of a part of the computation that begins now.

        The part gets a share of the remaining time, or `at_least` seconds if these are more. If
        the computation has to end sooner, these are all.
        """
        if self.sooner is not None and self.sooner() is not None:
            return Deadline.after(at_least)
        left = self.left
        if left is None:
            return self
        return replace(Deadline.after(max(at_least, share * left)), sooner=self.sooner)

    def wait(self, most: float) -> float:
        """Seconds to wait before the clock is read again: `most`, or less before the deadline."""
        return max(0.0, min(most, self.at - run_clock()))


#: The deadline of a computation without a time limit.
NEVER = Deadline()


@dataclass(frozen=True)
class Limits:
    """Limits and settings of one run; they mean the same for every method.

    Parameters
    ----------
    time : float or None, default=60
        Seconds for building and solving together, at most 10^9; None is no limit.
    memory_mb : number or None
        Largest resident memory of the solving process, in megabytes.
    nodes : int or None
        Largest number of branch-and-bound nodes.
    rel_gap, abs_gap : float
        Gaps below which a solver may stop. The absolute gap is in integer units of the objective.
    threads : int, default=1
        Number of threads, at most 1024.
    seed : int, default=0
        Seed of the solver, at most 2147483647, which every solver accepts.
    log_file : str or None
        File to which the solver's log is written during the run (the result always contains it).
    nonzeros : int or None, default=20 million
        A model with more nonzeros is not built, because it needs much memory, and minutes before
        the solver starts.

    Raises
    ------
    DataError
        A value is not a number, is NaN, infinite or out of range, or a count is not an integer.
    """

    time: float | None = 60.0
    memory_mb: int | None = None
    nodes: int | None = None
    rel_gap: float = 0.0
    abs_gap: float = 0.999
    threads: int = 1
    seed: int = 0
    log_file: str | None = None
    nonzeros: int | None = MAX_NONZEROS

    def __post_init__(self) -> None:
        for field_name, allowed in _ALLOWED.items():
            object.__setattr__(self, field_name, allowed.checked(getattr(self, field_name)))

    @classmethod
    def asked(cls, **given: Any) -> Limits:
        """Limits under the names that calls and commands have for them.

        These are `time_limit`, `memory_mb`, `node_limit`, `threads`, `seed`, `log_file` and
        `max_nonzeros`.

        Raises
        ------
        DataError
            As for `Limits`; a time limit of 0 seconds is not allowed either.
        """
        log_file = given.pop("log_file", None)
        limits = cls(
            log_file=None if log_file is None else str(log_file),
            **{_FIELDS[name]: number for name, number in given.items()},
        )
        if limits.time == 0:
            raise _ALLOWED["time"].refusal(given["time_limit"])
        return limits

    def after(self, seconds: float) -> Limits:
        """The limits for the rest of a run, after the given number of seconds."""
        if self.time is None:
            return self
        left = copy(self)  # what was checked is not checked again
        object.__setattr__(left, "time", max(self.time - seconds, 1e-6))
        return left


@dataclass(frozen=True)
class _Allowed:
    """The values that a limit may have: its name in messages, and its range."""

    name: str
    what: str
    least: float
    most: float = math.inf
    whole: bool = False

    def checked(self, given: Any) -> float | None:
        """The number as an int or float of Python; None if that means no limit."""
        if given is None and self.what.endswith("None for no limit"):
            return None
        kind = Integral if self.whole else Real
        if isinstance(given, kind) and not isinstance(given, bool) and math.isfinite(given):
            number = (
                int(given)
                if isinstance(given, Integral) and self.name != "time_limit"
                else float(given)
            )
            if self.least <= number <= self.most:
                return number
        raise self.refusal(given)

    def refusal(self, given: Any) -> DataError:
        return DataError(f"{self.name} must be {self.what}; got {given!r}.")


#: A larger number of threads is probably a typing error, and to start them would take longer than
#: any run.
MOST_THREADS = 1024
#: The largest seed that every solver accepts, and the longest time limit, in seconds.
LARGEST_SEED, LONGEST = 2**31 - 1, 1e9

_ALLOWED = {
    # For more than about nine thousand million seconds the clocks of threads raise an error
    # instead of waiting.
    "time": _Allowed(
        "time_limit",
        "a positive number of seconds, at most 10^9, or None for no limit",
        0,
        LONGEST,
    ),
    "memory_mb": _Allowed(
        "memory_mb", "a positive number of megabytes, or None for no limit", math.ulp(0.0)
    ),
    "nodes": _Allowed(
        "node_limit", "a whole number of at least 1, or None for no limit", 1, whole=True
    ),
    "rel_gap": _Allowed("rel_gap", "a number that is not negative", 0),
    "abs_gap": _Allowed("abs_gap", "a number that is not negative", 0),
    "threads": _Allowed(
        "threads",
        f"a whole number of at least 1 and at most {MOST_THREADS}",
        1,
        MOST_THREADS,
        whole=True,
    ),
    "seed": _Allowed(
        "seed", f"a whole number from 0 to {LARGEST_SEED}", 0, LARGEST_SEED, whole=True
    ),
    "nonzeros": _Allowed(
        "max_nonzeros", "a whole number of at least 1, or None for no limit", 1, whole=True
    ),
}


#: Fields of `Limits` by the names that calls and commands have for them.
_FIELDS = {allowed.name: field for field, allowed in _ALLOWED.items()}


@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """Within this block Python does not look for cycles of garbage.

    For steps that make many objects which stay: each look goes through all objects of the process.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def one_thread() -> Any:
    """A context in which numpy multiplies on one thread.

    Many small products take far longer on several threads than on one.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
