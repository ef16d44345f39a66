"""The space and the predictor of oblique trees, and the view for those who write plug-ins."""

from .columns import smallest_gap as smallest_gap
from .linear_test import LinearTest as LinearTest
from .oblique_tree import ObliqueTree as ObliqueTree
from .space import ObliqueTrees as ObliqueTrees
from .view import ObliqueMatrix as ObliqueMatrix
