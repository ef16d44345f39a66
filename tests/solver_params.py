"""Registered solvers as parameters of tests."""

from typing import Any

import pytest

from milp_trees.mip.registry import registry


def solver_params(*capabilities: str, names: tuple[str, ...] = ()) -> list[Any]:
    """Names of the solvers that have these capabilities (or the `names` given); one that is not
    installed is skipped, with its reason.
    """
    found = []
    for name in names or tuple(registry.classes("solvers")):
        solver = registry.solver(name)
        if set(capabilities) <= solver.capabilities:
            here = solver.availability()
            absent = pytest.mark.skipif(not here.found, reason=f"{name}: {here.reason}")
            found.append(pytest.param(name, marks=absent))
    assert found, f"no solver has {capabilities}"
    return found
