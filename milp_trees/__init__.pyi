"""Public names of the package, for type checkers and for loading them when they are asked for."""

from . import decisions as decisions
from . import errors as errors
from . import plugins as plugins
from . import tasks as tasks
from .api import compare as compare
from .api import estimate as estimate
from .api import near_best as near_best
from .api import size_path as size_path
from .api import solve as solve
from .by_name import registry as registry
from .data.binarize import Binarizer as Binarizer
from .data.dataset import BinaryFeature as BinaryFeature
from .data.dataset import Dataset as Dataset
from .data.load import load as load
from .data.numeric import load_numeric as load_numeric
from .engines.pruning.curve import prune_curve as prune_curve
from .errors import DataError as DataError
from .errors import MilpTreesError as MilpTreesError
from .estimators.budget_forest import BudgetForestClassifier as BudgetForestClassifier
from .estimators.fair_tree import FairTreeClassifier as FairTreeClassifier
from .estimators.policy import OptimalPolicyTree as OptimalPolicyTree
from .estimators.pruner import EnsemblePruner as EnsemblePruner
from .estimators.spo_forest import SPOForest as SPOForest
from .estimators.spo_tree import SPOTree as SPOTree
from .estimators.trees import OptimalTreeClassifier as OptimalTreeClassifier
from .estimators.trees_cv import OptimalTreeClassifierCV as OptimalTreeClassifierCV
from .limits import Limits as Limits
from .models.ensemble import Ensemble as Ensemble
from .models.read_ensemble import read_ensemble as read_ensemble
from .models.tree import Tree as Tree
from .models.write_ensemble import write_ensemble as write_ensemble
from .problem import Problem as Problem
from .results.result import Result as Result
from .spaces.pruned import PrunedEnsembles as PrunedEnsembles
from .spaces.trees import Trees as Trees
from .study import Study as Study
from .study.export import export_model as export_model
from .study.lexicographic import lexicographic as lexicographic
from .tasks.classification import Accuracy as Accuracy
from .verification import verify as verify

__version__: str
