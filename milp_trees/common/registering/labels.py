"""Labels: a plug-in's name with the options that differ from their defaults.

An example is `dp:cache=off,order=best-first`.


A label names everything about a method that can change a run, so results, tables and stored rows
are identified by it. `registry.method(label)` makes the method from it. The options of a plug-in
are the parameters of its constructor; each is kept as an attribute of the same name (as the fields
of a dataclass are).
"""

from __future__ import annotations

import dataclasses
import inspect
from functools import cache
from typing import Any

from milp_trees.common.errors import UnknownName

#: Stands for the default of an option that has none.
REQUIRED = inspect.Parameter.empty

#: Smallest rank of a formulation. Engines with smaller ranks are asked before formulations are
#: loaded, because loading Pyomo takes a second.
FORMULATIONS_FROM = 60
#: The smallest `effort` of a formulation: engines that need less are tried before Pyomo is loaded.
FORMULATIONS_VERIFY_FROM = 30

_STATES = {True: "on", False: "off"}
#: What may be written for an option whose default is of a type.
_ALLOWED = {bool: "on or off", int: "a whole number", float: "a number"}


def declared(cls: Any) -> dict[str, Any]:
    """The options of a plug-in's class, in order, with their defaults.

    An option without a default has `REQUIRED`.
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
    """Refuse a class that cannot be registered.

    Such a class cannot be made by its name alone, or declares an unknown capability.
    """
    getattr(cls, "check_class", lambda: None)()
    for rank in ("default_rank", "reference_rank", "verification_rank"):
        number = getattr(cls, rank, None)
        if number is not None and type(number) is not int:
            raise TypeError(f"The {rank} of {cls.__name__} must be a whole number; got {number!r}.")
    if group not in ("methods", "formulations", "tasks"):
        return
    needed = [option for option, default in declared(cls).items() if default is REQUIRED]
    if needed:
        raise TypeError(f"The option {needed[0]!r} of {cls.__name__} needs a default value.")
    if group != "tasks":
        _check_declared(cls)
    least = {"default_rank": FORMULATIONS_FROM, "reference_rank": FORMULATIONS_FROM}
    least["verification_rank"] = FORMULATIONS_VERIFY_FROM
    for rank, first in least.items() if group == "formulations" else ():
        number = getattr(cls, rank, None)
        if number is not None and number < first:
            raise TypeError(
                f"The {rank} of {cls.__name__} is {number}; formulations come after the quick "
                f"engines, from {first} on."
            )


def _check_declared(cls: Any) -> None:
    """Refuse a class whose views are no classes, or whose questions are one text."""
    needs = getattr(cls, "needs", ())
    for view in needs if isinstance(needs, tuple) else (needs,):
        if not isinstance(view, type):
            raise TypeError(
                f"{cls.__name__}.needs must be a view's class, such as CostMatrix, or a tuple of "
                f"them; got {view!r}."
            )
    if isinstance(getattr(cls, "questions", ()), str):
        raise TypeError(
            f"{cls.__name__}.questions must be a set of names, such as {{'best'}}; got "
            f"{cls.questions!r}."
        )


def checked(plug_in: Any) -> Any:
    """The plug-in, if it keeps its options as attributes, where its label reads them."""
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
    if isinstance(value, str):  # a comma would separate it from the next option
        return value.replace("%", "%25").replace(",", "%2C")
    return str(value) if isinstance(value, (int, float)) else type(value).__name__.lower()


def options(text: str, cls: Any) -> dict[str, Any]:
    """Read `merge_rows=off,repair=spo` as arguments of a plug-in's class.

    Every value is read according to the type of its option's default.
    """
    return {
        name: _read(value, f"{cls.name}:{name}", declared(cls)[name])
        for name, value in texts(text, cls).items()
    }


def parameters(text: str, cls: Any) -> dict[str, Any]:
    """Arguments of a task's class from a text such as `beta=2,positive=ill`.

    Values are read by the `readers` of the class, as `on` and `off` where the default is true or
    false, and otherwise stay texts, because tasks read numbers exactly.
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
    """Read `beta=2,positive=ill` as parameters of a class whose values stay texts."""
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
    """An example of how an option of the class is written."""
    for name, default in declared(cls).items():
        return f"{name}={'…' if default is None else _spelled(default)}"
    return "merge_rows=off"


def _plain(value: str) -> str:
    return value.replace("%2C", ",").replace("%25", "%")


def check_names(given: dict[str, Any], cls: Any) -> None:
    """Refuse names that are no options of a class."""
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
        if kind in (int, float) and "_" not in text:  # only Python's own syntax allows it
            return kind(text)
        if kind in (int, float):
            raise ValueError("an underscore")
    except (KeyError, ValueError):
        raise wrong_type(name, text, default) from None
    return text if default is not None else _guessed(text)


def _guessed(word: str) -> Any:
    """The value of an option whose default is None and so does not determine a type."""
    for kind in (int, float) if "_" not in word else ():
        try:
            return kind(word)
        except ValueError:
            continue
    return {"on": True, "off": False}.get(word, word)


def wrong_type(name: str, given: Any, default: Any) -> UnknownName:
    """The error for a value that does not have the type of an option."""
    return UnknownName(
        f"{name} is {_ALLOWED.get(type(default), 'a word')}; got {given!r}. Options are separated by commas."
    )


def split_labels(text: str) -> list[str]:
    """Split a list of labels at the commas between them.

    `dp:cache=off,ties=first,cart` holds two labels, since `ties=first` alone names no method.
    """
    out: list[str] = []
    for part in filter(None, map(str.strip, text.split(","))):
        head, equals, _ = part.partition("=")
        if out and equals and ":" not in head and "@" not in head:
            out[-1] += f",{part}"
        else:
            out.append(part)
    return out
