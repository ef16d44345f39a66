"""A floor on the rows that rules decide before a black box takes over."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.tasks.constraints import constraint_of_label
from milp_trees.testing.definitions_of_constraints import broken
from milp_trees.testing.seen import Seen

ACTIONS = ("no", "yes", "forest")


def test_it_is_broken_where_its_definition_says():
    """Random lists: by a rule with the black box, and by too few rows that are decided."""
    count = {True: 0, False: 0}
    for seed in range(300):
        rng = np.random.default_rng(seed)
        values = np.full((7, 3), 20_000.0 * (seed % 2))
        data = mt.Dataset(rng.integers(0, 2, (7, 3)), values=values, actions=ACTIONS)
        sentence = rng.integers(0, 3, int(rng.integers(1, 4))).tolist()
        chosen = [data.features[j] for j in rng.permutation(3)]
        rules = tuple(mt.Rule(a, k) for a, k in zip(chosen, sentence[:-1], strict=False))
        routes = mt.RuleList(rules, sentence[-1], ACTIONS).routes(data)
        rule = mt.tasks.CapturedShare(f"{rng.integers(0, 8)}/7", "forest")
        seen = Seen(routes.action.tolist(), [], len(sentence), [], ACTIONS, said_in=sentence)
        rows = [{} for _ in range(7)]
        spec = {"name": "action-costs", "constraints": [rule.spec()]}
        wrong = bool(rule.broken(routes, data, ACTIONS))
        assert wrong == bool(broken(spec, rows, seen)), f"seed {seed}"
        (row,) = rule.rows(data, ACTIONS)
        fits = row.holds(int(row.coefs[np.arange(7), routes.action].sum()))
        assert fits == (1 - np.mean(routes.action == 2) >= float(rule.at_least) - 1e-9)
        count[wrong] += 1
    assert min(count.values()) > 50


def test_its_row_and_its_part_say_what_it_is_about():
    data = mt.Dataset([[0], [1], [1], [1]], values=np.zeros((4, 3)), actions=ACTIONS)
    rule = constraint_of_label("captured-share:at_least=0.6,black_box=forest")
    (row,) = rule.rows(data, ACTIONS)
    assert row.coefs.tolist() == [[0, 0, 1]] * 4
    assert (row.lower, row.upper) == (None, 1)
    task = mt.tasks.ActionCostMatrix(constraints=[rule])
    view = mt.Problem(data, task, mt.RuleLists(max_length=1)).view(mt.plugins.CostMatrix)
    assert [(part.kind, part.action) for part in view.structure] == [("default rule only", 2)]
    handed = mt.RuleList((mt.Rule(data.features[0], 2),), 0, ACTIONS)
    message = task.violations(handed.routes(data), data)
    assert "rule 1 leaves its rows to forest" in message[0]
    assert "decide 1 of 4 rows" in message[1]


def test_trees_and_unknown_actions_are_refused_with_a_sentence():
    data = mt.Dataset([[0], [1]], values=np.zeros((2, 3)), actions=ACTIONS)
    rule = mt.tasks.CapturedShare("1/2", "forest")
    task = mt.tasks.ActionCostMatrix(constraints=[rule])
    with pytest.raises(DataError, match=r"default rule of a list; give the space RuleLists"):
        mt.solve(mt.Problem(data, task, mt.Trees(1)))
    with pytest.raises(DataError, match="is not an action of this task"):
        mt.tasks.CapturedShare("1/2", "box").rows(data, ACTIONS)
    with pytest.raises(DataError, match="at_least must lie between 0 and 1"):
        mt.tasks.CapturedShare(2, "forest")
