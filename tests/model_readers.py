"""Solvers that read a model file by themselves, each in its own way; nothing of the package stands
between the file and the answer.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from milp_trees.mip.registry import registry

#: Optimum of a file, or why there is none.
INFEASIBLE, UNREADABLE = "infeasible", "unreadable"


def highs(path):
    import highspy

    h = highspy.Highs()
    highspy.Highs.resetGlobalScheduler(True)  # another test may have fixed the number of threads
    for name, value in (
        ("output_flag", False),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 0.0),
        ("threads", 1),
    ):
        h.setOptionValue(name, value)
    if h.readModel(str(path)) != highspy.HighsStatus.kOk:
        return UNREADABLE
    h.run()
    status = h.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        return h.getInfo().objective_function_value
    assert status == highspy.HighsModelStatus.kInfeasible, status
    return INFEASIBLE


def scip(path):
    from pyscipopt import Model

    model = Model()
    model.hideOutput()
    try:
        model.readProblem(str(path))
    except Exception:
        return UNREADABLE
    model.optimize()
    if model.getStatus() == "optimal":
        return model.getObjVal()
    assert model.getStatus() in ("infeasible", "inforunbd"), model.getStatus()
    return INFEASIBLE


def cbc(path):
    executable = sys.modules[type(registry.solver("cbc")).__module__].executable()
    answer = path.parent / "cbc-answer.txt"
    answer.unlink(missing_ok=True)
    words = [
        executable,
        path.name,
        "-ratioGap",
        "0",
        "-allowableGap",
        "0",
        "-solve",
        "-solution",
        answer.name,
    ]
    message = subprocess.run(
        words, cwd=path.parent, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    ).stdout
    if re.search(r"###|read with [1-9]\d* errors", message) or not answer.exists():
        return UNREADABLE
    status, _, value = answer.read_text().partition("\n")[0].partition(" - objective value ")
    if status == "Optimal":
        return float(value)
    assert "nfeasible" in status, status
    return INFEASIBLE


def glpk(path):
    out = path.parent / "glpk-answer.txt"
    out.unlink(missing_ok=True)
    words = ["glpsol", "--lp" if path.suffix == ".lp" else "--freemps", str(path), "-o", str(out)]
    subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if not out.exists():
        return UNREADABLE
    text = out.read_text()
    if re.search(r"^Status:\s+(INTEGER )?OPTIMAL", text, re.MULTILINE):
        return float(re.search(r"^Objective:\s+\S+ = (\S+)", text, re.MULTILINE)[1])
    return INFEASIBLE


def pulp(path):
    import pulp

    try:
        columns, model = pulp.LpProblem.fromMPS(str(path))
    except Exception:
        return UNREADABLE
    if not columns:  # it takes an LP file for a model without variables
        return UNREADABLE
    status = model.solve(
        pulp.PULP_CBC_CMD(msg=False, gapRel=0.0, gapAbs=0.0, _skip_v4_deprecation=True)
    )
    if pulp.LpStatus[status] == "Optimal":
        return pulp.value(model.objective)
    assert pulp.LpStatus[status] == "Infeasible", pulp.LpStatus[status]
    return INFEASIBLE


class OrTools:
    """OR-tools in a process of its own, because it cannot be loaded beside highspy; CP-SAT takes
    pure integer models, SCIP the others.
    """

    CHILD = """
import json, sys
from ortools.linear_solver.python import model_builder as mb
for line in sys.stdin:
    path = line.strip()
    model = mb.Model()
    read = model.import_from_lp_file(path) if path.endswith(".lp") else model.import_from_mps_file(path)
    if not read:
        print(json.dumps("unreadable"), flush=True)
        continue
    whole = all(v.is_integral or v.lower_bound == v.upper_bound for v in model.get_variables())
    solver = mb.Solver("CP_SAT" if whole else "SCIP")
    status = solver.solve(model).name
    print(json.dumps(solver.objective_value if status == "OPTIMAL" else status.lower()), flush=True)
"""

    def __init__(self):
        self.process = None

    def __call__(self, path):
        if self.process is None:
            words = [sys.executable, "-c", self.CHILD]
            pipes = {
                "stdin": subprocess.PIPE,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.DEVNULL,
            }
            self.process = subprocess.Popen(words, text=True, **pipes)
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(timeout=30)
            self.process = None


ortools = OrTools()

READERS = {"highs": highs, "scip": scip, "cbc": cbc, "pulp": pulp, "cp-sat": ortools, "glpk": glpk}


def present():
    """Names of the readers that are here; GLPK is no solver of the package and is asked where it is
    installed.
    """
    found = [
        name for name in READERS if name != "glpk" and registry.solver(name).availability().found
    ]
    return [*found, "glpk"] if shutil.which("glpsol") else found


def refuses(reader, path):
    """The stated reason why a reader cannot read files of that kind, or None."""
    if reader == "glpk":
        return None
    kind = next(s for s in (".mps.gz", ".mps", ".lp") if Path(path).name.endswith(s))
    return registry.solver(reader).cannot_read.get(kind)
