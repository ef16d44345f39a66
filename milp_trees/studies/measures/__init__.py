"""Measures of runs: means of times, profiles, integrals, tests; each by its published definition.

They take DataFrames, `Study.frame()` and `Study.traces()`, and give DataFrames. What a line, an
instance and a solved run are is said in `milp_trees.studies.measures.instances`.
"""

from milp_trees.studies.measures.agreement import agreement, contradictions
from milp_trees.studies.measures.instances import TIMEOUTS, environments
from milp_trees.studies.measures.integrals import (
    dual_integral,
    integrals,
    primal_dual_integral,
    primal_integral,
)
from milp_trees.studies.measures.pairs import holm, pairwise_ratios, wilcoxon_test
from milp_trees.studies.measures.profiles import (
    performance_profile,
    target_distribution,
    time_to_target,
)
from milp_trees.studies.measures.ranks import CriticalDifference, critical_difference
from milp_trees.studies.measures.times import (
    par,
    shifted_geometric_mean,
    virtual_best,
    with_virtual_best,
)
from milp_trees.studies.measures.variability import variability

__all__ = [
    "TIMEOUTS",
    "CriticalDifference",
    "agreement",
    "contradictions",
    "critical_difference",
    "dual_integral",
    "environments",
    "holm",
    "integrals",
    "pairwise_ratios",
    "par",
    "performance_profile",
    "primal_dual_integral",
    "primal_integral",
    "shifted_geometric_mean",
    "target_distribution",
    "time_to_target",
    "variability",
    "virtual_best",
    "wilcoxon_test",
    "with_virtual_best",
]
