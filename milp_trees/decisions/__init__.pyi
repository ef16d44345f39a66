"""Sets of decisions and generated data for them."""

from .base import DecisionSet as DecisionSet
from .clicks import news_from_clicks as news_from_clicks
from .clicks import read_clicks as read_clicks
from .combinatorial import assignment_decisions as assignment_decisions
from .combinatorial import knapsack_decisions as knapsack_decisions
from .combinatorial import simplex_decisions as simplex_decisions
from .generate import news_data as news_data
from .generate import news_decisions as news_decisions
from .generate import shortest_path_data as shortest_path_data
from .generate import two_roads as two_roads
from .linear import LinearDecisions as LinearDecisions
from .listed import ListedDecisions as ListedDecisions
from .oracle import Oracle as Oracle
from .paths import GraphPaths as GraphPaths
from .paths import grid_paths as grid_paths
from .pyepo import decisions_from_pyepo as decisions_from_pyepo
from .spec import decisions_from_spec as decisions_from_spec
from .tasks.decision import Decision as Decision
