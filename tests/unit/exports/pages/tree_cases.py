"""Models for the page of one model, with names that try to become markup."""

import numpy as np
import pandas as pd
from page_cases import EVIL

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf

THRESHOLDS = (37.5, 0.1, 0.30000000000000004, -1e-300)
TEXTS = (EVIL, "it's", 'a"b,c;d', "naïve 色 😀", "x\ty", "")
COLUMNS = ("age", f"rate, {EVIL}", f'colour "{EVIL}"', "smoker; yes")


def feature(rng):
    k = int(rng.integers(4))
    answer = str(rng.choice(["yes", "no"])) if k in (1, 3) else None
    if answer and rng.random() < 0.3:
        return mt.BinaryFeature(COLUMNS[k], "missing")
    if k < 2:
        return mt.BinaryFeature(COLUMNS[k], "<=", float(rng.choice(THRESHOLDS)), answer)
    if k == 3:
        return mt.BinaryFeature(COLUMNS[k], "is", None, answer)
    return mt.BinaryFeature(COLUMNS[k], "==", TEXTS[rng.integers(len(TEXTS) - 1)], answer)


def tree(depth, labels, seed=0):
    rng = np.random.default_rng(seed)

    def node(left):
        if not left:
            return Leaf(int(rng.integers(len(labels))))
        return Branch(feature(rng), node(left - 1), node(left - 1))

    return mt.Tree(node(depth), tuple(labels))


def rules(labels, length=9, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(length):
        literals = {mt.Literal(feature(rng), bool(rng.random() < 0.5)) for _ in range(2)}
        found.append(mt.Rule(mt.Antecedent(tuple(literals)), int(rng.integers(len(labels)))))
    return mt.RuleList(tuple(found), 0, tuple(labels))


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    at = np.array(THRESHOLDS)
    near = np.concatenate([at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), [1e22, -3]])
    frame = pd.DataFrame(
        {
            COLUMNS[0]: rng.choice(near, n),
            COLUMNS[1]: rng.choice(near, n),
            COLUMNS[2]: rng.choice(np.array([*TEXTS[:-1], "unseen"], dtype=object), n),
            COLUMNS[3]: rng.integers(0, 2, n).astype(float),
        }
    )
    for column in (COLUMNS[1], COLUMNS[3]):
        frame[column] = frame[column].where(rng.random(n) > 0.2)
    return frame


def texts(frame):
    """Every row as texts by column, as a reader types them."""
    return [
        {
            name: "" if v is None or v != v else v if isinstance(v, str) else repr(v)
            for name, v in zip(frame.columns, row)
        }
        for row in frame.itertuples(index=False)
    ]


def with_model(result, model):
    """A result that holds another model."""
    from dataclasses import replace

    return replace(
        result.without_rows(), solutions=(replace(result.solutions[0], predictor=model),)
    )
