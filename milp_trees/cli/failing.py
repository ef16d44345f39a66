"""Errors of a command become one sentence and an exit code."""

from __future__ import annotations

import functools
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from milp_trees.cli.limits import OF_LIMITS
from milp_trees.cli.signals import begins
from milp_trees.common.compiling import interruptible
from milp_trees.common.errors import (
    DamagedRowWarning,
    DataError,
    DataWarning,
    Infeasible,
    MilpTreesError,
    NothingFound,
    PluginWarning,
    SolverFailure,
    SolverUnavailable,
    VerificationError,
    on_the_command_line,
)

#: Exit codes, as `--help` and the documentation list them.
(
    OK,
    WRONG_INPUT,
    USAGE,
    NO_MODEL,
    NOT_VERIFIED,
    SOLVER_FAILED,
    ONLY_RECOMPUTED,
    ONLY_CLAIMED,
    INTERRUPTED,
) = 0, 1, 2, 3, 4, 5, 6, 7, 130


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose errors become one sentence on standard error and an exit code.

    Only an error in this package (a bug) still prints a traceback.
    """

    @functools.wraps(command)
    def called(*args: Any, **given: Any) -> None:
        begins()
        try:
            with on_the_command_line(), _warnings_said(), interruptible():
                check_numbers(given)
                command(*args, **given)
        except VerificationError as error:
            fail(str(error), NOT_VERIFIED)
        except (Infeasible, NothingFound) as error:
            fail(str(error), NO_MODEL)
        except (SolverFailure, SolverUnavailable) as error:
            fail(str(error), SOLVER_FAILED)
        except MilpTreesError as error:
            fail(str(error), WRONG_INPUT)
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(OK) from None
        except OSError as error:
            fail(
                f"{error.filename or 'A file or standard output'} cannot be used: {error.strerror or error}.",
                WRONG_INPUT,
            )
        except MemoryError:
            fail(
                "This does not fit into memory; take fewer rows, tests or trees, or a smaller depth.",
                WRONG_INPUT,
            )
        except KeyboardInterrupt:
            fail(
                "Interrupted before there was an answer.", INTERRUPTED
            )  # by Ctrl-C; for SIGTERM `signals` changes the code

    return called


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print a line on standard error for everything left out (a plug-in, a row of a study, a file).

    Other warnings are not changed.
    """
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, (PluginWarning, DamagedRowWarning, DataWarning)):
                typer.echo(f"Warning: {message}", err=True)
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = say
        yield


def check_numbers(options: dict[str, Any]) -> None:
    """Refuse numbers of options that are not finite, or beyond 64 bits.

    `Limits` checks its own numbers; a seed may belong to something else than a run.
    """
    for name, number in options.items():
        if name in OF_LIMITS and name != "seed":
            continue
        flag = "--" + name.replace("_", "-")
        if isinstance(number, float) and not math.isfinite(number):
            raise DataError(f"{flag} must be a finite number; got {number}.")
        if isinstance(number, (int, float)) and abs(number) >= 2**63:
            raise DataError(f"{flag} must be a number of ordinary size; got {number}.")


def fail(sentence: str, code: int) -> None:
    """Print the reason and stop with an exit code."""
    typer.echo(f"Error: {sentence}", err=True)
    raise typer.Exit(code)
