"""The registry: plug-ins are found by themselves, once, and by their import name only."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import UnknownName
from milp_trees.common.registering import Plugins, register
from milp_trees.mip.registry import registry

ROOT = Path(__file__).parents[2]


@each_row("group", ["formulations", "solvers", "methods", "tasks"])
def test_a_registered_class_carries_its_name(group):
    """The key in the registry is the class's own name, and names are slugs."""
    classes = registry.classes(group)
    assert classes
    assert all(
        cls.name == name and name == name.lower() and " " not in name
        for name, cls in classes.items()
    )


@pytest.mark.parametrize(
    "group, folder", [("formulations", "formulations"), ("solvers", "solvers")]
)
def test_every_plug_in_file_registers_something(group, folder):
    """A file of the folder that registers nothing would be forgotten by tables, docs and tests."""
    files = {p.stem for p in (ROOT / folder).glob("*.py") if not p.stem.startswith("_")}
    assert {cls.__module__.split(".")[-1] for cls in registry.classes(group).values()} == files


def test_an_unknown_name_suggests_the_nearest():
    """And lists what there is."""
    with pytest.raises(
        UnknownName,
        match=r"no formulation called 'flow-otc'\. Did you mean 'flow-oct'\? Known: .*flow-oct",
    ):
        registry.formulation("flow-otc")
    with pytest.raises(
        UnknownName, match="is a formulation; name the solver too, for example flow-oct@highs"
    ):
        registry.method("flow-oct")
    with pytest.raises(UnknownName, match="is not an option; write name=value"):
        registry.method("flow-oct:fast@highs")


def test_options_are_part_of_a_method_s_name():
    """They are read, and written back."""
    method = registry.method("flow-oct:merge_rows=off,sinks=multi@highs")
    assert (method.formulation.merge_rows, method.formulation.sinks) == (False, "multi")
    assert method.name == "flow-oct:merge_rows=off,sinks=multi@highs"


def test_two_plug_ins_of_one_name_are_refused():
    """The second one, with the names of both modules."""

    class Impostor(mt.plugins.Formulation):
        name = "flow-oct"

    with pytest.raises(ValueError, match="Two plug-ins are called 'flow-oct'"):
        register(Impostor)
    assert registry.classes("formulations")["flow-oct"] is not Impostor


def test_what_is_no_plug_in_is_refused():
    """Only formulations, solvers and methods register."""
    with pytest.raises(TypeError, match="neither a Formulation nor a Solver nor a Method"):
        register(type("Something", (), {"name": "something"}))


