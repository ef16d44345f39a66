"""A forest pruned for every price at once

Features cost something. Each point is an optimal pruning of the whole forest; the line holds all of
them, from one parametric cut.

Alt: Error against the cost of a row for all prunings, with the forest before pruning.
"""

from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt

X, y = load_wine(return_X_y=True, as_frame=True)
forest = RandomForestClassifier(10, max_depth=4, random_state=0)
picture = mt.EnsemblePruner(estimator=forest, feature_costs=1, random_state=0).fit(X, y).plot()
