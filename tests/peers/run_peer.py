"""Runs one peer on problems: python run_peer.py PEER, in the peer's own environment.

It reads a JSON list of problems (`rows`: strings of digits, `labels`, `depth`, `least`) and prints
a JSON list: the number of rows that the peer's tree gets wrong, by its own prediction (of
pydl8.5: the error that it states).
"""

from __future__ import annotations

import json
import sys

import numpy as np


def pydl85(p, X, y):
    from pydl85 import DL85Classifier

    model = DL85Classifier(max_depth=p["depth"], min_sup=p["least"], time_limit=60)
    model.fit(X, y)
    return round(model.error_)


def pytrees(p, X, y, **options):
    from pytrees import DL85Classifier

    model = DL85Classifier(max_depth=p["depth"], min_sup=p["least"], **options)
    model.fit(X, y)
    return int((np.asarray(model.predict(X)) != y).sum())


def pystreed(p, X, y):
    from pystreed import STreeDClassifier

    model = STreeDClassifier("accuracy", max_depth=p["depth"], min_leaf_node_size=p["least"])
    model.fit(X, y)
    return int((np.asarray(model.predict(X)) != y).sum())


PEERS = {
    "pydl8.5": pydl85,
    "pytrees-rs": pytrees,
    "pytrees-rs, fast_d2=False": lambda *given: pytrees(*given, fast_d2=False),
    "pystreed": pystreed,
}


def main():
    found = []
    for p in json.load(sys.stdin):
        X = np.array([[int(c) for c in row] for row in p["rows"]])
        y = np.array([int(c) for c in p["labels"]])
        found.append(PEERS[sys.argv[1]](p, X, y))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
