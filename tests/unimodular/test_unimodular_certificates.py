"""Certificates of total unimodularity that are wrong or tampered with are refused."""

import numpy as np
import pytest
from unimodular_matrices import (
    R10,
    R10_OTHER,
    assert_proven,
    random_network,
)

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.unimodular import (
    Composition,
    check_network_certificate,
    decide_by_network,
    total_unimodularity,
    verify_composition,
    verify_network,
)


def test_a_wrong_certificate_is_refused():
    """A moved arc, a turned arc, an exchanged end, a lost arc: refused by both functions that look
    at certificates.
    """
    rng = np.random.default_rng(10)
    a = random_network(rng, 12, 20)
    good = decide_by_network(a).certificate
    verify_network(a, good)
    assert check_network_certificate(a, good).answer == "yes"
    from dataclasses import replace

    busy = int(np.abs(a).sum(axis=1).argmax())
    turned = replace(good, tails=good.tails.copy(), heads=good.heads.copy())
    turned.tails[busy], turned.heads[busy] = good.heads[busy], good.tails[busy]
    with pytest.raises(VerificationError, match="not the path"):
        verify_network(a, turned)
    assert check_network_certificate(a, turned).answer == "unknown"
    j = int(np.flatnonzero(a.any(axis=0))[0])
    exchanged = replace(good, starts=good.starts.copy())
    exchanged.starts[j] = good.ends[j]
    with pytest.raises(VerificationError, match="not the path"):
        verify_network(a, exchanged)
    with pytest.raises(VerificationError, match="arcs"):
        verify_network(a, replace(good, tails=good.tails[:-1], heads=good.heads[:-1]))
    circle = replace(good, tails=good.tails.copy(), heads=good.heads.copy())
    circle.tails[:2], circle.heads[:2] = (0, 1), (1, 0)
    with pytest.raises(VerificationError, match="spanning tree"):
        verify_network(a, circle)
    for i, j in np.argwhere(a)[:20]:
        changed = a.copy()
        changed[i, j] *= -1
        if np.abs(a[:, j]).sum() > 1:
            with pytest.raises(VerificationError):
                verify_network(changed, good)
            answer = total_unimodularity(changed, good)
            assert answer.answer in ("yes", "no")  # the support has a tree, so the signs decide
            assert_proven(changed, answer)
            assert "The given tree proves nothing" in answer.reason


def test_a_tree_with_wrong_labels_is_an_error_in_one_sentence():
    """Unknown labels, two arcs for a row, a row without an arc, a circle, labels that fit both
    sides.
    """
    a = np.array([[1, 0, 1], [1, 1, 0]])
    good = [("c", "a", "r0"), ("b", "c", "r1")]
    assert check_network_certificate(a, good).proof == "network"
    assert check_network_certificate(a, [("c", "a", 0), ("b", "c", 1)]).answer == "yes"
    for arcs, sentence in [
        ([*good, ("a", "d", "q7")], "neither a row nor a column"),
        ([("c", "a", "r0"), ("b", "c", "r0")], "Two arcs carry"),
        ([("c", "a", "r0")], "no arc for row r1"),
        ([("c", "a", "r0"), ("a", "c", "r1")], "no spanning tree"),
        ([("c", "a", "r0"), ("b", "c", "x1")], "all be rows, or all be columns"),
    ]:
        with pytest.raises(DataError, match=sentence):
            check_network_certificate(a, arcs)
    for arcs in ([("c", "a")], 5):
        with pytest.raises(DataError, match="list of arcs"):
            check_network_certificate(a, arcs)
    with pytest.raises(DataError, match="transposed=True"):
        check_network_certificate(np.eye(2), [("c", "a", 0), ("b", "c", 1)])
    assert (
        check_network_certificate(np.eye(2), [("c", "a", 0), ("b", "c", 1)], transposed=True).proof
        == "transposed network"
    )


def test_a_composition_that_was_tampered_with_is_refused():
    """A block left out, a step that is not allowed, an entry changed outside the blocks."""
    network = random_network(np.random.default_rng(3), 14, 18, 0.2)
    parts = [R10, network, network.T]
    a = np.zeros((sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts)), dtype=int)
    i = j = 0
    for p in parts:
        a[i : i + p.shape[0], j : j + p.shape[1]] = p
        i, j = i + p.shape[0], j + p.shape[1]
    answer = total_unimodularity(a)
    assert (answer.answer, isinstance(answer.certificate, Composition)) == ("yes", True), answer
    assert "all subdeterminants" in answer.proof
    verify_composition(a, answer.certificate)
    blocks, steps = answer.certificate.blocks, answer.certificate.steps
    with pytest.raises(VerificationError, match="do not cover"):
        verify_composition(a, Composition(steps, blocks[:-1]))
    changed = a.copy()
    changed[0, -1] = 1
    with pytest.raises(VerificationError):
        verify_composition(changed, answer.certificate)
    changed = a.copy()
    changed[0, 0] *= -1
    with pytest.raises(VerificationError):
        verify_composition(changed, answer.certificate)


@pytest.mark.parametrize(
    "a", [R10, R10_OTHER, R10.T, -R10_OTHER.T], ids=["R10", "other", "transposed", "negated"]
)
def test_matrices_that_no_tree_carries_are_decided_by_subdeterminants(a):
    """The two 5 × 5 matrices of Seymour's decomposition are totally unimodular, but no network
    matrices.
    """
    answer = total_unimodularity(a)
    assert answer.answer == "yes"
    assert "all subdeterminants" in answer.proof
    assert decide_by_network(a).answer == decide_by_network(a, transposed=True).answer == "unknown"
    verify_composition(a, answer.certificate)
