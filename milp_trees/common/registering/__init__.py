"""Where plug-ins register: `@register` above a class of a plug-in.

A plug-in is a formulation, a solver, a method, a task or an export (a format for models).

The package's own plug-ins are the files of `milp_trees.formulations`, `milp_trees.solvers`,
`milp_trees.engines`, `milp_trees.tasks` and `milp_trees.exports`; third parties add entry points in
the groups `milp_trees.formulations`, `milp_trees.solvers`, `milp_trees.methods`, `milp_trees.tasks`
and `milp_trees.exports`, each naming a module to import. `milp_trees.mip.registry` makes plug-ins from names.

Own files are not imported to learn which plug-ins there are: `declared` reads that from their text.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from milp_trees.common.errors import PluginWarning, UnknownName
from milp_trees.common.registering import declared, families, labels
from milp_trees.common.registering.spelling import hint, same_name

C = TypeVar("C", bound=type)

#: Kinds of plug-ins, and the packages that hold the core's own; `homes` adds those of the families.
HOMES = {
    "formulations": "milp_trees.formulations",
    "solvers": "milp_trees.solvers",
    "methods": "milp_trees.engines",
    "tasks": "milp_trees.tasks",
    "exports": "milp_trees.exports",
}

#: Kinds of plug-ins that a run is made of. Exports come after a run and cannot change it.
GROUPS = tuple(group for group in HOMES if group != "exports")


class Plugins:
    """Plug-ins by kind and name.

    Of the package's own modules one is imported when its plug-in is first asked for, and all when
    all are. Modules of third parties are imported when their kind is first asked for.
    """

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, type]] = {g: {} for g in HOMES}
        #: What a thread has begun to load, and what is there whole. Other threads wait for it: half
        #: of the plug-ins would make half of the names unknown.
        self._loaded: set[str] = set()
        self._whole: set[str] = set()
        self._loading = {group: threading.RLock() for group in HOMES}
        self._folders: dict[str, declared.Folder] = {}
        self._origins: dict[type, dict[str, str]] = {}
        #: Plug-ins that could not be imported: the entry point or module, and a sentence with the
        #: reason.
        self.broken: dict[str, str] = {}

    def add(self, group: str, cls: type) -> None:
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not re.fullmatch(r"[^\s:@,=]+", name):
            raise TypeError(
                f"{cls.__name__} must have a class attribute `name`: a word without spaces, colons, commas, = and @."
            )
        labels.check(cls, group)
        folder = _root(cls.__module__)
        if folder in ("formulations", "solvers"):
            raise ImportError(
                f"Import {cls.__module__} as milp_trees.{cls.__module__}: by its folder's name every class would exist twice."
            )
        if folder != "milp_trees":  # a third party that is imported first takes no name of ours
            self._import(group, self._folder(group).modules_of(name))
        known = self._classes[group].get(name)
        if known is not None and (known.__module__, known.__qualname__) != (
            cls.__module__,
            cls.__qualname__,
        ):
            raise ValueError(
                f"Two plug-ins are called {name!r}: {known.__module__} and {cls.__module__}."
            )
        self._classes[group][name] = cls

    def classes(self, group: str) -> dict[str, type]:
        """All classes of a group by name, in alphabetical order."""
        self._load_own(group)
        self._once(group, group, self._load_others)
        return dict(sorted(self._classes[group].items()))

    def knows(self, group: str, name: str) -> bool:
        """Whether a plug-in has that name; none of the package is imported for it."""
        self._load_part(group)
        return name in self._classes[group] or name in self._folder(group).names

    def find(self, group: str, name: str) -> type | None:
        """The class of that name, or None.

        Of the package's own modules only the one with the class is imported.
        """
        self._load_part(group)
        if name not in self._classes[group]:
            self._import(group, self._folder(group).modules_of(name))
        return self._classes[group].get(name)

    def values(self, group: str, attribute: str) -> dict[str, Any]:
        """What the classes of a group declare in one attribute, by name in alphabetical order.

        Classes of the package are not imported for it where their text states the value.
        """
        self._load_part(group)
        stated = self._folder(group).values(attribute)
        for name, value in stated.items():
            if value is declared.UNKNOWN:
                self.find(group, name)
        made = {name: getattr(cls, attribute) for name, cls in self._classes[group].items()}
        found = {**stated, **made}.items()
        return {
            name: value
            for name, value in sorted(found, key=lambda entry: entry[0])
            if value is not declared.UNKNOWN
        }

    def lacks(self, group: str, name: str, attribute: str, item: str) -> bool:
        """Whether a plug-in is known to hold a set without this item; no if it is imported."""
        if name in self._classes[group]:
            return False
        held = self._folder(group).values(attribute).get(name, declared.UNKNOWN)
        return isinstance(held, frozenset) and item not in held

    def excludes(self, group: str, name: str, attribute: str, classes: Iterable[type]) -> bool:
        """Whether a plug-in is known to hold none of these classes in an attribute.

        The answer is no if the plug-in is already imported, because the class itself can be asked.
        """
        if name in self._classes[group]:
            return False
        held = self._folder(group).classes(attribute).get(name, declared.UNKNOWN)
        if held is declared.UNKNOWN:
            return False
        return held.isdisjoint((kind.__module__, kind.__qualname__) for kind in classes)

    def origin(self, cls: type) -> dict[str, str]:
        """Name and version of the distribution that a third party's plug-in came with.

        Of a plug-in in a single file (`milp_trees.common.registering.from_files`) it is the name of the
        file with the fingerprint of its text. Empty for the package's own plug-ins, and for classes
        of a script.
        """
        return self._origins.get(cls) or families.origin(cls.__module__)

    def came_with(self, module: str, origin: dict[str, str]) -> bool:
        """State the origin of all plug-ins that a module registered; False if there are none."""
        own = self._of_package(_root(module))
        self._origins |= dict.fromkeys(own, origin)
        return bool(own)

    def forget_module(self, module: str) -> None:
        """Leave out everything that a module registered, because it could not be imported."""
        self._forget(lambda cls: cls.__module__ == module)

    @functools.cached_property
    def _entries(self) -> list[importlib.metadata.EntryPoint]:
        return families.scanned()

    # -- loading -------------------------------------------------------------------------------------------------

    def _load_own(self, group: str) -> None:
        """Import all of the package's own plug-ins of a group."""
        self._once(group, f"own {group}", self._import_own)

    def _load_part(self, group: str) -> None:
        """Import what third parties added to a group, and own modules that cannot be read."""
        self._once(group, f"unread {group}", self._import_unread)
        self._once(group, group, self._load_others)

    def _folder(self, group: str) -> declared.Folder:
        """What the package's own modules of a group declare."""
        if group not in self._folders:
            self._folders[group] = declared.read_folder(homes(group))
        return self._folders[group]

    def _once(self, group: str, what: str, load: Callable[[str], None]) -> None:
        """Load plug-ins of a group, unless they are there or this thread is just loading them."""
        if what in self._whole:
            return
        with self._loading[group]:
            if what in self._loaded:
                return
            self._loaded.add(what)
            try:
                load(group)
            finally:
                self._whole.add(what)

    def _import_own(self, group: str) -> None:
        self._import(group, declared.modules(homes(group)))

    def _import_unread(self, group: str) -> None:
        self._import(group, self._folder(group).unread)

    def _import(self, group: str, modules: Iterable[str]) -> None:
        """Import own modules of a group."""
        with self._loading[group]:
            for module in modules:
                if module in self.broken:
                    continue
                load = functools.partial(importlib.import_module, module)
                self._guarded(module, f"The module {module}", load)

    def _load_others(self, group: str) -> None:
        """Import what third parties name in entry points."""
        for entry in self._entries:
            if entry.group != f"milp_trees.{group}":
                continue
            package = f" {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
            self._guarded(
                entry.value,
                f"The plug-in package{package} ({entry.name} = {entry.value})",
                functools.partial(self._load_entry, entry),
            )

    def _load_entry(self, entry: importlib.metadata.EntryPoint) -> None:
        """Import a plug-in.

        If its methods or solvers cannot be made, or do not keep their options, it is treated like a
        plug-in that cannot be imported.
        """
        try:
            entry.load()
            for cls in (own := self._of_package(_root(entry.module))):
                group = getattr(cls, "registry_group", "")
                if group in ("methods", "formulations"):
                    labels.checked(cls())
                elif group == "solvers":
                    cls()
        except BaseException:
            self._forget(lambda cls: _root(cls.__module__) == _root(entry.module) != "milp_trees")
            raise
        if entry.dist is not None:
            self._origins |= {cls: {entry.dist.name: entry.dist.version} for cls in own}

    def _guarded(self, key: str, who: str, load: Callable[[], Any]) -> None:
        """Do an import; if it fails, leave the plug-in out with a warning.

        All classes that it had registered are left out too; other plug-ins are not affected.
        """
        before = {cls for known in self._classes.values() for cls in known.values()}
        try:
            load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, and what compiled modules raise when they give up, are no Exception
            # New classes of a module that broke; modules that it imported before did not break.
            self._forget(lambda cls: cls not in before and cls.__module__ not in sys.modules)
            message = " ".join(str(error).split())
            why = f"{who} cannot be imported and is left out: {type(error).__name__}{': ' * bool(message)}{message[:300].rstrip('.')}. Mend or remove it."
            if key not in self.broken:
                self.broken[key] = why
                warnings.warn(why, PluginWarning, stacklevel=2)

    def _of_package(self, root: str) -> list[Any]:
        """Classes that a third party's package registered."""
        return [
            cls
            for known in self._classes.values()
            for cls in known.values()
            if _root(cls.__module__) == root
        ]

    def _forget(self, broken: Callable[[type], bool]) -> None:
        for known in self._classes.values():
            for name in [name for name, cls in known.items() if broken(cls)]:
                del known[name]

    def get(self, group: str, name: str) -> type:
        found = self.find(group, name)
        if found is None:
            classes = self.classes(group)
            if (same := same_name(name, classes)) is not None:
                return classes[same]
            broken = "".join(f" {why}" for why in self.broken.values())
            raise UnknownName(
                f"There is no {group[:-1]} called {name!r}.{hint(name, classes)} Known: {', '.join(classes)}.{broken}"
            )
        return found


def _root(module: str) -> str:
    return module.partition(".")[0]


def homes(group: str) -> list[str]:
    """Packages that hold plug-ins of a kind: the core's, and those of the families."""
    return [HOMES[group], *(families.homes(group) if group in families.FOLDERS else ())]


plugins = Plugins()


def register(cls: C) -> C:
    """Class decorator: add a Formulation, Solver, Method, Task or Export by its `name`."""
    group = getattr(cls, "registry_group", None)
    if group not in HOMES:
        raise TypeError(
            f"{cls.__name__} is neither a Formulation nor a Solver nor a Method nor a Task nor an Export."
        )
    plugins.add(group, cls)
    return cls
