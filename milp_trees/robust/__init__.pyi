"""Tasks of trees whose rows may be shifted, their space and their view."""

from .space import RobustTrees as RobustTrees
from .tasks.robust_boxes import RobustBoxes as RobustBoxes
from .tasks.robust_budget import RobustBudget as RobustBudget
from .view import WorstCase as WorstCase
