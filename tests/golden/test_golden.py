"""Golden files: the text of one tiny model per formulation, and values of generated instances with
who vouches for them.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from milp_trees.mip.registry import registry
from milp_trees.testing import generate
from milp_trees.testing import golden as golden_module
from milp_trees.testing.golden import golden_problems, golden_texts, main
from milp_trees.testing.sets import get
from milp_trees.testing.taken import FILE, changes, taken_text, takers_by_problem

HERE = Path(__file__).parent
VALUES = json.loads((HERE / "values.json").read_text())


@pytest.mark.parametrize("name", registry.classes("formulations"))
def test_the_model_is_the_one_that_was_reviewed(name):
    """A change of a model shows as a change of its golden file: `python -m
    milp_trees.testing.golden tests/golden --refresh`.
    """
    for file, text in golden_texts(registry.formulation(name)).items():
        assert (HERE / file).exists(), (
            f"{file} is missing; write it with `python -m milp_trees.testing.golden tests/golden --refresh` and read it"
        )
        assert text == (HERE / file).read_text()


def test_no_golden_file_is_left_over():
    """Every file belongs to a formulation."""
    made = [golden_problems(cls()) for cls in registry.classes("formulations").values()]
    assert {p.name for p in HERE.glob("*.lp.txt")} == {file for files in made for file in files}


def test_every_method_takes_the_problems_that_it_took():
    """Refreshed by the same command; a refusal that is meant shows in review."""
    found = changes((HERE / FILE).read_text(), taken_text())
    assert not found, (
        f"{'; '.join(found[:5])}: if it is meant, `python -m milp_trees.testing.golden tests/golden --refresh`"
    )


def test_every_method_takes_a_problem():
    """Otherwise nothing is asked of it."""
    assert set().union(*takers_by_problem((HERE / FILE).read_text()).values()) >= {
        *registry.classes("methods"),
        *registry.classes("formulations"),
    }


def test_a_formulation_that_suddenly_refuses_is_named(monkeypatch):
    """Also one that suddenly takes what it refused."""
    ip0 = registry.classes("formulations")["ip0"]
    before = taken_text(["prunings"])
    monkeypatch.setattr(
        ip0,
        "unsupported_view",
        lambda self, view, space: "ip0 is not in the mood." if view.step[0] else None,
    )
    found = changes(before, taken_text(["prunings"]))
    assert found
    assert all(message.startswith(("ip0 refuses ", "ip0 takes ")) for message in found)


def test_the_command_reports_and_refreshes(tmp_path, capsys, monkeypatch):
    """Exit code 1 while files differ, 0 once they are refreshed, 2 for a wrong call."""
    monkeypatch.setattr(golden_module, "taken_text", lambda: "[]\n")  # the true one takes seconds
    assert main([str(tmp_path)]) == 1
    assert "differs: flow-oct" in capsys.readouterr().out
    assert main([str(tmp_path), "--refresh"]) == 0
    assert main([str(tmp_path)]) == 0
    assert (tmp_path / FILE).read_text() == "[]\n"
    assert main([]) == 2


@pytest.mark.parametrize(
    "method, golden",
    [
        (method, golden)
        for method in ("dp", "enumerate")
        for golden in VALUES
        if method == "enumerate" or "constraints" not in golden["task"]
    ],
    ids=lambda g: (
        g
        if isinstance(g, str)
        else g["instance"].get("name") or "-".join(map(str, g["instance"].values()))
    ),
)
def test_the_optimum_is_the_golden_value(method, golden):
    """Exactly, by the engines that take the problem: `dp` those without side constraints."""
    instance = dict(golden["instance"])
    problem = (
        get(instance["name"])
        if "name" in instance
        else getattr(generate, instance.pop("generator"))(**instance)
    )
    assert problem.task.spec() == golden["task"]
    assert {k: problem.space.spec()[k] for k in golden["space"]} == golden["space"]
    assert registry.method(method).run(problem).value.exact == Fraction(golden["value"])
