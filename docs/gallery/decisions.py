"""A tree that decides beats a tree that predicts

Two roads whose costs cross. The tree for decisions splits once, where the cheaper road changes; a
regression tree of the same size splits where costs vary most, and takes the dearer road in the shaded
part.

Alt: Costs of two roads over x with the steps of two trees; the regression tree errs in a shaded range.
"""

import matplotlib.pyplot as plt
import numpy as np

import milp_trees as mt

roads = mt.decisions.two_roads(3000)
grid = np.linspace(0, 1, 1001)
true = np.column_stack([5 * grid + 1.9, (5 * grid + 0.4) ** 2])
picture, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
for ax, method in zip(axes, ["greedy-spo", "cart-spo"], strict=True):
    tree = mt.SPOTree(method=method, max_depth=1, min_samples_leaf=20).fit(roads.X, roads.C)
    for k, colour in enumerate(["#0072B2", "#D55E00"]):
        ax.plot(grid, true[:, k], "--", color=colour, linewidth=0.9)
        ax.plot(grid, tree.predict(grid[:, None])[:, k], color=colour, label=f"road {k + 1}")
    wrong = tree.decide(grid[:, None]).argmax(axis=1) != true.argmin(axis=1)
    across = ax.get_xaxis_transform()
    ax.fill_between(grid, 0, 1, where=wrong, transform=across, color="#E69F00", alpha=0.25)
    ax.set(title=method, xlabel="x", ylim=(0, 30))
axes[0].set_ylabel("cost (dashed: true)")
axes[0].legend()
