"""The tree that is best depends on what is asked

Trees of four leaves on data whose positive class is rare, each optimal for its own objective, and their
ROC curves.

Alt: ROC curves of trees that are optimal for accuracy, F1 and AUC.
"""

import matplotlib.pyplot as plt
import numpy as np

import milp_trees as mt
from milp_trees.models.draw import leaf_counts

rng = np.random.default_rng(0)
X = (rng.random((300, 6)) < 0.5).astype(int)
y = (X @ [2, 2, 1, 1, 0, 0] + rng.normal(0, 1.5, 300) > 4.5).astype(int)
data = mt.Dataset(X, y=y)
picture, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
for task in (mt.Accuracy(), mt.tasks.F1(), mt.tasks.AUC()):
    tree = mt.solve(mt.Problem(data, task, mt.Trees(max_depth=3, max_leaf_nodes=4))).predictor
    counts = leaf_counts(tree, data)
    order = np.argsort(-counts[:, 1] / counts.sum(axis=1), kind="stable")
    corners = np.vstack([[0, 0], counts[order].cumsum(axis=0)]) / counts.sum(axis=0)
    ax.plot(*corners.T, marker="o", markersize=4, label=task.name)
ax.set(xlabel="false positive rate", ylabel="true positive rate")
ax.legend(title="tree optimal for")
