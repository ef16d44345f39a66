"""`look` tells what keeps a column from its role, in the one report with all other problems."""

import numpy as np
import pandas as pd
from row_tests import each_row

import milp_trees as mt

N = 60
A = np.arange(N) % 7


@each_row(
    ("target", "said"),
    [
        (["x"] * N, ["holds one value only (x)"]),
        (["x", "y"] * 29 + [None, "x"], ["is missing in row 58"]),
        ([None, "x"] * 30, ["is missing in 30 rows, the first is row 0", "holds one value only"]),
        ([np.nan] * N, ["has no value at all"]),
        (A + np.arange(N) / 100, []),  # measured numbers, for a task of regression
        ([f"n{k}" for k in range(N)], ["has another value in every row"]),
        (A % 2, []),
        (A + 0.5, []),
    ],
)
def test_problems_of_the_target_are_in_the_report(target, said):
    seen = mt.look(pd.DataFrame({"id": [f"r{k}" for k in range(N)], "a": A, "t": target}))
    assert seen.problems[0].column == "id"
    stated = [str(p) for p in seen.problems[1:]]
    assert len(stated) == len(said)
    for sentence, part in zip(stated, said, strict=True):
        assert sentence.startswith("The column 't' (target) ")
        assert part in sentence
        assert "--drop" not in sentence
        assert part in " ".join(str(seen).split())
    assert not any("'t' holds one value only, so it gives no feature" in g for g in seen.guessed)
    assert [p.get("role") for p in seen.to_json()["problems"]] == [None, *["target"] * len(said)]


def test_gaps_of_other_roles_are_in_the_report():
    frame = pd.DataFrame({"a": A, "w": [1.0] * N, "g": ["u", None] * 30, "t": A % 2})
    frame.loc[3, "w"] = np.nan
    message = [str(p) for p in mt.look(frame, weights="w", group="g").problems]
    assert sorted(message) == [
        "The column 'g' (group) is missing in 30 rows, the first is row 1; drop every row without it.",
        "The column 'w' (weights) is missing in row 3; drop every row without it.",
    ]
