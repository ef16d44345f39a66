"""Comparisons serve a stored run only if nothing differs that can change it."""

import pytest
from identity_cases import OPTIONS, PLUG_INS, Chance, Random, alternatives

import milp_trees as mt
from milp_trees.common.registering import labels, plugins
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.results.result import Status
from milp_trees.solving.attempt import failed
from milp_trees.studies import Study, one_run


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=4"),
        mt.Accuracy(),
        mt.Trees(2),
    )


@pytest.fixture
def third_party(monkeypatch):
    for cls in (Random, Chance):
        monkeypatch.setitem(plugins._classes["methods"], cls.name, cls)


# -- comparisons ---------------------------------------------------------------------------------------------


ENGINES = "dp:cache=off,dp:order=best-first,dp"


def test_a_comparison_runs_each_of_its_methods_and_shows_it_under_its_label(problem, tmp_path):
    """`dp:cache=off,dp:order=best-first,dp` was one run shown three times."""
    study = mt.compare(problem, ENGINES, store=tmp_path / "s.sqlite")
    names = labels.split_labels(ENGINES)
    assert [row["method"] for row in study.rows] == names
    assert len({row["key"] for row in study.rows}) == 3
    assert len({row["seconds"] for row in study.rows}) == 3, "each row has a time of its own"
    for shown in (study.table(), study._repr_html_(), *map(repr, study.results)):
        assert any(name in shown for name in names)
    assert [result.method for result in study.results] == names
    assert list(study.frame()["method"]) == names
    again = Study.open(tmp_path / "s.sqlite")
    assert [row["method"] for row in again.rows] == names


def test_methods_that_are_the_same_are_one_row(problem):
    """However they are spelled."""
    study = mt.compare(problem, ["dp", "dp:cache=on", "dp:ties=auto,order=auto"])
    assert [row["method"] for row in study.rows] == ["dp"]


def test_a_store_serves_no_run_for_another(problem, tmp_path):
    """Rows of `dp` were served for `dp:cache=off`."""
    path = tmp_path / "s.sqlite"
    first = mt.compare(problem, ["dp"], store=path)
    second = mt.compare(problem, ["dp:cache=off", "dp"], store=path)
    assert [row["method"] for row in second.rows] == ["dp:cache=off", "dp"]
    assert second.rows[1] == first.rows[0]
    assert second.rows[0]["key"] != first.rows[0]["key"]


def test_a_third_party_s_options_are_runs_of_their_own(problem, third_party, tmp_path):
    study = mt.compare(
        problem, ["random", "random:tries=2000", "chance:tries=7"], store=tmp_path / "s.sqlite"
    )
    assert [(row["method"], row["nodes"]) for row in study.rows] == [
        ("random", 100),
        ("random:tries=2000", 2000),
        ("chance:tries=7", 7),
    ]
    assert [row["proved_by"] for row in study.rows] == [None] * 3 or all(
        row["proved_by"] in (row["method"], None) for row in study.rows
    )
    result = mt.solve(problem, "random:tries=2000")
    assert (result.method, result.to_json()["method"]) == ("random:tries=2000", "random:tries=2000")
    assert repr(result).startswith("<random:tries=2000:")


def test_an_error_is_signed_with_the_label(problem, third_party, monkeypatch):
    def broken(self, *given):
        raise RuntimeError("a bug")

    monkeypatch.setattr(Random, "search", broken)
    assert mt.compare(problem, ["random:tries=3"]).rows[0]["method"] == "random:tries=3"


def test_pruning_methods_with_options_are_rows_of_their_own():
    """`subgradient,subgradient:steps=1000`."""
    study = mt.compare(
        EXAMPLES["figure-1"](),
        "subgradient,subgradient:steps=1000",
        start=None,
        reference="min-cut",
    )
    assert [row["method"] for row in study.rows] == ["subgradient", "subgradient:steps=1000"]


def test_the_oracle_s_own_run_is_never_a_row(problem, tmp_path, monkeypatch):
    """The reference runs once for itself; a row of the same method is a run of its own, also when a
    study resumes.
    """
    runs = []
    original = one_run.attempt

    def counted(method, *given, **more):
        runs.append(method.label)
        return original(method, *given, **more)

    monkeypatch.setattr(one_run, "attempt", counted)
    study = mt.compare(problem, ["dp", "cart"], store=tmp_path / "s.sqlite")
    assert sorted(runs) == ["cart", "dp", "dp", "enumerate"]
    assert study.rows[0]["seconds"] != study.reference.seconds
    runs.clear()
    mt.compare(problem, ["dp", "cart"], store=tmp_path / "s.sqlite")
    assert runs == []
    mt.compare(problem, ["enumerate"], store=tmp_path / "s.sqlite")
    assert runs == ["enumerate"], "that it judged dp does not make it a row"


