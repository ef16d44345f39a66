"""Fixtures of several files here."""

import json

import pytest

import milp_trees as mt


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A result on columns whose thresholds are quantiles."""
    folder = tmp_path_factory.mktemp("people")
    table = folder / "people.csv"
    table.write_text(
        "a,b,c,y\n"
        + "".join(f"{2 * i},{i * 7 % 31},{i * 11 % 37},{int(i * 7 % 31 > 12)}\n" for i in range(60))
    )
    data = mt.load(table, binarizer="quantiles:4")
    assert data.threshold_note
    return json.loads(
        json.dumps(
            mt.solve(
                mt.Problem(data, mt.Accuracy(leaf_penalty="1/50"), mt.Trees(1)), start=None
            ).to_json()
        )
    )
