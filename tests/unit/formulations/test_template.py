"""The formulation that authors copy works as it stands, in any folder, and is not in the registry."""

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from taken_problems import taken_problems

import milp_trees as mt
from milp_trees.common.registering import plugins
from milp_trees.testing import (
    check_deletable_constraints,
    check_formulation,
    problem,
    random_cost_problem,
)

TEMPLATE = Path(find_spec("milp_trees.formulations").origin).with_name("_template.py")
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


@pytest.fixture(scope="module")
def copy():
    """The class of a copy that was loaded as a file of another folder."""
    module = ModuleType("my_model")
    before = dict(mt.registry.classes("formulations"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "my_model", module)
        patch.setitem(plugins._classes, "formulations", before)
        exec(compile(TEMPLATE.read_text(encoding="utf-8"), "my_model.py", "exec"), module.__dict__)
        assert mt.registry.formulation("my-model").name == "my-model"
    return module.Template


def test_the_template_passes_the_conformance_checks(copy):
    report = check_formulation(copy(), problems(), metamorphic=False)
    assert not report.skipped


def test_every_constraint_of_the_template_is_needed(copy):
    check_deletable_constraints(copy(), problems())


def test_the_command_of_the_template_runs_all_there_is(tmp_path):
    """A copy in another folder, unchanged, loaded as a plug-in, has every contract, and passes those
    of a plain run.
    """
    (tmp_path / "my_model.py").write_text(TEMPLATE.read_text("utf-8"), "utf-8")
    command = re.search(r"python (-m pytest .*)", TEMPLATE.read_text("utf-8"))[1]

    def lines(command, *more):
        done = subprocess.run(
            [sys.executable, *shlex.split(command), "-q", "-p", "no:cacheprovider", *more],
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
        return done.stdout

    known = len(taken_problems("trees", "flow-oct"))
    assert lines(command, "--collect-only").count("my-model") > known
    assert re.search(r"^\d+ passed", lines(command.replace(' -m ""', "")), re.MULTILINE)


def test_the_template_is_not_listed():
    assert "my-model" not in mt.registry.classes("formulations")
