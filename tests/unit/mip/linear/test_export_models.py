"""Exported models: each file is solved by every reader that is here, and its description turns the
optimum into the natural value.
"""

import gzip
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from export_models_cases import described
from model_readers import INFEASIBLE, READERS, UNREADABLE, ortools, present, refuses

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.decisions.testing.problems import decision_problem
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.solving.estimate import named_formulation
from milp_trees.testing import problem

#: Tiny problems by what is special about them: the first that a formulation takes is in the quick
#: run, all are in the slow one.
TREES = (
    "doubly_robust",
    "capacity",
    "min_leaf",
    "feature_costs",
    "max_leaves",
    "cannot_hold",
    "depth_0",
    "no_tests",
)


DECISIONS = ("equal-rows", "depth-1", "penalties")


PRUNINGS = ("groups", "knapsack", "regression", "single-node")


MAKERS = {
    **dict.fromkeys(TREES, problem),
    **dict.fromkeys(DECISIONS, decision_problem),
    **dict.fromkeys(PRUNINGS, lambda name: EXAMPLES[name]()),
}


#: Problems that the quick run takes with one formulation each: a side row with two sides, an
#: infeasible one, and models of little more than a constant.
ALSO = (
    ("flow-oct", "capacity"),
    ("state-flow", "cannot_hold"),
    ("flow-oct", "depth_0"),
    ("path-cut", "no_tests"),
    ("flow-oct", "min_leaf"),
)


def made(name):
    return MAKERS[name](name)


def pairs(quick_only=False):
    """(formulation, problem): every registered formulation on the problems of its kind."""
    found = []
    for formulation, model in sorted(registry.classes("formulations").items()):
        names = (
            PRUNINGS
            if model.space is mt.PrunedEnsembles
            else DECISIONS
            if model.needs is mt.plugins.LeafOracle
            else TREES
        )
        for name in names:
            quick = name == names[0] or (formulation, name) in ALSO
            if quick or not quick_only:
                found.append(
                    pytest.param(formulation, name, marks=() if quick else pytest.mark.slow)
                )
    return found


PAIRS = [case.values for case in pairs()]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """What the export of a pair returns for each ending, written once; {} where the formulation
    does not take it, which the export must say.
    """
    known = {}

    def export(formulation, name):
        if (formulation, name) not in known:
            folder = tmp_path_factory.mktemp("models")
            model, given = named_formulation(formulation), made(name)
            if model.complete and model.unsupported(given) is None:
                found = {
                    end: mt.export_model(given, formulation, folder / f"{end[1:3]}{end}")
                    for end in (".mps", ".lp", ".mps.gz")
                }
            else:
                found = {}
                with pytest.raises(mt.errors.Unsupported):
                    mt.export_model(given, formulation, folder / "m.mps")
                assert not list(folder.iterdir())
            known[formulation, name] = found
        return known[formulation, name]

    yield export
    ortools.close()


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "name"), pairs())
def test_every_reader_finds_the_proven_optimum_in_every_format(formulation, name, exported):
    """And offset and scale turn it into the natural value; a solver that cannot read a format is
    said to be one when the file is written. A reader takes one format of a pair and the other one
    of the next pair.
    """
    for suffix, written in exported(formulation, name).items():
        path, objective = Path(written["model"]), described(written)["objective"]
        assert written["status"] == described(written)["solution"]["status"]
        if suffix == ".mps.gz":  # readers have read the same text
            plain = Path(exported(formulation, name)[".mps"]["model"]).read_bytes()
            assert (
                gzip.decompress(path.read_bytes()).split(b"\nROWS", 1)[1]
                == plain.split(b"\nROWS", 1)[1]
            )
            continue
        for turn, reader in enumerate(present()):
            if refuses(reader, path):
                assert any(refuses(reader, path) in note for note in written["notes"])
                continue
            if (turn + PAIRS.index((formulation, name)) + (suffix == ".lp")) % 2:
                continue
            found = READERS[reader](path)
            where = f"{formulation} on {name} as {suffix}, read by {reader}"
            if written["status"] == "infeasible":
                assert found == INFEASIBLE, where
                continue
            assert not isinstance(found, str), (where, found)
            # Whole units where costs are exact, otherwise the unit in which values are the same;
            # PuLP reads seven digits of a solution.
            assert found == pytest.approx(
                written["objective"], rel=1e-9, abs=1e-5 if objective["exact"] else 1
            ), where
            natural = Fraction(objective["offset"]) + Fraction(objective["scale"]) * Fraction(found)
            assert float(natural) == pytest.approx(written["value"], rel=1e-6, abs=1e-6), where