def test_every_method_and_option_gets_a_row_of_its_own(problem, tmp_path, monkeypatch):
    """Asked one after the other from one store, no row is another's."""
    runs = []

    def refused(method, asked, *given, **more):
        runs.append(method.label)
        return failed(asked, method.label, Status.UNSUPPORTED, f"run {len(runs)}")

    monkeypatch.setattr(one_run, "attempt", refused)
    names = [f"{name}@highs" if group == "formulations" else name for group, name in PLUG_INS]
    names += [label for which in OPTIONS for label in alternatives(*which)]
    path = tmp_path / "s.sqlite"
    for part in (names[: len(PLUG_INS)], names[len(PLUG_INS) :]):
        mt.compare(problem, part, store=path, reference=None, start=None)
    study = mt.compare(problem, names, store=path, reference=None, start=None)
    assert runs == names
    assert [(row["method"], row["message"]) for row in study.rows] == [
        (name, f"run {k}") for k, name in enumerate(names, 1)
    ]


def test_an_oracle_with_options_is_the_one_that_was_asked_for(problem):
    """It was passed over in silence, as its name with options is not in the registry."""
    study = mt.compare(problem, ["cart"], reference="dp:cache=off")
    assert study.reference.method == "dp:cache=off"


def test_runs_of_one_method_on_different_problems_are_not_averaged(problem):
    """The performance profile tells problems apart that share data, task and depth."""
    from milp_trees.studies.measures import performance_profile

    other = mt.Problem(problem.dataset, problem.task, mt.Trees(2, min_samples_leaf=5))
    study = mt.compare([problem, other], ["dp", "cart"], reference=None)
    assert len(set(study.frame()["problem"])) == 2
    assert performance_profile(study.frame())["dp"].iloc[-1] == 1.0
    assert performance_profile(study.frame())["cart"].iloc[-1] == 0.0


def test_tables_tell_seeds_and_problems_apart(problem):
    """Rows of one method are not shown as the same where seeds or problems differ; where they do
    not, no column is added, and what all rows share is said once.
    """
    other = mt.Problem(problem.dataset, problem.task, mt.Trees(1))
    one, several = (
        mt.compare(problem, ["cart", "dp"]),
        mt.compare([problem, other], ["dp"], seeds=[0, 7]),
    )
    shared, rest = one.table().split("\n", 1)
    assert "depth 2" in shared
    assert "seed 0" in shared
    assert "seed" not in rest
    assert "<th>seed</th>" not in one._repr_html_()
    shown = {
        tuple(line.split()[:3]) for line in several.table().splitlines() if line.startswith("dp")
    }
    assert shown == {("dp", depth, seed) for depth in "12" for seed in "07"}
    assert "<th>seed</th>" in several._repr_html_()


def test_runs_under_other_limits_are_lines_of_their_own(problem, tmp_path):
    """A store that holds both shows both; neither is a mean of the two."""
    from milp_trees.studies.measures import performance_profile

    for limit in (30, 60):
        mt.compare(problem, ["dp"], store=tmp_path / "s.sqlite", time_limit=limit)
    study = Study.open(tmp_path / "s.sqlite")
    assert list(performance_profile(study.frame())) == ["dp", "dp (2)"]


@pytest.mark.parametrize(
    ("command", "methods", "expected"),
    [
        (
            ["compare", "planted:rows=40,tests=4", "--depth", "1"],
            "dp:cache=off,order=best-first,dp:order=best-first,dp",
            ["dp:cache=off,order=best-first", "dp:order=best-first", "dp"],
        ),
        (
            ["prune", "iris", "--trees", "3", "--depth", "2", "--lambda", "0.01"],
            "subgradient,subgradient:steps=1000,merge=on",
            ["subgradient", "subgradient:steps=1000,merge=on"],
        ),
        (
            ["spo", "two-roads", "--rows", "40", "--test-rows", "5", "--depth", "1"],
            "greedy,greedy:plateaus=squared-error",
            ["greedy-spo", "greedy-spo:plateaus=squared-error"],
        ),
    ],
    ids=["compare", "prune", "spo"],
)
def test_the_command_line_takes_options_of_methods(command, methods, expected):
    """Commas separate options as well as methods, and every method is a row."""
    import json

    from typer.testing import CliRunner

    from milp_trees.cli.main import app

    done = CliRunner().invoke(app, [*command, "--methods", methods, "--json"])
    assert done.exit_code == 0, done.output
    assert [row["method"] for row in json.loads(done.stdout)] == expected
