"""The tree that greedy growth missed

The best tree of depth 2 for the same wines: no other one over any thresholds makes fewer than 6 errors.

Alt: A tree that asks for flavanoids first and then for colour and proline; nearly all leaves are pure.
"""

import milp_trees as mt

data = mt.load("wine")
result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))
picture = result.predictor.picture(data)