@pytest.mark.slow
@pytest.mark.parametrize(("formulation", "name"), pairs(quick_only=True))
def test_the_solution_file_is_feasible_and_optimal_in_the_model_file(formulation, name, exported):
    """As read back by HiGHS, and every name of it is one of the file's."""
    import highspy

    for written in (exported(formulation, name).get(suffix) for suffix in (".mps", ".lp")):
        if written is None or written["status"] == "infeasible":
            assert written is None or written["solution"] is None
            continue
        h = highspy.Highs()
        h.setOptionValue("output_flag", False)
        h.readModel(written["model"])
        first, *lines = Path(written["solution"]).read_text().splitlines()
        values = {key: float(value) for key, value in (line.split() for line in lines)}
        lp = h.getLp()
        assert set(values) <= set(lp.col_names_)
        assert set(lp.col_names_) == set(described(written)["variables"])
        x = np.array([values.get(key, 0.0) for key in lp.col_names_])
        assert _violation(lp, x) <= 1e-6
        whole = np.array(
            [kind == highspy.HighsVarType.kInteger for kind in lp.integrality_], dtype=bool
        )
        assert not whole.any() or np.abs(x - np.rint(x))[whole].max() == 0
        assert float(np.array(lp.col_cost_) @ x) == pytest.approx(
            written["objective"], rel=1e-9, abs=1e-9
        )
        assert float(first.removeprefix("=obj= ")) == written["objective"]


def _violation(lp, x):
    from scipy import sparse

    parts = (
        np.array(lp.a_matrix_.value_),
        np.array(lp.a_matrix_.index_),
        np.array(lp.a_matrix_.start_),
    )
    activity = sparse.csc_matrix(parts, shape=(lp.num_row_, lp.num_col_)) @ x
    gaps = (
        np.array(lp.row_lower_) - activity,
        activity - np.array(lp.row_upper_),
        np.array(lp.col_lower_) - x,
        x - np.array(lp.col_upper_),
    )
    return max(float(gap.max(initial=0)) for gap in gaps)


def test_a_formulation_whose_rows_are_found_while_it_is_solved_is_refused_with_the_complete_ones(
    tmp_path,
):
    """Its master alone has another optimum; the rule asks for a separator and for no name."""
    given = problem("xor")
    for name in registry.formulations_for(given):
        model = named_formulation(name)
        if model.unsupported(given) is not None:
            continue
        m = model.build(given, incomplete=True)
        assert model.complete is (model.separator(m, compile_model(m)) is None), name
        if not model.complete:
            with pytest.raises(
                mt.errors.Unsupported,
                match=r"rows are found while it is solved.*export .*flow-oct.* instead",
            ):
                mt.export_model(given, name, tmp_path / "m.mps")
            assert not list(tmp_path.iterdir())
    assert not named_formulation("benders-oct").complete


def test_the_master_of_a_formulation_with_a_separator_has_another_optimum():
    """So that the refusal is needed: what would be written misses rows."""
    from milp_trees.testing.solve import built, minimise

    given = problem("majority_of_three")
    b = built(named_formulation("benders-oct"), given)
    whole = registry.method("flow-oct@highs").run(given, Limits(time=20)).value.number
    assert minimise(b.matrix).objective < whole - 0.5
    assert minimise(b.matrix, b.separator).objective == pytest.approx(whole)


def test_a_policy_s_large_objective_is_turned_into_its_value(tmp_path):
    """Offset and scale are exact fractions; the comments of the file say them too."""
    given = problem("inverse_propensity")
    written = mt.export_model(given, "flow-oct", tmp_path / "m.mps")
    about = described(written)
    offset, scale = Fraction(about["objective"]["offset"]), Fraction(about["objective"]["scale"])
    assert offset + scale * Fraction(written["objective"]) == Fraction(about["solution"]["exact"])
    assert (
        float(Fraction(about["solution"]["exact"]))
        == written["value"]
        == mt.solve(given, method="enumerate").value.number
    )
    assert (about["objective"]["unit"], about["objective"]["natural_sense"]) == ("reward", "max")
    text = " ".join(
        line[2:].strip()
        for line in Path(written["model"]).read_text().splitlines()
        if line.startswith("*")
    )
    assert f"Value in reward (maximised) = {offset} + {scale} * objective of this file" in text


