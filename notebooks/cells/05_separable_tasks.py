"""Cells of the notebook on the five domains of separable tasks."""

CELLS = [
    (
        "markdown",
        """
# Five questions for one way of searching

A tree can be built from the best trees of its two sides whenever a task is *separable* (van der Linden, de Weerdt and Demirović 2023, "Necessary and sufficient conditions
for optimal decision trees using dynamic programming"). That covers more than errors: who gets which treatment, what a measurement costs, F1, equal rates between
groups. Here is each of them, small, and every tree is proven optimal.
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
from milp_trees.data.generate import athey_imbens
from milp_trees.plugins import Front

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
BLUE, ORANGE = "#0072B2", "#D55E00"
""",
    ),
    (
        "markdown",
        """
## 1 Policies: a leaf is a treatment

Half of 500 patients had a treatment, at random; it costs 0.5, and the outcome is known for what each one had. What the other choice would have done is estimated in three
ways: predicted (direct method), weighted by inverse propensity, or both (doubly robust). The data are generated, so for 4000 new patients we know what is best for each.
""",
    ),
    (
        "code",
        """
def trial(rows, seed):
    data, truth = athey_imbens(10, rows, p=0.5, seed=seed)
    price = np.array([0, 0.5])
    return data.with_(outcomes=data.outcomes - price[data.treatments], values=data.values - price), truth - price


(train, _), (fresh, truth) = trial(500, 1), trial(4000, 2)
tasks = {"direct": mt.tasks.DirectMethod(), "inverse propensity": mt.tasks.InversePropensity(), "doubly robust": mt.tasks.DoublyRobust()}
rows = []
for name, task in tasks.items():
    for depth in (1, 2, 3):
        found = mt.solve(mt.Problem(train, task, mt.Trees(depth, min_samples_treatment=10)))
        given = found.tree.routes(fresh).action
        rows.append({"task": name, "depth": depth, "proven": found.optimal, "right, %": 100 * (given == truth.argmax(axis=1)).mean()})
print(pd.DataFrame(rows).pivot(index="task", columns="depth", values="right, %").round(1))
print("all proven:", all(row["proven"] for row in rows))
""",
    ),
    (
        "markdown",
        """
Every leaf was asked to hold ten patients of each treatment, so that it can compare them. How much better is the policy than treating everybody? On the patients
that chose the tree it tends to look better than it is, so we ask the new ones. The last line before the table is the best policy if only 150 of the 500 can be treated.
""",
    ),
    (
        "code",
        """
policy = mt.solve(mt.Problem(train, tasks["doubly robust"], mt.Trees(2, min_samples_treatment=10))).tree
print("on its own patients:", mt.policy_value(policy, train, against=1))
print("on new patients:    ", mt.policy_value(policy, fresh, against=1))
print(f"the truth:           {truth[np.arange(4000), policy.routes(fresh).action].mean() - truth[:, 1].mean():.4f}")
leaves = mt.policy_leaves(policy, fresh)
few = mt.tasks.DoublyRobust(constraints=[mt.tasks.Capacity(1, at_most=150)])
tight = mt.solve(mt.Problem(train, few, mt.Trees(2, min_samples_treatment=10)))
print(f"mean outcome with at most 150 treatments: {tight.value.number:.4f}, without that limit {task.value(policy.routes(train), train).number:.4f}; proven: {tight.optimal}")
print(leaves[["rule", "action", "chosen", "rows", "treated", "value", "low", "high"]].round(2).to_string(index=False))
""",
    ),
    (
        "markdown",
        """
## 2 Costs of measuring

A leaf costs what its mistakes cost, and a path costs what is measured on it: once per measurement, and less if the same visit already paid for a related one. The tree that
makes the fewest errors asks for too much.
""",
    ),
    (
        "code",
        """
wine = mt.load("wine", binarizer="quantiles:4")
names = sorted({test.column for test in wine.features})
prices = {name: 2 + 3 * (i % 3) for i, name in enumerate(names)}
lab = [mt.tasks.Attribute(name, cost, discount=1, group="lab") if i < 5 else mt.tasks.Attribute(name, cost) for i, (name, cost) in enumerate(prices.items())]
costs = mt.tasks.CostSensitive(matrix=30 * (1 - np.eye(3, dtype=int)), attributes=lab)
for name, task in {"fewest errors": mt.Accuracy(), "least cost": costs}.items():
    found = mt.solve(mt.Problem(wine, task, mt.Trees(3)), start=None)
    value = costs.value(found.tree.routes(wine), wine).number
    asked = sorted({test.column for test in found.tree.splits})
    print(f"{name}: {value / wine.n_rows:.2f} per wine, asks for {', '.join(asked)}")
""",
    ),
    (
        "markdown",
        """
## 3 F1: a front of two kinds of errors

F1 is no sum over rows. But it can only rise if false positives or false negatives fall, so the best tree is on their Pareto front. The front holds the best trees for every
such metric at once; ratio steps find the one for F1 without it.
""",
    ),
    (
        "code",
        """
cancer = mt.load("breast-cancer", binarizer="quantiles:4")
whole = mt.solve(mt.Problem(cancer, mt.tasks.F1(), mt.Trees(2), Front()))
steps = mt.solve(mt.Problem(cancer, mt.tasks.F1(), mt.Trees(2)), method="dp", start=None)
front = whole.front()
print(f"{len(front)} trees on the front, complete: {whole.complete}; best F1 {whole.value.number:.6f}, by ratio steps {steps.value.number:.6f}")
errors = front.columns[front.columns.str.contains("false")].tolist()
figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
axis.step(front[errors[0]], front[errors[1]], where="post", color=BLUE, marker="o", markersize=3)
axis.set(xlabel=errors[0], ylabel=errors[1], title="No tree of depth 2 is below the line")
plt.show()
""",
    ),
    (
        "markdown",
        """
## 4 Equal rates

In these invented applications, group B was judged more harshly and its first column is worse on average. A tree that may not look at the group still favours A. How many
errors does each bit of equality cost? Every corner below is proven: no tree of depth 2 with as few errors is fairer.
""",
    ),
    (
        "code",
        """
rng = np.random.default_rng(0)
n = 300
group = rng.choice(["A", "B"], n)
score, years = rng.normal(0.6 * (group == "A"), 1, n), rng.integers(0, 10, n)
hired = score + 0.15 * years + rng.normal(0, 0.7, n) > 1 + 0.4 * (group == "B")
table = pd.DataFrame({"score": score, "years": years})
hiring = mt.Binarizer(kind="quantiles", n_bins=5).fit(table, hired).dataset(table, y=hired, groups=group)
fair = mt.solve(mt.Problem(hiring, mt.Accuracy(), mt.Trees(2), Front("statistical-parity")))
curve = fair.front()
print(curve[["errors", "statistical-parity"]].round(4).to_string(index=False))
print("complete:", fair.complete)
figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
axis.step(curve["statistical-parity"], curve["errors"], where="post", color=ORANGE, marker="o", markersize=3)
axis.set(xlabel="difference of the rates of the groups", ylabel="errors", title="What equality costs")
plt.show()
""",
    ),
    (
        "markdown",
        """
## 5 Errors, and a task of one's own

Errors are the task that everything began with. Written once more by its parts, in ten lines, it is solved by the general engine, which knows nothing about errors: the same
optimum. The second line of the leaf makes it another task: wrong alarms cost three.
""",
    ),
    (
        "code",
        """
from dataclasses import dataclass

from milp_trees.plugins import SeparableTask, States


def leaf(sums, action, context, tables):
    # sums: rows, then rows of class 1; a false alarm costs tables[0][0]
    return (tables[0][0] * (sums[0] - sums[1]) if action == 1 else sums[1],)


@dataclass(frozen=True)
class Alarms(SeparableTask):
    name, unit, sense = "alarms", "cost", "min"
    alarm: int = 1

    def states(self, dataset, space):
        return States.of(dataset, space, stats=dataset.y[:, None], actions=dataset.classes, names=("cost",), leaf=leaf,
                         tables=(np.array([self.alarm]),), nonnegative=True)

    def actions(self, dataset):
        return dataset.classes


own = mt.solve(mt.Problem(cancer, Alarms(), mt.Trees(2)), method="separable")
built_in = mt.solve(mt.Problem(cancer, mt.Accuracy(), mt.Trees(2)), start=None)
three = mt.solve(mt.Problem(cancer, Alarms(3), mt.Trees(2)), method="separable")
print(f"errors: {own.value.number:g} and {built_in.value.number:g}; with dear false alarms: {three.value.number:g}")
""",
    ),
    (
        "markdown",
        """
What belongs to which page: [policies](../docs/guide/policies.md), [objectives](../docs/guide/objectives.md), and the tables that the paper has, measured again, in
[benchmarks](../docs/benchmarks/index.md).
""",
    ),
]
