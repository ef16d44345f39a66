"""HiGHS inside this process, where standard output belongs to the caller."""

from __future__ import annotations

import contextlib
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

    with _nothing_printed():
        highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    return highs


@contextlib.contextmanager
def _nothing_printed() -> Iterator[None]:
    """Drop what C code prints on standard output meanwhile."""
    try:
        sys.stdout.flush()
        kept = os.dup(1)
    except (OSError, AttributeError, ValueError):  # standard output is missing or closed
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
