"""Options of formulations that give another model."""

import pytest

from milp_trees.mip.registry import registry
from milp_trees.testing import CHECKS, RANDOM
from milp_trees.testing.sets import get

VARIANTS = [
    "flow-oct:sinks=multi",
    "path-cut:strengthen=off",
    "path-cut:rivals=0",
    "benders-oct:equivalent_points=2",
    "benders-oct:path_bounds=1",
    "gunluk:rows=weak",
    "gunluk:anchor=off",
    "gunluk:rows=weak,anchor=off",
    "oct:repair=scalar",
    "oct:repair=d-shift",
    "oct:repair=z-le-d",
    "oct:repair=spo",
]


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_a_variant_on_random_costs(label):
    """It passes the checks on the random problems."""
    formulation = registry.spelled("formulations", label)
    taken = [p for p in map(get, RANDOM) if not formulation.unsupported(p)]
    assert taken
    for problem in taken:
        for check in CHECKS.values():
            check(formulation, problem)
