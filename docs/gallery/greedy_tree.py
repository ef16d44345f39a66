"""What a greedy tree misses

Three kinds of wine: scikit-learn's greedy tree of depth 2 makes more than twice the errors of the best
one (the next picture). It takes the best first split, and cannot take it back.

Alt: A tree that asks for proline first; many rows of one class are in a leaf of another.
"""

import milp_trees as mt

data = mt.load("wine")
result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)), "cart")
picture = result.predictor.picture(data)
