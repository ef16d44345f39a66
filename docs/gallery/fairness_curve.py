"""What each permitted disparity costs

Two groups get the favourable class at different rates. Every corner of the curve is the fewest errors
that a tree makes whose rates differ by at most so much; all corners are proven.

Alt: A staircase: errors fall as the permitted difference of the groups' rates grows.
"""

import numpy as np

import milp_trees as mt
from milp_trees.plugins import Front
from milp_trees.studies.figures.front import plot_front

rng = np.random.default_rng(3)
group = rng.integers(0, 2, 240)
X = (rng.random((240, 5)) < 0.3 + 0.3 * group[:, None] * [1, 1, 0, 0, 0]).astype(int)
y = ((X @ [2, 1, 1, 0, -1] + rng.normal(0, 0.7, 240)) > 1).astype(int)
data = mt.Dataset(X, y=y, groups=group)
curve = mt.solve(
    mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2), Front("statistical-parity"))
)
picture = plot_front(curve)
