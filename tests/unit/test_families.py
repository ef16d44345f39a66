"""A family imports the core, never another family; and the core names no family."""

import test_floors as floors

from milp_trees.common.registering import families

#: Families by the names of their folders.
FAMILIES = {family.package.removeprefix("milp_trees.") for family in families.families().values()}
#: Plug-ins may be about models of a family; the core imports none of them.
PLUGINS = {"formulations", "solvers"}


def family_of(module):
    """The family that a module belongs to; None for the core and its plug-ins."""
    return next((f for f in FAMILIES if module == f or module.startswith(f"{f}.")), None)


def wrong(files):
    """A sentence per import of a family by the core or by another family."""
    return [
        f"{path}:{line} imports {imported}"
        for name, path in files.items()
        if name.split(".")[0] not in PLUGINS
        for imported, line in floors.imports(name, path, files)
        if family_of(imported) not in (None, family_of(name))
    ]


def test_the_core_names_no_family_and_no_family_another_one():
    assert {"lists", "pruning", "decisions", "unimodular"} <= FAMILIES
    assert wrong(dict(floors.modules())) == []


def test_an_import_of_a_family_is_found(tmp_path):
    """By the core, by another family, in a function, and relative to a folder; not by itself."""
    files = dict(floors.modules())
    for name, line, found in (
        ("tasks.planted", "from milp_trees.lists.space import RuleLists\n", True),
        ("tasks.planted", "def f():\n    from milp_trees import pruning\n", True),
        ("pruning.planted", "from ..lists.space import RuleLists\n", True),
        ("lists.planted", "from milp_trees.lists.space import RuleLists\n", False),
        ("formulations.planted", "from milp_trees.lists.space import RuleLists\n", False),
    ):
        planted = tmp_path / "planted.py"
        planted.write_text(line)
        floors.parsed.cache_clear()
        assert (
            bool(wrong({name: planted, **{f: files[f] for f in ("lists.space", "pruning")}}))
            == found
        )
