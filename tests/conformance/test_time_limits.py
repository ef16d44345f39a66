"""The contract on time limits: every formulation and every solver keeps them, whatever stage of a run the
time ends in.
"""

from collections.abc import Iterator

import pytest
from in_time import kept

import milp_trees as mt
from milp_trees.mip.registry import registry

#: The long problem for each view.
CASES = {
    mt.plugins.CostMatrix: "trees",
    (mt.plugins.CostMatrix, mt.plugins.LeafSums): "trees",
    mt.plugins.LeafOracle: "decisions",
    mt.pruning.NodeGains: "prunings",
}
FORMULATIONS = {
    name: "lists" if cls.space is mt.RuleLists else CASES[cls.needs]
    for name, cls in registry.classes("formulations").items()
    if cls.needs in CASES
}


def pairs() -> Iterator[tuple[str, str]]:
    """Every formulation with the default solver, and every other solver with the last formulation,
    by rank, of trees and of prunings.
    """
    default = registry.default_solver
    yield from ((f"{name}@{default}", case) for name, case in FORMULATIONS.items())
    for kind in ("trees", "prunings"):
        last = max(
            (name for name, case in FORMULATIONS.items() if case == kind),
            key=lambda name: registry.classes("formulations")[name].default_rank or 0,
        )
        for solver in registry.classes("solvers"):
            if solver != default:
                yield f"{last}@{solver}", kind


@pytest.mark.slow
@pytest.mark.parametrize("name, case", list(pairs()))
def test_half_a_second_is_kept(name, case):
    kept(name, case, 0.5)
