"""Ten things that the author of a plug-in does, as the site says."""

PAGE = "docs/start/plugin_author.md"


def test_write_a_task(done):
    result = done(1).names["result"]
    assert result.optimal
    assert result.value.unit == "cost"


def test_check_it_against_its_definition(done):
    assert len(done(2).names["report"].passed) > 5


def test_write_a_method(done):
    assert "one-leaf" in done(3).printed
    assert "100 errors" in done(3).printed


def test_give_it_options(done):
    result = done(4).names["result"]
    assert result.method == "one-leaf:worst=on"
    assert result.value.number == 100


def test_check_the_method(done):
    assert done(5).names["report"].passed


def test_have_it_judged(done):
    study = done(6).names["study"]
    assert [row["objective"] for row in study.rows] == [100, 50]
    assert study.rows[1]["agrees"]


def test_use_a_file_in_a_study(done):
    import milp_trees as mt

    done(7)
    rows = mt.Study.open("mine.db").rows
    assert {row["method"] for row in rows} == {"one-leaf", "cart"}


def test_begin_a_formulation(done):
    printed = done(8).printed
    assert "my-model@highs: optimal, 50 errors" in printed


def test_check_the_formulation(done):
    done(8)
    assert len(done(9).names["report"].passed) > 5


def test_put_it_into_a_package(done, tmp_path):
    import tomllib

    from milp_trees.common.registering import GROUPS

    found = done(10)
    assert "misclassified" in found.printed.lower()
    stated = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    named = {group.removeprefix("milp_trees.") for group in stated["project"]["entry-points"]}
    assert named <= set(GROUPS)
