"""Cells of the notebook on regression trees."""

CELLS = [
    (
        "markdown",
        """
# Trees that predict numbers

A regression tree is usually grown one split after the other. Here the best tree is found, and proven: of a depth, of a price per leaf, for several targets at once, and for a loss that we write
ourselves. The data are 442 patients with diabetes, ten measurements each, and a number that says how far the disease has progressed a year later.
""",
    ),
    (
        "code",
        """
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import milp_trees as mt

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
BLUE, ORANGE = "#0072B2", "#D55E00"
table, progress = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
data = mt.Binarizer(kind="quantiles", n_bins=8).fit(table).dataset(table, y=progress)
print(f"{data.n_rows} rows, {data.n_features} tests, progress from {progress.min():g} to {progress.max():g}")
""",
    ),
    (
        "markdown",
        """
## 1 The best tree of depth 3

Its value is the sum of squared errors. The bound is a number below which no tree of that depth can be.
""",
    ),
    (
        "code",
        """
problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=3))
best = mt.solve(problem)
scores = problem.task.extra_scores(best.tree.routes(data), data)
print(f"{best.status}: {best.value.number:.2f}, bound {best.bound:.2f}; R2 {scores['r2']:.3f}, typical error {scores['rmse']:.1f}")
print(best.tree)
""",
    ),
    (
        "markdown",
        """
## 2 What greed costs

Both programs get the same 0/1 columns. The greedy tree is never better on the rows that it was grown on, and the deeper, the more it gives away.
""",
    ),
    (
        "code",
        """
def optimal(depth):
    return mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(depth)))


whole = ((progress - progress.mean()) ** 2).sum()
rows = []
for depth in range(1, 5):
    greedy = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(data.X, progress)
    ours = optimal(depth)
    rows.append({"depth": depth, "greedy R2": greedy.score(data.X, progress), "optimal R2": 1 - ours.value.number / whole, "proven": ours.optimal})
shown = pd.DataFrame(rows).set_index("depth")
print(shown.round(3))
figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
for column, colour in (("greedy R2", ORANGE), ("optimal R2", BLUE)):
    axis.plot(shown.index, shown[column], "o-", color=colour, label=column)
axis.set(xlabel="depth", ylabel="R2 on the training rows", xticks=shown.index)
axis.legend()
plt.show()
""",
    ),
    (
        "markdown",
        """
## 3 A price per leaf

A penalty is a share of the squared error of a single leaf, whatever the unit of the target: with 0.02 a leaf has to explain two percent of it. So the tree is as large as it is worth, up to depth 4 here.
""",
    ),
    (
        "code",
        """
for price in ("0.05", "0.02", "0.01"):
    task = mt.tasks.SquaredError(leaf_penalty=price)
    found = mt.solve(mt.Problem(data, task, mt.Trees(max_depth=4)))
    print(f"{price} per leaf: {found.tree.n_leaves} leaves, depth {found.tree.depth}, objective {found.value.number:.4f}, {found.status}")
""",
    ),
    (
        "markdown",
        """
## 4 How exact is this?

Nothing is left to doubles. The value is a fraction, and so is the bound that the search is certain of; moving all targets by a million changes the value by less than a millionth.
""",
    ),
    (
        "code",
        """
moved = mt.Dataset(data.X, features=data.features, y=progress.to_numpy() + 1e6)
again = mt.solve(mt.Problem(moved, mt.tasks.SquaredError(), mt.Trees(max_depth=3)))
print("value as a fraction:", best.value.exact.limit_denominator(10**9))
print("the same on moved targets:", abs(again.value.exact - best.value.exact) < 1e-6)
""",
    ),
    (
        "markdown",
        """
## 5 Two targets, one tree

The leaves of a tree for two targets hold two means. Both are divided by their deviation first, since the squared errors are added.
""",
    ),
    (
        "code",
        """
names = ("bp", "s5")
others = table.drop(columns=list(names))
targets = (table[list(names)] - table[list(names)].mean()) / table[list(names)].std()
two = mt.Binarizer(kind="quantiles", n_bins=8).fit(others).dataset(others, targets=targets.round(4).to_numpy(), target_names=names)
both = mt.solve(mt.Problem(two, mt.tasks.SquaredError(), mt.Trees(max_depth=2)))
for rule, count in zip(both.tree.actions, np.bincount(both.tree.routes(two).leaf), strict=True):
    print(f"{count:4d} rows: " + ", ".join(f"{name} {mean:+.2f}" for name, mean in zip(names, rule)))
print(both.status)
""",
    ),
    (
        "markdown",
        """
What is exact, and which other losses there are, is in [trees that predict numbers](../docs/guide/regression.md); times beside those of other programs are in
[the benchmarks](../docs/benchmarks/regression.md).
""",
    ),
]
