"""The limits of a run as options of a command, made into `Limits` once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from milp_trees.cli.help import LIMITS
from milp_trees.common.limits import MAX_NONZEROS, Limits


def _option(name: str, help: str) -> Any:
    return typer.Option(name, help=help, rich_help_panel=LIMITS)


#: The options by the names that `Limits.asked` gives its parameters, with type and default.
OF_LIMITS: dict[str, tuple[str, Any, Any]] = {
    "time_limit": (
        "time_limit",
        Annotated[
            float, _option("--time-limit", help="Seconds per run, for building and solving.")
        ],
        60.0,
    ),
    "memory_limit": (
        "memory_mb",
        Annotated[int | None, _option("--memory-limit", help="Megabytes of a solving process.")],
        None,
    ),
    "node_limit": (
        "node_limit",
        Annotated[
            int | None,
            _option("--node-limit", help="Nodes (of a search for lists: prefixes) of a run."),
        ],
        None,
    ),
    "max_nonzeros": (
        "max_nonzeros",
        Annotated[
            int,
            _option(
                "--max-nonzeros", help="Larger models are not built, which nothing could interrupt."
            ),
        ],
        MAX_NONZEROS,
    ),
    "threads": (
        "threads",
        Annotated[int, _option("--threads", help="Threads of a solver.")],
        1,
    ),
    "seed": ("seed", Annotated[int, _option("--seed", help="Seed of solvers.")], 0),
    "log": (
        "log_file",
        Annotated[Path | None, _option("--log", help="File for the solver's log.")],
        None,
    ),
}


def takes_limits(
    *names: str, **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options for these limits.

    The command is called with one `Limits` as its argument `limits`.

    Parameters
    ----------
    names : str
        Keys of `OF_LIMITS`.
    defaults
        Defaults that differ from those of `OF_LIMITS`.
    """
    shared = {name: (OF_LIMITS[name][1], defaults.get(name, OF_LIMITS[name][2])) for name in names}

    def make(**given: Any) -> Limits:
        return Limits.asked(**{OF_LIMITS[name][0]: value for name, value in given.items()})

    return lambda command: with_options(command, "limits", shared, make)


def with_options(
    command: Callable[..., None],
    parameter: str,
    shared: Mapping[str, tuple[Any, Any]],
    make: Callable[..., Any],
) -> Callable[..., None]:
    """A command with several options in place of one of its parameters.

    Parameters
    ----------
    command : callable
    parameter : str
        The parameter that is replaced; its argument is what `make` returns for the options.
    shared : mapping
        For each option's parameter, its annotation for typer and its default.
    make : callable
        Called with the options' values by name.

    Returns
    -------
    callable
    """
    hints = get_type_hints(command, include_extras=True)
    out: list[inspect.Parameter] = []
    for own in inspect.signature(command).parameters.values():
        if own.name == parameter:
            out += [
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
                )
                for name, (kind, default) in shared.items()
            ]
        else:
            kind = hints.get(own.name, own.annotation)
            out.append(own.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def called(**given: Any) -> None:
        made = make(**{name: given.pop(name) for name in shared})
        command(**{parameter: made}, **given)

    called.__signature__ = inspect.Signature(out)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in out}
    del called.__wrapped__  # type: ignore[attr-defined]
    return called
