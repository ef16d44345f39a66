"""Plug-ins of a package of their own: `examples/plugin` is installed beside the package, which is
not touched, and is found, listed, checked, run, and asked to judge.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Environment variables with which the example is installed, in a folder of its own."""
    source = tmp_path_factory.mktemp("source") / "plugin"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    site = tmp_path_factory.mktemp("site")
    install = [
        *("build", "install_lib", "--install-dir", str(site)),
        *("install_egg_info", "--install-dir", str(site)),
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from setuptools import setup; setup()", "-q", *install],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def run(environment, *words):
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LISTS = """
import json
from typer.testing import CliRunner
from milp_trees.cli.main import app
print(json.dumps({
    command: {row["name"]: row for row in json.loads(CliRunner().invoke(app, [command, "--json"]).stdout)}
    for command in ("methods", "formulations", "solvers", "tasks")
}))
"""


def test_the_plug_ins_are_listed_and_described(environment):
    """`milp-trees methods`, `solvers`, `formulations` and `tasks` know what the classes declare."""
    listed = json.loads(run(environment, "-c", LISTS))
    assert listed["methods"]["one-split"]["exact"]
    assert listed["formulations"]["stumps"]["side_constraints"]
    assert listed["solvers"]["scipy-milp"]["found"]
    assert listed["tasks"]["misses"]["parameters"] == ["price"]


def test_the_plug_ins_solve_a_problem_stated_in_their_words(environment):
    """The task by its label, the formulation with the solver, the engine as the judge."""
    out = run(
        environment,
        "-m",
        "milp_trees",
        "solve",
        "planted:rows=40,tests=4,depth=2,noise=0.2",
        *("--task", "misses:price=5", "--depth", "1", "--method", "stumps@scipy-milp", "--json"),
    )
    row = json.loads(out)
    assert (row["status"], row["agrees"], row["unit"]) == ("optimal", True, "cost")
    assert row["problem"]["task"] == {"name": "misses", "price": "5"}
    assert {"milp-trees-example", "scipy-milp"} <= row["versions"].keys()


EXPONENTIAL = """
import milp_trees as mt
data = mt.Dataset([[0], [0], [1], [1], [1]], targets=[[1, 1], [2, 1], [9, 1], [8, 0], [30, 1]],
                  target_names=("time", "event"))
result = mt.solve(mt.Problem(data, mt.registry.task("exponential")(), mt.Trees(1)))
print(result.method, result.status.value, result.value.number, sorted(result.predictor.actions))
"""


def test_a_loss_of_sums_in_one_file_is_solved_and_proved(environment):
    """By the engine for leaf sums, which compiles the plug-in's function into its kernels."""
    method, status, value, *hazards = run(environment, "-c", EXPONENTIAL).split()
    assert (method, status) == ("dp", "optimal")
    assert float(value) == pytest.approx(4 - 2 * math.log(2 / 3) - 2 * math.log(2 / 47))
    assert [float(h.strip("[],")) for h in hazards] == pytest.approx([2 / 47, 2 / 3])


def test_all_conformance_checks_pass_on_the_plug_ins(environment):
    """As a third party runs them."""
    out = run(environment, EXAMPLE / "check.py").splitlines()
    assert len([line for line in out if "checks passed" in line]) == 9, out
    assert out[-1] == "one-split judges and derives"
