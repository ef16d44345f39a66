"""Families of models: packages that hold all there is about one kind of model.

Rule lists, prunings, trees for decisions and tests of total unimodularity are families; the core
names none of them. A family is found by its entry point in the group `milp_trees.families`, which
names a `Family`, whether it comes with this package or with another one.

Plug-ins of a family are found in its folders `engines`, `tasks` and `exports`, like those of the
core. All else that the core asks of a family is a *part*: `parts("spaces")` are the spaces that all
families declare. The kinds of parts are described in docs/project/families.md.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milp_trees.common.errors import PluginWarning

GROUP = "milp_trees.families"

#: Folder of a family's plug-ins by their kind.
FOLDERS = {"methods": "engines", "tasks": "tasks", "exports": "exports"}


@dataclass(frozen=True)
class Family:
    """What a family declares.

    Attributes
    ----------
    package : str
        The package with the family's folders.
    plugins : tuple of str
        Kinds of plug-ins that the package has folders of: "methods", "tasks", "exports".
    parts : mapping of str to tuple of str
        For a kind of part, the objects as `module:attribute` below the package. They are imported
        when they are asked for.
    """

    package: str
    plugins: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def entry_points() -> list[importlib.metadata.EntryPoint]:
    """The entry points of all packages that add plug-ins or families.

    Those of a package with unreadable metadata are left out with a warning.
    """
    try:
        every = importlib.metadata.entry_points()
        groups = [group for group in every.groups if group.startswith("milp_trees.")]
        return [entry for group in groups for entry in every.select(group=group)]
    except Exception:
        found = []
        for distribution in importlib.metadata.distributions():
            try:
                ours = "milp_trees."
                found += [e for e in distribution.entry_points if e.group.startswith(ours)]
            except Exception as error:
                why = f"The entry points of the package {distribution.name} cannot be read ({type(error).__name__}: {error}); install it again."
                warnings.warn(why, PluginWarning, stacklevel=2)
        return found


#: The entry points as they were found first: it takes a file of every installed package.
scanned = functools.cache(entry_points)


@functools.cache
def families() -> dict[str, Family]:
    """All families by the names of their entry points, in alphabetical order."""
    found: dict[str, Family] = {}
    entries = [entry for entry in scanned() if entry.group == GROUP]
    # No other package takes the name of a family of this one.
    for entry in sorted(entries, key=lambda entry: (not _is_own(entry.value), entry.name)):
        try:
            family = entry.load()
            if not isinstance(family, Family):
                raise TypeError("it is no Family")
            if found.get(entry.name, family) != family:
                raise ValueError(f"{found[entry.name].package} has this name")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            why = f"The family {entry.name} = {entry.value} is left out: {type(error).__name__}: {error}. Mend or remove it."
            warnings.warn(why, PluginWarning, stacklevel=2)
            continue
        found[entry.name] = family
    if not any(_is_own(family.package) for family in found.values()):
        why = "The families of this package are not registered: install it again with `pip install -e .` or `pip install milp-trees`."
        warnings.warn(why, PluginWarning, stacklevel=2)
    return dict(sorted(found.items()))


def _is_own(name: str) -> bool:
    """Whether a module is of this package."""
    return name.partition(".")[0] == "milp_trees"


def origin(module: str) -> dict[str, str]:
    """Name and version of the distribution whose family holds a module; empty for own families."""
    for entry in scanned():
        package = entry.value.rpartition(":")[0].rpartition(".")[0]
        inside = package and f"{module}.".startswith(f"{package}.") and not _is_own(package)
        if entry.group == GROUP and inside and entry.dist is not None:
            return {entry.dist.name: entry.dist.version}
    return {}


def homes(group: str) -> list[str]:
    """Packages of all families that hold plug-ins of a kind.

    Parameters
    ----------
    group : {"methods", "tasks", "exports"}
    """
    return [
        f"{family.package}.{FOLDERS[group]}"
        for family in families().values()
        if group in family.plugins
    ]


@functools.cache
def parts(kind: str) -> tuple[Any, ...]:
    """The parts of a kind that all families declare, imported.

    Parameters
    ----------
    kind : str
        Such as `spaces` or `commands`.
    """
    found = []
    for name, family in families().items():
        for where in family.parts.get(kind, ()):
            try:
                found.append(load(f"{family.package}.{where}"))
            except Exception as error:
                if _is_own(family.package):
                    raise
                why = f"The part {kind} of the family {name} ({family.package}.{where}) is left out: {type(error).__name__}: {error}. Mend or remove it."
                warnings.warn(why, PluginWarning, stacklevel=2)
    return tuple(found)


def files(kind: str) -> dict[str, Path]:
    """The files of the modules that families declare as parts of a kind, by the modules' names.

    Parameters
    ----------
    kind : str
        Such as `commands`, whose files are read before they are imported.
    """
    found = {}
    for family in families().values():
        folder = Path(next(iter(importlib.import_module(family.package).__path__)))
        for where in family.parts.get(kind, ()):
            found[f"{family.package}.{where}"] = folder / f"{where.replace('.', '/')}.py"
    return found


def load(where: str) -> Any:
    """The object that `module:attribute` names.

    Parameters
    ----------
    where : str
    """
    module, _, attribute = where.partition(":")
    return functools.reduce(getattr, attribute.split("."), importlib.import_module(module))
