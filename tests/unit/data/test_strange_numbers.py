"""Numbers and names that are far from any that is meant: one sentence, no traceback, no memory
filled, no sum that wraps round.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.exact import fraction
from milp_trees.data.binarize import Binarizer
from milp_trees.data.read import read_table

DATA = mt.Dataset([[0], [1], [1], [0]], y=["no", "yes", "yes", "yes"])


@pytest.mark.parametrize("name", [".", "..", "/dev/null"])
def test_what_is_no_file_is_said_once(name):
    with pytest.raises(mt.DataError) as message:
        read_table(name)
    assert not str(message.value).endswith("..")
    assert "cannot be read" not in str(message.value)


@each_row("text", ["1e400", "-1e400", "1e1000", 10**400])
def test_numbers_beyond_doubles_are_refused(text):
    """Values are shown as doubles; a class weight or a slack of 1e400 ended in an OverflowError."""
    with pytest.raises(mt.DataError, match="slack must be a number"):
        fraction(text, "slack")


@each_row("beta", ["1e-400", "1e-20", "123456789/1000000007", Fraction(1, 10**9)])
def test_a_beta_of_too_many_digits_is_refused_before_sums_wrap_round(beta):
    """In 64-bit integers they would, and silently."""
    for method in "dp", "enumerate", "cart":
        with pytest.raises(mt.DataError, match="round"):
            mt.solve(mt.Problem(DATA, mt.tasks.FBeta(beta=beta), mt.Trees(1)), method)


def test_numbers_of_hundreds_of_digits_are_repeated_as_they_were_given():
    for make in (
        lambda: mt.tasks.FBeta(beta="1e300"),
        lambda: mt.tasks.Precision(min_recall="1e300"),
    ):
        with pytest.raises(mt.DataError, match="got '1e300'"):
            make()


def test_classes_that_all_weigh_nothing_are_refused():
    """Every tree would be optimal."""
    with pytest.raises(mt.DataError, match="at least one must count"):
        mt.solve(
            mt.Problem(DATA, mt.tasks.WeightedError(class_weight={"no": 0, "yes": 0}), mt.Trees(1)),
            "cart",
        )
    assert (
        mt.solve(
            mt.Problem(DATA, mt.tasks.WeightedError(class_weight={"no": 0}), mt.Trees(1)), "cart"
        ).objective
        == 0
    )


@pytest.mark.parametrize("text", ["quantiles:²", "tree-guess:²"])
def test_digits_that_are_no_numbers_are_refused(text):
    with pytest.raises(mt.DataError, match="There is no binarizer"):
        mt.Binarizer.from_name(text)


@each_row("bins", [20, 21, 55, 10**19])
def test_as_many_bins_as_rows_are_all_midpoints(bins):
    """However many more are asked for: no array of that size is made."""
    x = np.random.default_rng(0).normal(size=20).round(1)
    few = mt.Binarizer(kind="quantiles", n_bins=bins).fit({"x": x})
    assert (few.rules_, few.threshold_note_) == (
        mt.Binarizer(kind="midpoints").fit({"x": x}).rules_,
        "",
    )


def test_a_name_that_is_longer_than_csv_takes_is_not_called_an_open_quote_only(tmp_path):
    (tmp_path / "t.csv").write_text("a," + "x" * 200_000 + ",y\n1,2,0\n")
    with pytest.raises(mt.DataError, match="or a name has more than"):
        read_table(tmp_path / "t.csv")


def test_a_grid_that_fits_into_no_memory_is_refused():
    from milp_trees.decisions.generated import DecisionData

    for sizes in {"grid": (99999, 99999)}, {"rows": 10**9}, {"grid": (300, 300), "rows": 1000}:
        with pytest.raises(mt.DataError, match="fit into memory"):
            DecisionData(**sizes)


@pytest.mark.parametrize("option", ["--sample", "--list"])
def test_more_trees_than_anybody_reads_are_not_shown(option):
    """Drawing 99999999999 of them fills the memory."""
    found = CliRunner().invoke(app, ["near-best", "iris", "--slack", "1", f"{option}=99999999999"])
    assert (found.exit_code, option in found.stderr) == (2, True)


@each_row(
    "name",
    [
        "planted:depth=-1",
        "planted:seed=-1",
        "planted-list:rules=7,literals=2",
        "planted-list:literals=0",
        "planted-list:noise=2",
        "random-costs:rows=-1",
        "random-costs:low=5,high=2",
        "athey-imbens:rows=-1",
        "hidden-cut:seed=-1",
    ],
)
def test_generators_refuse_numbers_that_make_no_data(name):
    with pytest.raises(mt.DataError, match=r"\.$"):
        mt.load(name)


def test_what_fits_into_no_memory_is_said_in_a_sentence():
    found = CliRunner().invoke(app, ["solve", "planted:rows=99999999999999,tests=9"])
    assert (found.exit_code, "answers (rows × tests)" in found.stderr) == (1, True)


@pytest.mark.parametrize("option", ["--trees=99999999999", "--lambda=1e-400"])
def test_a_forest_of_any_number_of_trees_and_a_price_of_any_length_are_refused(option):
    found = CliRunner().invoke(app, ["prune", "iris", "--depth=1", "--trees=2", option])
    assert found.exit_code == 1
    assert found.stderr.splitlines()[-1].startswith("Error: ")


@each_row("given", [1.5, float("nan"), "3.5", True, [1]])
@each_row("name", ["at_most", "at_least"])
def test_a_capacity_is_a_whole_number_of_rows(name, given):
    """NaN made every problem infeasible, and a text ended in a TypeError."""
    with pytest.raises(mt.DataError, match=f"{name} of a capacity must be a whole number"):
        mt.tasks.Capacity("yes", **{name: given})


def test_a_conformance_check_that_checked_nothing_fails():
    """`check_deletable_constraints` passed where the formulation took no problem at all."""
    from milp_trees.mip.registry import registry
    from milp_trees.testing import (
        check_deletable_constraints,
        check_formulation,
        check_method,
        check_solver_pair,
        check_task,
    )

    method = registry.method("flow-oct@highs")
    no_tree = mt.Problem(DATA, mt.tasks.AUC(), mt.Trees(1))
    for problems in {}, {"other": no_tree}:
        for check, what in (
            (check_deletable_constraints, method.formulation),
            (check_formulation, method.formulation),
            (check_method, method),
        ):
            with pytest.raises(AssertionError, match="skipped every problem"):
                check(what, problems)
        with pytest.raises(AssertionError, match="skipped every problem"):
            check_solver_pair("flow-oct", "highs", problems)
    with pytest.raises(mt.errors.UnknownName, match="no level 'x'"):
        check_task(mt.Accuracy(), level="x")


@each_row("dtype", ["f2", "f4", "f8", "i1", "u8", ">i4", ">f8"])
def test_numbers_of_every_width_and_order_are_taken_without_a_warning(dtype):
    X = np.array([[0, 1, 9], [1, 3, 9], [0, 5, 9], [1, 7, 9]], dtype=dtype, order="F")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        binarizer = Binarizer().fit(X)
        data = binarizer.dataset(X, y=[0, 1, 1, 1], fitted_on=X)
    assert [t.name for t in binarizer.features] == ["0", "1 <= 2", "1 <= 4", "1 <= 6"]
    assert data.X.tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0]]
