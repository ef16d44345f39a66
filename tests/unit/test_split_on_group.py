"""Whether trees may split on the protected group: one choice, default off, the same everywhere."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.mip.registry import registry
from milp_trees.results.tables import group_text
from milp_trees.results.tables import summary as summary_of

RNG = np.random.default_rng(4)
SEX = RNG.integers(0, 2, 40)
OTHER = RNG.integers(0, 2, (40, 2))


def dataset(*more):
    """Rows whose label is the group; column 0 is the group, and `more` are further columns."""
    return mt.Dataset(
        np.column_stack([SEX, OTHER, *more]), y=SEX.copy(), groups=SEX, group_column="0"
    )


def test_every_method_obeys_the_space():
    """Labels equal the group: only a tree that splits on it has no error, and only if it may."""
    taken = []
    for name in [*registry.classes("methods"), "state-flow@highs", "flow-oct@highs"]:
        method = registry.method(name)
        for allowed in (False, True):
            problem = mt.Problem(dataset(), mt.Accuracy(), mt.Trees(1, split_on_group=allowed))
            if method.unsupported(problem):
                continue
            result = method.run(problem)
            assert (result.objective == 0) == allowed, (name, allowed, result.objective)
            assert ("0" in {t.column for t in result.tree.splits}) == allowed, (name, allowed)
            taken.append(name)
    assert len(taken) >= 2 * 4, taken


def test_results_say_it_in_json_text_and_frames():
    """And results of data without a group say nothing about it."""
    for allowed, words in ((False, "no split uses it"), (True, "splits may use it")):
        problem = mt.Problem(dataset(), mt.Accuracy(), mt.Trees(1, split_on_group=allowed))
        result = mt.solve(problem)
        row = result.to_json()
        assert row["problem"]["group"] == {
            "column": "0",
            "groups": 2,
            "copies": [],
            "split_on": allowed,
        }
        assert words in dict(summary_of(row))["group"]
        assert words in result._repr_html_()
        study = mt.compare(problem, ["dp", "enumerate"])
        assert study.frame()["split_on_group"].tolist() == [allowed, allowed]
        assert result.without_rows().to_json()["problem"] == row["problem"]
        assert mt.verify(row, dataset())
    free = mt.solve(mt.Problem(mt.Dataset(OTHER, y=SEX), mt.Accuracy(), mt.Trees(1))).to_json()
    assert "group" not in free["problem"]
    assert "group" not in dict(summary_of(free))


def test_a_result_that_says_it_wrongly_is_not_verified():
    """What a stored result says about the group is compared with the data and the space."""
    row = mt.solve(mt.Problem(dataset(), mt.Accuracy(), mt.Trees(1))).to_json()
    row["problem"]["group"]["split_on"] = True
    with pytest.raises(mt.errors.VerificationError, match="split_on"):
        mt.verify(row, dataset())


@pytest.mark.parametrize("copy", [SEX, 1 - SEX], ids=["equal", "complement"])
def test_a_copy_of_the_group_under_another_name_is_named(copy):
    """The name decides what is split on; a copy is open to splits, and every result names it."""
    data = dataset(copy)
    assert data.protected["copies"] == ["3"]
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)))
    assert result.objective == 0
    assert "under another name, and open to splits: 3" in group_text(result.problem.group)


def test_with_three_groups_a_copy_is_the_membership_of_one_of_them():
    """A column that separates one group from the others tells that group; one that cuts through a
    group does not.
    """
    groups = np.arange(30) % 3
    X = np.column_stack([groups == 1, groups != 2, np.arange(30) < 15]).astype(int)
    data = mt.Dataset(X, y=X[:, 2], groups=groups)
    assert data.protected == {"column": None, "groups": 3, "copies": ["0", "1"]}


@pytest.mark.parametrize("allowed", [False, True])
def test_the_estimators_and_the_command_line_make_the_same_choice(allowed, tmp_path):
    """`split_on_group=` of the estimators and `--split-on-group` both reach the space."""
    X = np.column_stack([SEX, OTHER]).astype(float)
    for model, y in (
        (mt.OptimalTreeClassifier(max_depth=1, split_on_group=allowed), SEX),
        (mt.OptimalTreeClassifierCV(max_depth=1, split_on_group=allowed, cv=2), SEX),
        (mt.OptimalPolicyTree(max_depth=1, split_on_group=allowed), SEX - 0.5),
    ):
        tree = model.fit(X, y, groups="0").tree_
        assert ("0" in {t.column for t in tree.splits}) == allowed, model
    file = tmp_path / "rows.csv"
    np.savetxt(file, np.column_stack([SEX, X]), fmt="%d", delimiter=" ")
    flag = ["--split-on-group"] if allowed else []
    message = CliRunner().invoke(
        app, ["solve", str(file), "--depth", "1", "--group", "0", "--json", *flag]
    )
    row = json.loads(message.stdout)
    assert row["problem"]["group"]["split_on"] is allowed
    assert (row["objective"] == 0) == allowed


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, errors",
    [("adult", {False: 10681, True: 9546}), ("student-mat", {False: 48, True: 45})],
)
def test_optima_of_public_sets_with_and_without_the_group(name, errors, data_folder):
    """Depth 2 under 1 % statistical parity, with column 0 as the group."""
    file = next((data_folder / "fairness").glob(f"{name}-binarized.csv*"))
    data = mt.load(str(file), group="0")
    task = mt.Accuracy(constraints=(mt.tasks.StatisticalParity("0.01"),))
    for allowed, expected in errors.items():
        result = mt.solve(mt.Problem(data, task, mt.Trees(2, split_on_group=allowed)))
        assert (result.objective, result.optimal) == (expected, True)
