"""Ctrl-C and SIGTERM on the command line.

Both end a run with the best answer so far; they differ only in the exit code.


Handlers belong to programs: the library removes every handler that it installs, and installs none
outside the main thread. This module imports hardly anything, because the program loads it first.
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
    """Let both signals end the program at once, until a command `begins`.

    Signals that are ignored remain ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, NO_ANSWER.encode())
    os._exit(TERMINATED if number == signal.SIGTERM else INTERRUPTED)


def begins() -> None:
    """Make Ctrl-C a KeyboardInterrupt, since a command has begun and handles it."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def interrupts() -> Iterator[Callable[[], int]]:
    """Within this block SIGTERM has the effect that Ctrl-C has there.

    That is a KeyboardInterrupt, or a count while a solver is running. The block gets a function for
    the exit code: that of the block's SystemExit, with 143 in place of 130 if SIGTERM came.
    """
    terminated: list[int] = []
    codes: list[int] = []

    def terminate(number: int, frame: FrameType | None) -> None:
        terminated.append(number)
        now = signal.getsignal(signal.SIGINT)
        if callable(now):
            now(number, frame)
        else:  # Ctrl-C is ignored, as in a background job of some shells, but SIGTERM is not
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield lambda: TERMINATED if terminated and codes[0] == INTERRUPTED else codes[0]
    except SystemExit as ended:
        if ended.code is not None and not isinstance(ended.code, int):
            raise
        codes.append(ended.code or 0)
    except KeyboardInterrupt:  # came outside the code in which a command handles it
        sys.stderr.write(NO_ANSWER)
        codes.append(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)
    if not codes:
        codes.append(0)
    # CPython keeps a KeyboardInterrupt that left generated code (that of dataclasses, for
    # example), and would kill the program at its end by SIGINT instead of using the exit code.
    # Running other generated code clears it.
    exec("")
