"""Plug-ins of third parties: a broken one is left out with a line that names its package, and
everything else works.
"""

import importlib.metadata as metadata
import json
import os
import subprocess
import sys

import pytest

import milp_trees as mt
from milp_trees.common.errors import PluginWarning
from milp_trees.common.registering import register
from milp_trees.common.registering.families import entry_points

GOOD = """
from milp_trees.methods.method import Method
from milp_trees.common.registering import register
from milp_trees.mip.registry import registry

@register
class Good(Method):
    name = "good"

    def __init__(self, tries: int = 3):
        self.tries = tries

    def search(self, problem, limits, start, progress):
        return registry.method("cart").search(problem, limits, start, progress)
"""

BODY = "from milp_trees.plugins import Method, register\n\n@register\nclass Early(Method):\n    name = 'early-{0}'\n    def search(self, *given): ...\n\n"

#: Module of a broken plug-in → (what it holds, what the line says).
BROKEN = {
    "needs_absent": (
        "import no_such_module_anywhere\n",
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'",
    ),
    "raises_late": (
        BODY.format("late") + "raise RuntimeError('two\\nlines')\n",
        "RuntimeError: two lines",
    ),
    "leaves": ("raise SystemExit('no licence')\n", "SystemExit: no licence"),
    "misspelled": ("def broken(:\n", "SyntaxError: "),
    "takes_our_name": (
        BODY.format("x").replace("early-x", "dp"),
        "ValueError: Two plug-ins are called 'dp': milp_trees.engines.dp.method and takes_our_name",
    ),
    "nameless": (
        BODY.format("x").replace("name = 'early-x'", "pass"),
        "must have a class attribute `name`",
    ),
    "odd_name": (
        BODY.format("x").replace("early-x", "a@b"),
        "a word without spaces, colons, commas, = and @",
    ),
    "no_default": (
        BODY.format("nd") + "    def __init__(self, tries): self.tries = tries\n",
        "The option 'tries' of Early needs a default value",
    ),
    "hides": (
        BODY.format("h") + "    def __init__(self, tries=1): self.t = tries\n",
        "must keep the option 'tries' as an attribute of that name",
    ),
    "drags_along": (
        "import good_plug\nfrom milp_trees.plugins import TreeFormulation, register\n@register\nclass F(TreeFormulation):\n    name = 'early-f'\nraise KeyError('x')\n",
        "KeyError: 'x'",
    ),
    "has_no_attribute": (BODY.format("attribute"), "has no attribute 'Absent'"),
    "gives_up": (
        BODY.format("panic") + "class Panic(BaseException): ...\nraise Panic('out of luck')\n",
        "Panic: out of luck",
    ),
    "no_plug_in": (
        "from milp_trees.plugins import register\n@register\nclass A:\n    name = 'a'\n",
        "is neither a Formulation nor a Solver nor a Method",
    ),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of installed packages: one good plug-in, and the broken ones, each in a package of
    its own.
    """
    folder = tmp_path_factory.mktemp("site")
    for module, source in {
        "good_plug": GOOD,
        **{name: source for name, (source, _) in BROKEN.items()},
    }.items():
        (folder / f"{module}.py").write_text(source)
        groups = ["methods", "tasks"] if module == "needs_absent" else ["methods"]
        value = f"{module}:Absent" if module == "has_no_attribute" else module
        install(
            folder,
            f"plug-{module.replace('_', '-')}",
            "".join(f"[milp_trees.{g}]\n{module} = {value}\n" for g in groups),
        )
    install(folder, "plug-gone", "[milp_trees.formulations]\ngone = not_there:Attribute\n")
    return folder


def install(folder, name, entry_points):
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(entry_points)


def run(folder, *command):
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_broken_plug_ins_cost_a_line_each_and_nothing_else(site):
    """One line on standard error that names the package and says why; the good plug-in and the
    package's own are there.
    """
    done = run(site, "-m", "milp_trees", "methods", "--json")
    assert done.returncode == 0, done.stderr
    names = {row["name"] for row in json.loads(done.stdout)}
    assert {"good", "dp", "cart"} <= names
    assert not any(name.startswith("early") for name in names), (
        "what a broken module registered before it broke is not half there"
    )
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == len(BROKEN)
    for module, (_, why) in BROKEN.items():
        (line,) = [line for line in lines if f"plug-{module.replace('_', '-')} 1.2 " in line]
        assert line.startswith("Warning: The plug-in package ")
        assert "cannot be imported and is left out" in line
        assert why in line


LIBRARY = """
import warnings
warnings.simplefilter("always")
with warnings.catch_warnings(record=True) as said:
    import milp_trees as mt
    assert not said, "importing the package imports no plug-in"
    problem = mt.Problem(mt.load("planted:rows=30,tests=3,depth=1"), mt.Accuracy(), mt.Trees(1))
    study = mt.compare(problem, ["good", "good:tries=9", "cart"], reference=None, start=None)
    mt.registry.classes("formulations"), mt.registry.classes("methods"), mt.registry.classes("tasks"), mt.registry.classes("solvers")
print([row["method"] for row in study.rows])
print(mt.registry.method("good").software()["plug-good-plug"], mt.registry.origin(type(mt.registry.method("cart"))))
print(mt.registry.method("dp").__class__.__module__, "flow-oct" in mt.registry.classes("formulations"), "early-f" in mt.registry.classes("formulations"))
print(sorted(str(w.message).split()[3] for w in said if issubclass(w.category, UserWarning)))
try:
    mt.registry.method("early-late")
except mt.errors.UnknownName as error:
    print("plug-raises-late" in str(error))
"""


def test_the_library_warns_once_of_each_and_knows_who_made_a_plug_in(site):
    """A package with several entry points is named once; its version is part of its methods'
    identity.
    """
    done = run(site, "-c", LIBRARY)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "['good', 'good:tries=9', 'cart']"
    assert lines[1] == "1.2 {}"
    assert lines[2] == "milp_trees.engines.dp.method True False", (
        "a broken plug-in takes nothing with it that it imported"
    )
    assert lines[3] == str(sorted([*(f"plug-{m.replace('_', '-')}" for m in BROKEN), "plug-gone"]))
    assert lines[4] == "True", "an unknown name says which plug-ins are missing"


def test_a_third_party_imported_first_takes_no_name_of_ours(site):
    """Its `dp` would have come before the package's own."""
    code = "import milp_trees as mt\ntry:\n    import takes_our_name\nexcept ValueError as e:\n    print(e)\nprint(type(mt.registry.method('dp')).__module__)"
    done = run(site, "-W", "ignore", "-c", code)
    assert done.stdout.splitlines() == [
        "Two plug-ins are called 'dp': milp_trees.engines.dp.method and takes_our_name.",
        "milp_trees.engines.dp.method",
    ]


SOLVER = """
from milp_trees.mip.solver import Availability, Solver
from milp_trees.common.registering import register

@register
class {0}(Solver):
    name = "{0}"
    {1}
    def solve(self, job, emit, stop): ...
    def availability(self): {2}
"""


@pytest.fixture(scope="module")
def odd_solvers(tmp_path_factory):
    """A solver whose search for itself fails, one that cannot be made without a key, and one that
    lacks its methods.
    """
    folder = tmp_path_factory.mktemp("solvers")
    (folder / "angry.py").write_text(
        SOLVER.format("angry", "", "raise OSError('no licence server')")
    )
    (folder / "needy.py").write_text(
        SOLVER.format("needy", "def __init__(self, key): ...", "return Availability(True, '1')")
    )
    (folder / "hollow.py").write_text(
        SOLVER.format("hollow", "def availability(self): ...", "...").replace(
            "def solve", "def other"
        )
    )
    for name in ("angry", "needy", "hollow"):
        install(folder, f"plug-{name}", f"[milp_trees.solvers]\n{name} = {name}\n")
    return folder


def test_solvers_that_cannot_be_made_or_found_cost_a_line_each(odd_solvers):
    """`solvers` ended with the error of one plug-in, and so did comparisons on all solvers, and
    `verify`.
    """
    done = run(odd_solvers, "-m", "milp_trees", "solvers", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["highs"]["found"]
    assert rows.keys().isdisjoint({"needy", "hollow"})
    assert not rows["angry"]["found"]
    assert rows["angry"]["title"] == ""
    assert (
        rows["angry"]["reason"]
        == "Looking for angry failed (OSError: no licence server); mend or remove its plug-in."
    )
    assert {line.split()[4] for line in done.stderr.splitlines() if line} == {
        "plug-hollow",
        "plug-needy",
    }


ALL_SOLVERS = """
import milp_trees as mt
from milp_trees.studies.compare import method_names
from milp_trees.verification.derive import methods_for
problem = mt.Problem(mt.load("planted:rows=20,tests=3,depth=1"), mt.Accuracy(), mt.Trees(1))
print("flow-oct@highs" in method_names(None, "flow-oct", "all"), "angry" in str(method_names(None, "flow-oct", "all")))
print(bool(methods_for(problem, "oct@cbc")[0]))
print(mt.compare(problem, ["flow-oct@angry"], reference=None, start=None).rows[0]["message"])
"""


def test_a_solver_that_fails_to_look_for_itself_is_absent(odd_solvers):
    done = run(odd_solvers, "-W", "ignore", "-c", ALL_SOLVERS)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert (first, second) == ("True False", "True")
    assert "no licence server" in third


def test_metadata_that_cannot_be_read_costs_one_package(site, monkeypatch):
    """The other packages' entry points are found one by one."""

    class Unreadable:
        name = "plug-unreadable"

        @property
        def entry_points(self):
            raise ValueError("not enough values to unpack")

    def broken(**group):
        raise ValueError("not enough values to unpack")

    found = [Unreadable(), *metadata.distributions(path=[str(site)])]
    monkeypatch.setattr(metadata, "entry_points", broken)
    monkeypatch.setattr(metadata, "distributions", lambda: found)
    with pytest.warns(
        PluginWarning, match="entry points of the package plug-unreadable cannot be read"
    ):
        names = {e.name for e in entry_points() if e.group == "milp_trees.methods"}
    assert names == {"good_plug", *BROKEN}


def test_no_plug_in_of_the_package_is_broken():
    """A module of the package that cannot be imported would only be a warning."""
    for group in ("formulations", "solvers", "methods", "tasks"):
        mt.registry.classes(group)
    assert mt.registry.broken == {}


def test_a_method_whose_name_no_label_could_hold_is_refused():
    for name in ("a b", "a:b", "a,b", "a=b", "a@b", ""):
        with pytest.raises(TypeError, match="must have a class attribute `name`: a word without"):
            register(type("Odd", (mt.plugins.Method,), {"name": name, "search": None}))
