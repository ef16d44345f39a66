"""A SPEC that cannot be run is refused with one sentence that names the line."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.studies.planning.reading import read_plan
from milp_trees.studies.planning.source import Source, SpecError

GOOD = """\
title = "t"
[defaults]
time_limit = 5

[[problems]]
name = "a"
data = ["iris"]
binarize = ["quantiles:4"]
task = ["accuracy"]
space = [{max_depth = 1}]

[[methods]]
labels = ["dp"]
"""
MILLION = f"seeds = {list(range(1000))}\npermutations = {list(range(1000))}"
#: What is replaced, by what, the line of the error, and words of its sentence.
BAD = [
    ("time_limit", "time_limt", 3, "no key 'time_limt' here. Did you mean 'time_limit'?"),
    ("data =", "dta =", 7, "no key 'dta' here. Did you mean 'data'?"),
    ("max_depth", "max_deth", 10, "Did you mean 'max_depth'?"),
    ("max_depth", "depth", 10, "no key 'depth' here. Did you mean 'max_depth'?"),
    ("max_depth", "leaves", 10, "Did you mean 'max_leaf_nodes'?"),
    ("space = [", "depth = 2\nspace = [", 10, "as in space = { max_depth = 2 }"),
    ("[[methods]]", "[[method]]", 12, "Did you mean 'methods'?"),
    ("time_limit = 5", 'time_limit = "5"', 3, "'time_limit' must be a valid number; got '5'"),
    ("time_limit = 5", "time_limit = nan", 3, "'time_limit' must be"),
    ("time_limit = 5", "seeds = 1.5", 3, "'seeds' must be a valid integer; got 1.5"),
    ("time_limit = 5", "seeds = [\n 0,\n -1]", 5, "'seeds' must be greater than or equal to 0"),
    ('"iris"', "3", 7, "'data' must be a table; got 3"),
    ('["iris"]', "[]", 7, "'data' must not be empty"),
    ('name = "a"\n', "", 5, "The key 'name' is missing here"),
    ('name = "a"', 'name = "a"\nkind = "list"', 7, "'kind' is one of 'trees', 'decisions'"),
    ('"dp"', '"dp', 13, "this is no TOML"),
    ('title = "t"', 'title = "t"\ntitle = "u"', 2, "this is no TOML: Cannot overwrite a value"),
    ('"iris"', '"irs"', 7, "Did you mean 'iris'?"),
    ('"iris"', '"people.csv"', 7, "There is no file"),
    ('"iris"', '"$NO_SUCH_FOLDER/people.csv"', 7, "NO_SUCH_FOLDER, which is not set"),
    ('"iris"', '{file = "people.csv", targt = "y"}', 7, "Did you mean 'target'?"),
    ('"iris"', '{builtin = "iris", target = "q"}', 7, "which the data do not have"),
    ('"iris"', '"planted:rowz=3"', 7, "has no option 'rowz'"),
    ('"iris"', '{generator = "plantd"}', 7, "Did you mean 'planted'?"),
    ('"quantiles:4"', '"quantils:4"', 7, "There is no binarizer 'quantils:4'"),
    ('"accuracy"', '"acuracy"', 9, "Did you mean 'accuracy'?"),
    ('"accuracy"', '{name = "f-beta", beat = 2}', 9, "f-beta has no option 'beat'"),
    ('"accuracy"', '"f1:positive=ill"', 9, "is no class of the data"),
    ('"accuracy"', "{name = 3}", 9, "'name' must be a valid string; got 3"),
    ('"accuracy"', '{name = "accuracy", leaf_penalty = 1979-05-27}', 9, "'leaf_penalty' must be"),
    ('"accuracy"', '{name = "accuracy", constraints = [3]}', 9, "or a table with its name"),
    (
        '"accuracy"',
        '{name = "accuracy", constraints = [{name = "capacity", x = 3}]}',
        9,
        "no option",
    ),
    ('"quantiles:4"', '{kind = "tree-guess", random_state = -1}', 8, "'random_state' must be"),
    ('"iris"', '{generator = "planted", rows = []}', 7, "'rows' must not be empty"),
    ('"iris"', '{generator = "planted", rows = 10000000000000000}', 7, "1000000000 answers"),
    ('name = "a"', 'name = "a\\nb"', 6, "'name' must hold no control characters"),
    ('title = "t"', 'title = """t\\\n  u"""\nnope = 1', 3, "There is no key 'nope' here"),
    ('"dp"', '"dpp"', 13, "Did you mean 'dp'?"),
    ('"dp"', '"dp:cach=off"', 13, "dp has no option 'cach'"),
    ('"dp"', '"flow-oct@hihgs"', 13, "Did you mean 'highs'?"),
    ('"dp"', '"dp"]\nstarts = ["crat"', 14, "Did you mean 'cart'?"),
    ('"dp"', '"dp"]\noptions = [{presolve = "off"}', 13, "dp has no solver"),
    ('"dp"', '"min-cut"', 12, "No run is left. min-cut searches models of another kind"),
    ('labels = ["dp"]', 'name = "x"', 12, "This table names no method"),
    ('name = "a"', 'name = "a"\nmethods = ["zz"]', 7, "No table of methods has the name 'zz'"),
    ('["iris"]', '["iris", "iris"]', 7, "Two problems have the name 'a/iris/depth=1'"),
    ('title = "t"', 'title = "t"\nplugins = ["no.py"]', 2, "cannot be read"),
    ("time_limit = 5", MILLION, 6, "asks for up to 1 000 000 runs"),
]


@each_row("old, new, line, words", BAD)
def test_a_bad_spec_is_refused_with_its_line(old, new, line, words, tmp_path):
    assert old in GOOD
    path = tmp_path / "bad.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(SpecError) as raised:
        read_plan(path)
    message = str(raised.value)
    assert words in message
    found = re.match(r".*bad\.toml, line (\d+)", message)
    assert int(found[1]) == line, message
    assert message.count("\n") == 0


NO_TOML = [bad for bad in BAD if "this is no TOML" in bad[3]]
MAPPABLE = [bad for bad in BAD if bad not in NO_TOML]


@each_row("old, new, line, words", MAPPABLE)
def test_a_bad_mapping_is_refused_with_its_key(old, new, line, words):
    spec = tomllib.loads(GOOD.replace(old, new, 1))
    with pytest.raises(SpecError) as raised:
        read_plan(spec)
    message = str(raised.value)
    if "1979" in new:  # a date
        assert message.startswith(
            "The SPEC: datetime.date(1979, 5, 27) is of the type date; a SPEC"
        )
        return
    assert re.match(r"The SPEC, (the whole|[a-z_]+(\[\d+\])?[.\w\[\]]*): ", message), message
    assert "line" not in message.partition(":")[0]
    assert words in message or "at line" in words


def test_a_mapping_is_the_plan_of_its_file(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(GOOD)
    spec = tomllib.loads(GOOD)
    assert [r.key for r in mt.study(spec, dry_run=True).runs] == [
        r.key for r in read_plan(path).runs
    ]
    loose = {**spec, "defaults": {"time_limit": np.float64(5), "seeds": range(2)}}
    loose["problems"] = [{**spec["problems"][0], "space": ({"max_depth": np.int64(1)},)}]
    path.write_text(GOOD.replace("time_limit = 5", "time_limit = 5\nseeds = [0, 1]"))
    assert [r.key for r in read_plan(loose).runs] == [r.key for r in read_plan(path).runs]
    loose["problems"] = [{**spec["problems"][0], "data": Path("absent.csv")}]
    with pytest.raises(SpecError, match=r"^The SPEC, problems\[0\]\.data: There is no file"):
        read_plan(loose)
    with pytest.raises(SpecError, match=r"The SPEC: <object .*> is of the type object"):
        mt.study({**spec, "title": object()}, dry_run=True)
    with pytest.raises(DataError, match="A SPEC is a TOML file or a mapping; got 3"):
        mt.study(3, dry_run=True)


def test_a_product_of_a_million_runs_is_refused_before_data_are_read(tmp_path):
    path = tmp_path / "big.toml"
    path.write_text(GOOD.replace('"iris"', '"absent.csv"').replace("time_limit = 5", MILLION))
    with pytest.raises(SpecError, match="1 000 000 runs"):
        read_plan(path)


def test_a_spec_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        read_plan(tmp_path / "absent.toml")


def test_a_plug_in_file_that_cannot_be_imported_is_refused(tmp_path):
    (tmp_path / "broken.py").write_text("import there_is_no_such_module\n")
    path = tmp_path / "bad.toml"
    path.write_text('plugins = ["broken.py"]\n' + GOOD)
    with pytest.raises(SpecError, match=r"line 1: The plug-in file .* cannot be imported"):
        read_plan(path)


def test_the_spec_of_the_docs_has_the_layout_that_is_read():
    text = (Path(__file__).parents[3] / "docs/guide/studies.md").read_text("utf-8")
    shown = Source(re.search(r"```toml\n(.*?)```", text, re.S)[1], "docs").checked()
    assert (len(shown.problems), len(shown.methods), len(shown.exclude)) == (1, 2, 1)


def test_only_tables_that_are_meant_count_for_the_size(tmp_path, monkeypatch):
    """Four tables of methods for one table of problems each are 8 runs, and not 32."""
    monkeypatch.setattr("milp_trees.studies.planning.runs.MOST_RUNS", 20)
    path = tmp_path / "large.toml"
    parts = [
        f'[[methods]]\nname = "m{i}"\nlabels = ["dp"]\nseeds = [0, 1]\n'
        f'[[problems]]\nname = "p{i}"\ndata = "planted:rows={9 + i}"\nmethods = "m{i}"\nspace = {{max_depth = 0}}\n'
        for i in range(4)
    ]
    path.write_text("".join(parts))
    assert len(read_plan(path).runs) == 8
    path.write_text("".join(parts).replace('methods = "m', '# methods = "m'))
    with pytest.raises(SpecError, match="asks for up to 32 runs"):
        read_plan(path)


@each_row("pattern", ["flow*", "*@highs", "dp:cache=*", "dp"])
def test_patterns_of_methods_count_for_the_size(pattern, tmp_path):
    path = tmp_path / "big.toml"
    text = GOOD.replace('name = "a"', f'name = "a"\nmethods = ["{pattern}"]')
    labels = 'labels = ["dp", "dp:cache=off"]\n[[methods]]\nformulations = "flow-oct"'
    path.write_text(text.replace("time_limit = 5", MILLION).replace('labels = ["dp"]', labels))
    with pytest.raises(SpecError, match=r"asks for up to .* 000 000 runs"):
        read_plan(path)
