"""HiGHS inside this process, where standard output belongs to the caller."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from typing import Any


def silent_highs() -> Any:
    """A `highspy.Highs` that prints nothing.

    Since version 1.16 the first one of a process prints the version of HiGHS on standard output when
    it is made, before any option can be set. That would stand in front of JSON, so it is dropped.
    """
    import highspy

    with nothing_printed():
        highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    return highs


@contextlib.contextmanager
def nothing_printed() -> Iterator[None]:
    """Drop what C code prints on standard output meanwhile.

    HiGHS in SciPy 1.17 prints a line where it repairs a point of an integer program.
    """
    try:
        sys.stdout.flush()
        _flush_c()
        kept = os.dup(1)
    except (OSError, AttributeError, ValueError):  # standard output is missing or closed
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        _flush_c()
        os.dup2(kept, 1)
        os.close(kept)


@functools.cache
def _c_library() -> Any:
    """The C library, which buffers standard output itself; None where it is not found."""
    import ctypes

    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows
        return None


def _flush_c() -> None:
    """Write what C code has printed but its library still holds."""
    if _c_library() is not None:
        _c_library().fflush(None)
