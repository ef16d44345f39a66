"""Formulations compared

The same problems, limits and starts for every method; the profile says which share of the problems
each solves within a multiple of the quickest time.

Alt: Step lines, one per method, that rise to the share of problems it solves.
"""

import milp_trees as mt

methods = ["state-flow@highs", "flow-oct@highs", "benders-oct@highs", "dp"]
runs = mt.Study()
for seed in range(4):
    data = mt.load(f"planted:rows=30,tests=4,depth=2,noise=0.1,seed={seed}")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))
    runs.rows += mt.compare(problem, methods, time_limit=5).rows
picture = runs.plot(kind="profile")
