"""For authors of plug-ins for oblique trees: tiny problems for `milp_trees.testing`."""

from milp_trees.oblique.testing.problems import oblique_problems, random_oblique_problem

__all__ = ["oblique_problems", "random_oblique_problem"]
