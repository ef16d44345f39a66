"""Incumbent and bound over time

What is known at every moment of a search: the best tree so far, and how good any tree can be. Where
the lines meet, the tree is proven optimal.

Alt: Two step lines against milliseconds: the area of the best tree rises and the bound falls until they meet.
"""

import matplotlib.pyplot as plt
import numpy as np

import milp_trees as mt

data = mt.load("breast-cancer", binarizer="quantiles:3")
problem = mt.Problem(data, mt.tasks.AUC(), mt.Trees(max_depth=3, max_leaf_nodes=4))
result = mt.solve(problem, time_limit=20)
seconds, incumbent, bound = np.array([tuple(point) for point in result.trace], dtype=float).T
picture, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.step(1000 * seconds, incumbent, where="post", label="best tree so far")
ax.step(1000 * seconds, bound, where="post", linestyle="--", label="bound")
ax.set(xlabel="milliseconds", ylabel="area under the ROC curve")
ax.legend()
