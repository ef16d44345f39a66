"""What importing costs, and what a wheel holds."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import milp_trees as mt

ROOT = Path(__file__).parents[2]


def test_the_package_and_a_heuristic_load_nothing_heavy():
    """numba, pandas, scikit-learn, Pyomo, SciPy's optimisers, the plug-ins and families wait until
    somebody needs them; a greedy tree for generated data needs none of them.
    """
    heavy = [
        "numba",
        "pandas",
        "sklearn",
        "pyomo",
        "highspy",
        "pulp",
        "matplotlib",
        "hypothesis",
        "pytest",
        "milp_trees.formulations",
        "milp_trees.lists.space",
        "milp_trees.pruning.space",
        "milp_trees.decisions.base",
    ]
    use = "mt.solve(mt.Problem(mt.load('planted:rows=9'), mt.Accuracy(), mt.Trees(1)), 'cart')"
    code = f"import sys, milp_trees as mt; {use}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_checks_for_plug_in_authors_need_no_test_runner():
    """milp_trees.testing imports neither pytest nor hypothesis."""
    code = "import sys, milp_trees.testing; print([m for m in ('pytest', 'hypothesis') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_exists():
    """All names of milp_trees.__all__ can be had."""
    missing = [name for name in mt.__all__ if not hasattr(mt, name)]
    assert not missing


def test_the_wheel_lists_every_package_of_the_tree():
    """setuptools finds no sub-package below a mapped folder: the list is kept by hand, and compared
    here.
    """
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    mapped = {"milp_trees.formulations": "formulations", "milp_trees.solvers": "solvers"}
    assert setup["package-dir"] == mapped
    inside = {
        ".".join(p.parent.relative_to(ROOT).parts)
        for p in (ROOT / "milp_trees").rglob("*.py")
        if "__pycache__" not in p.parts
    }
    below = {
        ".".join([name, *p.parent.relative_to(ROOT / folder).parts])
        for name, folder in mapped.items()
        for p in (ROOT / folder).rglob("*.py")
    }
    assert set(setup["packages"]) == inside | below
    for name in setup["packages"]:
        importlib.import_module(name)
