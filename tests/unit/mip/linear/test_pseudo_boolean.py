"""Pseudo-Boolean exports: their proofs are checked by a checker that shares no code with them."""

import re

import numpy as np
import pytest
import side_rows
from veripb_line import Refused, check, read_opb

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.lists.testing.problems import list_problems
from milp_trees.mip.linear.pseudo_boolean import best_bound, opb_text, proof_text, pseudo_boolean
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.testing.matrices import INFINITY, model
from milp_trees.testing.problems import problem


def exported(problem, folder, formulation="state-flow"):
    written = mt.export_model(problem, formulation, folder / "model.opb")
    return written, (folder / "model.opb").read_text(), (folder / "model.pbp").read_text()


def plain(rng):
    """A tiny problem without side rows."""
    n, F = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    data = mt.Dataset(
        rng.integers(0, 2, (n, F)),
        [mt.BinaryFeature(f"x{f}") for f in range(F)],
        values=side_rows.random_costs(rng, n, 3),
        actions=(0, 1, 2),
    )
    task = mt.tasks.ActionCostMatrix(leaf_penalty=int(rng.integers(0, 2)))
    space = mt.Trees(int(rng.integers(0, 4)), min_samples_leaf=int(rng.integers(1, 3)))
    return mt.Problem(data, task, space)


def test_the_proof_of_state_flow_meets_the_optimum(tmp_path):
    """One line proves it; the objective is that of a dynamic programme."""
    for seed in range(25):
        problem = plain(np.random.default_rng(seed))
        written, opb, proof = exported(problem, tmp_path)
        best = mt.solve(problem, method="dp").value.exact
        low, up = check(opb, proof)
        view = problem.view(mt.plugins.CostMatrix)
        assert low == up == view.from_value(best) == written["objective"], f"seed {seed}"


def test_with_side_rows_the_proof_is_that_of_the_relaxation(tmp_path):
    gaps = 0
    for seed in range(40):
        problem = side_rows.random_problem(np.random.default_rng(seed))
        best = side_rows.optimum(problem)
        if best is None:
            continue
        written, opb, proof = exported(problem, tmp_path)
        low, up = check(opb, proof)
        assert up == problem.view(mt.plugins.CostMatrix).from_value(best), f"seed {seed}"
        assert (low < up) == bool(written["notes"]), f"seed {seed}"
        gaps += low < up
    assert gaps


def test_altered_proofs_are_refused_or_still_true(tmp_path):
    """Conclusions and solutions are refused; a sum of other multiples is so or proves as much."""
    refused = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        _, opb, proof = exported(plain(rng), tmp_path)
        lines = proof.splitlines()
        low, up = check(opb, proof)
        wrong = [
            lines[4].replace(f"BOUNDS {low} ", f"BOUNDS {low + 1} "),
            re.sub(rf"(BOUNDS {low} : \d+) {up} ", rf"\1 {up - 1} ", lines[4]),
            re.sub(r" (~?)(x\d+);", lambda m: f" {'' if m[1] else '~'}{m[2]};", lines[4]),
        ]
        for line in wrong:
            with pytest.raises(Refused):
                check(opb, "\n".join([*lines[:4], line, lines[5], ""]))
        words = lines[2][4:-1].split()
        for k, word in enumerate(words):
            other = str(int(word) + 1) if word.isdigit() else {"+": ""}.get(word, f"~{word}")
            pol = " ".join([*words[:k], other, *words[k + 1 :]]).replace("~~", "")
            try:
                found = check(opb, "\n".join([*lines[:2], f"pol {pol};", *lines[3:], ""]))
            except Refused:
                refused += 1
            else:
                assert found == (low, up)
    assert refused > 50


def test_wrong_duals_only_lower_the_bound():
    """Whatever the multipliers are, the line proves the bound that it states."""
    m = pseudo_boolean(
        model([3, -2, 4], [[1, 1, 0], [0, 2, 3], [1, 1, 1]], [1, 2, -INFINITY], [1, INFINITY, 2])
    )
    names, rng = ["x1", "x2", "x3"], np.random.default_rng(0)
    point = np.array([0.0, 1.0, 0.0])
    head = "* #variable= 3\n"
    best = max(
        check(head + opb_text(m, names), proof_text(m, names, best_bound(m, duals), point))[0]
        for duals in [*rng.normal(0, 3, (50, 3)), np.array([-2.0, 0.0, 0.0]), np.full(3, np.nan)]
    )
    assert best <= -2


def test_what_a_pseudo_boolean_problem_cannot_express_is_refused(tmp_path):
    tiny = plain(np.random.default_rng(1))
    with pytest.raises(Unsupported, match="not 0 or 1"):
        mt.export_model(tiny, "flow-oct", tmp_path / "model.opb")
    few = mt.Problem(tiny.dataset, tiny.task, mt.Trees(1, min_samples_leaf=50))
    with pytest.raises(Unsupported, match=r"balance.* is not written"):
        mt.export_model(few, "state-flow", tmp_path / "model.opb")
    halves = model([0.5], [[1]], [0], [1])
    with pytest.raises(Unsupported, match="not whole"):
        pseudo_boolean(halves)
    (tmp_path / "model.pbp").write_text("mine")
    with pytest.raises(DataError, match="to hold the proof"):
        mt.export_model(tiny, "state-flow", tmp_path / "model.opb")


def test_the_proof_says_how_good_a_relaxation_is(tmp_path):
    """Prunings: the relaxation of ip3 meets the optimum, that of ip1 does not, which is said."""
    example = EXAMPLES["groups"]()
    for formulation, bound in (("ip1", 135), ("ip3", 137)):
        written, opb, proof = exported(example, tmp_path, formulation)
        assert check(opb, proof) == (bound, 137)
        assert len(written["notes"]) == (bound < 137)
        assert len(read_opb(opb)[1]) == int(re.search(r"#constraint= (\d+)", opb)[1])


def test_rule_lists_are_exported_too(tmp_path):
    written, opb, proof = exported(list_problems()["order_matters"], tmp_path)
    assert check(opb, proof) == (written["objective"],) * 2


def test_the_model_alone_and_an_infeasible_one_have_no_proof(tmp_path):
    exported(problem("xor"), tmp_path)
    written = mt.export_model(problem("cannot_hold"), "state-flow", tmp_path / "model.opb")
    assert written["status"] == "infeasible"
    assert not (tmp_path / "model.pbp").exists(), "that of an earlier model with this name"
    written = mt.export_model(problem("xor"), "state-flow", tmp_path / "model.opb", solution=False)
    assert "proof" not in written
    assert not (tmp_path / "model.pbp").exists()
