"""What is checked for total unimodularity: matrices, models, large ones; what is refused."""

import json
import time
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import sparse
from unimodular_matrices import PUBLISHED, R10, assert_proven, random_case, random_network, two_sum

from milp_trees.common.errors import DataError, SolverUnavailable
from milp_trees.unimodular import (
    decide_by_chordless_cycles,
    decide_by_difference_rows,
    decide_by_ghouila_houri,
    decide_by_network,
    decide_by_pivots,
    decide_by_subdeterminants,
    total_unimodularity,
    verify_network,
)
from milp_trees.unimodular.cmr import cmr_is_installed, decide_by_cmr


@pytest.mark.parametrize("entry, value", [(2, 2), (-3.0, -3), (0.5, Fraction(1, 2))])
def test_another_entry_than_0_and_1_is_a_violation_by_itself(entry, value):
    """A 1 × 1 submatrix, named."""
    a = np.eye(3) * 1.0
    a[2, 1] = entry
    answer = total_unimodularity(sparse.csc_matrix(a))
    assert (
        answer.answer,
        answer.submatrix.rows,
        answer.submatrix.columns,
        answer.submatrix.determinant,
    ) == ("no", (2,), (1,), value)
    json.dumps(answer.to_json())
    assert "row r2, column x1" in str(answer)
    for check in (
        decide_by_subdeterminants,
        decide_by_ghouila_houri,
        decide_by_pivots,
        decide_by_chordless_cycles,
        decide_by_network,
        decide_by_difference_rows,
    ):
        assert check(a).answer == "no"


def test_what_is_no_matrix_is_refused_in_one_sentence():
    """Ragged, one-dimensional, text, not finite, and a negative time limit."""
    for bad, sentence in [
        ([[1], [1, 0]], "different lengths"),
        ([1, 0], "two dimensions"),
        ([["a"]], "two dimensions"),
        ([[np.nan]], "not finite"),
    ]:
        with pytest.raises(DataError, match=sentence):
            total_unimodularity(bad)
    with pytest.raises(DataError, match="time_limit"):
        total_unimodularity([[1]], time_limit=-1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1])
    m.c = pyo.Constraint(expr=m.x[0] * m.x[1] <= 1)
    with pytest.raises(DataError, match="linear"):
        total_unimodularity(m)
    with pytest.raises(DataError, match="at most 22"):
        decide_by_subdeterminants(np.ones((20, 20)))
    with pytest.raises(DataError, match="at most 12"):
        decide_by_ghouila_houri(np.ones((20, 20)))


def test_a_pyomo_model_keeps_its_names_and_stays_as_it_is():
    """Whatever its objective: none, a maximum; the odd cycle of three is named by variables."""
    m = pyo.ConcreteModel(name="cycle")
    m.x = pyo.Var(["a", "b", "c"], domain=pyo.Binary)
    m.edge = pyo.Constraint(
        [("a", "b"), ("b", "c"), ("a", "c")], rule=lambda m, u, v: m.x[u] + m.x[v] <= 1
    )
    assert total_unimodularity(m).submatrix.column_names == ("x[a]", "x[b]", "x[c]")
    m.most = pyo.Objective(expr=pyo.summation(m.x), sense=pyo.maximize)
    answer = total_unimodularity(m)
    assert (answer.answer, abs(answer.submatrix.determinant)) == ("no", 2)
    assert m.most.active
    assert len(list(m.component_objects(pyo.Objective))) == 1


def test_large_matrices_are_quick():
    """A network matrix of 900 × 750 with 2 500 nonzeros, its transpose and a spoilt one; a
    difference matrix with 100 000 rows.
    """
    rng = np.random.default_rng(12)
    a = random_network(rng, 750, 900, 0.9, longest=6)
    a[:, np.abs(a).sum(axis=0).cumsum() > 2500] = 0
    n = 100_000
    difference = sparse.coo_matrix(
        (np.tile([1, -1], n), (np.repeat(np.arange(n), 2), rng.permutation(2 * n) % (n + 7))),
        shape=(n, n + 7),
    )
    began = time.perf_counter()
    for matrix in (a, a.T.copy()):
        answer = total_unimodularity(matrix)
        assert answer.answer == "yes"
        verify_network(matrix, answer.certificate)
    assert total_unimodularity(difference).proof == "difference rows"
    spoilt = two_sum(a[:300], np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]))
    answer = total_unimodularity(spoilt)
    assert answer.answer == "no"
    assert_proven(spoilt, answer)
    assert time.perf_counter() - began < 10  # about one second


def test_the_time_limit_ends_in_unknown():
    """No time: no answer, said so."""
    a = random_network(np.random.default_rng(13), 200, 300, 0.3)
    answer = total_unimodularity(a, time_limit=0)
    assert (answer.answer, answer.proof) == ("unknown", None)
    assert "time limit of 0 seconds" in str(answer)


def test_cmr_agrees_where_it_is_installed():
    """CMR against all subdeterminants; without it one sentence says how to get it."""
    if not cmr_is_installed():
        with pytest.raises(SolverUnavailable, match="passagemath-cmr"):
            decide_by_cmr(R10)
        pytest.skip("passagemath-cmr is not installed")
    rng = np.random.default_rng(14)
    for case in range(4):
        a = random_case(rng, case)
        assert decide_by_cmr(a).answer in ("unknown", decide_by_subdeterminants(a).answer)
    assert decide_by_cmr(R10).proof == "cmr"


def test_an_answer_can_be_shown(tmp_path):
    """A sentence, HTML with the tree, JSON with names."""
    answer = decide_by_network(np.array([[1, 1, 0], [0, 1, 1]]))
    assert str(answer).startswith(
        "Yes: the 2 × 3 matrix with 4 nonzeros is totally unimodular (proof: network)."
    )
    assert "<svg" in answer._repr_html_()
    data = answer.to_json()
    assert data["certificate"]["arcs_carry"] == "rows"
    assert {arc["carries"] for arc in data["certificate"]["arcs"]} == {"r0", "r1"}
    signs = {p["of"]: dict(p["arcs"]) for p in data["certificate"]["paths"]}
    assert signs["x1"] == {"r0": 1, "r1": 1}
    assert (
        total_unimodularity(PUBLISHED)._repr_html_() == f"<p>{total_unimodularity(PUBLISHED)}</p>"
    )
