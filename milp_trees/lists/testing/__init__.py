"""For authors of plug-ins for rule lists: tiny problems for the checks of `milp_trees.testing`."""

from milp_trees.lists.testing.random_lists import random_list_problem
from milp_trees.lists.testing.sets import default_list_problems

__all__ = ["default_list_problems", "random_list_problem"]
