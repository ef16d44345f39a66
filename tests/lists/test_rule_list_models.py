"""The models of rule lists: what their rows are for, their words, and what they refuse."""

from dataclasses import replace

import pytest
from taken_problems import taken_problems

import milp_trees as mt
from milp_trees.lists.testing.problems import list_problems
from milp_trees.testing.solve import built, minimise, without

MODELS = ("state-flow", "state-flow-reduced", "position")
#: Problems of ratios are solved in steps.
RATIOS = ("f1", "f1_leaf_penalty", "precision_at_recall")


def optimum(problem):
    """Units of the best list, by the enumerator; None if there is none."""
    found = mt.registry.method("enumerate-lists").run(problem)
    return None if found.predictor is None else problem.presolved_view().objective(found.predictor)


@pytest.mark.parametrize("name", MODELS)
def test_every_row_is_needed_or_declared_redundant(name):
    """Without it some problem has another optimum, or a point that decodes to no such list."""
    formulation, noticed, rows = mt.registry.formulation(name), set(), set()
    for label in taken_problems("lists", name):
        if label in RATIOS:
            continue
        problem = list_problems()[label]
        b = built(formulation, problem)
        if b.matrix.A.nnz > 450:
            continue
        rows |= set(b.matrix.row_labels)
        best = optimum(problem)
        for row in dict.fromkeys(b.matrix.row_labels):
            if row not in noticed and _differs(formulation, problem, row, best):
                noticed.add(row)
    needed = rows - noticed
    assert needed <= set(formulation.redundant) | {"node_rates"}
    assert not noticed & set(formulation.redundant) - {"node_rates"}


def _differs(formulation, problem, row, best):
    b = built(formulation, problem)
    point = minimise(without(b.matrix, row))
    if point.objective is None or best is None:
        return (point.objective is None) != (best is None)
    if abs(point.objective - best) > 1e-4:
        return True
    b.matrix.load(point.x)
    try:
        found = formulation.decode(b.model).prune_empty(problem.dataset)
    except (KeyError, StopIteration):
        return True
    return problem.presolved_view().objective(found) > best or bool(problem.violations(found))


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_of_lists_cannot_say_is_a_sentence(name):
    formulation = mt.registry.formulation(name)
    data = mt.Dataset([[0, 1], [1, 0], [1, 1]], y=[0, 1, 1])

    def why(*constraints, **more):
        task = mt.Accuracy(constraints=constraints, **more)
        return formulation.unsupported(mt.Problem(data, task, mt.RuleLists(max_length=1)))

    boxes = [mt.tasks.CapturedShare("1/2", k) for k in (0, 1)]
    assert why(boxes[0]) is None
    assert "one black box" in why(*boxes)
    monotone = why(mt.tasks.Monotone("0"))
    assert "monotone" in monotone
    endless = mt.Problem(data, mt.Accuracy(), mt.RuleLists())
    assert "max_length" in formulation.unsupported(endless)


def test_words_say_what_columns_and_positions_are():
    data = mt.Dataset([[0, 1], [1, 0], [1, 1], [0, 0]], y=["no", "yes", "yes", "yes"])
    capacity = mt.tasks.Capacity("yes", at_most=2)
    problem = mt.Problem(data, mt.Accuracy(constraints=[capacity]), mt.RuleLists(max_length=2))
    flow = mt.registry.formulation("state-flow")
    m = flow.build(problem)
    words = [flow.meanings(m, problem)["columns"](c) for c in m.columns]
    assert "state 0: the default rule says yes" in words
    assert any(w.startswith("state 0: if 0: yes, else to state ") for w in words)
    assert any(": if 1: no, else: yes" in w for w in words), words
    position = mt.registry.formulation("position")
    meanings = position.meanings(position.build(problem), problem)
    assert [meanings["places"](k) for k in (0, 2)] == ["the default rule", "rule 2"]
    assert meanings["features"](1) == "1"


def test_dearer_lists_are_encoded_as_the_known_one():
    """A list that the bound excludes starts the solver at the list that excludes it."""
    data = mt.Dataset([[0, 1], [1, 0], [1, 1], [0, 0]], y=[0, 1, 1, 0])
    problem = mt.Problem(data, mt.Accuracy(split_penalty="1/100"), mt.RuleLists(max_length=2))
    wrong = mt.RuleList((mt.Rule(data.features[0], 0),), 1, (0, 1))
    for name in ("state-flow", "state-flow-reduced"):
        result = mt.solve(problem, f"{name}@highs", start=wrong)
        assert result.optimal
        assert result.value.exact == mt.solve(problem, "enumerate-lists").value.exact


def test_the_box_of_a_hybrid_list_gets_the_rows_that_it_may():
    """The more rows the rules must decide, the dearer; all of them is a list without the box."""
    problem = list_problems()["before_a_black_box"]
    values = []
    for at_least in ("0", "3/8", "5/8", "1"):
        share = mt.tasks.CapturedShare(at_least, "forest")
        one = replace(problem, task=replace(problem.task, constraints=(share,)))
        results = [mt.solve(one, method) for method in ("state-flow@highs", "position@highs")]
        assert all(r.optimal and not one.violations(r.predictor) for r in results)
        assert len({r.value.exact for r in results}) == 1
        values.append(results[0].value.exact)
    assert values == sorted(values)
    assert values[0] == 0 < values[-1]
