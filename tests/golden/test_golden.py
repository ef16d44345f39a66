"""Golden files: the text of one tiny model per formulation, and values of generated instances with who vouches for them."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from milp_trees.registry import registry
from milp_trees.testing import generate
from milp_trees.testing.golden import golden_text, main
from milp_trees.testing.sets import get

HERE = Path(__file__).parent
VALUES = json.loads((HERE / "values.json").read_text())


@pytest.mark.parametrize("name", registry.classes("formulations"))
def test_the_model_is_the_one_that_was_reviewed(name):
    """A change of a model shows as a change of its golden file: `python -m milp_trees.testing.golden tests/golden --refresh`."""
    path = HERE / f"{name}.lp.txt"
    assert path.exists(), f"{path.name} is missing; write it with `python -m milp_trees.testing.golden tests/golden --refresh` and read it"
    assert golden_text(registry.formulation(name)) == path.read_text()


def test_no_golden_file_is_left_over():
    """Every file belongs to a formulation."""
    assert {p.name.removesuffix(".lp.txt") for p in HERE.glob("*.lp.txt")} <= set(registry.classes("formulations"))


def test_the_command_reports_and_refreshes(tmp_path, capsys):
    """Exit code 1 while files differ, 0 once they are refreshed, 2 for a wrong call."""
    assert main([str(tmp_path)]) == 1
    assert "differs: flow-oct" in capsys.readouterr().out
    assert main([str(tmp_path), "--refresh"]) == 0
    assert main([str(tmp_path)]) == 0
    assert main([]) == 2


@pytest.mark.parametrize("golden", VALUES, ids=lambda g: g["instance"].get("name") or "-".join(map(str, g["instance"].values())))
@pytest.mark.parametrize("method", ["dp", "enumerate"])
def test_the_optimum_is_the_golden_value(golden, method):
    """Exactly, for every engine that takes the problem."""
    instance = dict(golden["instance"])
    problem = get(instance["name"]) if "name" in instance else getattr(generate, instance.pop("generator"))(**instance)
    assert problem.task.spec() == golden["task"]
    assert {k: problem.space.spec()[k] for k in golden["space"]} == golden["space"]
    chosen = registry.method(method)
    why = chosen.unsupported(problem)
    if why:
        pytest.skip(why)
    assert chosen.run(problem).value.exact == Fraction(golden["value"])
