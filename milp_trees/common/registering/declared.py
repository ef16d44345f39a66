"""What the package's own plug-ins declare, read from the text of their files.

A run needs one engine and one task of some fifty files. Names and ranks are read from the texts, in
milliseconds, and only what is run is imported. Nothing is guessed: whatever is not plainly written
there is unknown, and the module is imported instead.
"""

from __future__ import annotations

import ast
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

#: Stands for a value that only an import can tell, and for one that a class leaves to its bases.
UNKNOWN, ABSENT = object(), object()

_TEXTS = re.compile(r'"""[\s\S]*?"""')
_WORDS = re.compile(r""""[^"]*"|'[^']*'|#.*""")
_IMPORTS = re.compile(r"^from ([\w.]+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)
_FROZEN = re.compile(r"frozenset\(({.+})\)")
_REGISTERED = re.compile(r"^@register$", re.MULTILINE)
#: `register` that is neither imported by its name nor a plain decorator.
_OTHERWISE = re.compile(r"register\b *(?:\(|=|as\b)"), re.compile(r"\.register\b")
_CLASS = re.compile(
    r"^(?P<decorators>(?:@.*\n)*)class (?P<name>\w+)(?:\((?P<bases>[^()]*)\))?:.*\n"
    r"(?P<body>(?:(?:[ \t].*)?\n)*)",
    re.MULTILINE,
)
#: A statement of the class itself; what is in functions is indented further.
_STATEMENT = re.compile(r"^ {4}[^\s#].*$", re.MULTILINE)
_COMPOUND = re.compile(r" {4}(?:if|for|while|with|try|match)\b")


@dataclass(frozen=True)
class _Class:
    """A class as its file states it; docstrings are left out of its text."""

    module: str
    bases: tuple[str, ...]
    body: str
    registered: bool

    @cached_property
    def statements(self) -> list[str]:
        """Its own statements by their first lines."""
        return _STATEMENT.findall(self.body)

    @cached_property
    def simple(self) -> bool:
        """Whether its statements are all there: none depends on a condition."""
        return not any(map(_COMPOUND.match, self.statements))

    def own(self, attribute: str) -> Any:
        """The literal that the class itself gives to an attribute, `ABSENT` or `UNKNOWN`."""
        text = self.text(attribute)
        if not isinstance(text, str):
            return text
        items = _FROZEN.fullmatch(text)
        try:
            return frozenset(ast.literal_eval(items[1])) if items else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return UNKNOWN

    def text(self, attribute: str) -> Any:
        """The text of what the class itself gives to an attribute, `ABSENT` or `UNKNOWN`."""
        lines = [line for line in self.statements if attribute in line]
        if lines:
            word = re.compile(rf"\b{attribute}\b")
            lines = [line for line in lines if re.search(word, _WORDS.sub("", _head(line)))]
        if not lines:
            return ABSENT if self.simple else UNKNOWN
        stated = re.fullmatch(rf" {{4}}{attribute}(?: *:[^=]+)? = (.+)", lines[0])
        return UNKNOWN if len(lines) > 1 or stated is None else stated[1]


def _head(line: str) -> str:
    """A statement without the parameters of a function, which are no attributes."""
    return line.partition("(")[0] if re.match(r" +(?:async )?def ", line) else line


@dataclass(frozen=True)
class _File:
    """Classes of a module by name; docstrings are left out of its text."""

    module: str
    text: str = ""
    classes: dict[str, _Class] = field(default_factory=dict)
    #: Whether all that the module registers are classes below a plain `@register`.
    plain: bool = False

    @cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """Names that the module imports: the module, and the name that it has there."""
        found, package = {}, self.module.rpartition(".")[0]
        for match in _IMPORTS.finditer(self.text):
            where = importlib.util.resolve_name(match[1], package)
            for entry in (match[2] or match[3]).split(","):
                name, _, here = entry.partition("#")[0].strip().partition(" as ")
                found[here or name] = where, name
        return found


@dataclass(frozen=True)
class Declared:
    """A plug-in: its name, the module that registers it, and the text of its class."""

    name: str
    module: str
    stated: _Class

    def value(self, attribute: str) -> Any:
        """The literal value of an attribute of the class, or `UNKNOWN`."""
        one = self._stating(attribute)
        return UNKNOWN if one is None else one.own(attribute)

    def classes(self, attribute: str) -> Any:
        """The classes that an attribute holds, as pairs of module and name, or `UNKNOWN`."""
        one = self._stating(attribute)
        text = UNKNOWN if one is None else one.text(attribute)
        listed = isinstance(text, str) and re.fullmatch(r"\(?((?:\w+,? ?)+)\)?(?: *#.*)?", text)
        if one is None or not listed:
            return UNKNOWN
        names = filter(None, (name.strip() for name in listed[1].split(",")))
        found = {_defined(one.module, name) for name in names}
        return UNKNOWN if None in found else found

    def _stating(self, attribute: str) -> _Class | None:
        """The class of the ancestry that states an attribute; None if it cannot be told."""
        for one in _ancestry(self.stated):
            if one is None or one.text(attribute) is not ABSENT:
                return one
        return None


@dataclass(frozen=True)
class Folder:
    """The plug-ins of a folder, and its modules that only an import can tell about."""

    plugins: tuple[Declared, ...]
    unread: tuple[str, ...]
    _values: dict[str, dict[str, Any]] = field(default_factory=dict)
    _classes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """The modules that register a name; more than one if two files claim it."""
        found: dict[str, list[str]] = {}
        for one in self.plugins:
            found.setdefault(one.name, []).append(one.module)
        return found

    def modules_of(self, name: str) -> list[str]:
        """The modules that register this name."""
        return self.names.get(name, [])

    def values(self, attribute: str) -> dict[str, Any]:
        """What every plug-in declares in an attribute, or `UNKNOWN`, by its name."""
        if attribute not in self._values:
            self._values[attribute] = {one.name: one.value(attribute) for one in self.plugins}
        return self._values[attribute]

    def classes(self, attribute: str) -> dict[str, Any]:
        """The classes in an attribute of every plug-in, or `UNKNOWN`, by its name."""
        if attribute not in self._classes:
            self._classes[attribute] = {one.name: one.classes(attribute) for one in self.plugins}
        return self._classes[attribute]


#: Files of plug-ins that were listed, by the names of their modules.
_FILES: dict[str, Path] = {}


def modules(packages: Iterable[str]) -> list[str]:
    """Names of the modules that hold plug-ins.

    They are all modules of a package but those with an underscore; of a room, which is a package
    itself, it is the module `method`.
    """
    names = []
    for package in packages:
        spec = importlib.util.find_spec(package)
        places = None if spec is None else spec.submodule_search_locations
        for info in pkgutil.iter_modules(places or ()):
            inside = f"{info.name}/method" if info.ispkg else info.name
            file = Path(getattr(info.module_finder, "path", "")) / f"{inside}.py"
            if info.name.startswith("_") or (info.ispkg and not file.exists()):
                continue
            names.append(f"{package}.{inside.replace('/', '.')}")
            if file.exists():
                _FILES[names[-1]] = file
    return names


def read_folder(packages: Iterable[str]) -> Folder:
    """The plug-ins of packages, from the texts of their modules."""
    found: list[Declared] = []
    unread = []
    for module in modules(packages):
        text = _source(module)
        if text is not None and "register" not in text:
            continue
        file = _file(module)
        registered = [one for one in file.classes.values() if one.registered]
        names = [one.own("name") for one in registered]
        if file.plain and all(isinstance(name, str) for name in names):
            pairs = zip(names, registered, strict=True)
            found += [Declared(name, module, one) for name, one in pairs]
        else:
            unread.append(module)
    return Folder(tuple(found), tuple(unread))


@cache
def _file(module: str) -> _File:
    """What the text of a module states; nothing if it cannot be had."""
    text = _source(module)
    if text is None:
        return _File(module)
    text = _TEXTS.sub("", text) + "\n"
    classes = {}
    for match in _CLASS.finditer(text):
        bases = tuple(filter(None, (base.strip() for base in (match["bases"] or "").split(","))))
        registered = "@register\n" in match["decorators"]
        classes[match["name"]] = _Class(module, bases, match["body"], registered)
    plain = (
        not any(re.search(way, text) for way in _OTHERWISE)
        and "'''" not in text
        and len(_REGISTERED.findall(text)) == sum(one.registered for one in classes.values())
    )
    return _File(module, text, classes, plain)


@cache
def _source(module: str) -> str | None:
    """The text of a module that is not imported for it; None if there is none."""
    try:
        if module in _FILES:
            return _FILES[module].read_text("utf-8")
        spec: ModuleSpec | None = importlib.util.find_spec(module)
        loader: Any = None if spec is None else spec.loader
        text: str | None = loader.get_source(module)
    except (AttributeError, ImportError, OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return None
    return text


def _ancestry(one: _Class) -> list[_Class | None]:
    """A class and its bases in the order in which attributes are looked up.

    None stands for a base whose text is not found.
    """
    found: list[_Class | None] = [one]
    for base in one.bases:
        found += _ancestors_named(one.module, base)
    # Of what is reached twice the last place counts: a common base comes after all of its heirs.
    return list(reversed(dict.fromkeys(reversed(found))))


def _ancestors_named(module: str, name: str) -> list[_Class | None]:
    """The ancestry of the class that a name means in a module."""
    found = _defined(module, name)
    if found is None:
        return [None]
    where, there = found
    # No class of Python's own declares anything about plug-ins.
    return [] if _pythons(where) else _ancestry(_file(where).classes[there])


def _defined(module: str, name: str) -> tuple[str, str] | None:
    """The module that defines the class of that name, and its name there; None if it is unknown."""
    file = _file(module)
    if name in file.classes:
        return module, name
    module_name, dot, inside = name.rpartition(".")
    where, there = file.imports.get(module_name if dot else name, ("", ""))
    if where.partition(".")[0] == "milp_trees":
        return _defined(f"{where}.{there}", inside) if dot else _defined(where, there)
    return (where, there) if _pythons(where) else None


def _pythons(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names
