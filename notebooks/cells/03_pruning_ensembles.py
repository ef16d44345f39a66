"""Cells of the notebook on pruning ensembles whose features cost something."""

CELLS = [
    (
        "markdown",
        """
# A forest that asks for less

A random forest asks for every feature of every row, though most rows would be decided by a few. Where features cost something (a laboratory test, a
sensor, a call to another service), the forest can be pruned after it was grown: splits are taken back where the errors they save are not worth what their
features cost. Nan, Wang and Saligrama (2016) wrote that as an integer program; it is a minimum cut, and one parametric cut gives the answer for every
price of cost at once.
""",
    ),
    (
        "markdown",
        """
## 1 Data with prices

Thirty features of cell nuclei: ten quantities, each as mean, standard error and worst value. Suppose that segmenting the image for a quantity costs 1, once
for all three of its features, and every feature 1/4 on top.
""",
    ),
    (
        "code",
        """
import milp_trees as mt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

quantities = {c: c.removeprefix("mean ").removeprefix("worst ").removesuffix(" error") for c in X.columns}
groups = [mt.pruning.Group(f"segmenting {q}", [c for c in X.columns if quantities[c] == q], 1) for q in dict.fromkeys(quantities.values())]
len(groups), groups[0].members
""",
    ),
    (
        "markdown",
        """
## 2 Fit, prune, choose

`EnsemblePruner` takes any forest, bagging, extra trees or single tree of scikit-learn. It grows it on three quarters of the rows, prunes it for every λ,
and selects the cheapest pruning whose vote is as good as the unpruned forest's on the rows set aside. With few of those the choice is a rough one; the test
rows tell.
""",
    ),
    (
        "code",
        """
forest = RandomForestClassifier(40, random_state=0)
pruner = mt.EnsemblePruner(estimator=forest, feature_costs="1/4", groups=groups, random_state=0).fit(train, y_train)
pruner.cost_report(test, y_test).round(3)
""",
    ),
    (
        "markdown",
        """
What comes out is a forest like any other, with smaller trees. It predicts with the stock `predict`, pickles, and needs nothing but scikit-learn.
""",
    ),
    ("code", "pruner.best_estimator_, pruner.best_estimator_.pruning_"),
    (
        "markdown",
        """
## 3 The whole curve

The objective is the mean error of the single trees + λ · the mean cost of a row. Its optima for all λ are corners of a convex curve (grey), exact rational
numbers; what the *vote* does with each is another matter, and is looked at on rows that the trees have not seen (blue).
""",
    ),
    (
        "code",
        """
%matplotlib inline
print(pruner.curve_)
print("first breakpoints:", *pruner.curve_.breakpoints[:4])
pruner.plot();
""",
    ),
    ("code", "pruner.validation_curve_.iloc[::8].round(4)"),
    (
        "markdown",
        """
Prunings are nested: as cost gets dearer, splits only ever disappear, and with them features. Colour is the share of rows that still need a feature.
""",
    ),
    ("code", "pruner.plot_features(most=20);"),
    (
        "markdown",
        """
For the selected pruning, in which order do rows ask for features? Those at the top are needed by all, the others by some only; grey is the unpruned forest.
""",
    ),
    ("code", "pruner.plot_acquisition(test, most=15);"),
    (
        "markdown",
        """
## 4 A budget is another question

"At most 5 per row on average" is not answered by any λ: between two corners of the curve there may be prunings that are best within a budget and optimal for
no λ. So the pruner gives the corner below the budget, calls it that, and says what the curve proves. Finding the best within a budget is NP-hard; the
program with a budget row, started from the corner, proves it on forests of moderate size.
""",
    ),
    (
        "code",
        """
import pandas as pd

small = mt.EnsemblePruner(estimator=RandomForestClassifier(5, max_depth=4, random_state=0), feature_costs="1/4", groups=groups, lam=0).fit(train, y_train)
rows = []
for budget in [2, 3, 4, 5, 6]:
    corner, best = small.pruned(budget=budget), small.pruned(budget=budget, exact=True)
    rows.append({
        "budget": budget, "corner: cost": float(corner.cost), "error": float(corner.error), "bound of the curve": float(corner.bound),
        "best: cost": float(best.cost), "error ": float(best.error), "status": best.status,
    })
pd.DataFrame(rows).set_index("budget").round(4)
""",
    ),
    ("code", "print(small.pruned(budget=4).note)"),
    (
        "markdown",
        """
## 5 One problem, several methods

The same problem as the paper's program IP3, whose relaxation has integral vertices (its bound at the root is the optimum), as the closure problem that IP3 is
after a change of variables, and as a minimum cut. They must agree, and do. The sizes tell why the paper's program is not the one to solve.
""",
    ),
    (
        "code",
        """
from dataclasses import replace

problem = replace(small.problem_, task=replace(small.problem_.task, lam="1/100"))
study = mt.compare(problem, ["min-cut", "ip3@highs", "ip3-closure@highs"], start=None, reference="min-cut")
study.frame()[["method", "status", "objective", "root_bound", "variables", "rows", "nonzeros", "agrees"]]
""",
    ),
    (
        "markdown",
        """
The curve can prove itself: for any λ there is a flow whose value equals the cut's, checked on every split and every feature of every row.
""",
    ),
    ("code", 'certificate = small.curve_.certificate("1/100")\ntype(certificate).__name__'),
]
