"""Read options of the command line, and small files, as the values that they mean."""

from __future__ import annotations

from typing import Any

from milp_trees.common.errors import DataError


def split(text: str) -> list[str]:
    """Split `a, b` into a list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def pairs(given: list[str] | None, flag: str, form: str) -> list[tuple[str, str]]:
    """Read options `name=value` as pairs.

    Parameters
    ----------
    given : list of str or None
        The texts of the option.
    flag : str
        Name of the option, for the error.
    form : str
        How it must be written, for the error.

    Returns
    -------
    list of (str, str)

    Raises
    ------
    DataError
        A text has no name or no equals sign.
    """
    out = []
    for item in given or ():
        name, equals, value = item.rpartition("=")
        if not equals or not name:
            raise DataError(f"{flag} must be written {form}; got {item!r}.")
        out.append((name, value))
    return out


def whole(text: str, flag: str) -> int:
    if not text.isdecimal():
        raise DataError(f"{flag} needs a whole number; got {text!r}.")
    return int(text)


def solver_options(given: list[str] | None) -> dict[str, Any]:
    """Read `NAME=VALUE`; values become numbers, true or false where they are written so."""
    found: dict[str, Any] = {}
    for name, value in pairs(given, "--option", "NAME=VALUE"):
        if name in found:
            raise DataError(
                f"--option gives {name} twice, as {found[name]!r} and {value!r}; give it once."
            )
        found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    from milp_trees.common.exact import read_number

    for kind in (int, float):
        try:
            return read_number(kind, text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def whole_numbers(text: str) -> list[int]:
    from milp_trees.common.exact import read_number

    try:
        numbers = [read_number(int, t) for t in split(text)]
    except ValueError:
        numbers = []
    if not numbers:
        raise DataError(f"--seeds takes whole numbers separated by commas; got {text!r}.")
    return numbers


def check_methods(*names: str | None, option: list[str] | None = None) -> None:
    """Refuse names of methods that do not exist, before the data are read.

    Parameters
    ----------
    *names : str or None
        None and the words `auto` and `none` name no method.
    option : list of str, optional
        Solver options of the first method.
    """
    from milp_trees.solving.attempt import named_method

    for k, name in enumerate(names):
        if name not in (None, "", "auto", "none"):
            named_method(str(name), solver_options(option) if k == 0 else None)
