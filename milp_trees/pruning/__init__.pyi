"""The task of pruning and its prices, and the view and the curve for those who write plug-ins."""

from .engines.min_cut.curve import PruningCurve as PruningCurve
from .feature_costs import FeatureCosts as FeatureCosts
from .feature_costs import Group as Group
from .tasks.pruned_error import PrunedError as PrunedError
from .view import NodeGains as NodeGains
