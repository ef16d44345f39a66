"""Cells of the notebook on optimal rule lists."""

CELLS = [
    (
        "markdown",
        """
# Rule lists with a certificate

A rule list is read from top to bottom: *if … then …, else if … then …, else …*. Angelino, Larus-Stone, Alabi, Seltzer and Rudin (2018, "Learning certifiably optimal
rule lists for categorical data") find the list with the smallest share of errors plus a penalty λ per rule, and prove that there is no better one. What such a proof is
good for is shown on generated data, whose true rules are known.
""",
    ),
    (
        "code",
        """
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt
from milp_trees.lists.plots import plot_list_search

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#7a7a7a"
""",
    ),
    (
        "markdown",
        """
## 1 The list, and its proof

The labels of 600 rows follow three rules with two literals each, but one label in ten is wrong. Every conjunction of at most two of the twelve features may be a rule. The
optimal list has the three planted rules. Any other list has a proven gap to it: a greedy one, which chooses one rule after the other, and one that somebody types.
""",
    ),
    (
        "code",
        """
data = mt.load("planted-list:rows=600,tests=12,rules=3,literals=2,noise=0.1,seed=4")
lists = mt.RuleLists(mt.Antecedents(max_literals=2))
problem = mt.Problem(data, mt.Accuracy(split_penalty="0.01"), lists)
best = mt.solve(problem)
greedy = mt.solve(problem, method="greedy")
print(best.predictor)
print(f"\\nobjective {best.objective:.4f}, {best.status.value}, among the lists of {len(lists.table(data).antecedents)} antecedents")
for name, model in {"greedy list": greedy.predictor, "typed list": "if 3 and 7: 0\\nelse if 8: 1\\nelse: 1"}.items():
    gap = mt.gap_of(model, problem)
    print(f"{name}: {gap.value.number:.4f}, at most {gap.absolute:.4f} better is possible ({gap.relative:.1%} of its value)")
best.predictor
""",
    ),
    (
        "markdown",
        """
## 2 How the published search finds it

`corels` is the branch and bound over prefixes of the paper, with all its bounds. It keeps a history, and these are the pictures of the paper: how soon the best list was
found, how long the proof took, how many prefixes wait and how many are remembered, and how many lists are not excluded yet, counted coarsely and finely. Here λ is 0.005,
which makes the proof harder.
""",
    ),
    (
        "code",
        """
harder = mt.Problem(data, mt.Accuracy(split_penalty="0.005"), lists)
search = mt.solve(harder, method="corels")
trees = [DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(data.X, data.y) for k in range(2, 12)]
cart = min(1 - tree.score(data.X, data.y) + 0.005 * (tree.get_n_leaves() - 1) for tree in trees)
plot_list_search(search, competitors={"greedy list": mt.solve(harder, method="greedy").objective, "CART": cart})
plt.show()
other = mt.solve(harder)
print(f"{search.method}: {search.objective:.6f}, {search.status.value}; {other.method}: {other.objective:.6f}, {other.status.value}")
""",
    ),
    (
        "markdown",
        """
## 3 Every length, and every penalty

The best lists of every length say how much each further rule is worth, and between which penalties each of them is the best.
""",
    ),
    (
        "code",
        """
short = mt.Problem(data, mt.Accuracy(), mt.RuleLists(mt.Antecedents(max_literals=2), max_length=4))
path = mt.size_path(short, max_leaves=5)
print(path.frame()[["rules", "exact", "proven", "penalty_from", "penalty_to"]].to_string(index=False))
""",
    ),
    (
        "markdown",
        """
## 4 Which other lists are nearly as good?

Lists that differ only in the order of rules, but predict alike, count once.
""",
    ),
    (
        "code",
        """
three = mt.Problem(data, mt.Accuracy(), mt.RuleLists(mt.Antecedents(max_literals=2), max_length=3))
near = mt.near_best(three, relative=0.3)
print(f"{near.count} lists of at most three rules with at most {int(60 * 1.3)} errors, complete: {near.complete}")
print({int(value): count for value, count in near.values().items()})
print(near.importance().head(4).to_string(index=False))
""",
    ),
    (
        "markdown",
        """
The rules `3 and 7` and `10 and 2` are in all of them: no list without one of these is within 30 % of the best. The third planted rule saves 14 errors over its best substitute.

## 5 A list with equal rates

In these invented applications group B was judged more harshly, and its scores are worse on average. A list over score and years that makes the fewest errors selects group A
more often. Under a limit on the difference of the rates, the best list is found by an integer linear programme, and proven by HiGHS. Equality is dear here: with three rules over
few thresholds there are not many lists to choose from.
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
people = pd.DataFrame({"score": score.round(2), "years": years})
hiring = mt.Binarizer(kind="quantiles", n_bins=5).fit(people, hired).dataset(people, y=hired, groups=group)
space = mt.RuleLists(mt.Antecedents(negations=True), max_length=3)
for name, rules, method in [("free", (), None), ("at most 5 points apart", (mt.tasks.StatisticalParity("0.05"),), "state-flow@highs")]:
    found = mt.solve(mt.Problem(hiring, mt.Accuracy(constraints=rules), space), method=method)
    said = found.predictor.predict(hiring)
    rates = ", ".join(f"{g} {said[group == g].mean():.1%}" for g in ("A", "B"))
    print(f"{name}: {int(found.objective)} errors, {found.status.value}; selected: {rates}\\n{found.predictor}\\n")
""",
    ),
    (
        "markdown",
        """
## 6 Beside black boxes

Is a short list as accurate as a forest on rows that it has not seen? That depends on the data, and is to be measured: here on the breast cancer data, cut at its quartiles, five folds. A list of
two rules is better than CART with as many leaves or a few more, but the forest and the linear model make fewer errors. (On COMPAS the answer is another one:
[rule_lists.md](../docs/guide/rule_lists.md#study).)
""",
    ),
    (
        "code",
        """
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)


def test_errors(model):
    return 1 - cross_val_score(model, X, y, cv=folds)


quartiles = {"binarizer": "quantiles", "n_bins": 4, "start": None}
models = {f"optimal list, λ = {p}": mt.OptimalRuleListClassifier(length_penalty=p, **quartiles) for p in (0.1, 0.03)}
models |= {f"CART, {k} leaves": DecisionTreeClassifier(max_leaf_nodes=k, random_state=0) for k in (2, 3, 5)}
models |= {"random forest": RandomForestClassifier(random_state=0), "logistic regression": make_pipeline(StandardScaler(), LogisticRegression())}
errors = pd.DataFrame({name: test_errors(model) for name, model in models.items()})
difference = errors.sub(errors["optimal list, λ = 0.03"], axis=0)
print(pd.DataFrame({"test error": errors.mean(), "±": errors.std(), "minus the list's": difference.mean(), "± ": difference.std()}).round(3).to_string())
fitted = models["optimal list, λ = 0.03"].fit(X, y)
print(f"\\n{fitted.rule_list_}\\n{fitted.status_}")
""",
    ),
    (
        "markdown",
        """
How the engines work, what each bound is worth, and the measurements on COMPAS are in [rule_lists.md](../docs/guide/rule_lists.md).
""",
    ),
]
