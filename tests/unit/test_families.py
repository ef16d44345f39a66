"""A family imports the core, never another family; and the core names no family."""

import json
import os
import subprocess
import sys

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


THEIRS = {
    "theirs/__init__.py": "",
    "theirs/family.py": "from milp_trees.common.registering.families import Family\n"
    "FAMILY = Family('theirs', ('methods',), {'spaces': ('gone:Space',)})\n"
    "NONE = 1\n",
    "theirs/engines/__init__.py": "",
    "theirs/engines/one.py": "from milp_trees.plugins import Method, register\n\n\n@register\n"
    "class One(Method):\n    name = 'one-of-theirs'\n\n    def search(self, *given): ...\n",
    "theirs-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: theirs\nVersion: 1.5\n",
    "theirs-1.5.dist-info/entry_points.txt": "[milp_trees.families]\n"
    "theirs = theirs.family:FAMILY\nlists = theirs.family:FAMILY\nnone = theirs.family:NONE\n",
}
CODE = """
import json, warnings
import milp_trees as mt
from milp_trees.common.registering import families
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    known = {name: family.package for name, family in families.families().items()}
    spaces = [space.__name__ for space in families.parts("spaces")]
    cls = mt.registry.find("methods", "one-of-theirs")
print(json.dumps([known, spaces, cls.__name__, mt.registry.origin(cls), [str(w.message) for w in caught]]))
"""


def test_a_family_of_another_package_is_found_and_takes_nothing_from_ours(tmp_path):
    """Its method is known with the version of its package; what is broken is left out and named."""
    for name, text in THEIRS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    known, spaces, cls, origin, warned = json.loads(done.stdout)
    assert known["theirs"] == "theirs"
    assert known["lists"] == "milp_trees.lists"
    assert "none" not in known
    assert {"RuleLists", "PrunedEnsembles"} <= set(spaces)
    assert (cls, origin) == ("One", {"theirs": "1.5"})
    assert len(warned) == 3
    for word in ("lists = theirs", "none = theirs", "part spaces of the family theirs"):
        assert any(word in message for message in warned), (word, warned)
