"""Imports without a search for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Within this block Python does not search for garbage.

    Imports make many objects that stay. To search all objects of a process that has loaded pandas
    and scikit-learn is a third of the time of importing numba.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
