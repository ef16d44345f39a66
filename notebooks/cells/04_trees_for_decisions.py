"""Cells of the notebook on trees whose leaves take decisions."""

CELLS = [
    (
        "markdown",
        """
# Trees that are trained for decisions

Costs are predicted in order to decide: which road, which route, which mix. A regression tree gets its splits where *costs* change most. A decision needs
splits where the *best choice* changes, and these are not the same places. SPO trees (Elmachtoub, Liang and McNellis 2020, "smart predict, then optimise") are
grown for the second. A leaf takes one decision w from a set S; a row with true costs c pays c·w; its loss is c·w minus the cheapest possible for that row.
""",
    ),
    (
        "markdown",
        """
## 1 Two roads

Road 1 costs 5x + 1.9, road 2 costs (5x + 0.4)²; x is all that is known. Road 2 is the cheaper one below x = 0.2846. One split is enough for perfect decisions, but
it has to be that one.
""",
    ),
    (
        "code",
        """
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import milp_trees as mt

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
roads = mt.decisions.two_roads(10_000)
trees = {
    "SPO tree, depth 1": mt.SPOTree(decisions=roads.decisions, max_depth=1).fit(roads.X, roads.C),
    **{f"CART, depth {d}": mt.SPOTree(decisions=roads.decisions, method="cart-spo", max_depth=d).fit(roads.X, roads.C) for d in (1, 2, 4)},
}
fresh = mt.decisions.two_roads(15_000)
x, costs = fresh.X[10_000:], fresh.C[10_000:]
for name, tree in trees.items():
    print(f"{name}: {-100 * tree.score(x, costs):.3f} % above the cheapest roads")
""",
    ),
    (
        "markdown",
        """
The shaded x are those where the tree takes the wrong road. CART spends its splits on the right, where road 2 gets expensive quickly and nobody would take it
anyway; it comes near the point that matters at depth 4.
""",
    ),
    (
        "code",
        """
grid = np.linspace(0, 1, 2001)
true = np.column_stack([5 * grid + 1.9, (5 * grid + 0.4) ** 2])
figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), sharey=True, layout="constrained")
for axis, (name, tree) in zip(axes, trees.items()):
    for k, colour in enumerate(["#0072B2", "#D55E00"]):
        axis.plot(grid, true[:, k], "--", color=colour, linewidth=0.9)
        axis.plot(grid, tree.predict(grid[:, None])[:, k], color=colour, label=f"road {k + 1}")
    wrong = tree.decide(grid[:, None]).argmax(axis=1) != true.argmin(axis=1)
    axis.fill_between(grid, 0, 1, where=wrong, transform=axis.get_xaxis_transform(), color="#E69F00", alpha=0.25, linewidth=0)
    axis.set(title=name, xlabel="x", ylim=(0, 30))
axes[0].set_ylabel("cost (dashed: true)")
axes[0].legend();
""",
    ),
    (
        "markdown",
        """
## 2 Routes through a town

A grid of 4 × 4 crossings; edges lead east and north, and the costs of all 24 depend on five features in a way that is far from linear (degree 10), with noise.
S is the set of routes from the south-west to the north-east: 20 paths. A fifth of 400 rows is kept to choose how far each tree is pruned.
""",
    ),
    (
        "code",
        """
def table(X):
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])


data = mt.decisions.shortest_path_data(400, degree=10, noise=0.25, seed=0)
test = mt.decisions.shortest_path_data(2000, degree=10, noise=0.25, seed=1, B=data.B)
S, held = data.decisions, {"X_val": table(data.X[:80]), "y_val": data.C[:80]}
X, C, new = table(data.X[80:]), data.C[80:], table(test.X)

fitted = {}
for name, method in {"CART": "cart-spo", "greedy SPO tree": "greedy-spo", "exact SPO tree": "dp"}.items():
    for depth in (1, 2, 3):
        model = mt.SPOTree(decisions=S, method=method, max_depth=depth, min_samples_leaf=20, n_bins=25).fit(X, C, **held)
        fitted[name, depth] = model
regret = pd.Series({key: -100 * m.score(new, test.C) for key, m in fitted.items()}).unstack().round(2)
leaves = pd.Series({key: m.tree_.n_leaves for key, m in fitted.items()}).unstack()
print("detour on new days, in % of the shortest routes")
print(regret.to_string())
print("leaves")
print(leaves.to_string())
""",
    ),
    (
        "markdown",
        """
`method="dp"` is the exact search: of all trees of the depth over the same candidate thresholds, none has a smaller training loss, and that is proven. What a leaf
says is a route; here are those of the exact tree of depth 2.
""",
    ),
    (
        "code",
        """
best = fitted["exact SPO tree", 2]
print(best.to_text())
figure, axes = plt.subplots(1, len(best.leaf_decisions_), figsize=(2.6 * len(best.leaf_decisions_), 2.6), layout="constrained")
for leaf, (axis, decision) in enumerate(zip(axes, best.leaf_decisions_)):
    share = (best.apply(new) == leaf).mean()
    for edge, taken, cost in zip(S.components, decision, best.leaf_costs_[leaf]):
        (r, c), (r2, c2) = (divmod(int(node), 4) for node in edge.split(">"))
        width = 1 + 5 * (cost / best.leaf_costs_[leaf].max())
        axis.plot([c, c2], [r, r2], color="#D55E00" if taken > 0.5 else "#cccccc", linewidth=width, solid_capstyle="round", zorder=2 if taken > 0.5 else 1)
    axis.set_title(f"leaf {leaf + 1}: {100 * share:.0f} % of days", fontsize=9)
    axis.set_axis_off()
    axis.set_aspect("equal")
figure.supxlabel("routes taken; the wider an edge, the dearer it is on average in the leaf", fontsize=9);
""",
    ),
    (
        "markdown",
        """
## 3 Forests

Many trees on bootstrap samples, each split on a few features drawn at random; their cost vectors are averaged, and the decision is the best for the average. Rows that
a tree has not seen judge it: the out-of-bag regret needs no rows set aside.
""",
    ),
    (
        "code",
        """
bars = {f"{name}, depth 3": -100 * fitted[name, 3].score(new, test.C) for name in ("CART", "greedy SPO tree", "exact SPO tree")}
for name, method in {"CART forest": "cart-spo", "SPO forest": "greedy-spo"}.items():
    forest = mt.SPOForest(
        n_estimators=100, decisions=S, method=method, max_features=3, min_samples_leaf=10, oob_score=True, random_state=0
    ).fit(X, C)
    bars[name] = -100 * forest.score(new, test.C)
    print(f"{name}: out of bag {-100 * forest.oob_score_:.2f} %, new days {bars[name]:.2f} %")
figure, axis = plt.subplots(figsize=(7, 2.4), layout="constrained")
axis.barh(list(bars), list(bars.values()), color=["#D55E00" if "CART" in name else "#009E73" if "exact" in name else "#0072B2" for name in bars])
axis.invert_yaxis()
axis.set_xlabel("detour on new days, %");
""",
    ),
    (
        "markdown",
        """
## 4 More routes than can be listed

On a grid of 13 × 13 there are 2.7 million routes. The exact search `dp-oracle` never lists them: it asks for the shortest route of sums of costs, and proves bounds from
how such sums behave (two groups of rows that share a route never do better than each with its own).
""",
    ),
    (
        "code",
        """
town = mt.decisions.shortest_path_data(200, degree=6, noise=0.25, grid=(13, 13), seed=3)
print(f"{town.decisions.n_vertices:,} routes over {town.decisions.dimension} edges")
large = mt.SPOTree(decisions=town.decisions, method="dp-oracle", max_depth=2, min_samples_leaf=20, n_bins=20).fit(town.X, town.C)
greedy = mt.SPOTree(decisions=town.decisions, max_depth=2, min_samples_leaf=20, n_bins=20).fit(town.X, town.C)
print(f"exact: {large.status_}, mean loss {large.result_.objective / 200:.4g}; greedy: {greedy.result_.objective / 200:.4g}")
f"{town.decisions.calls:,} shortest routes asked for"
""",
    ),
    (
        "markdown",
        """
## 5 The same tree as a program

The paper writes the SPO tree as a mixed-integer program: S may be any set with linear constraints. `spot` is that model on any solver that is installed, here HiGHS, started
from the greedy tree and stopped after two seconds. Its relaxation says next to nothing, so a solver finds good trees without being able to prove it. The
exact search does, and is what the program's answer is judged by (`agrees`: proven and equal, or blank where nothing was proven).
""",
    ),
    (
        "code",
        """
from milp_trees.decisions.generated import DecisionData
from milp_trees.decisions.generated_problems import generated_problem

problem, unseen = generated_problem(DecisionData(rows=60, degree=10, noise=0.25, thresholds=10, seed=1), depth=2, min_samples_leaf=5)
study = mt.compare(problem, ["greedy-spo", "spot@highs", "dp"], start="greedy-spo", reference="dp", time_limit=2)
study.frame()[["method", "status", "objective", "bound", "gap", "seconds", "variables", "rows", "agrees"]]
""",
    ),
    (
        "code",
        """
loss = study.frame().set_index("method").objective
print("exact ≤ program ≤ greedy:", loss["dp"] <= loss["spot@highs"] * (1 + 1e-9) and loss["spot@highs"] <= loss["greedy-spo"] * (1 + 1e-9))
""",
    ),
    (
        "markdown",
        """
The studies behind the paper's figures, over many data sets, are in `benchmarks/spo_shortest_path.py`, `spo_two_roads.py` and `spo_news.py`;
[docs/guide/spo_studies.md](../docs/guide/spo_studies.md) has their results.
""",
    ),
]
