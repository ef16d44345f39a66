"""A stored result is believed only as far as it can be recomputed; whatever is altered is refused."""

import copy
import json
from dataclasses import replace

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.load import load_split
from milp_trees.methods.scores import scores
from milp_trees.mip.registry import registry
from milp_trees.solving.agreement import reference_of
from milp_trees.verification import verify, verify_file


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A result on a file, solved with train and test rows."""
    folder = tmp_path_factory.mktemp("verify")
    path = folder / "data.csv"
    data = mt.load("planted:rows=80,tests=5,depth=2,noise=0.15,seed=7")
    path.write_text(
        "\n".join(
            " ".join(map(str, [y, *x]))
            for y, x in zip(data.y.tolist(), data.X.tolist(), strict=True)
        )
        + "\n"
    )
    train, test = load_split(path, test_size=0.25, seed=1)
    result = mt.solve(mt.Problem(train, mt.Accuracy(), mt.Trees(2)), "dp", test_data=test)
    return json.loads(json.dumps(result.to_json()))


def test_a_true_result_is_verified_and_its_bound_derived_again(stored):
    found = verify(stored)
    assert any("recomputed value" in line for line in found)
    assert (
        "The scores train, train_accuracy, train_rows, test, test_accuracy, test_rows were recomputed."
        in found
    )
    assert found[-1].startswith("Derived: enumerate, which shares nothing with dp,")
    assert (found.verdict, found.claim, found.derived_by) == (
        mt.plugins.Verdict.DERIVED,
        "optimal",
        "enumerate",
    )
    assert str(found).endswith(found[-1])


def test_a_result_in_memory_is_verified_without_a_file():
    data = mt.Dataset([[0, 1], [1, 0], [1, 1], [0, 0]], y=[0, 1, 1, 0])
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)))
    assert mt.verify(result)
    assert verify(result.to_json(), data)
    with pytest.raises(mt.DataError, match="give the dataset"):
        verify(result.to_json())


def swap_leaf(data):
    node = data["predictor"]["root"]
    while "true" in node:
        node = node["true"]
    node["action"] = 1 - node["action"]
    node["label"] = data["predictor"]["actions"][node["action"]]


def consistent_but_wrong(data):
    """All that is derived from the objective is changed with it."""
    data["objective"] = data["bound"] = data["objective"] - 1
    data["exact"] = data["bound_exact"] = f"{data['objective']}/1"


def worse_tree_called_optimal(data):
    problem = mt.Problem(
        mt.load(data["problem"]["data"]["path"], test_size=0.25, seed=1),
        mt.Accuracy(),
        mt.Trees(2),
    )
    tree = mt.Tree(mt.plugins.Leaf(0), (0, 1))
    value = problem.value(tree)
    data["predictor"] = tree.to_json()
    data["objective"] = data["bound"] = int(value.number)
    data["exact"] = data["bound_exact"] = f"{int(value.number)}/1"
    test = load_split(data["problem"]["data"]["path"], test_size=0.25, seed=1)[1]
    data["scores"], data["trace"] = scores(problem, tree, test), []


def set_(name, value):
    def change(data):
        data[name] = value

    return change


ALTERED = {
    "objective": (set_("objective", 3), "states the objective"),
    "exact": (set_("exact", "3/1"), "states exact"),
    "exact is no fraction": (set_("exact", "three"), "must be a fraction"),
    "unit": (set_("unit", "cost"), "states unit"),
    "sense": (set_("sense", "max"), "states sense"),
    "bound": (set_("bound", 1), "not its exact form"),
    "both bounds": (lambda d: d.update(bound=1, bound_exact="1/1"), "stated gap"),
    "gap": (set_("gap", 0.5), "stated gap"),
    "status": (set_("status", "infeasible"), "holds a predictor"),
    "no such status": (set_("status", "best"), "status must be one of"),
    "optimal without bound": (
        lambda d: d.update(bound=None, bound_exact=None, gap=None, proved_by=None),
        "there is no bound",
    ),
    "optimal with a gap": (
        lambda d: d.update(
            bound=1, bound_exact="1/1", gap=abs(d["objective"] - 1) / d["objective"]
        ),
        "leaves a gap",
    ),
    "proved by nobody": (set_("proved_by", None), "who proved"),
    "root bound": (
        lambda d: d.update(root_bound=1e6, root_gap=abs(d["objective"] - 1e6) / d["objective"]),
        "root bound",
    ),
    "trace incumbent": (set_("trace", [[0, 0.0, 0.0]]), "better than the answer"),
    "trace bound": (set_("trace", [[0, None, 1e6]]), "excludes the answer"),
    "predictor": (swap_leaf, "states exact|states the objective"),
    "predictor label": (lambda d: d["predictor"]["root"].update(name="other"), "is called 'other'"),
    "predictor test": (
        lambda d: d["predictor"]["root"].update(
            test={"column": "z", "kind": "is", "value": None}, name="z"
        ),
        "no test of the data|do not have",
    ),
    "predictor damaged": (lambda d: d["predictor"]["root"].pop("true"), "damaged"),
    "predictor gone": (set_("predictor", None), "holds no predictor"),
    "actions": (lambda d: d["predictor"].update(actions=[1, 0]), "actions are"),
    "all that depends on the objective": (
        consistent_but_wrong,
        "states exact|states the objective",
    ),
    "a worse tree called optimal": (worse_tree_called_optimal, "proves"),
    "score": (lambda d: d["scores"].update(test=0.123), "stated score test"),
    "file": (lambda d: d["problem"]["data"].update(sha256="0" * 64), "has changed"),
    "arrays": (
        lambda d: d["problem"]["data"].update(arrays_sha256="0" * 64),
        "not those of the result",
    ),
    "space": (lambda d: d["problem"]["space"].update(max_depth=1), "not feasible"),
    "a field is missing": (lambda d: d.pop("gap"), "has no 'gap'"),
    "disagrees": (set_("agrees", False), "disagrees"),
}


@each_row("what", ALTERED)
def test_an_altered_result_is_refused(stored, what):
    change, sentence = ALTERED[what]
    data = copy.deepcopy(stored)
    change(data)
    with pytest.raises(mt.errors.VerificationError, match=sentence):
        verify(data)


def test_an_easier_task_does_not_make_a_bound_true(stored):
    """The stated limit on leaves is loosened: the tree is feasible, but no longer optimal."""
    problem = mt.Problem(
        mt.load(stored["problem"]["data"]["path"], test_size=0.25, seed=1),
        mt.Accuracy(),
        mt.Trees(2, max_leaf_nodes=2),
    )
    data = json.loads(json.dumps(mt.solve(problem).to_json()))
    assert verify(data)
    data["problem"]["space"]["max_leaf_nodes"] = None
    with pytest.raises(mt.errors.VerificationError, match=r"bound|optimal"):
        verify(data)


def test_a_file_that_moved_is_found_with_its_new_path(stored, tmp_path):
    data = copy.deepcopy(stored)
    moved = tmp_path / "moved.csv"
    with open(data["problem"]["data"]["path"]) as file:
        moved.write_text(file.read())
    data["problem"]["data"]["path"] = str(tmp_path / "gone.csv")
    with pytest.raises(mt.DataError, match="There is no file"):
        verify(data)
    assert verify(data, path=moved)


def test_a_list_of_results_is_verified_one_by_one(stored, tmp_path):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([stored, stored]))
    assert [list(found) for found in verify_file(file)] == 2 * [list(verify(stored))]
    for text, sentence in (("[", "not JSON"), ("3", "not a result")):
        file.write_text(text)
        with pytest.raises(mt.MilpTreesError, match=sentence):
            verify_file(file)


def test_a_result_without_a_model_claims_nothing(stored):
    data = copy.deepcopy(stored)
    data.update(
        status="no solution",
        predictor=None,
        objective=None,
        exact=None,
        bound=None,
        bound_exact=None,
        gap=None,
        proved_by=None,
        scores={},
    )
    found = verify(data)
    assert (found.verdict, found.claim) == (mt.plugins.Verdict.RECOMPUTED, "")
    assert "holds nothing but its status" in found[-1]


def test_an_engine_that_alone_takes_a_task_is_run_anew():
    """A claim for shallower trees does not pass for deeper ones, though no other method can judge
    it.
    """
    data = mt.load("planted:rows=60,tests=6,depth=3,noise=0.1,seed=3")
    task = mt.tasks.AUC(leaf_penalty="1/40")
    shallow, deep = (mt.Problem(data, task, mt.Trees(max_depth=d)) for d in (1, None))
    result = mt.solve(deep)
    found = mt.verify(result)
    assert (found.verdict, found.derived_by) == (mt.plugins.Verdict.RECOMPUTED, "partial-trees")
    assert "the same method, partial-trees, run anew" in found[-1]
    with pytest.raises(mt.errors.VerificationError, match="partial-trees"):
        mt.verify(replace(mt.solve(shallow), problem=deep))


@each_row("label", ["auc", "partial-auc:theta=0.2", "mcc", "kappa", "g-mean"])
def test_areas_and_metrics_of_errors_are_derived_again_at_1000_rows(label, tmp_path):
    """The reference of the default method shares nothing with it, and verifies what is stored."""
    mt.example("people", tmp_path / "people.csv")
    kind, given = registry.task_from_label(label)
    problem = mt.Problem(mt.load(tmp_path / "people.csv"), kind(**given), mt.Trees(3))
    assert problem.dataset.n_rows == 1000
    result = mt.solve(problem)
    assert reference_of(result.method, result.problem, quick=True) == "tangents"
    result = mt.solve(problem, reference="tangents")
    assert (result.agrees, result.derived_by) == (True, "tangents")
    found = mt.verify(result)
    assert (found.verdict, found.derived_by) == (mt.plugins.Verdict.DERIVED, "tangents")
