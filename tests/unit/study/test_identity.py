"""A run is identified by everything that can change it: the label with all options, problem, start,
limits, seed, solver options, test rows, versions.
"""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.by_name import registry
from milp_trees.errors import MilpTreesError, UnknownName
from milp_trees.limits import Limits
from milp_trees.methods.start import Start
from milp_trees.registering import labels, plugins
from milp_trees.results.result import Status
from milp_trees.study import Study, compare
from milp_trees.study.attempt import failed, named_method
from milp_trees.study.identity import problem_key, run_key
from milp_trees.testing.pruning_examples import EXAMPLES

PLUG_INS = [("methods", name) for name in registry.classes("methods")] + [
    ("formulations", name) for name in registry.classes("formulations")
]
OPTIONS = [
    (group, name, option)
    for group, name in PLUG_INS
    for option in labels.declared(registry.classes(group)[name])
]


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=4"),
        mt.Accuracy(),
        mt.Trees(2),
    )


def alternatives(group, name, option):
    """Labels of a plug-in with every other value of an option: both states, the next number, each
    of the words that it takes.
    """
    cls = registry.classes(group)[name]
    default = labels.declared(cls)[option]
    if isinstance(default, bool):
        values = [not default]
    elif isinstance(default, int):
        values = [default + 1]
    else:
        values = [word for word in words(cls, option) if word != default]
    at = "@highs" if group == "formulations" else ""
    return [f"{name}:{option}={spelled(value)}{at}" for value in values]


def spelled(value):
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def words(cls, option):
    """What an option allows, from its own refusal; any word where it refuses none."""
    try:
        cls(**{option: "nonsense"})
        return ["nonsense"]
    except MilpTreesError as error:
        said = str(error)
    listed = said.rpartition("one of")[2] if "one of" in said else said.partition(" is ")[2]
    found = [
        word
        for word in re.findall(r"[a-z][a-z-]*", listed.partition("got")[0])
        if word not in ("or", "and")
    ]
    assert len(found) > 1, f"{cls.name}:{option} does not list its words: {said}"
    return found


class Random(mt.plugins.Method):
    """A third party's engine that is no dataclass, and signs with its bare name."""

    name = "random"

    def __init__(self, tries: int = 100, share: float = 0.5, kind: str = "plain") -> None:
        self.tries, self.share, self.kind = tries, share, kind

    def search(self, problem, limits, start, progress):
        found = registry.method("cart").search(problem, limits, start, progress)
        return replace(
            found,
            method=self.name,
            certificate=replace(found.certificate, proved_by=self.name),
            nodes=self.tries,
        )


@dataclass(frozen=True)
class Chance(Random):
    """The same as a dataclass, whose options are fields."""

    name: ClassVar[str] = "chance"
    tries: int = 100


@pytest.fixture
def third_party(monkeypatch):
    for cls in (Random, Chance):
        monkeypatch.setitem(plugins._classes["methods"], cls.name, cls)


# -- labels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group, name", PLUG_INS)
def test_default_options_leave_the_short_name(group, name):
    """`dp:cache=on` is `dp`."""
    at = "@highs" if group == "formulations" else ""
    assert registry.method(name + at).label == name + at
    for option, default in labels.declared(registry.classes(group)[name]).items():
        if default != "":
            assert registry.method(f"{name}:{option}={spelled(default)}{at}").label == name + at


@pytest.mark.parametrize("group, name, option", OPTIONS)
def test_every_option_is_in_the_label_which_can_be_read_back(group, name, option):
    found = alternatives(group, name, option)
    assert found
    for label in found:
        assert registry.method(label).label == label
        assert registry.method(registry.method(label).label).label == label


def test_labels_of_third_parties_name_their_options(third_party):
    """Dataclass or not; numbers are read by the type of the default, and the order is that of the
    declaration.
    """
    assert registry.method("random:share=0.25,tries=2000").label == "random:tries=2000,share=0.25"
    assert registry.method("random:tries=100").label == "random"
    assert registry.method("chance:tries=2000").label == "chance:tries=2000"
    for wrong, sentence in (
        ("tries=many", "a whole number"),
        ("share=x", "a number"),
        ("trees=2", "has no option 'trees'; it has tries, share, kind"),
        ("tries=1,tries=2", "given twice"),
    ):
        with pytest.raises(UnknownName, match=sentence):
            registry.method(f"random:{wrong}")


