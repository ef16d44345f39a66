"""How many leaves are worth it

The optimal tree of every number of leaves: errors fall quickly, then hardly at all.

Alt: Errors on the training rows against the number of leaves, a falling line.
"""

import milp_trees as mt

data = mt.load("breast-cancer", binarizer="quantiles:4")
path = mt.size_path(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=3)), max_leaves=7)
picture = path.plot()
