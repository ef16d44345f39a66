"""Cells of the notebook that compares formulations."""

CELLS = [
    (
        "markdown",
        """
# One tree, many formulations

An optimal decision tree of depth 2 can be found by a dynamic programme in milliseconds, or by mixed-integer programmes that look at the
same question in very different ways. This notebook states one problem, solves it, lets formulations compete, and then asks for something
that `dp` does not take: a fair tree.
""",
    ),
    (
        "markdown",
        """
## 1 State the problem once

The breast cancer data come with scikit-learn. Five columns of measurements have about 2 500 thresholds in all, each a yes/no test that is
named as its column is. A *problem* is data, a task (what "best" means) and a space (which models are allowed).
""",
    ),
    (
        "code",
        """
import milp_trees as mt

columns = ["mean radius", "mean texture", "worst radius", "worst concave points", "worst smoothness"]
data = mt.load("breast-cancer", features=columns)
problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))
problem
""",
    ),
    ("code", "[test.name for test in data.features[:5]]"),
    (
        "markdown",
        """
## 2 The optimum

Where nothing is named, an exact engine answers, over every threshold as long as a proof can be expected. The answer shows the tree and
its certificate: the value is recomputed from the tree on the data, and the bound says that no tree of depth 2 makes fewer errors.
""",
    ),
    ("code", 'best = mt.solve(problem)\nbest'),
    (
        "markdown",
        """
The same tree as text, with the rows of each leaf and how many of them have another label:
""",
    ),
    ("code", "print(best.tree)"),
    (
        "markdown",
        """
## 3 One formulation

FlowOCT sends every row as a unit of flow from the root to a leaf. A formulation is a readable Pyomo model: every variable and constraint
says what it means. Its size grows with every test, so it gets some 40 of them, chosen with the target in view: those of the optimal tree
and of greedy ones are among them.
""",
    ),
    (
        "code",
        """
import pandas as pd
import pyomo.environ as pyo

few = mt.choose_thresholds(problem)
print(few.dataset.source["thresholds"])
flow = mt.registry.formulation("flow-oct")
model = flow.build(few)
rows = [(c.local_name, len(c), c.doc) for kind in (pyo.Var, pyo.Constraint) for c in model.component_objects(kind, active=True)]
pd.DataFrame(rows, columns=["name", "number", "meaning"])
""",
    ),
    (
        "markdown",
        """
How large are the others, and what is to be expected? `estimate` builds nothing.
""",
    ),
    ("code", "mt.estimate(few)"),
    (
        "markdown",
        """
Solved with HiGHS for two seconds, starting from the dynamic programme's tree, as every integer program does by default. The start is checked before the solver sees it, and the result says
whether the solver took it. Two seconds need not be enough to *prove* the optimum: then the status says "feasible", and the bound how far
the proof has come.
""",
    ),
    ("code", 'mt.solve(few, method="flow-oct@highs", time_limit=2)'),
    (
        "markdown",
        """
## 4 Let them compete

Same data, same tests, same limits, same start. The last column compares with the dynamic programme: "yes" means proven and equal.
""",
    ),
    (
        "code",
        """
study = mt.compare(few, ["dp", "state-flow@highs", "path-cut@highs", "flow-oct@highs"], time_limit=2)
study
""",
    ),
    (
        "markdown",
        """
All of them hold the same tree from the first moment on (that was the start), so what differs is the bound. On the left the bounds (dashed)
climb towards the incumbent; state-flow has one block per *set* of rows instead of one per row, and its linear relaxation is integral
already. On the right, for one problem only, who proved it and how much slower than the fastest.
""",
    ),
    ("code", "%matplotlib inline\n\nstudy.plot();"),
    ("code", 'study.frame()[["method", "status", "objective", "bound", "variables", "rows", "seconds", "agrees"]]'),
    (
        "markdown",
        """
## 5 A constraint that couples the leaves

Statistical parity says that two groups get the favourable answer at nearly the same rate. The best tree of a part of the rows need not be part of the best tree of all,
so `dp`, which keeps one tree per set of rows, does not take it; `lagrangian` and `side-fronts`, which keep more, and integer programs do. Here are
applicants of two groups; group `b` was historically given fewer points, and the label repeats it. (The group itself is not split on.)
""",
    ),
    (
        "code",
        """
import numpy as np

rng = np.random.default_rng(7)
n = 600
group = rng.choice(["a", "b"], n, p=[0.6, 0.4])
points = rng.integers(0, 10, n) - 2 * (group == "b")
experience = rng.integers(0, 8, n)
frame = pd.DataFrame({"points": points, "experience": experience, "local": rng.integers(0, 2, n)})
hired = np.where(points + experience + rng.normal(0, 1.5, n) > 7, "yes", "no")

tests = mt.Binarizer(kind="quantiles", n_bins=5).fit(frame)
applicants = tests.dataset(frame, hired, groups=group)


def hire(limit):
    task = mt.Accuracy() if limit is None else mt.Accuracy(constraints=(mt.tasks.StatisticalParity(limit, favourable="yes"),))
    return mt.solve(mt.Problem(applicants, task, mt.Trees(max_depth=2)), method="state-flow@highs")


def rates(result):
    chosen = result.tree.predict(frame) == "yes"
    return {g: chosen[group == g].mean().round(3) for g in "ab"}


table = []
for limit in (None, 0.2, 0.1, 0.05, 0.01):
    result = hire(limit)
    table.append({"largest difference": limit, "errors": result.objective, "status": result.status.value, "method": result.method, **rates(result)})
pd.DataFrame(table)
""",
    ),
    (
        "markdown",
        """
The price of fairness, in errors, each proven optimal. `dp` says who takes the problem:
""",
    ),
    (
        "code",
        """
fair = mt.Problem(applicants, mt.Accuracy(constraints=(mt.tasks.StatisticalParity(0.05, favourable="yes"),)), mt.Trees(max_depth=2))
print(mt.registry.method("dp").unsupported(fair))
hire(0.05)
""",
    ),
    (
        "markdown",
        """
## 6 Take it elsewhere

As a scikit-learn estimator, with its plotting tools:
""",
    ),
    (
        "code",
        """
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import plot_tree

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
search = GridSearchCV(mt.OptimalTreeClassifier(), {"max_depth": [1, 2], "ccp_alpha": [0, 0.005]}, cv=3).fit(X[columns], y)
print(search.best_params_, round(search.best_score_, 3))

tree = search.best_estimator_.to_sklearn()
plt.figure(figsize=(9, 4))
plot_tree(tree, feature_names=list(tree.feature_names_in_), class_names=["malignant", "benign"], filled=True, fontsize=8);
""",
    ),
    (
        "markdown",
        """
And as a result that anyone can check: `to_json` is what the command line prints with `--json`, and `verify` recomputes what it claims.
""",
    ),
    (
        "code",
        """
stored = study.best.to_json()
for sentence in mt.verify(stored, few.dataset):
    print("-", sentence)
""",
    ),
    (
        "code",
        """
from milp_trees.common.errors import VerificationError

stored["objective"] -= 1
try:
    mt.verify(stored, few.dataset)
except VerificationError as refusal:
    print(refusal)
""",
    ),
]
