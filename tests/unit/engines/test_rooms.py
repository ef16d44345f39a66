"""Rooms of engines: a method's folder has its name, class names are unique, and rooms share no
private names.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from milp_trees.mip.registry import registry

PACKAGE = Path(__file__).parents[3] / "milp_trees"
#: Most positional arguments of a call; a call with more passes a record.
MOST_POSITIONAL = 9
#: Fewest rooms that use a module of the kit.
FEWEST_USERS = 3


def folders():
    """The folders of engines: that of the core, and one in every family that has engines."""
    return sorted(path for path in PACKAGE.rglob("engines") if path.is_dir())


def room_of(path):
    """The room of a file of an engine: a folder or a single file below a folder of engines."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    at = parts.index("engines")
    return ".".join(parts[: at + 2])


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def files():
    """All files of engines, with their rooms; `__init__` of a folder of engines is no room."""
    for folder in folders():
        for path in sorted(folder.rglob("*.py")):
            if path.parent != folder or path.stem != "__init__":
                yield room_of(path), path


def imports(path):
    """Every `from milp_trees.… import …` of a file: module, name, line."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("milp_trees."):
            for alias in node.names:
                yield node.module.removeprefix("milp_trees."), alias.name, node.lineno


def homes():
    """The modules of engines in which methods are registered, with the methods' names."""
    found = defaultdict(list)
    for name, cls in registry.classes("methods").items():
        parts = tuple(cls.__module__.split("."))
        if parts[0] == "milp_trees" and "engines" in parts:
            found[parts].append(name)
    return found


def misnamed(found):
    """Modules that are neither the file nor the folder of one of their methods' names."""
    return [
        f"{'.'.join(parts)} has {', '.join(names)}"
        for parts, names in found.items()
        if parts[parts.index("engines") + 1 :]
        not in [
            (*word, *end)
            for word in ((name.replace("-", "_"),) for name in names)
            for end in ((), ("method",))
        ]
    ]


def twice(found):
    """Names of classes that occur in two files."""
    places = defaultdict(list)
    for room, path in found:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{room}.{path.stem}")
    return {name: where for name, where in places.items() if len(where) > 1}


def private(found):
    """Imports of private names from another room."""
    rooms = {room for room, _ in found}
    out = []
    for room, path in found:
        for module, name, line in imports(path):
            other = next((r for r in rooms if f"{module}.".startswith(f"{r}.")), room)
            last = module.rsplit(".", 1)[-1]
            if other != room and (name.startswith("_") or last.startswith("_")):
                out.append(f"{path.relative_to(PACKAGE)}:{line} imports {name} from {module}")
    return out


def long_calls(found):
    """Calls with too many positional arguments."""
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno} passes {len(node.args)}"
        for _, path in found
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL
    ]


def users(module):
    """The rooms, and the files outside of rooms, that import from a module of the package."""
    known = {path: room for room, path in files()}
    return {
        known.get(path, str(path.relative_to(PACKAGE)))
        for path in PACKAGE.rglob("*.py")
        if module.rpartition(".")[0] in path.read_text("utf-8")  # most need not be parsed
        for source, name, _ in imports(path)
        if f"{source}.{name}.".startswith(f"{module}.")
    }


def test_methods_are_in_files_or_folders_of_their_names():
    assert misnamed(homes()) == []


def test_a_room_without_a_method_is_used_by_others():
    methods = {".".join(parts[1 : parts.index("engines") + 2]) for parts in homes()}
    others = {room for room, _ in files()} - methods
    assert [room for room in others if not users(room) - {room}] == []


def test_names_of_classes_are_unique():
    assert twice(files()) == {}


def test_rooms_import_public_names_of_each_other():
    assert private(list(files())) == []


def test_no_call_has_more_than_nine_positional_arguments():
    assert long_calls(files()) == []


@pytest.mark.parametrize(
    "module", sorted(p.stem for p in (PACKAGE / "engines/kit").glob("*.py") if p.stem != "__init__")
)
def test_a_module_of_the_kit_has_three_users(module):
    found = users(f"engines.kit.{module}") - {"engines.kit"}
    assert len(found) >= FEWEST_USERS, found
