"""The best tree of depth 2

No tree with two levels of these questions makes fewer errors on Fisher's irises. Rectangles are leaves
with the rows of each class.

Alt: A tree: two levels of questions about petals and sepals lead to three species of iris.
"""

import milp_trees as mt

data = mt.load("iris")
result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))
picture = result.predictor.picture(data)
