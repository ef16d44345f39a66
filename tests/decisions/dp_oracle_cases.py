"""Decisions that hide their list, for the tests of the exact search."""

import itertools

import numpy as np

import milp_trees as mt
from milp_trees.data.dataset import BinaryFeature as Question
from milp_trees.decisions.base import Decided, DecisionSet
from milp_trees.decisions.engines.dp_oracle.instance import prepare
from milp_trees.decisions.engines.dp_oracle.search import OracleSearch


class Hidden(DecisionSet):
    """The decisions of another set, known by their oracle only."""

    def __init__(self, of, cache_answers=False):
        super().__init__(of.components)
        self.of, self.cache_answers = of, cache_answers

    def _solve(self, costs):
        return Decided(*self.of._solve(costs))

    def spec(self):
        return {"kind": "hidden"}


def listed(rng, d):
    """A few random decisions, with negative entries."""
    return mt.decisions.ListedDecisions(
        np.unique(rng.integers(-1, 3, (int(rng.integers(2, 7)), d)), axis=0),
        [f"c{j}" for j in range(d)],
    )


def rows_of(rng, d, n, whole_costs, thresholds, weights):
    """Random rows: yes/no tests, or thresholds of three columns."""
    C = rng.integers(-3, 4, (n, d)) if whole_costs else rng.normal(size=(n, d))
    more = {"weights": rng.integers(1, 4, n)} if weights else {}
    if thresholds:
        x = rng.integers(0, 6, (n, 3))
        pairs = list(itertools.product(range(3), range(5)))
        X = np.column_stack([x[:, j] <= t for j, t in pairs]).astype(np.uint8)
        more["features"] = [Question(f"x{j}", "<=", float(t)) for j, t in pairs]
    else:
        X = rng.integers(0, 2, (n, 5))
    return mt.Dataset(X, values=C, actions=[f"c{j}" for j in range(d)], **more)


def problems(seed, rows=30, depth=None, weigh_leaves=True):
    """A random problem with listed decisions, and its twin whose decisions are hidden."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    S = listed(rng, d)
    draw = [bool(rng.random() < p) for p in (0.5, 0.6, 0.5, 0.3, 0.3, 0.3, 0.4, 0.3)]
    data = rows_of(rng, d, int(rng.integers(5, rows)), *draw[:3])
    task = {"normalised": draw[5]}
    if draw[3]:
        task["leaf_penalty"] = "1/20"
    if draw[4]:
        task["split_penalty"] = "1/50"
    space = {
        "min_samples_leaf": int(rng.integers(2, 5)) if draw[6] else 1,
        "min_weight_leaf": int(rng.integers(2, 5)) if draw[7] and weigh_leaves else 0,
    }
    space = mt.Trees(int(rng.integers(0, 4)) if depth is None else depth, **space)
    return tuple(
        mt.Problem(data, mt.decisions.Decision(decisions=s, **task), space) for s in (S, Hidden(S))
    )


def instance(problem, pool=0):
    inst = prepare(
        problem.view(mt.plugins.LeafOracle), problem.dataset, problem.trees, pool, True, True
    )
    inst.eps = 1e-9
    return inst


def find(inst, rows, depth, upper=np.inf):
    return OracleSearch(inst, lambda: None).solve(rows, depth, upper)
