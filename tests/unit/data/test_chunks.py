"""A table that is read in chunks is the same table as one that is read at once."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

from milp_trees.data import lines
from milp_trees.data.lines import Lines

WORDS = {
    "whole": ["1", "-7", "120"],
    "fractions": ["1", "2.5", "-0.125", "1e300"],
    "gaps": ["1", "", "3"],
    "texts": ["a", "b c", '"x,y"', "ä"],
    "texts with gaps": ["a", "NA", ""],
    "late text": ["1"] * 60 + ["unknown"],
    "truth": ["True", "False", ""],
    "huge": ["1", "18446744073709551615", "-1"],
    "nothing": [""],
}


@each_row("seed", range(12))
def test_chunks_give_the_table_that_is_read_at_once(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(seed)
    kinds = [str(k) for k in draw.choice(list(WORDS), size=4)] + ["whole"]
    cells = [[str(draw.choice(WORDS[k])) for k in kinds] for _ in range(80)]
    text = ",".join("abcde") + "\n" + "\n".join(map(",".join, cells)) + "\n"
    table = Lines.of(text.encode(), Path("table.csv"))
    whole = table.frame()
    monkeypatch.setattr(lines, "_AT_ONCE", 100)
    pd.testing.assert_frame_equal(table.frame(), whole)


def test_columns_of_plain_cells_are_read_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    if int(pd.__version__.split(".")[0]) < 3:
        pytest.skip("pandas 2 reads the table at once")
    rows = "".join(f"{k},{k / 8},{'xyz'[k % 3]},{k if k > 40 else ''}\n" for k in range(80))
    table = Lines.of(f"a,b,c,d\n{rows}".encode(), Path("table.csv"))
    whole = table.frame()
    monkeypatch.setattr(lines, "_AT_ONCE", 100)
    found = table._in_chunks(low_memory=False)
    assert found is not None
    assert [t.kind for t in found.dtypes] == ["i", "f", "O", "f"]
    pd.testing.assert_frame_equal(found.set_axis(list("abcd"), axis=1), whole)
