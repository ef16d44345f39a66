"""A SPEC may name Python files with plug-ins; their text is a part of the identity of their runs."""

import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.common.registering import plugins
from milp_trees.common.registering.from_files import _loaded, load_file
from milp_trees.studies.planning.reading import read_plan

METHOD = '''
from milp_trees.engines.cart import Cart
from milp_trees.plugins import register


@register
class Planted(Cart):
    """A method of the test."""

    name = "planted-{name}"
    default_rank = None
'''


@pytest.fixture
def written(tmp_path):
    """Writes a plug-in file; what it registered is forgotten after the test."""
    made = []

    def write(name, text=METHOD):
        path = tmp_path / f"{name}.py"
        path.write_text(text.replace("{name}", name))
        made.append(name)
        return path

    yield write
    for name in made:
        for module in {cls.__module__ for cls in plugins.classes("methods").values()}:
            if module.startswith(f"plugin_file_{name}_"):
                plugins.forget_module(module)
        for path in [path for path in _loaded if path.stem == name]:
            del _loaded[path]


def test_a_method_of_a_file_is_planned_and_told_apart_by_its_text(written, tmp_path):
    path = written("mine")
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'plugins = ["mine.py"]\n[[problems]]\nname = "p"\ndata = "planted:rows=20"\n'
        '[[methods]]\nlabels = ["planted-mine", "cart"]\n'
    )
    plan = read_plan(spec)
    assert [r.method for r in plan.runs] == ["planted-mine", "cart"]
    plan.load_plugins()  # what is loaded already is not imported again
    software = mt.registry.method("planted-mine").software()
    assert software["mine.py"].startswith("sha256-")
    assert "mine.py" not in mt.registry.method("cart").software()
    path.write_text(path.read_text() + "# changed\n")
    with pytest.raises(DataError, match="has changed since it was imported"):
        load_file(path)


def test_a_file_that_fails_leaves_nothing_behind(written):
    path = written("half", METHOD + "\n1 / 0\n")
    with pytest.raises(DataError, match="ZeroDivisionError"):
        load_file(path)
    with pytest.raises(DataError, match="SystemExit: 3"):
        load_file(written("quits", METHOD + "\nraise SystemExit(3)\n"))
    assert "planted-half" not in plugins.classes("methods")


def test_a_file_without_plug_ins_is_refused(written):
    with pytest.raises(DataError, match="registers no plug-in"):
        load_file(written("empty", "x = 1\n"))
