"""Studies: rows, resuming, tables."""

import os
import sqlite3

import pytest
from study_cases import Counts, Raises

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.common.registering import plugins as store
from milp_trees.studies import StoreError, Study
from milp_trees.studies.compare import method_names
from milp_trees.studies.study import problem_key


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=4"),
        mt.Accuracy(),
        mt.Trees(2),
    )


@pytest.fixture(scope="module")
def optimum(problem):
    return mt.solve(problem, "dp")


@pytest.fixture
def plugins(monkeypatch):
    classes = mt.registry.classes("methods")
    known = store._classes["methods"]
    for cls in (Raises, Counts):
        monkeypatch.setitem(known, cls.name, cls)
    Counts.runs = 0
    return classes


# -- studies -------------------------------------------------------------------------------------------------


def test_a_comparison_has_a_row_per_method_and_seed(problem):
    study = mt.compare(problem, ["dp", "enumerate"], seeds=(0, 1))
    frame = study.frame()
    assert frame[["method", "seed"]].to_numpy().tolist() == [
        ["dp", 0],
        ["dp", 1],
        ["enumerate", 0],
        ["enumerate", 1],
    ]
    assert frame["agrees"].tolist() == [True] * 4
    assert frame["objective"].nunique() == 1
    assert study.best.method in ("dp", "enumerate")
    assert "agrees" in study.table()
    assert study._repr_html_().startswith("<table")


def test_formulations_begin_with_the_start_and_are_judged(problem):
    study = mt.compare(problem, formulations=["flow-oct"], solvers=["highs"], time_limit=30)
    (row,) = study.rows
    assert row["status"] == "optimal"
    assert row["agrees"] is True
    assert row["start"]["method"] == "dp"
    assert row["start"]["accepted"] is True
    assert row["sizes"]["binaries"] > 0
    assert study.reference.method == "dp"


def test_unsupported_rows_have_their_reason():
    big = mt.Problem(mt.load("planted:rows=500,tests=60"), mt.Accuracy(), mt.Trees(3))
    study = mt.compare(big, ["enumerate"], reference=None, start=None)
    assert study.rows[0]["status"] == "unsupported"
    assert "tiny problems" in study.table()


def test_unknown_methods_are_refused_before_anything_runs(problem):
    with pytest.raises(mt.errors.UnknownName, match="flow-otc"):
        mt.compare(problem, formulations=["flow-oct", "flow-otc"])
    with pytest.raises(mt.errors.UnknownName, match="No formulation"):
        method_names(None, "", "highs")


def test_a_wrong_question_is_an_error_not_a_row():
    data = mt.Dataset([[0], [1]], y=["a", "a"])
    with pytest.raises(mt.DataError, match="one class only"):
        mt.compare(mt.Problem(data, mt.Accuracy(), mt.Trees(1)), ["dp"])


def test_a_study_resumes_and_runs_nothing_twice(problem, plugins, tmp_path):
    path = tmp_path / "study.db"
    first = mt.compare(problem, ["counts"], store=path)
    again = mt.compare(problem, ["counts", "dp"], store=path)
    assert Counts.runs == 1
    assert again.rows[0] == first.rows[0]
    assert [row["method"] for row in Study.open(path).rows] == ["counts", "dp"]
    mt.compare(problem, ["counts"], store=path, time_limit=5)
    assert Counts.runs == 2, "other limits are another run"


def test_errors_and_interrupted_runs_are_run_again(problem, plugins, tmp_path):
    path = tmp_path / "study.db"
    assert mt.compare(problem, ["raises"], store=path).rows[0]["status"] == "error"
    stopped = mt.compare(problem, ["raises", "counts", "dp"], seeds=[13], store=path)
    assert stopped.interrupted
    assert [row["method"] for row in stopped.rows] == ["raises", "counts"]
    mt.compare(problem, ["counts"], seeds=[13], store=path)
    assert Counts.runs == 2


def test_rows_of_a_file_become_results_again(problem, optimum, tmp_path):
    path = tmp_path / "study.db"
    mt.compare(problem, ["dp"], store=path)
    (result,) = Study.open(path).results
    assert result.value == optimum.value
    assert problem_key(result.problem) == problem_key(problem)
    assert mt.verify(Study.open(path).best)