def test_importing_a_plug_in_by_its_folder_is_refused():
    """It would make every class twice."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import formulations.flow_oct"
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "as milp_trees.formulations.flow_oct" in done.stderr


def test_the_registry_is_at_the_top_whatever_was_imported_before():
    """mt.registry answers like the object, also when the module of that name was imported first."""
    code = "import milp_trees.mip.registry; import milp_trees as mt; print(mt.registry.formulation('flow-oct').name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "flow-oct"


@pytest.mark.parametrize(
    "spelled",
    [
        "path-cut:strengthen=maybe@highs",
        "path-cut:rivals=on@highs",
        "path-cut:strengthen=off;rivals=0@highs",
    ],
)
def test_an_option_of_another_type_is_refused(spelled):
    """`strengthen=off;rivals=0` once counted as a word, and so as "on"."""
    with pytest.raises(UnknownName, match="got"):
        registry.method(spelled)


def test_a_capability_that_is_not_known_is_an_error_when_a_solver_registers():
    """A misspelled word would mean that the solver is never asked."""

    class Misspelled(mt.plugins.Solver):
        name = "misspelled"
        capabilities = frozenset({"mip", "root_bound"})

    with pytest.raises(TypeError, match=r"'root_bound'.*known are lp, mip, start"):
        register(Misspelled)
    assert "misspelled" not in registry.classes("solvers")


@each_row(
    "label, parameters",
    [
        ("accuracy", {}),
        ("f-beta:beta=1/3,positive=ill", {"beta": "1/3", "positive": "ill"}),
        ("f1:positive=ill%2C well", {"positive": "ill, well"}),
        ("precision:min-recall=0.1", {"min_recall": "0.1"}),
        ("weighted:class_weight=a=b=5;c=1/2", {"class_weight": {"a=b": "5", "c": "1/2"}}),
        (
            "count-ratio:numerator=TP=1,denominator=TP=1;FN=2",
            {"numerator": {"TP": "1"}, "denominator": {"TP": "1", "FN": "2"}},
        ),
    ],
)
def test_a_task_is_named_with_its_parameters(label, parameters):
    """Numbers stay texts, which the task reads exactly."""
    kind, read = registry.task_from_label(label)
    assert (kind, read) == (registry.task(label.partition(":")[0]), parameters)
    assert kind(**read).spec()["name"] == kind.name


@each_row(
    "label, said",
    [
        ("f-beta:gamma=2", "f-beta has no option 'gamma'; it has .*beta"),
        ("f-beta:beta", "write name=value, for example positive="),
        ("f-beta:beta=1,beta=2", "given twice"),
        ("f-bata", "Did you mean 'f-beta'"),
    ],
)
def test_a_parameter_that_a_task_does_not_have_is_refused(label, said):
    with pytest.raises(UnknownName, match=said):
        registry.task_from_label(label)


def test_ranks_are_what_classes_declare():
    """The order of defaults and judges; formulations come with the default solver."""
    for rank in ("default_rank", "reference_rank"):
        found = list(registry.ranked(rank))
        assert [getattr(cls, rank) for _, cls in found] == sorted(
            getattr(cls, rank) for _, cls in found
        )
        assert {name.partition("@")[2] for name, _ in found} <= {"", registry.default_solver}
    assert registry.default_solver == "highs"


def test_engines_are_asked_before_formulations_are_loaded():
    """A run of an engine that is chosen, and judged, needs no Pyomo."""
    code = (
        "import sys, milp_trees as mt\n"
        "p = mt.Problem(mt.Dataset([[0], [1]], y=[0, 1]), mt.Accuracy(), mt.Trees(1))\n"
        "from milp_trees.solving.attempt import default_method\n"
        "from milp_trees.solving.agreement import reference_of\n"
        "print(default_method(p), reference_of('cart', p))\n"
        "from dataclasses import replace\n"
        "from milp_trees.problems.questions import BySize, NearBest\n"
        "q = mt.Problem(mt.load('iris'), mt.Accuracy(leaf_penalty=0.01), mt.Trees(2))\n"
        "print(default_method(q))\n"
        "print(*(default_method(replace(q, question=a)) for a in (BySize(3), NearBest(relative=0.1))))\n"
        "print('pyomo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["dp", "dp", "dp", "dp-sizes", "near-best", "False"]


@pytest.mark.parametrize("rank", ["default_rank", "reference_rank", "verification_rank"])
def test_a_rank_is_a_whole_number(rank):
    wrong = type("Wrong", (mt.plugins.Method,), {"name": "wrong-rank", rank: "5"})
    with pytest.raises(TypeError, match=f"The {rank} of Wrong must be a whole number; got '5'"):
        register(wrong)


def test_a_switch_of_a_task_is_on_or_off():
    assert registry.task_from_label("decision:normalised=on")[1] == {"normalised": True}
    with pytest.raises(UnknownName, match="normalised is on or off; got 'maybe'"):
        registry.task_from_label("decision:normalised=maybe")


def test_a_formulation_comes_after_the_quick_engines():
    class Early(mt.plugins.TreeFormulation):
        name = "early"
        default_rank = 5

    with pytest.raises(TypeError, match="default_rank of Early is 5; formulations come after"):
        register(Early)


@pytest.mark.parametrize("wrong", [{"needs": "CostMatrix"}, {"questions": "best"}])
def test_a_view_or_question_that_is_a_text_is_refused(wrong):
    """Such a method would never be chosen, without a word."""
    with pytest.raises(TypeError, match=f"{next(iter(wrong))} must be"):
        register(type("Texts", (mt.plugins.Method,), {"name": "texts", **wrong}))


def test_a_thread_waits_until_all_plug_ins_are_there(monkeypatch):
    """Two threads that ask first at the same time both see all of them."""
    plugins, begun = Plugins(), threading.Event()

    def load(group):
        begun.set()
        time.sleep(0.05)
        plugins._classes[group]["late"] = object

    monkeypatch.setattr(plugins, "_load_others", load)
    first = threading.Thread(target=plugins.classes, args=("exports",))
    first.start()
    begun.wait()
    assert "late" in plugins.classes("exports")
    first.join()
