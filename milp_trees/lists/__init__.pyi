"""Names for those who read the parts of a result about rule lists."""

from .engines.near_best_lists.list_set import RuleListSet as RuleListSet
