"""False alarms against misses

Every tree that cannot be improved in one kind of error without more of the other: the whole front, by
one search.

Alt: A staircase of false negatives against false positives.
"""

import milp_trees as mt
from milp_trees.plugins import Front
from milp_trees.studies.figures.front import plot_front

data = mt.load("breast-cancer", binarizer="quantiles:4")
front = mt.solve(mt.Problem(data, mt.tasks.F1(), mt.Trees(max_depth=2), Front()), method="pareto")
picture = plot_front(front)
