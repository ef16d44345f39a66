"""Total unimodularity: every check against all subdeterminants, certificates against tampering, the
published counterexample, files and sizes.
"""

from itertools import pairwise, permutations

import numpy as np
import pytest
from unimodular_matrices import (
    PUBLISHED,
    R10,
    R10_OTHER,
    assert_proven,
    random_case,
    random_network,
    tu_by_definition,
    two_sum,
)

from milp_trees.common.errors import VerificationError
from milp_trees.unimodular import (
    TwoSum,
    decide_by_chordless_cycles,
    decide_by_consecutive_ones,
    decide_by_deletion,
    decide_by_difference_rows,
    decide_by_ghouila_houri,
    decide_by_network,
    decide_by_pivots,
    decide_by_subdeterminants,
    total_unimodularity,
    verify_network,
    verify_two_sum,
    verify_unimodularity,
)


@pytest.mark.slow
def test_matrices_up_to_ten_by_ten_get_the_answer_of_all_subdeterminants():
    """300 random matrices of four kinds: yes or no, never unknown, as the definition says; the
    submatrix or certificate holds.
    """
    rng, answers = np.random.default_rng(5), {}
    for case in range(300):
        a = random_case(rng, case % 4)
        assert max(a.shape) <= 10
        truth, answer = tu_by_definition(a), total_unimodularity(a)
        assert answer.answer == ("yes" if truth else "no"), (case, a.tolist(), answer)
        assert_proven(a, answer)
        answers[answer.answer, answer.proof] = answers.get((answer.answer, answer.proof), 0) + 1
    assert sum(count for (message, _), count in answers.items() if message == "yes") > 60
    assert sum(count for (message, _), count in answers.items() if message == "no") > 60
    assert {proof for _, proof in answers} >= {
        "network",
        "transposed network",
        "all subdeterminants",
        "submatrix",
    }


@pytest.mark.slow
def test_the_exponential_checks_agree_with_the_definition():
    """All subdeterminants by expansion and Ghouila-Houri's partitions, on matrices that the other
    checks would decide first.
    """
    rng = np.random.default_rng(6)
    for case in range(60):
        a = random_case(rng, case % 4)
        truth = "yes" if tu_by_definition(a) else "no"
        assert decide_by_subdeterminants(a).answer == decide_by_ghouila_houri(a).answer == truth, (
            a.tolist()
        )


@pytest.mark.slow
def test_searches_for_a_violation_never_refute_a_totally_unimodular_matrix():
    """Chordless cycles, deletions and pivots say no only with a submatrix; on small matrices pivots
    and deletions find every violation.
    """
    rng = np.random.default_rng(7)
    for case in range(48):
        a = random_case(rng, case % 4)
        truth, found = (
            tu_by_definition(a),
            [
                decide_by_pivots(a, rounds=20),
                decide_by_deletion(a, rounds=3),
                decide_by_chordless_cycles(a),
            ],
        )
        for answer in found:
            assert answer.answer == "unknown" or not truth, (case, a.tolist(), answer)
            if answer.answer == "no":
                assert_proven(a, answer)
        assert truth or [answer.answer for answer in found[:2]] == ["no", "no"], (case, a.tolist())


@pytest.mark.slow
def test_a_long_violation_hidden_in_a_sparse_matrix_is_found():
    """Differenced ensembles: nearly network matrices, whose smallest violations have a dozen rows
    and more.
    """
    rng, longest, answers = np.random.default_rng(0), 0, set()
    for _ in range(60):
        names, trees, below = ordered_path_form(
            rng, int(rng.integers(2, 4)), int(rng.integers(1, 4))
        )
        paths, stacked = (
            np.vstack([*trees, below]),
            np.vstack([*(np.vstack([rows[:1], np.diff(rows, axis=0)]) for rows in trees), below]),
        )
        assert total_unimodularity(paths).answer == "yes"
        answer = total_unimodularity(stacked, time_limit=20)
        assert_proven(stacked, answer)
        answers.add(answer.answer)
        longest = max(longest, len(answer.submatrix.rows) if answer.submatrix else 0)
    assert answers == {"yes", "no"}
    assert longest > 8


@pytest.mark.slow
def test_2_sums_are_taken_apart():
    """2-sums of matrices of both kinds and R10, too large for all subdeterminants: yes with a proof
    that holds, and no longer after tampering.
    """
    rng, seen = np.random.default_rng(16), 0
    for _ in range(6):
        a = R10
        for _ in range(int(rng.integers(3, 6))):
            network = random_network(rng, 10, 12, 0.3)
            b = (R10, R10_OTHER, network, network.T)[int(rng.integers(4))]
            a = two_sum(
                a[np.argsort(np.abs(a).sum(axis=1))], b[:, np.argsort(-np.abs(b).sum(axis=0))]
            )
        a = a[rng.permutation(len(a))][:, rng.permutation(a.shape[1])]
        answer = total_unimodularity(a)
        assert answer.answer == "yes", a.tolist()
        assert_proven(a, answer)
        for _, _, part in getattr(answer.certificate, "blocks", ()):
            if isinstance(part.certificate, TwoSum):
                seen += 1
        i, j = np.argwhere(a)[int(rng.integers((a != 0).sum()))]
        changed = a.copy()
        changed[i, j] *= -1
        if total_unimodularity(changed).answer == "no":
            with pytest.raises(VerificationError):
                verify_unimodularity(changed, answer)
    assert seen > 3
    summand = total_unimodularity(R10)
    from milp_trees.unimodular.two_sum import Split

    with pytest.raises(VerificationError, match="not the 2-sum"):
        verify_two_sum(
            two_sum(R10, R10), TwoSum(Split((0, 1, 2), (0, 1), 0, 3), (summand, summand), (9, 9))
        )
    with pytest.raises(VerificationError, match="outside"):
        verify_unimodularity(PUBLISHED, summand)
    with pytest.raises(VerificationError, match="no proof"):
        verify_unimodularity(R10, decide_by_network(R10))


