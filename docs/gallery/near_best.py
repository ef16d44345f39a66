"""All trees that are nearly as good

How many trees make at most nine errors more than the best one, and in how many of them each question
occurs.

Alt: Two bar charts: trees per number of errors, and the share of trees that ask each question.
"""

import milp_trees as mt

data = mt.load("planted:rows=80,tests=8,depth=2,noise=0.1")
trees = mt.near_best(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)), slack=9)
picture = trees.plot()
