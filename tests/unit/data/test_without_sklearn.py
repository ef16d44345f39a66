"""What is read without importing scikit-learn is what scikit-learn would give."""

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from row_tests import each_row
from sklearn.model_selection import train_test_split

import milp_trees as mt
from milp_trees.data.builtin import BUILTIN, builtin
from milp_trees.data.load import load_split


@each_row("name", BUILTIN)
def test_built_in_tables_are_those_of_the_loaders_of_scikit_learn(name):
    bunch = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")(as_frame=True)
    classes = np.asarray(bunch.target_names)[bunch.target.to_numpy()]
    pd.testing.assert_frame_equal(builtin(name)[0], bunch.data.assign(target=classes))


def test_an_absent_file_of_a_built_in_table_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("milp_trees.data.builtin.find_spec", lambda name: None)
    with pytest.raises(mt.DataError, match=r"'iris' is a part of scikit-learn, .*iris\.csv"):
        mt.load("iris")


def test_rows_are_split_like_scikit_learn_splits_them():
    for share, seed in [(0.3, 0), (0.25, 7), (0.001, 2**32 - 1), (0.99, 1)]:
        train, test = load_split("iris", test_size=share, seed=seed)
        frame = builtin("iris")[0]
        wanted = train_test_split(np.arange(150), test_size=share, random_state=seed)
        for part, rows in zip((train, test), wanted):
            names = np.array(part.classes)[part.y]
            assert names.tolist() == frame["target"].iloc[np.sort(rows)].tolist()


def test_the_public_binarizer_is_a_whole_transformer():
    """Its output can be a frame, its parameters can be set, and a copy of it has the same class."""
    frame = pd.DataFrame({"age": [20, 30, 40]})
    binarizer = mt.Binarizer().set_params(kind="midpoints").set_output(transform="pandas")
    made = binarizer.fit_transform(frame)
    assert made.to_dict("list") == {"age <= 25": [1, 0, 0], "age <= 35": [1, 1, 0]}
    assert repr(binarizer) == "Binarizer(kind='midpoints')"
    assert type(mt.Binarizer.from_json(binarizer.to_json())) is mt.Binarizer
    assert type(binarizer.only(binarizer.features[:1])) is mt.Binarizer
