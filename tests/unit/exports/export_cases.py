"""Models and rows that exports must agree on, with what is awkward in other languages."""

import numpy as np
import pandas as pd

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf

AGE, RATE, COLOUR, SMOKER, WORD = (
    *("age", "rate \"'*/`;--\\\n</x>&{0}"),
    *("färbe 色 -- ]]> <script>", "row", "x'); DROP TABLE data;--"),
)
#: Whether questions have answers on missing values.
MISSING = "missing" in mt.BinaryFeature.__dataclass_fields__
#: Thresholds between which single precision cannot tell some values apart.
THRESHOLDS = (37.5, 0.1, 0.30000000000000004, -1e-300, 123456789.123, 5e22, 16777217.0, 3.0)
CATEGORIES = (
    "red",
    "it's",
    'a"b',
    "back\\slash",
    "naïve 色 😀",
    "",
    "a\nb\tc",
    "NULL",
    "%s{0}*/?>",
    "red ",
)
LABELS = ('it\'s "so"', "naïve 色\\", "<b>&amp;\n*/'--")


def ask(column, kind, value=None, missing=None):
    return mt.BinaryFeature(column, kind, value, *([missing] if missing else []))


def feature(rng, missing):
    """A random question; `missing` says whether columns may lack values."""
    column = rng.choice([AGE, RATE, COLOUR, SMOKER, WORD])
    answer = str(rng.choice(["yes", "no"])) if missing and column in (RATE, WORD, SMOKER) else None
    if answer and rng.random() < 0.3:
        return ask(column, "missing")
    if column in (AGE, RATE):
        return ask(column, "<=", float(rng.choice(THRESHOLDS)), answer)
    if column == SMOKER:
        return ask(column, "is", None, answer)
    # "" stands for a missing text in ONNX
    known = [c for c in CATEGORIES if c or not answer]
    return ask(column, "==", known[rng.integers(len(known))], answer)


def tree(seed, depth=5, labels=LABELS, missing=MISSING):
    rng = np.random.default_rng(seed)

    def node(left):
        if left == 0 or (left < depth - 1 and rng.random() < 0.2):
            return Leaf(int(rng.integers(len(labels))))
        return Branch(feature(rng, missing), node(left - 1), node(left - 1))

    return mt.Tree(node(depth), labels)


def rules(seed, length=12, labels=LABELS, missing=MISSING):
    rng = np.random.default_rng(seed)

    def antecedent():
        size = rng.integers(1, 4)
        return mt.Antecedent(
            tuple(mt.Literal(feature(rng, missing), bool(rng.random() < 0.5)) for _ in range(size))
        )

    found = tuple(mt.Rule(antecedent(), int(rng.integers(len(labels)))) for _ in range(length))
    return mt.RuleList(found, 0, labels)


def rows(n=10_000, seed=0, missing=MISSING):
    """Rows with values at thresholds, beside them, and rounded to single precision."""
    rng = np.random.default_rng(seed)
    at = np.array(THRESHOLDS)
    near = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), at.astype(np.float32)]
    numbers = np.concatenate([*near, at + 1, -at, [0.0, -0.0, 5e-324, 1.7e308]]).astype(float)
    texts = np.array([*CATEGORIES, "unseen", "RED", "nan", "None", "è"], dtype=object)
    frame = pd.DataFrame(
        {
            AGE: rng.choice(numbers, n),
            RATE: rng.choice(numbers, n),
            COLOUR: rng.choice(texts, n),
            SMOKER: rng.integers(0, 2, n).astype(float),
            WORD: rng.choice(texts[texts != ""] if missing else texts, n),
        }
    )
    for column in (RATE, WORD, SMOKER) if missing else ():
        gone = rng.random(n) < 0.2
        frame[column] = frame[column].where(~gone, None if column == WORD else np.nan)
    return frame
