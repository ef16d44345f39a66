"""The task of pruning and its prices."""

from .feature_costs import FeatureCosts as FeatureCosts
from .feature_costs import Group as Group
from .tasks.pruned_error import PrunedError as PrunedError
