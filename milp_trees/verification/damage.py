"""Sentences for a stored result that is damaged, and for what could not be verified."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from milp_trees.common.errors import DataError, MilpTreesError, VerificationError
from milp_trees.common.plurals import counted
from milp_trees.verification.fields import HISTORY
from milp_trees.verification.statement import printable


def told(not_verified: tuple[str, ...]) -> list[str]:
    """The sentence on what was not verified; fields about the run are counted, others named."""
    if not not_verified:
        return []
    run = [name for name in not_verified if name in HISTORY]
    of_run = f"how the run went ({counted(len(run), 'field')}, listed in not_verified)"
    named = [*([of_run] if run else []), *(name for name in not_verified if name not in HISTORY)]
    return [f"Makes sense, but nothing here can verify it: {printable(', '.join(named))}."]


@contextmanager
def refusing_damage() -> Iterator[None]:
    """Within this block, wrong kinds of fields become one printable sentence about damage."""
    try:
        yield
    except MilpTreesError as error:
        message = printable(str(error))
        if message == str(error):
            raise
        raise type(error)(message) from error
    except RecursionError as error:
        raise VerificationError(
            "The result is damaged: it is nested too deeply. Solve again."
        ) from error
    except MemoryError as error:
        raise DataError("The problem of the result needs more memory than there is.") from error
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        AssertionError,
    ) as error:
        what = (
            f"it has no {error}"
            if isinstance(error, KeyError)
            else str(error) or "its parts do not fit each other"
        )
        raise VerificationError(
            f"The result is damaged: {printable(what)}. Solve again."
        ) from error
