"""The formulation that authors copy works as it stands, and is not in the registry."""

import sys
import types
from pathlib import Path

from milp_trees.formulations import _template

import milp_trees as mt
from milp_trees.common.registering import plugins
from milp_trees.testing import (
    check_deletable_constraints,
    check_formulation,
    problem,
    random_cost_problem,
)

NAMES = (
    "xor",
    "depth_0",
    "no_tests",
    "leaf_penalty",
    "feature_costs",
    "min_leaf",
    "min_leaf_equal_rows",
    "max_leaves",
    "parity",
    "capacity",
    "cost_matrix",
)


def problems():
    return {name: problem(name) for name in NAMES} | {
        "random-0": random_cost_problem(0, side=True),
        "random-1": random_cost_problem(1, penalty=True),
    }


def test_the_template_passes_the_conformance_checks():
    report = check_formulation(_template.Template(), problems(), metamorphic=False)
    assert not report.skipped


def test_every_constraint_of_the_template_is_needed():
    check_deletable_constraints(_template.Template(), problems())


def test_the_template_is_not_listed():
    assert "my-model" not in mt.registry.classes("formulations")


def test_a_copy_that_follows_the_comments_registers(monkeypatch):
    """The two comments about `register`, carried out, give a class the registry takes."""
    source = Path(_template.__file__).read_text(encoding="utf-8")
    source = source.replace(
        "# from milp_trees.common.registering", "from milp_trees.common.registering"
    ).replace("\n# @register\n", "\n@register\n")
    module = types.ModuleType("milp_trees.formulations.my_model")
    module.__package__ = "milp_trees.formulations"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(plugins._classes, "formulations", dict(mt.registry.classes("formulations")))
    exec(compile(source, "my_model.py", "exec"), module.__dict__)
    assert mt.registry.formulation("my-model").name == "my-model"
