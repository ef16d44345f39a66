"""Numbers that nobody means: refused in one sentence by every parameter of every estimator,
whatever it is set to.
"""

import importlib.util
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from row_tests import each_row
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.data.roles import Columns
from milp_trees.mip.registry import registry

X = np.array([[0.1, 3], [0.4, 1], [0.5, 2], [0.9, 0], [1.1, 3], [1.5, 1], [1.7, 2], [2.0, 0]] * 3)
Y = np.array([0, 1, 0, 1, 1, 0, 1, 1] * 3)
COSTS = np.c_[Y, 1 - Y].astype(float)

MAKE = {
    "classifier": (lambda: mt.OptimalTreeClassifier(max_depth=1), Y),
    "cross-validated": (lambda: mt.OptimalTreeClassifierCV(max_depth=1, max_leaf_nodes=2, cv=2), Y),
    "fair": (lambda: mt.FairTreeClassifier(max_depth=1), Y),
    "policy": (lambda: mt.OptimalPolicyTree(max_depth=1), COSTS),
    "spo": (lambda: mt.SPOTree(max_depth=1), COSTS),
    "spo forest": (lambda: mt.SPOForest(n_estimators=2, max_depth=1, random_state=0), COSTS),
    "pruner": (
        lambda: mt.EnsemblePruner(
            estimator=RandomForestClassifier(2, max_depth=2, random_state=0), lam="0.1"
        ),
        Y,
    ),
    "budget forest": (
        lambda: mt.BudgetForestClassifier(n_estimators=2, max_depth=1, random_state=0),
        Y,
    ),
    "binarizer": (lambda: mt.Binarizer(), Y),
}
#: Values by how they look; the names are those of the table below.
VALUES = {
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": -float("inf"),
    "-1": -1,
    "0": 0,
    "1.5": 1.5,
    "''": "",
    "'x'": "x",
    "True": True,
    "[]": [],
    "'5'": "5",
    "object": object(),
    "1e400": "1e40000",
}
#: What each parameter takes of these. Parameters that are no numbers take nothing of them.
TAKES = {
    "max_depth": "0",
    "max_leaf_nodes": "",
    "min_samples_leaf": "",
    "n_bins": "",
    "n_jobs": "-1",
    "time_limit": "1.5",
    "ccp_alpha": "0 1.5 '5'",
    "min_weight_leaf": "0 1.5 '5'",
    "min_samples_treatment": "0",
    "honest_fraction": "0",
    "validation_fraction": "0",
    "n_estimators": "",
    "node_cost": "0 1.5 '5'",
    "leaf_cost": "0 1.5 '5'",
    "denominator": "",
    "lam": "0 1.5 '5'",
    "slack": "-1 0 1.5",
    "keep_data": "True",
    "verbose": "True 0",
    "split_on_group": "True",
    "oob_score": "True",
    "bootstrap": "True",
    "exact": "",
    "free_after_use": "True",
    "back_select": "True",
    "max_thresholds": "",
    "max_categories": "",
    "category_sets": "0",
    "alpha": "0 1.5",
    "min_gain": "0 1.5",
    "constraints": "[]",
    "method": "",
    "task": "",
    "constraint": "",
    "max_disparity": "0",
    "binarizer": "",
    "criterion": "",
    "voting": "",
    "errors": "",
    "reference": "",
    "loss": "",
    "kind": "",
    "decisions": "",
    "max_features": "",
}
#: Where an estimator differs: a forest of at least one level, sizes that are no trees.
DIFFERENT = {
    ("budget forest", "max_depth"): "",
    ("binarizer", "max_depth"): "",
    ("budget forest", "max_features"): "",
    ("spo forest", "max_features"): "",
    ("cross-validated", "constraints"): "[]",
    ("spo", "slack"): "0 1.5",
    ("pruner", "validation_fraction"): "",
}
CASES = [
    (name, p)
    for name, (make, _) in MAKE.items()
    for p in sorted(make().get_params(deep=False))
    if p in TAKES
]


@each_row(("name", "parameter"), CASES)
def test_a_parameter_that_is_nonsense_is_refused_in_one_sentence(name, parameter):
    """It names the parameter or what is allowed; what is taken is listed above, and nothing else
    is.
    """
    make, y = MAKE[name]
    takes = DIFFERENT.get((name, parameter), TAKES[parameter]).split()
    for label, value in VALUES.items():
        model = make().set_params(**{parameter: value})
        try:
            # Threads, because processes would take seconds to start.
            with warnings.catch_warnings(), parallel_config(backend="threading"):
                warnings.simplefilter("ignore")
                model.fit(X, y)
        except mt.MilpTreesError as error:
            sentence = str(error)
            assert label not in takes, (label, sentence)
            assert sentence.endswith("."), (label, sentence)
            assert "\n" not in sentence, (label, sentence)
        except Exception as error:
            raise AssertionError(f"{parameter}={label}: {type(error).__name__}: {error}") from error
        else:
            assert label in takes, f"{parameter}={label} is taken"


