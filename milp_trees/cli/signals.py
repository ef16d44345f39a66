"""Ctrl-C and SIGTERM on the command line: both end a run with what it has, and differ in the exit
code alone.

Handlers belong to programs: the library installs none that is not taken back, and none outside the
main thread. This module imports next to nothing, as it is what the program loads first.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

#: Exit codes of an interrupted command, by Ctrl-C and by SIGTERM.
INTERRUPTED, TERMINATED = 130, 143
NO_ANSWER = "Error: Interrupted before there was an answer.\n"


def leave_at_once() -> None:
    """From now on both signals end the program, before it has begun with anything, until a command
    `begins`. Signals that are ignored stay so.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, NO_ANSWER.encode())
    os._exit(TERMINATED if number == signal.SIGTERM else INTERRUPTED)


def begins() -> None:
    """A command has begun: Ctrl-C is a KeyboardInterrupt, which it takes care of."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def interrupts() -> Iterator[Callable[[], int]]:
    """Within this block SIGTERM does what Ctrl-C does at that place: a KeyboardInterrupt, or a
    count while a solver is followed.

    Yields a function for the exit code: that of the block's SystemExit, with 143 in place of 130 if
    SIGTERM came.
    """
    terminated: list[int] = []
    codes: list[int] = []

    def terminate(number: int, frame: FrameType | None) -> None:
        terminated.append(number)
        now = signal.getsignal(signal.SIGINT)
        if callable(now):
            now(number, frame)
        else:  # Ctrl-C is ignored, as in a background job of some shells; SIGTERM is not
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield lambda: TERMINATED if terminated and codes[0] == INTERRUPTED else codes[0]
    except SystemExit as ended:
        if ended.code is not None and not isinstance(ended.code, int):
            raise
        codes.append(ended.code or 0)
    except KeyboardInterrupt:  # outside of what a command takes care of
        sys.stderr.write(NO_ANSWER)
        codes.append(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)
    if not codes:
        codes.append(0)
    # CPython remembers a KeyboardInterrupt that left generated code (dataclasses make some), and
    # would at its end kill the program by SIGINT in place of the exit code; the next generated code
    # makes it forget.
    exec("")