@pytest.mark.slow
@pytest.mark.parametrize("transposed", [False, True])
def test_network_matrices_are_recognised_without_a_tree(transposed):
    """Up to 40 × 60, shuffled and negated, of stars to chains; the certificate is verified entry by
    entry.
    """
    rng = np.random.default_rng(8)
    for _ in range(150):
        a = random_network(rng, int(rng.integers(1, 41)), int(rng.integers(1, 61)), rng.random())
        a = a.T.copy() if transposed else a
        answer = decide_by_network(a, transposed=transposed)
        assert answer.answer == "yes", (a.tolist(), answer)
        verify_network(a, answer.certificate)
        assert answer.certificate.transposed == transposed
        assert total_unimodularity(a).answer == "yes"


def test_recognition_is_complete_on_small_matrices():
    """All 0/1 matrices of 3 × 3 and random 4 × 5 ones: recognised iff some tree carries them, by
    brute force over all trees.
    """
    import networkx as nx

    def paths_of(tree):
        distances = dict(nx.all_pairs_shortest_path(tree))
        name = {frozenset(edge): k for k, edge in enumerate(tree.edges)}
        return {
            frozenset(name[frozenset(pair)] for pair in pairwise(p))
            for ends in distances.values()
            for p in ends.values()
        }

    rng = np.random.default_rng(9)
    trees = {m: [paths_of(t) for t in nx.nonisomorphic_trees(m + 1)] for m in (3, 4)}
    cases = [np.array([k >> b & 1 for b in range(9)]).reshape(3, 3) for k in range(512)] + [
        rng.integers(0, 2, (4, 5)) for _ in range(150)
    ]
    from milp_trees.common.limits import Deadline
    from milp_trees.unimodular.realise import realise

    seen = set()
    for a in cases:
        columns = [frozenset(np.flatnonzero(c).tolist()) for c in a.T if c.any()]
        if not columns:
            continue
        m = len(a)
        truth = any(
            all(frozenset(order[e] for e in c) in paths for c in columns)
            for paths in trees[m]
            for order in permutations(range(m))
        )
        connected = nx.Graph([(i, ("c", j)) for j, c in enumerate(columns) for i in c])
        found = all(
            realise([columns[v[1]] for v in part if isinstance(v, tuple)], Deadline()) is not None
            for part in nx.connected_components(connected)
        )
        assert found == truth, a.tolist()
        seen.add(truth)
    assert seen == {True, False}


def ordered_path_form(rng, n_trees, n_rows, depth=2):
    """As `path_form`, but arrays: per tree the rows of J1, left to right with the fictitious child
    last, and the rows of J2.
    """
    names, trees, uses = {}, [], []

    def at(name):
        return names.setdefault(name, len(names))

    for t in range(n_trees):
        rows = []

        def grow(h, path, tests, reach, t=t, rows=rows):
            if h >= 2**depth or not reach or (h > 1 and rng.random() < 0.35):
                rows.append(path)
                return
            k, cut = int(rng.integers(3)), rng.random(n_rows) < 0.5
            for side in (0, 1):
                grow(
                    2 * h + side,
                    [*path, at(f"z{t},{2 * h + side}")],
                    tests | {k},
                    [i for i in reach if cut[i] == side],
                )
            if k not in tests:
                rows.extend([*path, at(f"w{t},{k},{i}")] for i in reach)
                uses.extend((f"w{t},{k},{i}", f"W{k},{i}") for i in reach)

        grow(1, [at(f"z{t},1")], frozenset(), list(range(n_rows)))
        trees.append(rows)
    below = np.zeros((len(uses), len(names) + len({bought for _, bought in uses})), dtype=int)
    for r, (used, bought) in enumerate(uses):
        below[r, at(used)], below[r, at(bought)] = 1, -1
    return (
        names,
        [
            np.array([[j in row for j in range(below.shape[1])] for row in rows]).astype(int)
            for rows in trees
        ],
        below,
    )


def test_simple_forms_are_seen_at_once():
    """Differences, intervals, and what is neither."""
    interval = np.array([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 0], [-1, -1, -1, -1]])
    assert decide_by_consecutive_ones(interval).proof == "consecutive ones (given order)"
    assert decide_by_consecutive_ones(interval.T, columns=True).answer == "yes"
    assert decide_by_consecutive_ones(interval.T).answer == "unknown"
    assert decide_by_consecutive_ones(np.array([[1, 0, 1]])).answer == "unknown"
    assert decide_by_consecutive_ones(np.array([[1, -1]])).answer == "unknown"
    assert (
        decide_by_consecutive_ones(np.array([[0, 0, 1], [1, 0, 0]])).answer == "yes"
    )  # a row's end is no neighbour of the next one's start
    difference = np.array([[1, -1, 0], [0, 1, -1], [0, 0, 1]])
    assert decide_by_difference_rows(difference).proof == "difference rows"
    assert decide_by_difference_rows(np.array([[1, 1]])).answer == "unknown"
    assert (
        decide_by_difference_rows(np.array([[1, 1], [-1, -1]]), columns=True).proof
        == "difference columns"
    )
    assert (
        total_unimodularity(np.zeros((3, 0))).answer
        == total_unimodularity(np.zeros((0, 3))).answer
        == total_unimodularity([[0]]).answer
        == "yes"
    )
