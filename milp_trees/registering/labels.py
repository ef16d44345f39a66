"""Labels: a plug-in's name with the options that differ from their defaults, such as
`dp:cache=off,order=best-first`.

A label names everything about a method that can change a run, so results, tables and stores go by
it. `registry.method(label)` gives the method back. The options of a plug-in are the parameters of
its constructor; each is kept as an attribute of its name (as fields of a dataclass are).
"""

from __future__ import annotations

import dataclasses
import inspect
from functools import cache
from typing import Any

from milp_trees.errors import UnknownName

#: The default of an option that has none.
REQUIRED = inspect.Parameter.empty

#: Smallest rank of a formulation. Engines with smaller ranks are asked before formulations are
#: loaded, because loading Pyomo takes a second.
FORMULATIONS_FROM = 60

_STATES = {True: "on", False: "off"}
#: What may be written for an option whose default is of a type.
_ALLOWED = {bool: "on or off", int: "a whole number", float: "a number"}


def declared(cls: Any) -> dict[str, Any]:
    """The options of a plug-in's class, in order, and their defaults (`REQUIRED` where there is
    none).
    """
    return {
        name: default if factory is None else factory()
        for name, default, factory in _parameters(cls)
    }


@cache
def _parameters(cls: Any) -> tuple[tuple[str, Any, Any], ...]:
    """Name, default and factory of the default (or None) of every option."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    made = {f.name: f.default_factory for f in fields}
    missing = dataclasses.MISSING
    return tuple(
        (p.name, p.default, None if made.get(p.name, missing) is missing else made[p.name])
        for p in inspect.signature(cls).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )


def check(cls: Any, group: str) -> None:
    """Refuse a class for the registry that cannot be made by its name alone, or that declares
    something unknown.

    Raises
    ------
    TypeError
        A rank is no whole number; an option has no default; a formulation has a rank below
        `FORMULATIONS_FROM`; or the class itself finds something wrong (`check_class`).
    """
    getattr(cls, "check_class", lambda: None)()
    for rank in ("default_rank", "judge_rank", "effort"):
        number = getattr(cls, rank, None)
        if number is not None and type(number) is not int:
            raise TypeError(f"The {rank} of {cls.__name__} must be a whole number; got {number!r}.")
    if group not in ("methods", "formulations", "tasks"):
        return
    needed = [option for option, default in declared(cls).items() if default is REQUIRED]
    if needed:
        raise TypeError(f"The option {needed[0]!r} of {cls.__name__} needs a default value.")
    for rank in ("default_rank", "judge_rank") if group == "formulations" else ():
        number = getattr(cls, rank, None)
        if number is not None and number < FORMULATIONS_FROM:
            raise TypeError(
                f"The {rank} of {cls.__name__} is {number}; formulations come after the quick "
                f"engines, from {FORMULATIONS_FROM} on."
            )


def checked(plug_in: Any) -> Any:
    """The plug-in, if it keeps its options where its label finds them.

    Raises
    ------
    UnknownName
        It does not, so its runs could not be told apart.
    """
    hidden = [option for option in declared(type(plug_in)) if not hasattr(plug_in, option)]
    if hidden:
        raise UnknownName(
            f"The plug-in {plug_in.name} must keep the option {hidden[0]!r} as an attribute of that name, or its runs look all alike."
        )
    return plug_in


def label(plug_in: Any) -> str:
    """A plug-in's name with the options that differ from their defaults."""
    changed = []
    for option, default in declared(type(plug_in)).items():
        value = getattr(plug_in, option, default)
        if value is not default and (type(value) is not type(default) or value != default):
            changed.append(f"{option}={_spelled(value)}")
    return plug_in.name + (":" + ",".join(changed) if changed else "")


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return _STATES[value]
    if isinstance(value, str):  # a comma would begin the next option
        return value.replace("%", "%25").replace(",", "%2C")
    return str(value) if isinstance(value, (int, float)) else type(value).__name__.lower()


def options(text: str, cls: Any) -> dict[str, Any]:
    """`merge_rows=off,repair=spo` as arguments of a plug-in's class; every value is read as its
    option's default is typed.

    Raises
    ------
    UnknownName
        An option is not one of the class, or its value is not of its type.
    """
    return {
        name: _read(value, f"{cls.name}:{name}", declared(cls)[name])
        for name, value in texts(text, cls).items()
    }


def parameters(text: str, cls: Any) -> dict[str, Any]:
    """`beta=2,positive=ill` as arguments of a task's class.

    The class's `readers` read theirs, and a switch is `on` or `off`. All others stay texts, as
    tasks read numbers exactly.

    Raises
    ------
    UnknownName
        A parameter is not one of the class, or its value is neither `on` nor `off` and must be.
    """
    defaults = declared(cls)
    read: dict[str, Any] = {}
    for name, value in texts(text, cls).items():
        if name in cls.readers:
            read[name] = cls.readers[name](value)
        elif type(defaults[name]) is bool:
            read[name] = _read(value, f"{cls.name}:{name}", defaults[name])
        else:
            read[name] = value
    return read


def texts(text: str, cls: Any) -> dict[str, str]:
    """`beta=2,positive=ill` as the texts that are written for parameters of a class.

    Raises
    ------
    UnknownName
        A parameter is not one of the class, or is given twice.
    """
    out: dict[str, str] = {}
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        if not equals:
            raise UnknownName(
                f"{item!r} is not an option; write name=value, for example {_example(cls)}."
            )
        name = name.replace("-", "_")
        if name in out:
            raise UnknownName(
                f"The option {name} of {cls.name} is given twice, as {out[name]!r} and {value!r}; give it once."
            )
        out[name] = value
    check_names(out, cls)
    return {name: _plain(value) for name, value in out.items()}


def _example(cls: Any) -> str:
    """How an option of the class is written."""
    for name, default in declared(cls).items():
        return f"{name}={'…' if default is None else _spelled(default)}"
    return "merge_rows=off"


def _plain(value: str) -> str:
    return value.replace("%2C", ",").replace("%25", "%")


def check_names(given: dict[str, Any], cls: Any) -> None:
    """Refuse what is no option of a class."""
    known = declared(cls)
    unknown = [option for option in given if option not in known]
    if unknown:
        raise UnknownName(
            f"{cls.name} has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}."
        )


def _read(text: str, name: str, default: Any) -> Any:
    kind = type(default)
    try:
        if kind is bool:
            return {spelled: state for state, spelled in _STATES.items()}[text]
        if kind in (int, float):
            return kind(text)
    except (KeyError, ValueError):
        raise wrong_type(name, text, default) from None
    return text if default is not None else _guessed(text)


def _guessed(word: str) -> Any:
    """The value of an option whose default, None, says nothing of its type."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"on": True, "off": False}.get(word, word)


def wrong_type(name: str, given: Any, default: Any) -> UnknownName:
    """The error for a value that is not of an option's type."""
    return UnknownName(
        f"{name} is {_ALLOWED.get(type(default), 'a word')}; got {given!r}. Options are separated by commas."
    )


def split_labels(text: str) -> list[str]:
    """The labels in a list with commas: `dp:cache=off,ties=first,cart` are two, as `ties=first`
    alone names no method.
    """
    out: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        head, equals, _ = part.partition("=")
        if out and equals and ":" not in head and "@" not in head:
            out[-1] += f",{part}"
        else:
            out.append(part)
    return out
