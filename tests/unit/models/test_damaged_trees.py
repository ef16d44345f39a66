"""Trees read from files: what is no tree is refused as damaged, not read as another tree; files of
others are not written over.
"""

import copy

import pytest
from row_tests import each_row

import milp_trees as mt

DATA = mt.Dataset([[0], [1]], y=["no", "yes"])
TREE = mt.Tree(
    mt.plugins.Branch(mt.BinaryFeature("0"), mt.plugins.Leaf(0), mt.plugins.Leaf(1)), ("no", "yes")
).to_json()


@each_row(
    ("path", "value"),
    [
        (("root", "test", "kind"), "zz"),
        (("root", "test", "kind"), "<="),
        (("root", "true", "action"), 1.7),
        (("root", "true", "action"), True),
        (("root", "true", "action"), "1"),
        (("actions",), "no"),
    ],
)
def test_a_tree_with_a_changed_part_is_damaged(path, value):
    """An unknown kind of test was read as a yes/no question, an action 1.7 as 1, the letters of a
    text as actions.
    """
    assert mt.Tree.from_json(TREE).to_json() == TREE
    changed = copy.deepcopy(TREE)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=r"action|kind"):
        mt.Tree.from_json(changed)


@pytest.mark.slow
def test_a_solver_s_own_solution_file_is_not_written_over(tmp_path):
    problem, path = mt.Problem(DATA, mt.Accuracy(), mt.Trees(1)), tmp_path / "tiny.mps"
    mt.export_model(problem, "flow-oct", path)
    mt.export_model(problem, "flow-oct", path)  # its own it is
    (tmp_path / "tiny.sol").write_text("Optimal - objective value 0.00000000\n")
    with pytest.raises(mt.DataError, match=r"tiny\.sol .* exists already as another kind of file"):
        mt.export_model(problem, "flow-oct", path)
    mt.export_model(problem, "flow-oct", path, solution=False)
    assert "Optimal - objective" in (tmp_path / "tiny.sol").read_text()


def test_a_refusal_to_export_names_the_formulation_once(tmp_path):
    problem = mt.Problem(
        DATA, mt.Accuracy(constraints=(mt.tasks.FeatureBudget(at_most=1),)), mt.Trees(1)
    )
    for formulation in "oct", "benders-oct":
        with pytest.raises(mt.errors.Unsupported) as message:
            mt.export_model(problem, formulation, tmp_path / "m.mps")
        assert not str(message.value).startswith(f"{formulation}: {formulation}")
