"""Asks one peer: python ask_peer.py PEER, in the peer's own environment.

It reads a JSON list of questions and prints a JSON list of answers. A question holds `rows`
(strings of digits), `labels`, `depth` and `least` (the smallest leaf) where they are set, what else
the problem needs (`penalty`, `matrix`, `groups`, `tolerance`), and `options`, which go to the peer
as they are. An answer holds the peer's tree as it predicts the rows (`predicted`), what it says of
its value (`stated`), and its number of leaves (`leaves`), as far as the peer tells; or `error`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context

import numpy as np


def pydl85(q, X, y):
    from pydl85 import DL85Classifier

    model = DL85Classifier(max_depth=q["depth"], min_sup=q["least"], time_limit=60, **q["options"])
    model.fit(X, y)
    return {"predicted": model.predict(X), "stated": model.error_}


def pytrees(q, X, y):
    from pytrees import DL85Classifier

    model = DL85Classifier(max_depth=q["depth"], min_sup=q["least"], **q["options"]).fit(X, y)
    return {"predicted": model.predict(X), "stated": model.train_error_}


def pystreed(q, X, y):
    import pystreed

    common = {"max_depth": q["depth"], "min_leaf_node_size": q["least"], **q["options"]}
    if "matrix" in q:
        free = [pystreed.data.FeatureCostSpecifier(0.0, 0.0, "x", j, j) for j in range(X.shape[1])]
        costs = pystreed.data.CostSpecifier(q["matrix"], free)
        model = pystreed.STreeDCostSensitiveClassifier(**common).fit(X, y, costs)
    elif "tolerance" in q:
        # Its group is column 0, on which it does not split.
        model = pystreed.STreeDGroupFairnessClassifier(
            "group-fairness", discrimination_limit=q["tolerance"], **common
        ).fit(X, y)
    else:
        model = pystreed.STreeDClassifier("accuracy", **common).fit(X, y)
    return {"predicted": model.predict(X), "stated": model.fit_result.score()}


def odtlearn(q, X, y):
    from odtlearn.flow_oct import BendersOCT, FlowOCT

    options = dict(q["options"])
    kind = {"FlowOCT": FlowOCT, "BendersOCT": BendersOCT}[options.pop("class")]
    model = kind(solver="cbc", depth=q["depth"], time_limit=60, **options).fit(X, y)
    return {"predicted": model.predict(X), "stated": len(y) - model._solver.get_objective_value()}


def arborenum(q, X, y):
    """The best tree by errors plus leaves among those to which it gives its smallest objective."""
    from arborenum import ArborEnum

    settings = {"depth_budget": q["depth"], "lookahead_k": q["depth"] - 1, "rashomon_mult": 0.0}
    penalty = float(Fraction(q["penalty"]))
    model = ArborEnum()
    model.fit(X, y, lambda_reg=penalty, proxy_mode="continuous", **settings, **q["options"])
    smallest, best = model.get_min_objective(), None
    for t in range(model.count_trees()):
        if model.get_tree_objective(t)[0] == smallest:
            stated, leaves = model.get_predictions(t, X), model.get_tree_num_leaves(t)
            value = Fraction(int((stated != y).sum()), len(y)) + Fraction(q["penalty"]) * leaves
            if best is None or value < best[0]:
                best = value, stated, leaves
    return {"predicted": best[1], "leaves": best[2], "stated": smallest / len(y)}


def gosdt(q, X, y):
    from gosdt import GOSDTClassifier

    given = {"regularization": float(Fraction(q["penalty"])), "depth_budget": q["depth"]}
    options = {"allow_small_reg": True, **q["options"]}
    model = GOSDTClassifier(**given, **options).fit(X, y)
    leaves = model.result_.model.count('"prediction"')
    return {"predicted": model.predict(X), "stated": model.result_.upperbound, "leaves": leaves}


def gosdt_tree(q, X, y):
    """The same without the method `predict` of the classifier: the tree itself predicts."""
    from gosdt import GOSDTClassifier

    GOSDTClassifier.predict = lambda self, X: self.trees_[0].predict(X)
    return gosdt(q, X, y)


PEERS = {
    "pydl8.5": pydl85,
    "pytrees-rs": pytrees,
    "pystreed": pystreed,
    "odtlearn": odtlearn,
    "arborenum": arborenum,
    "gosdt": gosdt,
    "gosdt, its tree": gosdt_tree,
}


#: What is loaded once, before a process is made for every question.
MODULES = {"pydl8.5": "pydl85", "pytrees-rs": "pytrees", "odtlearn": "odtlearn.flow_oct"}


def answer(q, ask):
    X = np.array([[int(c) for c in row] for row in q["rows"]])
    y = np.array([int(c) for c in q["labels"]])
    # A process for every question: CBC may abort, which ends its process.
    with ProcessPoolExecutor(1, get_context("fork")) as apart:
        try:
            found = apart.submit(ask, {"least": 1, "options": {}, **q}, X, y).result()
        except Exception as failure:  # what a peer raises is its answer
            return {"error": f"{type(failure).__name__}: {failure}"}
    found["predicted"] = [int(v) for v in found["predicted"]]
    return {**found, **{k: float(found[k]) for k in ("stated",) if k in found}}


def main():
    # Solvers in C print on the same file: what they say goes to the other one.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    questions, peer = json.load(sys.stdin), sys.argv[1].partition(",")[0]
    importlib.import_module(MODULES.get(peer, peer))
    json.dump([answer(q, PEERS[sys.argv[1]]) for q in questions], answers)
    answers.close()


if __name__ == "__main__":
    main()