def test_a_study_is_readable_while_it_is_written(problem, tmp_path):
    path = tmp_path / "study.db"
    seen = []

    def watch(moment):
        if moment.result is not None:
            with sqlite3.connect(path) as other:
                seen.append(
                    other.execute("SELECT COUNT(*) FROM runs WHERE role = 'run'").fetchone()[0]
                )

    mt.compare(problem, ["dp", "enumerate"], store=path, progress=watch)
    assert seen == [1, 2]
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_loses_no_finished_row(problem, tmp_path):
    """SQLite is told that the file may not grow; the rows that were finished are in the study and
    in the file.
    """
    path = tmp_path / "study.db"
    mt.compare(problem, ["dp"], store=path)
    study = Study(path)
    pages = study.store._db.execute("PRAGMA page_count").fetchone()[0]
    study.store._db.execute(f"PRAGMA max_page_count={pages}")
    from milp_trees.studies.compare import Comparison

    with pytest.raises(StoreError, match=r"free some space.*resumes") as caught:
        Comparison(study, Limits(), None, None, {}, None, None).all(
            [problem], ["dp", "enumerate"], range(50)
        )
    assert caught.value.study.rows[0]["status"] == "optimal"
    assert Study.open(path).rows


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda p: p.write_text("not a database, but long enough to be read as one " * 30),
            "not a database",
        ),
        (lambda p: p.mkdir(), "is a folder; name a file in it"),
    ],
)
def test_a_file_that_is_no_study_gets_a_sentence(problem, tmp_path, make, sentence):
    path = tmp_path / "study.db"
    make(path)
    with pytest.raises(StoreError, match=sentence):
        mt.compare(problem, ["dp"], store=path)


def test_estimate_knows_sizes_and_reasons(problem):
    frame = mt.estimate(problem, ["flow-oct"])
    assert frame["nonzeros"][0] > 0
    assert frame["time_class"][0]
    from milp_trees.solving.estimate import named_formulation

    formulation = named_formulation("flow-oct")
    assert (
        formulation.model_size(formulation.presolved_view(problem), problem.trees).rows
        == frame["rows"][0]
    )


def test_estimate_says_why_a_formulation_cannot_take_a_problem(problem):
    fair = mt.Problem(
        problem.dataset.with_(groups=problem.dataset.X[:, 0]),
        mt.Accuracy(constraints=[mt.tasks.StatisticalParity()]),
        mt.Trees(2),
    )
    frame = mt.estimate(fair).set_index("formulation")
    for name in mt.registry.formulations_for(fair):
        if not mt.registry.formulation(name).takes_side_rows:
            assert "side constraints" in frame.loc[name, "reason"], name


def test_a_model_too_large_to_build_is_a_row_with_a_reason_and_runs_once_it_is_allowed(
    problem, tmp_path
):
    small = mt.compare(problem, ["flow-oct@highs"], max_nonzeros=100, store=tmp_path / "s.sqlite")
    assert small.rows[0]["status"] == "unsupported"
    assert "raise max_nonzeros=" in small.rows[0]["message"]
    assert (
        mt.compare(problem, ["flow-oct@highs"], store=tmp_path / "s.sqlite").rows[0]["status"]
        == "optimal"
    )


def test_a_model_that_takes_longer_to_build_than_the_time_limit_is_not_built():
    from milp_trees.mip.method import too_large

    assert "raise --time-limit" in too_large(10_000_000, Limits(time=1.0))
    assert too_large(10_000_000, Limits(time=60.0)) is None
    assert too_large(10**12, Limits(time=None, nonzeros=None)) is None


def test_bounds_that_are_far_off_do_not_flatten_the_picture():
    from milp_trees.studies.figures.over_time import visible_range

    rows = [
        {"trace": [(0.1, 40.0, -2900.0), (0.5, 33.0, 9.0)]},
        {"trace": [(0.1, 33.0, -1e9)]},
        {"trace": [(0.1, None, None)]},
    ]
    low, high = visible_range(rows)
    assert -60 < low < 9
    assert 40 < high < 60
    assert visible_range([{"trace": [(0.1, 5000.0, None), (0.2, 33.0, 20.0)]}])[1] < 60
    assert visible_range([{"trace": [(0.1, None, -5.0)]}])[0] < -5
    assert visible_range([{"trace": [(0.1, 0.0, 0.0)]}])[0] < 0


@pytest.mark.slow
def test_a_study_is_plotted(problem, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    study = mt.compare(problem, ["dp", "enumerate"])
    study.plot().savefig(tmp_path / "study.svg")
    assert (tmp_path / "study.svg").stat().st_size > 1000
    from milp_trees.studies.measures import performance_profile

    profile = performance_profile(study.frame())
    assert profile.iloc[-1].tolist() == [1.0, 1.0]
    assert profile.loc[1.0].max() == 1.0


def test_curves_over_time_name_as_many_runs_as_there_are_colours(problem):
    import matplotlib.pyplot as plt

    off = ("cache", "cache_two", "similarity", "per_test", "sibling", "larger_first", "gini")
    study = mt.compare(problem, ["dp", *(f"dp:{name}=off" for name in off)])
    axes = study.plot().axes[0]
    named = [(line.get_color(), line.get_label()) for line in axes.get_legend().get_lines()]
    assert [label for _, label in named][-1] == "1 other"
    assert len({colour for colour, _ in named}) == 8
    plt.close("all")
