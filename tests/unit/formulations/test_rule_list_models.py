"""The models of rule lists: their optima, lists that are encoded, and what the rows are for."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from taken_problems import taken_problems

import milp_trees as mt
from milp_trees.lists.testing.problems import list_problems
from milp_trees.mip.formulation import ModelSize
from milp_trees.testing.solve import FEASIBLE, built, minimise, without

MODELS = ("state-flow", "state-flow-reduced", "position")
#: Problems of ratios are solved in steps.
RATIOS = ("f1", "f1_leaf_penalty", "precision_at_recall")
PAIRS = [(m, p) for m in MODELS for p in taken_problems("lists", m) if p not in RATIOS]


def all_lists(problem):
    """All lists in which every rule captures enough rows and leaves one, with all actions."""
    actions = problem.task.actions(problem.dataset)
    table = problem.space.table(problem.dataset)
    longest = min(3, len(table.antecedents), problem.space.longest(problem.presolved_view()))
    for length in range(longest + 1):
        for chosen in itertools.permutations(table.antecedents, length):
            for *given, default in itertools.product(range(len(actions)), repeat=length + 1):
                one = mt.RuleList(tuple(map(mt.Rule, chosen, given)), default, actions)
                if one.prune_empty(problem.dataset).length == length:
                    yield one


def optimum(problem):
    """Units of the best list, by the enumerator; None if there is none."""
    found = mt.registry.method("enumerate-lists").run(problem)
    return None if found.predictor is None else problem.presolved_view().objective(found.predictor)


@pytest.mark.parametrize("name, label", PAIRS)
def test_the_optimum_is_that_of_all_lists(name, label):
    """The model's value is the decoded list's, and its size is known before."""
    formulation, problem = mt.registry.formulation(name), list_problems()[label]
    view, b = formulation.presolved_view(problem), built(formulation, problem)
    size = formulation.model_size(view, problem.space)
    counted = (b.matrix.n_variables, int(b.matrix.integer.sum()), b.matrix.n_rows)
    assert size == ModelSize(*counted, int(b.matrix.A.count_nonzero()))
    point, best = minimise(b.matrix), optimum(problem)
    if best is None:
        assert point.status == "infeasible"
        return
    assert point.objective == pytest.approx(best, abs=1e-4)
    b.matrix.load(point.x)
    found = problem.space.simplify(formulation.decode(b.model), view)
    assert view.objective(found) == best
    assert not problem.violations(found)
    relaxed = minimise(b.matrix, relax=True)
    assert relaxed.objective <= best + 1e-6
    if name == "state-flow" and not view.side and not view.structure:
        assert relaxed.objective == pytest.approx(best, abs=1e-4)  # the relaxation is integral


@pytest.mark.parametrize("name, label", PAIRS)
def test_a_list_is_encoded_as_a_point_that_costs_no_more(name, label):
    formulation, problem = mt.registry.formulation(name), list_problems()[label]
    view, b = formulation.presolved_view(problem), built(formulation, problem)
    rng, lists = np.random.default_rng(0), list(all_lists(problem))
    chosen = [lists[j] for j in rng.permutation(len(lists))[:15]]
    encoded = 0
    for one in (x for x in chosen if not problem.violations(x)):
        try:
            formulation.encode(one, b.model)
        except LookupError:
            # Longer than what is worth while, as the model knows.
            assert problem.space.max_length is None or b.model.known is None
            continue
        x = b.matrix.values()
        assert b.matrix.violation(x) <= FEASIBLE, str(one)
        assert b.matrix.objective(x) <= view.objective(one) + 1e-6, str(one)
        back = formulation.decode(b.model)
        assert view.objective(back) == pytest.approx(b.matrix.objective(x))
        assert not problem.violations(back)
        encoded += 1
    assert encoded or optimum(problem) is None or problem.space.max_length is None


@pytest.mark.parametrize("name", MODELS)
def test_every_row_is_needed_or_declared_redundant(name):
    """Without it some problem has another optimum, or a point that decodes to no such list."""
    formulation, noticed, rows = mt.registry.formulation(name), set(), set()
    for label in [p for m, p in PAIRS if m == name]:
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
