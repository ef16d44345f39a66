"""Small plans for the tests of executors."""

from milp_trees.studies.planning.reading import read_plan

FAST = """
title = "small"
[defaults]
time_limit = 20
seeds = [0, 1]
[[problems]]
name = "gen"
data = [{generator = "planted", rows = [40, 50], seed = 1}]
space = [{max_depth = 1}]
[[methods]]
labels = ["dp", "cart", "enumerate"]
"""

MODELS = """
[[methods]]
name = "models"
formulations = ["flow-oct"]
solvers = ["highs"]
starts = ["none", "cart"]
"""


def plan_of(folder, text=FAST):
    """The plan of a SPEC text."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "small.toml"
    path.write_text(text)
    return read_plan(path)
