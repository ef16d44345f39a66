"""Names for those who write plug-ins, and for those who read the parts of a result."""

from milp_trees.common.errors import SolverFailure
from milp_trees.common.exact import fraction
from milp_trees.common.logarithms import log_between
from milp_trees.common.registering import register
from milp_trees.engines.near_best.tree_set import TreeSet
from milp_trees.explanations.penalty import PenaltyRange
from milp_trees.explanations.rather import WhyNotModel
from milp_trees.explanations.weights import WeightChange
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.mip.conflicting_rows import ConflictingRows, conflicting_rows
from milp_trees.mip.formulation import Formulation, ModelSize
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.exporting import Export
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.space import Space
from milp_trees.models.tree import Routes
from milp_trees.problems.questions import Best, ByPrice, BySize, Front, NearBest
from milp_trees.results.gap import Gap
from milp_trees.results.result import Certificate, Limit, Solution, Status
from milp_trees.results.size_path import SizePath
from milp_trees.tasks.action_costs import ActionCosts
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.count_views import LeafCounts, PairCounts
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.leaf_functions import log, times_log
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.losses import LossParts, LossTask
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.separable import SeparableTask
from milp_trees.tasks.states_view import States
from milp_trees.tasks.views import CostMatrix, SideRow
from milp_trees.verification import Verdict, Verification

__all__ = [
    "ActionCosts",
    "Answer",
    "Availability",
    "Best",
    "Branch",
    "ByPrice",
    "BySize",
    "Certificate",
    "Clock",
    "ConflictingRows",
    "CostMatrix",
    "Event",
    "Export",
    "Formulation",
    "Front",
    "Gap",
    "Job",
    "Leaf",
    "LeafCounts",
    "LeafOracle",
    "LeafSums",
    "Limit",
    "LossParts",
    "LossTask",
    "Method",
    "ModelSize",
    "NearBest",
    "PairCounts",
    "PenaltyRange",
    "Ratio",
    "Routes",
    "SeparableTask",
    "SideRow",
    "SizePath",
    "Solution",
    "Solver",
    "SolverFailure",
    "Space",
    "States",
    "Status",
    "Task",
    "TreeFormulation",
    "TreeSet",
    "Value",
    "Verdict",
    "Verification",
    "WeightChange",
    "WhyNotModel",
    "conflicting_rows",
    "finish",
    "fraction",
    "log",
    "log_between",
    "register",
    "times_log",
]
