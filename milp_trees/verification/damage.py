"""Sentences for a stored result that is damaged, and for what could not be verified."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from milp_trees.errors import DataError, MilpTreesError, VerificationError
from milp_trees.verification.statement import printable


def told(not_verified: tuple[str, ...]) -> list[str]:
    """The sentence that lists what was not verified."""
    return (
        [f"Makes sense, but was not verified: {printable(', '.join(not_verified))}."]
        if not_verified
        else []
    )


@contextmanager
def refusing_damage() -> Iterator[None]:
    """Within this block, wrong kinds of fields become one printable sentence about damage."""
    try:
        yield
    except MilpTreesError as error:
        said = printable(str(error))
        if said == str(error):
            raise
        raise type(error)(said) from error
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