def test_every_number_that_an_estimator_takes_is_in_the_table():
    """A new parameter must be put into it; these take what scikit-learn takes, names of columns,
    functions or whole objects.
    """
    others = {
        "random_state",
        "cv",
        "scoring",
        "start",
        "estimator",
        "feature_costs",
        "groups",
        "features",
        "budget",
        "prefit",
        "categorical_features",
        "favourable",
        "class_weight",
        "progress",
    }
    assert {p for make, _ in MAKE.values() for p in make().get_params(deep=False)} - set(
        TAKES
    ) <= others


def numeric_options():
    """Every option of every registered formulation and method that is a whole number."""
    for group in "formulations", "methods":
        for name, cls in registry.classes(group).items():
            for f in fields(cls) if is_dataclass(cls) else ():
                if type(f.default) is int:
                    yield name + ("@highs" if group == "formulations" else ""), name, f.name


@each_row(("method", "name", "option"), sorted(numeric_options()))
@each_row("value", ["-3", "1.5", "x", "nan", "", "on"])
def test_options_of_methods_are_checked(method, name, option, value):
    """By every registered one, before anything is built: `path-cut:rivals=-3` is no number of
    rivals.
    """
    with pytest.raises(mt.MilpTreesError, match=option):
        registry.method(method.replace(name, f"{name}:{option}={value}", 1))


def test_rows_without_any_weight_are_refused(tmp_path):
    """By what reads tables and by the estimators; the test rows may be such."""
    (tmp_path / "t.csv").write_text("a,w,y\n0,0,no\n1,0,yes\n")
    for load in mt.load, mt.load_numeric:
        with pytest.raises(mt.DataError, match="at least one must count"):
            load(tmp_path / "t.csv", weights="w")
    for name, (make, y) in MAKE.items():
        if name not in ("policy", "budget forest", "binarizer"):
            with pytest.raises((mt.DataError, ValueError), match="at least one"):
                make().fit(X, y, sample_weight=np.zeros(len(X)))


def test_a_group_with_one_value_is_no_comparison():
    """A constraint that could not fail is refused, not fulfilled."""
    for constraint in (
        mt.tasks.StatisticalParity(),
        mt.tasks.EqualOpportunity(),
        mt.tasks.EqualisedOdds(),
        mt.tasks.PredictiveEquality(),
    ):
        model = mt.OptimalTreeClassifier(
            max_depth=1, constraints=(constraint,), method="state-flow@highs"
        )
        with pytest.raises(mt.DataError, match="all rows are of one group, 'a'"):
            model.fit(X, Y, groups=["a"] * len(Y))


@each_row("given", ["x", mt.tasks.StatisticalParity(), [1], None, {"a": 1}])
def test_constraints_are_a_sequence_of_constraints(given):
    """By every task that takes them."""
    for task in (mt.Accuracy, mt.tasks.WeightedError, mt.tasks.FBeta, mt.tasks.ActionValues):
        with pytest.raises(mt.DataError, match="sequence of constraints"):
            task(constraints=given)


WRONG = [None, 3, [1], {"a": 1}, object(), b"x", True, 1.5]


@each_row("given", WRONG)
def test_arguments_of_loaders_with_wrong_types_are_one_sentence(given, tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "b": [1, 2, 3, 4], "y": [0, 1, 1, 0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    loaders = [(mt.load, tmp_path / "t.csv")]
    if importlib.util.find_spec("duckdb"):
        frame.to_parquet(tmp_path / "t.parquet")
        loaders.append((mt.load_grouped, tmp_path / "t.parquet"))
    for load, file in loaders:
        names = ["binarizer", *Columns.__dataclass_fields__, "nonsense"]
        names += ["query", "engine", "max_distinct"] if load is mt.load_grouped else []
        for name in names:
            if (given is None and name not in ("binarizer", "engine", "max_distinct")) or (
                name == "label" and given == 3
            ):
                continue  # it was not given; and files of rules have labels in files of any name
            with pytest.raises(MilpTreesError) as raised:
                load(file, **{"target": "y", name: given})
            assert "\n" not in str(raised.value), name
        with pytest.raises(MilpTreesError):
            load(given, target="y")


def test_one_name_needs_no_list(tmp_path):
    pd.DataFrame({"ab": [0, 1, 0, 1], "c": [1, 0, 1, 0], "y": [0, 1, 1, 0]}).to_csv(
        tmp_path / "t.csv", index=False
    )
    assert mt.load(tmp_path / "t.csv", target="y", features="ab").n_features == 1
