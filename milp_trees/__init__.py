"""Optimal interpretable models as mathematical programs: one problem, many methods, answers that agree.

The usual names are at the top: `mt.Dataset`, `mt.Accuracy`, `mt.Trees`, `mt.Problem`, `mt.solve`, `mt.compare`. Importing the package loads
none of numba, pandas, scikit-learn and Pyomo; what needs them loads them.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

#: Public name → module that defines it.
_HOME = {
    "Dataset": "data.dataset",
    "Test": "data.dataset",
    "Binarizer": "data.binarize",
    "read_table": "data.read",
    "load": "data.load",
    "load_numeric": "data.numeric",
    "with_nuisances": "data.nuisance",
    "Task": "tasks.base",
    "Value": "tasks.base",
    "CostMatrix": "tasks.views",
    "NodeGains": "tasks.pruning_view",
    "PrunedError": "tasks.pruning",
    "LeafOracle": "tasks.decision_view",
    "Decision": "tasks.decision",
    "FeatureCosts": "tasks.feature_costs",
    "Group": "tasks.feature_costs",
    "SideRow": "tasks.views",
    "Accuracy": "tasks.classification",
    "WeightedError": "tasks.classification",
    "BalancedAccuracy": "tasks.classification",
    "MisclassificationCosts": "tasks.classification",
    "Ratio": "tasks.ratio_view",
    "F1": "tasks.ratio",
    "FBeta": "tasks.ratio",
    "Jaccard": "tasks.ratio",
    "Precision": "tasks.ratio",
    "CountRatio": "tasks.ratio",
    "AUC": "tasks.ranking",
    "PartialAUC": "tasks.ranking",
    "MonotoneMetric": "tasks.monotone",
    "Matthews": "tasks.monotone",
    "GeometricMean": "tasks.monotone",
    "CohenKappa": "tasks.monotone",
    "LeafCounts": "tasks.count_views",
    "PairCounts": "tasks.count_views",
    "ActionValues": "tasks.policy",
    "ActionCostMatrix": "tasks.policy",
    "DirectMethod": "tasks.policy",
    "InversePropensity": "tasks.policy",
    "DoublyRobust": "tasks.policy",
    "StatisticalParity": "tasks.constraints",
    "ConditionalStatisticalParity": "tasks.constraints",
    "EqualOpportunity": "tasks.constraints",
    "PredictiveEquality": "tasks.constraints",
    "EqualisedOdds": "tasks.constraints",
    "Capacity": "tasks.constraints",
    "Space": "space",
    "Trees": "space",
    "PrunedEnsembles": "space_pruned",
    "Problem": "problem",
    "Best": "problem",
    "NearBest": "problem",
    "BySize": "problem",
    "PruningPath": "problem",
    "Path": "path",
    "TreeSet": "tree_set",
    "Tree": "models.tree",
    "Leaf": "models.tree",
    "Branch": "models.tree",
    "Ensemble": "models.ensemble",
    "read_ensemble": "models.read_ensemble",
    "ensemble_from_trees": "models.read_ensemble",
    "out_of_bag": "models.read_ensemble",
    "Routes": "models.tree",
    "check_unimodular": "unimodular",
    "Unimodularity": "unimodular",
    "Formulation": "formulation",
    "TreeFormulation": "formulation",
    "Sizes": "formulation",
    "Solver": "solver",
    "Limits": "solver",
    "Job": "solver",
    "Answer": "solver",
    "Event": "solver",
    "Availability": "solver",
    "Method": "method",
    "Result": "result",
    "Certificate": "result",
    "Solution": "result",
    "Status": "result",
    "Limit": "result",
    "register": "registry",
    "solve": "api",
    "compare": "api",
    "estimate": "api",
    "near_best": "api",
    "sizes": "api",
    "Study": "study",
    "OptimalTreeClassifier": "estimators",
    "OptimalTreeClassifierCV": "estimator_cv",
    "OptimalPolicyTree": "estimators",
    "BudgetForestClassifier": "budget_forest",
    "EnsemblePruner": "pruner",
    "write_ensemble": "models.write_ensemble",
    "MilpTreesError": "errors",
    "DataError": "errors",
    "Infeasible": "errors",
    "NoView": "errors",
    "Unsupported": "errors",
    "UnknownName": "errors",
    "SolverUnavailable": "errors",
    "SolverFailure": "errors",
    "NothingFound": "errors",
    "VerificationError": "errors",
}

__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'milp_trees' has no attribute {name!r}")
    module = importlib.import_module(f"milp_trees.{_HOME[name]}")
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
