"""A run is identified by everything that can change it: the label with all options, problem, start,
limits, seed, solver options, test rows, versions.
"""

import numpy as np
import pytest
from identity_cases import OPTIONS, PLUG_INS, Chance, Random, alternatives, spelled
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import UnknownName
from milp_trees.common.limits import Limits
from milp_trees.common.registering import labels, plugins
from milp_trees.methods.start import Start
from milp_trees.mip.registry import registry
from milp_trees.solving.attempt import named_method
from milp_trees.studies.identity import problem_key, run_key


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


# -- labels --------------------------------------------------------------------------------------------------


@each_row("group, name", PLUG_INS)
def test_default_options_leave_the_short_name(group, name):
    """`dp:cache=on` is `dp`."""
    at = "@highs" if group == "formulations" else ""
    assert registry.method(name + at).label == name + at
    for option, default in labels.declared(registry.classes(group)[name]).items():
        if default != "":
            assert registry.method(f"{name}:{option}={spelled(default)}{at}").label == name + at


@each_row("group, name, option", OPTIONS)
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


@each_row(
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


@each_row(
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
    ],  # an object's own text holds an address, which differs from process to process
)
def test_whatever_can_change_a_run_changes_its_key(problem, change):
    assert keys({**base(problem), **change}) != keys(base(problem))


def test_where_the_log_goes_changes_no_run(problem):
    assert keys({**base(problem), "limits": Limits(log_file="log.txt")}) == keys(base(problem))


def test_a_start_is_identified_by_its_maker_and_a_given_one_by_its_content(problem):
    """So the key is known before the start is made; the limits, which it shares, are in the key."""
    keyed = {
        name: keys({**base(problem), "start": start})
        for name, start in {
            "dp": Start(leaf(0), "dp"),
            "dp again": Start(leaf(1), "dp", 2.0),
            "dp by name": "dp",
            "cart": Start(leaf(0), "cart"),
            "given": Start(leaf(0), "given"),
            "another given": Start(leaf(1), "given"),
        }.items()
    }
    assert keyed["dp"] == keyed["dp again"] == keyed["dp by name"]
    assert len(set(keyed.values())) == 4


def test_a_permutation_is_in_the_key(problem):
    found = {
        run_key(problem, registry.method("dp"), Limits(), None, permutation=k) for k in (0, 1, 2)
    }
    assert len(found) == 3


@each_row("package", ["numpy", "numba", "pyomo", "milp-trees", "highs"])
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
            mt.decisions.Decision(decisions=oracle),
            mt.Trees(1),
        )

    a, b = made(1), made(-1)
    assert problem_key(a) != problem_key(b)
    assert problem_key(a) == problem_key(a.without_views())
