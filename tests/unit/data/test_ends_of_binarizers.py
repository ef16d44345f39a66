"""The binarizer at the ends of what it takes: many columns, gaps, and the most thresholds."""

import random

import numpy as np
import pandas as pd
import pytest

from milp_trees.common.errors import DataError
from milp_trees.data.binarize import Binarizer


def test_names_are_those_of_the_features_of_a_wide_table():
    made = Binarizer().fit(pd.DataFrame({"a": range(80), "b": range(80, 0, -1)}))
    names = [t.name for t in made.features]
    assert len(names) == 158
    assert made.get_feature_names_out().tolist() == names


def test_the_most_thresholds_of_a_column_fill_the_limit():
    """With one more for each column there would be too many; a limit that suffices is none."""
    for seed in range(200):
        rng = random.Random(seed)
        sizes = [rng.randint(0, 60) for _ in range(rng.randint(1, 7))]
        most = rng.randint(len(sizes), 150)
        found = Binarizer(max_thresholds=most)._most_of_a_column(sizes)
        if sum(sizes) <= most:
            assert found is None
        else:
            assert sum(min(n, found) for n in sizes) <= most < sum(min(n, found + 1) for n in sizes)


def test_a_gap_is_taken_where_there_was_one_and_refused_elsewhere():
    table = pd.DataFrame(
        {
            "gaps": [1.0, 2.0, np.nan, 4.0],
            "full": [1.0, 2.0, 3.0, 4.0],
            "text": ["a", "b", "c", "a"],
            "bits": [0, 1, 1, 0],
        }
    )
    made = Binarizer().fit(table)
    assert made.transform(table).shape == (4, len(made.features))
    for column in ("full", "text", "bits"):
        gap = table[column].astype(object).where([True, False, True, True])
        with pytest.raises(DataError, match=column):
            made.transform(table.assign(**{column: gap}))


def test_a_column_of_numbers_with_a_few_other_texts_is_refused():
    """It is no column of categories."""
    spoilt = pd.DataFrame({"a": [*map(str, range(60)), "n/k", "?"]})
    with pytest.raises(DataError, match="'a'"):
        Binarizer().fit(spoilt)
