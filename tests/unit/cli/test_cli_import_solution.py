"""A solution of an exported model that another program found comes back as a tree."""

import json
import shutil
import subprocess
import sys

import pytest
from cli_cases import run

#: A child process runs one solver on a model file and writes its solution.
HIGHS = """
import sys, highspy
h = highspy.Highs(); h.setOptionValue("output_flag", False)
h.readModel(sys.argv[1]); h.run(); h.writeSolution(sys.argv[2], 0)
"""
SCIP = """
import sys, pyscipopt
m = pyscipopt.Model(); m.hideOutput()
m.readProblem(sys.argv[1]); m.optimize(); m.writeBestSol(sys.argv[2])
"""
CBC = """
import sys, subprocess, pulp
subprocess.run([pulp.PULP_CBC_CMD().path, sys.argv[1], "solve", "solution", sys.argv[2]], check=True)
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A table whose best tree has two splits, and the files of a model of it."""
    folder = tmp_path_factory.mktemp("exported")
    rows = [f"{a},{b},{int(a and b)}" for a in (0, 1) for b in (0, 1) for _ in range(2)]
    (folder / "t.csv").write_text("a,b,y\n" + "\n".join([*rows, "1,1,0"]) + "\n")
    export = ("export-model", folder / "t.csv", "--depth", 2, "--out", folder / "m.mps", "--json")
    return folder, json.loads(run(*export).stdout)["value"]


@pytest.fixture
def model(exported, tmp_path):
    """The files of an exported model, and its own solution by name."""
    folder, value = exported
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    first, *lines = (tmp_path / "m.sol").read_text().splitlines()
    values = dict(map(str.split, lines))
    objective = float(first.removeprefix("=obj= "))
    return tmp_path / "m.mps", tmp_path / "s.sol", objective, values, value


def imported(path, solution, *more):
    out = solution.with_suffix(".result.json")
    run("import-solution", path.with_suffix(".json"), solution, "--out", out, *more)
    return json.loads(out.read_text())


def as_gurobi(objective, values):
    lines = [f"{name} {value}" for name, value in values.items()]
    return "\n".join(
        ["# Solution for model m", f"# Objective value = {objective:.16e}", *lines, ""]
    )


def as_cplex(objective, values):
    variables = "".join(
        f'<variable name="{name}" index="{i}" value="{value}"/>'
        for i, (name, value) in enumerate(values.items())
    )
    return f"""<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>
<CPLEXSolution version="1.2">
 <header problemName="m.mps" objectiveValue="{objective}" solutionStatusValue="101"
   solutionStatusString="integer optimal solution"/>
 <linearConstraints><constraint name="c1" index="0" slack="0"/></linearConstraints>
 <variables>{variables}</variables>
</CPLEXSolution>
"""


def as_highs(objective, values):
    lines = "\n".join(f"{name} {value}" for name, value in values.items())
    return f"Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective {objective:g}\nObjective_bound 1\n# Columns {len(values)}\n{lines}\n# Rows 1\nr 1\n"


def as_scip(objective, values):
    lines = "\n".join(f"{name}    {value} \t(obj:0)" for name, value in values.items())
    return f"solution status: optimal solution found\nobjective value:     {objective:g}\n{lines}\n"


def as_cbc(objective, values):
    lines = "\n".join(f"  {i} {name} {v}   -2" for i, (name, v) in enumerate(values.items()))
    return f"Optimal - objective value {objective:.8f}\n{lines}\n"


FORMATS = {f.__name__[3:]: f for f in (as_gurobi, as_cplex, as_highs, as_scip, as_cbc)}


@pytest.mark.parametrize("program", FORMATS)
def test_the_files_of_five_programs_give_the_tree_with_its_value(program, model):
    path, solution, objective, values, value = model
    solution.write_text(FORMATS[program](objective, values))
    found = imported(path, solution)
    assert found["objective"] == value
    assert found["method"] == f"flow-oct@{program}"
    assert found["status"] == "feasible"  # nothing here has proved a bound
    assert found["bound"] is None
    assert "root" in found["predictor"]


