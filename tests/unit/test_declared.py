"""What files of plug-ins declare is read from their text, and agrees with their classes."""

import json
import subprocess
import sys

import pytest
from row_tests import each_row

from milp_trees.common import registering
from milp_trees.common.errors import PluginWarning, UnknownName
from milp_trees.common.registering import GROUPS, HOMES, Plugins, declared, homes, plugins

#: Attributes that are asked for without an import.
ATTRIBUTES = {
    "methods": (
        *(
            "default_rank",
            "reference_rank",
            "verification_rank",
            "is_fallback",
            "sorts_columns",
            "questions",
        ),
    ),
    "formulations": ("default_rank", "reference_rank", "questions"),
    "solvers": ("default_rank",),
    "tasks": (),
}


@each_row("group", GROUPS)
def test_the_text_of_every_own_file_says_what_its_classes_say(group):
    """No value is wrong; and names are known of all of them, or all would have to be imported."""
    folder, classes = declared.read_folder(homes(group)), plugins.classes(group)
    assert folder.unread == ()
    assert folder.names.keys() == {n for n, c in classes.items() if c.__module__ in own(group)}
    for attribute in ATTRIBUTES[group]:
        for name, value in folder.values(attribute).items():
            if group == "methods" or value is not declared.UNKNOWN:
                assert value == getattr(classes[name], attribute), (name, attribute)


@each_row("group", ["methods", "formulations"])
@each_row("attribute", ["needs", "space"])
def test_the_text_says_which_classes_a_class_holds(group, attribute):
    for name, held in declared.read_folder(homes(group)).classes(attribute).items():
        value = getattr(plugins.classes(group)[name], attribute)
        kinds = value if isinstance(value, tuple) else (value,)
        if group == "methods" or held is not declared.UNKNOWN:
            assert held == {(kind.__module__, kind.__qualname__) for kind in kinds}, name


def own(group):
    return set(declared.modules(homes(group)))


#: What a file holds → the name that is read in it (None: it has to be imported), and its rank.
PLANTED = {
    'class A(B):\n    name = "a"\n    rank = 3\n\n    def f(self, name: str, rank: int) -> None:\n        pass\n': (
        "a",
        3,
    ),
    'class A(B):\n    """Text.\n\n    name = "other"\n    """\n\n    name = "a"  # b\n    rank = 3\n': (
        "a",
        3,
    ),
    '@dataclass(frozen=True)\nclass A(B):\n    name: ClassVar[str] = "a"\n    rank: int = None\n': (
        "a",
        None,
    ),
    'class A(B):\n    name = "a"\n\n    def f(\n        self,\n    ) -> int:\n        rank = 3\n': (
        "a",
        declared.UNKNOWN,
    ),
    'class A(B):\n    name = "a"\n    title = "rank"\n    rank = 3\n': ("a", 3),
    'class A(B):\n    name = "a"\n    rank = 2 + least\n': ("a", declared.UNKNOWN),
    'class A(B):\n    name = "a"\n    rank = (\n        3\n    )\n': ("a", declared.UNKNOWN),
    'class A(B):\n    name = "a"\n    rank = 3\n    rank = 4\n': ("a", declared.UNKNOWN),
    'class A(B):\n    name = "a"\n    if fast:\n        rank = 3\n': ("a", declared.UNKNOWN),
    'class A:\n    name = "a"\n    if fast:\n        rank = 3\n': ("a", declared.UNKNOWN),
    'class A(ABC):\n    name = "a"\n\n    @property\n    def rank(self): ...\n': (
        "a",
        declared.UNKNOWN,
    ),
    'class B:\n    rank = 3\n\n\n@register\nclass A(B):\n    name = "a"\n': (None, None),
    "class A(B):\n    name = NAME\n": (None, None),
    '@decorated(\n    1\n)\nclass A(B):\n    name = "a"\n': (None, None),
}


@pytest.fixture
def folder(tmp_path, monkeypatch, request):
    """A package for plug-ins, and a function that writes a file of it."""
    name = f"planted_{abs(hash(request.node.nodeid))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    for function in (declared._file, declared._source):
        monkeypatch.setattr(declared, function.__name__, function.__wrapped__)

    def write(module, text):
        (tmp_path / name / f"{module}.py").write_text(text)
        return name

    return write


