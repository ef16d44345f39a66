"""Private modules of numba are used in one file, with the versions that were tested."""

import ast
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

import milp_trees
from milp_trees.common.compiling import inside

ROOT = Path(milp_trees.__file__).parent


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_only_one_file_imports_numba_and_llvmlite():
    """Also the public parts: what kernels are made of has one door."""
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for name in _imports(path)
        if name.split(".")[0] in ("numba", "llvmlite")
    }
    assert found == {"common/compiling/inside.py"}


def test_the_installed_numba_is_one_of_those_allowed():
    low, below = ([int(part) for part in version.split(".")] for version in inside.NUMBA)
    assert low <= [int(part) for part in inside.numba_version.split(".")[:2]] < below


def test_the_packaging_allows_the_same_versions():
    path = Path(__file__).parents[3] / "pyproject.toml"
    needed = [Requirement(r) for r in tomllib.loads(path.read_text())["project"]["dependencies"]]
    ranges = {r.name: r.specifier for r in needed}
    low, below = inside.NUMBA
    assert str(ranges["numba"]) in (f"<{below},>={low}", f">={low},<{below}")
    assert ranges["llvmlite"].contains(inside.llvmlite_version)
    assert not ranges["llvmlite"].contains("99")