@pytest.mark.parametrize(
    "word", ["a,b", "a,tries=7", "50%", "%2C", "on", "7", "tcp://you@host:1", ""]
)
def test_a_word_of_any_letters_is_read_back(third_party, word):
    """A comma in a word does not begin another option, and @ names no solver in an engine's
    options.
    """
    label = labels.label(Random(kind=word))
    again = registry.method(label)
    assert (again.kind, again.tries, again.label) == (word, 100, label)


def test_an_engine_that_hides_an_option_is_refused(third_party, monkeypatch):
    """Its runs could not be told apart."""

    class Hides(Random):
        def __init__(self, tries=100):
            self._tries = tries

    monkeypatch.setitem(plugins._classes["methods"], "random", Hides)
    with pytest.raises(UnknownName, match=r"keep the option 'tries' as an attribute of that name"):
        registry.method("random:tries=5")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dp, cart", ["dp", "cart"]),
        ("dp:cache=off,order=best-first,cart", ["dp:cache=off,order=best-first", "cart"]),
        (
            "flow-oct:merge_rows=off,drop_tests=off@highs,dp:ties=first",
            ["flow-oct:merge_rows=off,drop_tests=off@highs", "dp:ties=first"],
        ),
        ("", []),
        (",", []),
    ],
)
def test_a_list_of_labels_is_split_between_labels(text, expected):
    assert labels.split_labels(text) == expected


# -- the key of a run ----------------------------------------------------------------------------------------


def base(problem):
    return {
        "problem": problem,
        "method": named_method("flow-oct@highs"),
        "limits": Limits(),
        "start": Start(),
        "test": None,
    }


def keys(options):
    return run_key(
        options["problem"], options["method"], options["limits"], options["start"], options["test"]
    )


def test_every_option_of_every_method_gives_another_key(problem):
    """And the same label the same key."""
    found = {}
    for group, name in PLUG_INS:
        at = "@highs" if group == "formulations" else ""
        every = [
            alternatives(group, name, option)
            for option in labels.declared(registry.classes(group)[name])
        ]
        for label in [name + at, *(label for some in every for label in some)]:
            key = run_key(problem, registry.method(label), Limits(), Start(), None)
            assert key == run_key(problem, registry.method(label), Limits(), Start(), None)
            assert found.setdefault(key, label) == label
    assert len(found) == len(PLUG_INS) + sum(len(alternatives(*which)) for which in OPTIONS)


def leaf(action):
    return mt.Tree(mt.plugins.Leaf(action), (0, 1))


@pytest.mark.parametrize(
    "change",
    [
        {"limits": Limits(time=59.0)},
        {"limits": Limits(time=None)},
        {"limits": Limits(memory_mb=500)},
        {"limits": Limits(nodes=5)},
        {"limits": Limits(threads=2)},
        {"limits": Limits(seed=1)},
        {"limits": Limits(nonzeros=1000)},
        {"limits": Limits(rel_gap=0.1)},
        {"limits": Limits(abs_gap=0.5)},
        {"method": named_method("flow-oct@highs", {"presolve": "off"})},
        {"method": named_method("flow-oct@cbc")},
        {"method": named_method("cut@highs")},
        {"start": Start(leaf(0), "dp")},
        {"start": Start(None, "dp", reason="no tree")},
        {"test": mt.load("planted:rows=20,tests=5,seed=9")},
    ],
    ids=lambda change: next(
        iter(change)
    ),  # an object's own text holds an address, which differs from process to process
)
def test_whatever_can_change_a_run_changes_its_key(problem, change):
    assert keys({**base(problem), **change}) != keys(base(problem))


def test_where_the_log_goes_changes_no_run(problem):
    assert keys({**base(problem), "limits": Limits(log_file="log.txt")}) == keys(base(problem))


def test_the_content_of_a_start_is_in_the_key(problem):
    """Its maker's name is not enough: another time limit may have given another tree."""
    found = {
        keys({**base(problem), "start": start})
        for start in (Start(leaf(0), "dp"), Start(leaf(1), "dp"), Start(leaf(0), "given"))
    }
    assert len(found) == 3
    assert keys({**base(problem), "start": Start(leaf(0), "dp", 1.0)}) == keys(
        {**base(problem), "start": Start(leaf(0), "dp", 2.0)}
    )


@pytest.mark.parametrize("package", ["numpy", "numba", "pyomo", "milp-trees", "highs"])
def test_versions_are_in_the_key(problem, package, monkeypatch):
    """Of this package, of the solver, and of the libraries that a method computes with."""
    method = named_method("flow-oct@highs")
    now = run_key(problem, method, Limits(), Start(), None)
    known = method.software()
    assert package in known
    monkeypatch.setattr(type(method), "software", lambda self: {**known, package: "0.0.1"})
    assert run_key(problem, method, Limits(), Start(), None) != now


