"""Cells of the notebook on trees inside optimisation models."""

CELLS = [
    (
        "markdown",
        """
# Trees inside models

A fitted tree says what happens; an optimisation model decides what to do. `mt.embed` puts the one into the other: a tree, rule list or forest becomes a Pyomo block whose inputs are variables
of our model. Four uses: a product mix under learned demand, the nearest input with another prediction, the input that a forest likes best, and a policy as a constraint.
""",
    ),
    (
        "code",
        """
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyomo.environ as pyo
from sklearn.ensemble import RandomForestRegressor

import milp_trees as mt

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
solver = pyo.SolverFactory("appsi_highs")
""",
    ),
    (
        "markdown",
        """
## 1 A product mix under a learned demand

Two drinks share one plant and one budget for advertising. What each sells in a week depends on its price and on advertising, and two years of weeks are all that we know. We fit the best tree of depth 3 for each drink.
""",
    ),
    (
        "code",
        """
rng = np.random.default_rng(7)
weeks = 104
history = pd.DataFrame({"price": rng.choice(np.arange(2.0, 6.01, 0.25), weeks), "ads": rng.integers(0, 11, weeks)})
sold = {
    "lemonade": 900 - 130 * history["price"] + 25 * np.minimum(history["ads"], 6) + rng.normal(0, 25, weeks),
    "iced tea": 700 - 70 * history["price"] + 12 * history["ads"] + rng.normal(0, 25, weeks),
}
demand = {drink: mt.OptimalTreeRegressor(max_depth=3, min_samples_leaf=5).fit(history, y.round()) for drink, y in sold.items()}
print(demand["lemonade"].tree_)
""",
    ),
    (
        "markdown",
        """
The model chooses a price from the list, the advertising, and how much to make. Revenue is price times sales; with one variable of sales per price it stays linear. `m.demand[drink].value` is the prediction of the tree, as a linear expression.
""",
    ),
    (
        "code",
        """
prices = np.arange(2.0, 6.01, 0.25).tolist()
cost = {"lemonade": 0.8, "iced tea": 1.1}

m = pyo.ConcreteModel()
m.drinks = pyo.Set(initialize=list(demand))
m.at = pyo.Var(m.drinks, prices, domain=pyo.Binary)  # the price that is asked
m.ads = pyo.Var(m.drinks, domain=pyo.NonNegativeIntegers, bounds=(0, 10))
m.sales = pyo.Var(m.drinks, prices, domain=pyo.NonNegativeReals)
m.one_price = pyo.Constraint(m.drinks, rule=lambda m, d: sum(m.at[d, p] for p in prices) == 1)
m.price = pyo.Expression(m.drinks, rule=lambda m, d: sum(p * m.at[d, p] for p in prices))

m.demand = pyo.Block(m.drinks)
for d in m.drinks:
    m.demand[d].tree = mt.embed(demand[d], {"price": m.price[d], "ads": m.ads[d]}, bounds={"price": (2, 6)})
m.no_more = pyo.Constraint(m.drinks, rule=lambda m, d: sum(m.sales[d, p] for p in prices) <= m.demand[d].tree.value)
m.if_asked = pyo.Constraint(m.drinks, prices, rule=lambda m, d, p: m.sales[d, p] <= 1000 * m.at[d, p])
m.plant = pyo.Constraint(expr=sum(m.sales.values()) <= 750)
m.budget = pyo.Constraint(expr=sum(m.ads.values()) <= 8)
m.profit = pyo.Objective(
    expr=sum((p - cost[d]) * m.sales[d, p] for d in m.drinks for p in prices) - 20 * sum(m.ads.values()), sense=pyo.maximize
)
solver.solve(m)
plan = pd.DataFrame(
    {d: {"price": pyo.value(m.price[d]), "ads": m.ads[d].value, "predicted": pyo.value(m.demand[d].tree.value), "made": sum(m.sales[d, p].value for p in prices)} for d in m.drinks}
)
print(f"profit {pyo.value(m.profit):.0f} a week")
plan.round(2)
""",
    ),
    (
        "markdown",
        """
**Is the plan what the trees say?** A solver keeps rows up to a tolerance, and at a threshold a tolerance is another leaf. The audit asks the model itself, and moves the point into its leaf if it must.
All combinations of two prices and two numbers of advertisements are few enough to try: the plan is the best of them.
""",
    ),
    (
        "code",
        """
for d in m.drinks:
    print(d, m.demand[d].tree.audit())

grid = pd.DataFrame([(p, a) for p in prices for a in range(11)], columns=["price", "ads"])
said = {d: np.asarray(demand[d].predict(grid)) for d in m.drinks}
best = -np.inf
for i, one in grid.iterrows():
    for j, other in grid.iterrows():
        if one.ads + other.ads > 8:
            continue
        margins = sorted([(one.price - 0.8, said["lemonade"][i]), (other.price - 1.1, said["iced tea"][j])], reverse=True)
        first = min(750, margins[0][1])
        second = min(750 - first, margins[1][1])
        best = max(best, margins[0][0] * first + margins[1][0] * second - 20 * (one.ads + other.ads))
print(f"best of all {len(grid) ** 2} combinations: {best:.2f}; the model: {pyo.value(m.profit):.2f}")
assert abs(best - pyo.value(m.profit)) < 1e-4
""",
    ),
    (
        "markdown",
        """
## 2 What would have to change?

A tree of depth 3 predicts who earns a high income. For a person whom it predicts to earn little: what is the nearest person whom it predicts to earn much? Age only grows, and sex does not change.
Of a tree the answer is exact: the distance to the box of every leaf is a sum over columns, in rationals.
""",
    ),
    (
        "code",
        """
people = mt.example("people.csv")
income = mt.OptimalTreeClassifier(max_depth=3).fit(people.drop(columns="income"), people["income"])
person = people.drop(columns="income").iloc[[3]]
print(income.tree_)
nearest = mt.counterfactual(income, person, data=people, immutable=["sex"], monotone={"age": "up"})
print(person.to_dict("records")[0])
print(nearest)
print(*nearest.verify(), sep="\\n")
""",
    ),
    (
        "markdown",
        """
What a change costs is ours to say: here a year of school costs 4, an hour of work per week 0.1, and a wedding 5.
""",
    ),
    (
        "code",
        """
weights = {"age": 1, "school": 4, "hours": 0.1, "married": 5, "job": 2, "gains": 0.001, "sex": 0}
weighted = mt.counterfactual(income, person, data=people, norm="weighted", weights=weights, immutable=["sex"], monotone={"age": "up"})
print(weighted)
few = mt.counterfactual(income, person, data=people, norm="l0", immutable=["sex"], monotone={"age": "up"})
print(few)
weighted.plot();
""",
    ),
    (
        "markdown",
        """
Of a forest the same question is an integer program over the embedded forest, and the proof is the bound of the solver.
""",
    ),
    (
        "code",
        """
from sklearn.ensemble import RandomForestClassifier

numbers = ["age", "school", "hours", "gains"]
forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(people[numbers], people["income"])
print(mt.counterfactual(forest, person[numbers], data=people[numbers], monotone={"age": "up"}))
""",
    ),
    (
        "markdown",
        """
## 3 What does a forest like best?

A process has eight settings, and a forest has learned its yield. `EnsemblePruner` cuts the forest down; the rest is embedded, and the best settings are those of the optimisation, not of the best row that was tried. Settings cost something too.
""",
    ),
    (
        "code",
        """
names = [f"setting {j}" for j in range(8)]
X = pd.DataFrame(rng.random((400, 8)).round(2), columns=names)
strength = 10 * np.sin(np.pi * X["setting 0"] * X["setting 1"]) + 8 * (X["setting 2"] - 0.5) ** 2 + 6 * X["setting 3"] + 3 * X["setting 4"] + rng.normal(0, 1, 400)
grown = RandomForestRegressor(15, max_depth=4, max_features=3, random_state=0).fit(X, strength)
pruner = mt.EnsemblePruner(estimator=grown, lam=0.05).fit(X, strength)
pruned = pruner.selected_.ensemble
print(f"{pruned.n_leaves} of {mt.read_ensemble(grown).n_leaves} leaves are kept")

p = pyo.ConcreteModel()
p.x = pyo.Var(names, bounds=(0, 1))
p.forest = mt.embed(pruned, {c: p.x[c] for c in names})
p.goal = pyo.Objective(expr=p.forest.value - 2 * p.x["setting 3"], sense=pyo.maximize)
solver.solve(p)
audit = p.forest.audit()
rows = pruned.predict(X) - 2 * X["setting 3"]
print(f"{p.forest.formulation}: {pyo.value(p.goal):.3f}, the best of 400 rows {rows.max():.3f}; {audit.message or 'nothing was moved'}")
pd.Series({c: p.x[c].value for c in names}).round(3)
""",
    ),
    (
        "markdown",
        """
## 4 A policy as a constraint

A policy tree decides which patients get a drug, and the ward has the drug for two. Before they are examined, patients may exercise, which lowers their blood pressure by 25 at most, and diet, which lowers their weight by 10 at most.
What is the least effort after which the policy gives the drug to two of eight patients? Every patient has a copy of the policy, and its decision is an expression: `action["drug"]`.
""",
    ),
    (
        "code",
        """
patients = pd.DataFrame({"age": rng.integers(30, 80, 300), "pressure": rng.integers(110, 181, 300), "weight": rng.integers(60, 121, 300)})
gain = np.where(patients.pressure > 145, 6.0, -2.0) + np.where((patients.weight > 95) & (patients.age > 50), 3.0, -1.0)
outcome = pd.DataFrame({"none": np.zeros(300), "drug": gain + rng.normal(0, 2, 300)})
policy = mt.OptimalPolicyTree(max_depth=2, min_samples_leaf=10).fit(patients, outcome)
print(policy.tree_)

ward = patients[policy.predict(patients) == "drug"].iloc[:8]
c = pyo.ConcreteModel()
c.who = pyo.Set(initialize=list(ward.index))
c.exercise = pyo.Var(c.who, domain=pyo.NonNegativeIntegers, bounds=(0, 25))
c.diet = pyo.Var(c.who, domain=pyo.NonNegativeIntegers, bounds=(0, 10))
c.policy = pyo.Block(c.who)
for i, one in ward.iterrows():
    asked = {"age": int(one.age), "pressure": int(one.pressure) - c.exercise[i], "weight": int(one.weight) - c.diet[i]}
    c.policy[i].tree = mt.embed(policy, asked)
c.enough = pyo.Constraint(expr=sum(c.policy[i].tree.action["drug"] for i in c.who) <= 2)
c.effort = pyo.Objective(expr=sum(c.exercise[i] + 2 * c.diet[i] for i in c.who))
solver.solve(c)
assert all(c.policy[i].tree.audit() for i in c.who)
print(f"effort {pyo.value(c.effort):.0f}")
ward.assign(
    exercise=[round(c.exercise[i].value) for i in c.who],
    diet=[round(c.diet[i].value) for i in c.who],
    then=[c.policy[i].tree.predicted() for i in c.who],
)
""",
    ),
    (
        "markdown",
        """
## 5 How large, and how exact

A single tree is embedded by one multiplier per leaf, and its relaxation is the convex hull of the leaves. The trees of an ensemble share the thresholds of a column: one ordered binary for each of them, or,
in the default `log-paths`, the binary digits of the interval between them. The page [Formulations of embedded models](../docs/reference/embeddings.md) has the rows, and what is told apart at a threshold.
""",
    ),
    (
        "code",
        """
sizes = {}
for formulation in ("log-paths", "strong-paths", "paths", "big-m", "leaf-boxes"):
    one = pyo.ConcreteModel()
    one.x = pyo.Var(names, bounds=(0, 1))
    one.forest = mt.embed(pruned, {n: one.x[n] for n in names}, formulation)
    sizes[formulation] = one.forest.sizes._asdict()
pd.DataFrame(sizes).T
""",
    ),
]
