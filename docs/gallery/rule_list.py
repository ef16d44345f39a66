"""A rule list that is proven optimal

At most three rules, and each must correct one percent of the rows. The last line says what holds where
no rule does.

Alt: A list of if-then rules with bars for the rows that each captures.
"""

import milp_trees as mt

data = mt.load("breast-cancer", binarizer="quantiles:4", features=["worst radius", "worst texture"])
problem = mt.Problem(data, mt.Accuracy(split_penalty="1/100"), mt.RuleLists(max_length=3))
picture = mt.solve(problem).predictor.picture(data)
