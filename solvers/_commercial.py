"""Commercial solvers, and how PuLP runs them."""

from __future__ import annotations

import importlib.util

#: Commercial solvers: PuLP's name, and the package that it imports.
REACHED = {
    "gurobi": ("GUROBI", "gurobipy"),
    "cplex": ("CPLEX_PY", "cplex"),
    "xpress": ("XPRESS_PY", "xpress"),
    "mosek": ("MOSEK", "mosek"),
    "copt": ("COPT", "coptpy"),
}


def how_to_reach(name: str) -> str:
    """How a commercial solver is run, and whether its Python package is there."""
    known = REACHED.get(name.lower())
    if known is None:
        return ""
    called, package = known
    there = importlib.util.find_spec(package) is not None
    needs = "is installed here" if there else f"is not installed here (pip install {package})"
    return (
        f"PuLP runs it: FORMULATION@pulp --option solver={called}; its package {package} {needs}, and it needs a licence. "
        f"Or write the model with milp-trees export-model, solve it elsewhere, and bring the solution back with milp-trees import-solution. "
        f"From Python, pyomo.environ.SolverFactory({name.lower()!r}) takes what mt.registry.formulation(…).build(problem) returns."
    )