HEAD = "from abc import ABC\nfrom elsewhere import B\nfrom milp_trees.plugins import register\n\n\n"


@pytest.mark.parametrize("text", PLANTED)
def test_what_is_not_plainly_written_is_unknown(folder, text):
    name, rank = PLANTED[text]
    found = declared.read_folder([folder("one", f"{HEAD}@register\n{text}")])
    if name is None:
        assert (found.plugins, len(found.unread)) == ((), 1)
    else:
        assert found.values("rank") == {name: rank}


def test_a_class_of_the_same_file_and_of_another_one_hands_down_its_values(folder):
    text = (
        "from milp_trees.plugins import Method\nfrom abc import ABC\n\n\nclass B(Method, ABC):\n"
        '    verification_rank = 7\n\n\n@register\nclass A(B):\n    name = "a"\n'
    )
    (one,) = declared.read_folder([folder("one", text)]).plugins
    wanted = {"verification_rank": 7, "default_rank": None, "exact": True}
    assert {attribute: one.value(attribute) for attribute in wanted} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "register(type('A', (), {'name': 'a'}))\n",
        "plugins.register(A)\n",
        "from milp_trees.plugins import register as enter\n",
        "class A:\n    '''\n@register\n'''\n",
        "def f(:\n@register\n",
    ],
)
def test_a_file_that_registers_in_another_way_is_imported(folder, text):
    assert len(declared.read_folder([folder("one", text)]).unread) == 1


def test_a_file_that_registers_nothing_is_not_imported(folder):
    assert declared.read_folder([folder("one", "X = 1\n")]) == declared.Folder((), ())


PLUG_IN = """
from milp_trees.plugins import Method, register

@register
class One(Method):
    name = "{0}"
    default_rank = {1}

    def search(self, *given): ...
"""


def test_a_new_file_is_found_and_only_the_one_that_is_wanted_is_imported(folder, monkeypatch):
    """A broken one is left out with a warning when it is its turn, and no sooner."""
    home = folder("first", PLUG_IN.format("first", 1))
    folder("second", PLUG_IN.format("second", 2))
    folder("broken", PLUG_IN.format("broken", 3) + "raise ValueError('out of order')\n")
    monkeypatch.setitem(HOMES, "methods", home)
    monkeypatch.setattr(registering, "plugins", Plugins())
    known = registering.plugins
    assert known.values("methods", "default_rank").items() >= {"first": 1, "broken": 3}.items()
    assert known.knows("methods", "second")
    assert known.find("methods", "second").__module__ == f"{home}.second"
    assert f"{home}.first" not in sys.modules
    with pytest.warns(PluginWarning, match="broken cannot be imported .* out of order"):
        assert known.find("methods", "broken") is None
    with pytest.raises(UnknownName, match=r"no method called 'broken'.*out of order"):
        known.get("methods", "broken")
    folder("third", PLUG_IN.format("third", 4))
    monkeypatch.setattr(registering, "plugins", Plugins())
    assert registering.plugins.find("methods", "third") is not None


#: A program → the files of plug-ins that it may import: those that run.
RUN = {
    "import sys\nfrom milp_trees.__main__ import main\nsys.argv[1:] = ['solve', 'iris']\n"
    "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code": {
        "milp_trees.engines.dp.method",
        "milp_trees.tasks.classification",
    },
    "import milp_trees as mt\n"
    "mt.OptimalTreeClassifier(max_depth=2).fit([[0.0], [1.0], [2.0]], [0, 1, 0])": {
        "milp_trees.engines.dp.method",
        "milp_trees.tasks.classification",
    },
    "import milp_trees as mt\n"
    "mt.solve(mt.Problem(mt.load('planted:rows=9'), mt.Accuracy(), mt.Trees(1)), 'cart')": {
        "milp_trees.engines.cart",
        "milp_trees.tasks.classification",
    },
}


@pytest.mark.parametrize("program", RUN, ids=["command", "estimator", "named method"])
def test_a_run_imports_the_plug_ins_that_it_uses_and_no_others(program):
    code = f"{program}\nimport json, sys\nprint('\\n' + json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    files = {one.module for group in HOMES for one in declared.read_folder(homes(group)).plugins}
    assert files & set(json.loads(done.stdout.splitlines()[-1])) == RUN[program]