def test_a_method_names_only_software_that_it_computes_with():
    """A new Pyomo is no reason to run an engine again."""
    assert "pyomo" not in registry.method("dp").software()
    assert {"numba", "numpy"} <= set(registry.method("dp").software())
    assert registry.method("dantzig-wolfe").software().keys() >= {"highspy"}


def question(problem, asked):
    return mt.Problem(problem.dataset, problem.task, problem.space, asked)


def test_every_part_of_a_problem_is_in_its_key(problem):
    """Task, space, question with its numbers, arrays, and the column that may not be split on."""
    data = problem.dataset
    grouped = data.with_(groups=data.y)
    others = [
        problem,
        mt.Problem(data, mt.Accuracy(leaf_penalty="1/100"), problem.space),
        mt.Problem(data, mt.Accuracy(split_penalty="1/100"), problem.space),
        mt.Problem(data, mt.Accuracy(constraints=[mt.tasks.Capacity(1, at_most=5)]), problem.space),
        mt.Problem(data, mt.Accuracy(constraints=[mt.tasks.Capacity(1, at_most=6)]), problem.space),
        mt.Problem(data, problem.task, mt.Trees(3)),
        mt.Problem(data, problem.task, mt.Trees(2, min_weight_leaf="1/2")),
        mt.Problem(data.subset(np.arange(59)), problem.task, problem.space),
        mt.Problem(grouped, problem.task, problem.space),
        mt.Problem(
            grouped.with_(group_column=data.features[0].column), problem.task, problem.space
        ),
        *(question(problem, mt.plugins.NearBest(slack=s)) for s in (1, 2)),
        question(problem, mt.plugins.NearBest(slack=1, trivial=False)),
        *(question(problem, mt.plugins.BySize(k)) for k in (3, 4)),
    ]
    assert len({problem_key(p) for p in others}) == len(others)


def test_oracles_of_one_name_are_other_problems():
    """Two functions may be called the same; only the same object is known to be the same set of
    decisions.
    """

    def made(sign):
        oracle = mt.decisions.Oracle(lambda c: np.eye(len(c))[np.argmin(sign * c)], 2)
        return mt.Problem(
            mt.Dataset([[0], [1]], values=[[1.0, 2.0], [2.0, 1.0]]),
            mt.tasks.Decision(decisions=oracle),
            mt.Trees(1),
        )

    a, b = made(1), made(-1)
    assert problem_key(a) != problem_key(b)
    assert problem_key(a) == problem_key(a.without_views())


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
    original = compare.attempt

    def counted(method, *given, **more):
        runs.append(method.label)
        return original(method, *given, **more)

    monkeypatch.setattr(compare, "attempt", counted)
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

    monkeypatch.setattr(compare, "attempt", refused)
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
    from milp_trees.study.plot import performance_profile

    other = mt.Problem(problem.dataset, problem.task, mt.Trees(2, min_samples_leaf=5))
    study = mt.compare([problem, other], ["dp", "cart"], reference=None)
    assert len(set(study.frame()["problem"])) == 2
    assert performance_profile(study.frame())["dp"].iloc[-1] == 1.0
    assert performance_profile(study.frame())["cart"].iloc[-1] == 0.0


def test_tables_tell_seeds_and_problems_apart(problem):
    """Rows of one method are not shown as the same where seeds or problems differ; where they do
    not, nothing is added.
    """
    other = mt.Problem(problem.dataset, problem.task, mt.Trees(1))
    one, several = (
        mt.compare(problem, ["cart", "dp"]),
        mt.compare([problem, other], ["dp"], seeds=[0, 7]),
    )
    assert "seed" not in one.table()
    assert "<th>seed</th>" not in one._repr_html_()
    shown = {
        tuple(line.split()[:3]) for line in several.table().splitlines() if line.startswith("dp")
    }
    assert shown == {("dp", row["problem_key"][:6], str(row["seed"])) for row in several.rows}
    assert "<th>seed</th>" in several._repr_html_()


def test_runs_under_other_limits_are_lines_of_their_own(problem, tmp_path):
    """A store that holds both shows both; neither is a mean of the two."""
    from milp_trees.study.plot import performance_profile

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
            ["prune", "iris", "--trees", "3", "--max-depth", "2", "--lambda", "0.01"],
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
