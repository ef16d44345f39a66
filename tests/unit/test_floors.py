"""Every import goes down: the floor plan is the picture in docs/project/nouns.md, from the top floor to the
ground; that of every family is the picture in docs/project/families.md.
"""

import ast
import re
from functools import cache
from pathlib import Path

import networkx as nx

from milp_trees.common.registering.families import families

ROOT = Path(__file__).parents[2]


def floors(page):
    """The floor of every room in the picture of a page."""
    picture = re.search(r"```text\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)[1]
    rows = enumerate(picture.splitlines())
    return {room: -i for i, line in rows for room in line.partition("|")[0].split()}


FLOOR = floors("docs/project/nouns.md")
FLOOR_IN_FAMILY = floors("docs/project/families.md")
#: The rooms of families, which are not in the picture by name.
OTHERS = "*"


def room_of(module):
    """The room of a module: the longest name of the picture that it begins with."""
    parts = module.split(".")
    names = (".".join(parts[:i]) for i in range(len(parts), 0, -1))
    return next((name for name in names if name in FLOOR), parts[0])


@cache
def parsed(path):
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))]


def modules(root=ROOT):
    """Every module of the package by its name without `milp_trees.`, with its file."""
    for folder, above in (
        (root / "milp_trees", ()),
        (root / "formulations", ("formulations",)),
        (root / "solvers", ("solvers",)),
    ):
        for path in folder.rglob("*.py"):
            parts = (*above, *path.relative_to(folder).with_suffix("").parts)
            yield (
                ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts),
                path,
            )


def imports(name, path, known):
    """Modules that a file imports anywhere, with the line: also in functions and for type checkers."""
    package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in parsed(path):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        else:
            above = ["milp_trees", *package[: len(package) - node.level + 1]] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            wanted = [f"{base}.{alias.name}" for alias in node.names]
        for full in wanted:
            parts = full.split(".")
            if parts[0] == "milp_trees":
                found = (".".join(parts[1:i]) for i in range(len(parts), 1, -1))
                yield next((m for m in found if m in known), "__init__"), node.lineno


def public(a, b):
    """Whether a plug-in's file imports the public names, as a third party's does."""
    return room_of(a) in ("formulations", "solvers") and b in ("__init__", "plugins")


def broken(files):
    """A sentence per import that does not go down, and per circle of files or of folders."""
    edges = [
        (a, b, f"{path}:{line} imports {b}")
        for a, path in files.items()
        for b, line in imports(a, path, files)
        if a != b
    ]
    out = [
        message
        for a, b, message in edges
        if room_of(a) != room_of(b) and FLOOR[room_of(b)] >= FLOOR[room_of(a)] and not public(a, b)
    ]
    for depth in range(1, 5):
        graph = nx.DiGraph(
            tuple(".".join(m.split(".")[:depth]) for m in edge[:2]) for edge in edges
        )
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        out += [
            f"in a circle: {sorted(c)}"
            for c in nx.strongly_connected_components(graph)
            if len(c) > 1
        ]
    return out


def broken_in_family(family, files):
    """A sentence per import within a family that does not go down; `broken` finds the circles."""

    def room(module):
        return module.split(".")[1] if module.count(".") else OTHERS

    def floor(room):
        return FLOOR_IN_FAMILY.get(room, FLOOR_IN_FAMILY[OTHERS])

    return [
        f"{path}:{line} imports {b}"
        for a, path in files.items()
        if a.startswith(f"{family}.")
        for b, line in imports(a, path, files)
        if b.startswith(f"{family}.")
        and room(a) != room(b)
        and floor(room(a)) <= floor(room(b))
        and not floor(room(a)) == floor(room(b)) == FLOOR_IN_FAMILY[OTHERS]
    ]


def test_every_import_within_a_family_goes_down():
    files = dict(modules())
    for family in families().values():
        assert broken_in_family(family.package.removeprefix("milp_trees."), files) == []


def test_an_import_upwards_within_a_family_is_found(tmp_path):
    (tmp_path / "view.py").write_text("from milp_trees.pruning.tasks import pruned_error\n")
    files = {**dict(modules()), "pruning.view": tmp_path / "view.py"}
    (sentence,) = broken_in_family("pruning", files)
    assert sentence.endswith("view.py:1 imports pruning.tasks.pruned_error")


def test_every_import_goes_down_and_none_in_a_circle():
    files = dict(modules())
    assert {room_of(name) for name in files} == set(FLOOR)
    assert broken(files) == []


def test_an_upward_import_is_found(tmp_path):
    files = dict(modules())
    for line, message in (
        ("def f():\n    from milp_trees.api import solve\n", "planted.py:2 imports api"),
        ("from milp_trees import solve\n", "planted.py:1 imports __init__"),
        ("from ..studies import rows\n", "planted.py:1 imports studies.rows"),
    ):
        planted = tmp_path / str(len(line)) / "planted.py"
        planted.parent.mkdir()
        planted.write_text(line)
        found = broken({**files, "tasks.planted": planted})
        assert any(message in sentence for sentence in found), found
    (tmp_path / "space.py").write_text("from milp_trees.pruning.space import PrunedEnsembles\n")
    assert any("circle" in s for s in broken({**files, "models.space": tmp_path / "space.py"}))


def test_every_kind_of_part_is_described():
    page = (ROOT / "docs/project/families.md").read_text("utf-8")
    described = set(re.findall(r"^\| `([a-z ]+)` \|", page, re.M))
    assert described == {kind for family in families().values() for kind in family.parts}
