"""Cells of the notebook on sparse trees, objectives, sizes and near-optimal sets."""

CELLS = [
    (
        "markdown",
        """
# One engine, many questions

The first notebook let formulations compete. This one asks more of the exact search: trees as deep as they deserve, what is known when it is
stopped, other objectives than errors, all sizes at once, and all trees that are nearly as good as the best.
""",
    ),
    (
        "markdown",
        """
## 1 Sparse trees: a price per leaf instead of a depth

Every leaf costs λ, as in GOSDT (Lin, Zhong, Hu, Rudin, Seltzer 2020): the tree grows where growing pays, and no depth is given.
""",
    ),
    (
        "code",
        """
import milp_trees as mt

columns = ["mean radius", "mean texture", "worst radius", "worst concave points", "worst smoothness"]
data = mt.load("breast-cancer", binarizer="quantiles:6", features=columns)
sparse = mt.Problem(data, mt.Accuracy(leaf_penalty="0.005"), mt.Trees(max_depth=None))
best = mt.solve(sparse)
best
""",
    ),
    (
        "markdown",
        """
The value is the share of errors plus λ times the leaves, an exact fraction; the bound says that no tree of any depth over these tests is better.
""",
    ),
    ("code", "best.value.exact, best.tree.n_leaves, best.tree.depth, best.status.value"),
    (
        "markdown",
        """
## 2 Stopped at any moment

A run that is stopped returns its best tree with an honest gap. Here after a fraction of the time that the proof takes (on a fast machine it may be
optimal already):
""",
    ),
    ("code", "early = mt.solve(sparse, time_limit=0.1)\nearly"),
    (
        "markdown",
        """
The trace holds every new incumbent and every better bound. Good trees come early; the rest of the time goes into the proof.
""",
    ),
    (
        "code",
        """
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np


def plot_trace(result, ax):
    seconds, incumbent, bound = np.array([tuple(point) for point in result.trace], dtype=float).T
    ax.step(1000 * seconds, incumbent, where="post", label="incumbent")
    ax.step(1000 * seconds, bound, where="post", linestyle="--", label="bound")
    ax.fill_between(1000 * seconds, bound, incumbent, step="post", alpha=0.15)
    ax.set(xlim=(0, None), xlabel="milliseconds", ylabel="errors / rows + λ · leaves", ylim=(0, 2 * incumbent[-1]))
    ax.legend()


fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
plot_trace(best, ax)
""",
    ),
    (
        "markdown",
        """
## 3 What is to be best?

Two classes that interlock, the positive one rarer. Five trees, each optimal for its own objective with the same price per leaf. Ratios such as the F-score
are solved in a few exact steps by the same engine; areas under the ROC curve are no sums over leaves and have a search of their own.
""",
    ),
    (
        "code",
        """
import pandas as pd

rng = np.random.default_rng(0)
plane = pd.DataFrame(rng.uniform(-1, 1, (600, 2)), columns=["x1", "x2"])
inside = (np.hypot(plane.x1 - 0.4, plane.x2 - 0.4) < 0.4) | (np.hypot(plane.x1 + 0.5, plane.x2 + 0.4) < 0.3)
label = np.where(inside ^ (rng.random(600) < 0.08), "yes", "no")
points = mt.Binarizer(kind="quantiles", n_bins=8).fit(plane).dataset(plane, label)

price = {"leaf_penalty": "0.01"}
tasks = {
    "accuracy": mt.Accuracy(**price),
    "balanced accuracy": mt.tasks.BalancedAccuracy(**price),
    "F-score": mt.tasks.F1(positive="yes", **price),
    "AUC": mt.tasks.AUC(positive="yes", **price),
    "AUC up to 20 % false positives": mt.tasks.PartialAUC(positive="yes", theta="0.2", **price),
}
found = {name: mt.solve(mt.Problem(points, task, mt.Trees(max_depth=3))) for name, task in tasks.items()}
""",
    ),
    (
        "markdown",
        """
Every tree ranks the rows by the share of positives in their leaf, so every tree has a ROC curve:
""",
    ),
    (
        "code",
        """
from milp_trees.models.draw import leaf_counts


def roc(tree):
    counts = leaf_counts(tree, points)  # rows per leaf: no, yes
    order = np.argsort(-counts[:, 1] / counts.sum(axis=1), kind="stable")
    corners = np.vstack([[0, 0], counts[order].cumsum(axis=0)])
    return corners / corners[-1]


curves = {name: roc(result.tree) for name, result in found.items()}
fig, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
for i, (name, corners) in enumerate(curves.items()):
    ax.plot(*corners.T, marker="o", markersize=4, linewidth=3 - 0.45 * i, label=name)
ax.plot([0, 1], [0, 1], color="0.8", zorder=0)
ax.set(xlabel="false positive rate", ylabel="true positive rate")
ax.legend(title="tree optimal for");
""",
    ),
    (
        "code",
        """
rows = []
for name, result in found.items():
    said, truth = result.tree.predict(points) == "yes", label == "yes"
    hits, alarms, missed = (said & truth).sum(), (said & ~truth).sum(), (~said & truth).sum()
    rows.append({
        "optimal for": name, "status": result.status.value, "leaves": result.tree.n_leaves, "accuracy": (said == truth).mean(),
        "balanced": (hits / truth.sum() + (~said & ~truth).sum() / (~truth).sum()) / 2, "F-score": 2 * hits / (2 * hits + alarms + missed),
        "AUC": np.trapezoid(curves[name][:, 1], curves[name][:, 0]),
    })
pd.DataFrame(rows).set_index("optimal for").round(3)
""",
    ),
    (
        "markdown",
        """
And where they cut the plane, shaded by the share of positives:
""",
    ),
    (
        "code",
        """
side = np.linspace(-1, 1, 200)
a, b = np.meshgrid(side, side)
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for ax, name in zip(axes, ["accuracy", "F-score", "AUC"]):
    tree = found[name].tree
    counts = leaf_counts(tree, points)
    raw = {"x1": a.ravel(), "x2": b.ravel()}
    grid = mt.Dataset(np.column_stack([t.evaluate(raw[t.column]) for t in points.features]).astype(int), points.features)
    ax.pcolormesh(a, b, (counts[:, 1] / counts.sum(axis=1))[tree.routes(grid).leaf].reshape(a.shape), cmap="RdBu_r", vmin=0, vmax=1, alpha=0.6)
    ax.scatter(plane.x1, plane.x2, s=3, c=np.where(label == "yes", "#8b0a1a", "#05386b"))
    ax.set(title=f"{name}: {tree.n_leaves} leaves", xticks=[], yticks=[])
""",
    ),
    (
        "markdown",
        """
## 4 All sizes at once

How many leaves are worth it? `sizes` gives the best tree of every size from one run, each proven, and says for which λ each is the best of all.
""",
    ),
    (
        "code",
        """
path = mt.size_path(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=None)), max_leaves=8)
path.frame()
""",
    ),
    (
        "markdown",
        """
Beside it scikit-learn's greedy trees with as many leaves, on the same tests and rows:
""",
    ),
    (
        "code",
        """
from sklearn.tree import DecisionTreeClassifier

leaves = range(2, 9)
greedy = [1 - DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(data.X, data.y).score(data.X, data.y) for k in leaves]
optimal = [path.at_leaves(k).value.number / data.n_rows for k in leaves]

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(leaves, greedy, marker="x", label="CART")
ax.plot(leaves, optimal, marker="o", label="optimal, of any depth")
ax.set(xlabel="leaves", ylabel="share of errors", ylim=(0, None))
ax.legend();
""",
    ),
    (
        "markdown",
        """
## 5 All trees that are nearly as good

The best tree is one of many. `near_best` counts every tree within a slack of the optimum exactly, lists them from the best on, and says which tests
they can do without: the Rashomon set (Xin et al. 2022).
""",
    ),
    (
        "code",
        """
near = mt.near_best(mt.Problem(data, mt.Accuracy(leaf_penalty="0.005"), mt.Trees(max_depth=3)), relative="0.1")
print(near.count, "trees within a tenth of", near.optimum)
near.plot();
""",
    ),
    ("code", 'near.frame(4)[["rank", "value", "leaves", "depth", "tests"]]'),
    (
        "markdown",
        """
What it would cost to do without a test, at best:
""",
    ),
    ("code", "near.importance().head(6)"),
]