@pytest.mark.parametrize("child", [HIGHS, SCIP, CBC], ids=["highs", "scip", "cbc"])
def test_what_solvers_really_write_is_read_verified_and_predicts(child, model):
    path, solution, _, _, value = model
    pytest.importorskip({HIGHS: "highspy", SCIP: "pyscipopt", CBC: "pulp"}[child])
    subprocess.run(
        [sys.executable, "-c", child, path, solution], check=True, stdout=subprocess.DEVNULL
    )
    assert imported(path, solution)["objective"] == value
    stored = solution.with_suffix(".result.json")
    assert "Verdict: recomputed." in run("verify", stored).stdout
    assert run("predict", stored, path.with_name("t.csv")).stdout.startswith("row,prediction\n0,")


def test_the_point_its_objective_and_the_tree_are_shown(model):
    path, solution, objective, values, _ = model
    solution.write_text(as_gurobi(objective, values))
    text = run("import-solution", path, solution).stdout  # the model names its description
    message = " ".join(text.split())
    assert (
        f"of Gurobi: it states the objective {objective:g}; its point has {objective:g}" in message
    )
    assert "1 error in 9 rows" in message
    assert "└─ " in text


@pytest.mark.parametrize(
    ("change", "code", "sentence"),
    [
        (lambda o, v: as_gurobi(o, {f"y{k}": 1 for k in v.values()}), 1, "names 'y1' that the"),
        (
            lambda o, v: as_gurobi(o, {f"x{i}": 1 for i, _ in enumerate(v)}),
            1,
            "or the solver renamed the columns: solve the .mps file without renaming",
        ),
        (lambda o, v: as_gurobi(o - 1, v), 4, "but its point has"),
        (lambda o, v: as_gurobi(o, {**v, next(iter(v)): 0.5}), 4, "must be whole"),
        (lambda o, v: as_gurobi(o, {**v, next(iter(v)): 0}), 4, "breaks a row"),
        (lambda o, v: as_cplex(o, v)[:-30], 1, "is damaged XML"),
        (lambda o, v: as_cbc(o, v) + "rubbish\n", 1, "is not understood: 'rubbish'"),
        (lambda o, v: as_scip(o, v) + "p_2 1 (obj:0)\np_2 1\n", 1, "has a value already"),
        (lambda o, v: "Infeasible - objective value 3\n 0 b_1_0 1 0\n", 1, "Infeasible"),
        (lambda o, v: "no solution available\n", 1, "holds no solution"),
        (lambda o, v: "Model status\nInfeasible\n\n# Primal solution values\nNone\n", 1, "Infeas"),
        (lambda o, v: "x = 3\n", 1, "is no solution file that is known here"),
        (lambda o, v: as_gurobi(o, {**v, "p_1": "many"}), 1, "'many' is no number"),
    ],
)
def test_what_is_no_solution_of_the_model_is_refused_with_a_remedy(change, code, sentence, model):
    path, solution, objective, values, _ = model
    solution.write_text(change(objective, values))
    found = run("import-solution", path.with_suffix(".json"), solution, code=code)
    assert sentence in found.stderr, found.stderr
    assert found.stdout == ""


def test_another_description_or_other_data_are_refused(exported, model):
    path, solution, objective, values, _ = model
    table = exported[0] / "t.csv"
    solution.write_text(as_gurobi(objective, values))
    beside = path.with_suffix(".json")
    good = json.loads(beside.read_text())
    for change, sentence in (
        ({"schema": "result 1"}, "describes no model"),
        ({"variables": {"x": ["x"]}}, "export it again with this version"),
    ):
        beside.write_text(json.dumps({**good, **change}))
        assert sentence in run("import-solution", beside, solution, code=1).stderr
    beside.write_text(json.dumps(good))
    moved = table.rename(path.with_name("moved.csv"))  # the last test that needs it
    assert "There is no file" in run("import-solution", beside, solution, code=1).stderr
    run("import-solution", beside, solution, "--data", moved)
    moved.write_text(moved.read_text().replace("0,0,0", "0,0,1", 1))
    run("import-solution", beside, solution, "--data", moved, code=4)
    gone = run("import-solution", path.with_name("no.json"), solution, code=1).stderr
    assert "which export-model writes beside the model" in gone