def names_problem():
    """Rows 0 and 3 are equal, and so are the tests of `b` and `same`; names are such that no format
    takes them.
    """
    data = mt.Dataset(
        [[0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]],
        features=[
            mt.BinaryFeature("âge <= 3"),
            mt.BinaryFeature("b"),
            mt.BinaryFeature("âge <= 3 too"),
        ],
        y=["no", "yes", "no", "yes"],
    )
    return mt.Problem(data, mt.Accuracy(), mt.Trees(1))


def test_names_are_mapped_to_rows_tests_nodes_and_actions(tmp_path):
    """In the JSON as they are, in the comments as ASCII."""
    written = mt.export_model(names_problem(), "flow-oct", tmp_path / "m.lp")
    about = described(written)
    sets = {name: s.get("elements") for name, s in about["sets"].items()}
    assert sets["rows"] == {"0": "rows 0, 3", "1": "row 1", "2": "row 2"}
    assert set(sets["features"].values()) == {"âge <= 3", "b"}
    assert sets["actions"] == {"0": "no", "1": "yes"}
    assert sets["nodes"] == {"1": "root", "2": "root, left", "3": "root, right"}
    assert about["variables"]["b_1_0"] == ["b", 1, 0]
    assert about["components"]["b"] == {
        "kind": "variable",
        "doc": "b[v,f] = 1 iff node v tests f",
        "sets": ["branch", "features"],
    }
    assert about["rows"]["one_role_1"] == ["one_role", 1]
    assert about["components"]["one_role"]["doc"].startswith("(1b)")
    text = Path(written["model"]).read_text()
    assert text.isascii()
    assert "0 = rows 0, 3\n" in text
    assert "\\xe2ge <= 3\n" in text
    assert about["formulation"]["label"] == "flow-oct"
    assert about["problem"]["data"]["arrays_sha256"] == names_problem().dataset.sha256
    assert mt.Tree.from_json(about["solution"]["predictor"]).n_leaves == 2


@pytest.mark.parametrize(("formulation", "name"), pairs(quick_only=True))
def test_every_variable_and_row_is_described(formulation, name, exported):
    """Each name leads to a component with its documentation, and each index to an element of the
    sets it ranges over.
    """
    written = exported(formulation, name).get(".lp")
    if written is None:
        return
    about = described(written)
    assert len(about["variables"]) == about["sizes"]["variables"]
    assert len(about["rows"]) == about["sizes"]["rows"]
    for part in ("variables", "rows"):
        for key, place in about[part].items():
            if key in ("objective_constant", "no_rows"):
                continue
            component, *index = place
            known = about["components"][component]
            assert known["doc"], component
            elements = [about["sets"][s].get("elements") for s in known["sets"]]
            if len(elements) == len(index):
                assert all(
                    e is None or str(i) in e for e, i in zip(elements, index, strict=True)
                ), key


def test_side_rows_are_called_by_their_constraints(tmp_path):
    about = described(
        mt.export_model(problem("capacity"), "flow-oct", tmp_path / "m.mps", solution=False)
    )
    view = problem("capacity").view(mt.plugins.CostMatrix)
    assert about["components"]["side"]["elements"] == {
        str(j): row.name for j, row in enumerate(view.side)
    }


def test_splits_purchases_and_columns_of_states_are_said_in_words(tmp_path):
    about = described(mt.export_model(made("groups"), "ip3", tmp_path / "p.mps", solution=False))
    nodes, ensemble = about["sets"]["nodes"]["elements"], made("groups").space.ensemble
    test = f"{ensemble.columns[ensemble.column[0]]} <= {ensemble.threshold[0]:g}"
    assert (
        nodes["0"] == f"tree 0, split {test}: to node 1 if true, else to node {ensemble.right[0]}"
    )
    assert set(about["sets"]["purchases"]["elements"]) == {
        ",".join(map(str, place[1:])) for place in about["variables"].values() if place[0] == "W"
    }
    about = described(
        mt.export_model(names_problem(), "state-flow", tmp_path / "s.mps", solution=False)
    )
    columns = about["sets"]["columns"]["elements"].values()
    assert {"state 0: stop with no", "state 0: stop with yes"} & set(columns)
    assert any(text.startswith("state 0: test b, ") for text in columns)


@pytest.mark.slow
def test_unreadable_is_told_from_infeasible(tmp_path):
    """So that the tests above cannot pass because nothing was read."""
    (tmp_path / "m.mps").write_text("this is no model\n")
    (tmp_path / "m.lp").write_text("Maximize\n this is\nno model\n")
    assert {READERS[r](tmp_path / "m.mps") for r in present() if r != "cbc"} == {UNREADABLE}
    assert READERS["cbc"](tmp_path / "m.lp") == UNREADABLE
