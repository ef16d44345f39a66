"""Cells of the notebook on optimal rule lists."""

CELLS = [
    (
        "markdown",
        """
# Rule lists with a certificate

A rule list is read from top to bottom: *if … then …, else if … then …, else …*. Angelino, Larus-Stone, Alabi, Seltzer and Rudin (2018, "Learning certifiably optimal
rule lists for categorical data") find the list with the smallest sum of errors and a penalty λ per rule, and prove that there is no better one. Here is what such a proof
is good for, on generated data whose true rules are known.
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
from milp_trees.study.list_plots import plot_list_search

plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
BLUE, ORANGE = "#0072B2", "#D55E00"
""",
    ),
    (
        "markdown",
        """
## 1 The list, and its proof

The labels of 600 rows follow three rules with two literals each; one label in ten is wrong. Every conjunction of at most two of the twelve features may be a rule: 78
antecedents, so there are about 37 million lists of at most four rules.
""",
    ),
    (
        "code",
        """
data = mt.load("planted-list:rows=600,tests=12,rules=3,literals=2,noise=0.1,seed=4")
lists = mt.RuleLists(mt.Antecedents(max_literals=2))
problem = mt.Problem(data, mt.Accuracy(split_penalty="0.01"), lists)
best = mt.solve(problem)
print(best.predictor)
print(f"objective {best.objective:.4f}, {best.status.value}; {len(lists.table(data).antecedents)} antecedents")
""",
    ),
]
