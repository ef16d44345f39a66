"""Total unimodularity: every check against all subdeterminants, certificates against tampering, the
published counterexample, files and sizes.
"""

import gzip
import json
import time
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import sparse
from typer.testing import CliRunner

from milp_trees.cli.main import app
from milp_trees.errors import DataError, SolverUnavailable, VerificationError
from milp_trees.unimodular import (
    Composition,
    TwoSum,
    check_network_certificate,
    decide_by_chordless_cycles,
    decide_by_consecutive_ones,
    decide_by_deletion,
    decide_by_difference_rows,
    decide_by_ghouila_houri,
    decide_by_network,
    decide_by_pivots,
    decide_by_subdeterminants,
    total_unimodularity,
    verify_composition,
    verify_network,
    verify_two_sum,
    verify_unimodularity,
)
from milp_trees.unimodular.cmr import cmr_is_installed, decide_by_cmr

#: R. E. Bixby's and P. Seymour's: totally unimodular, but neither a network matrix nor the
#: transpose of one (Schrijver 1986, section 19.4).
R10 = np.array(
    [[1, -1, 0, 0, -1], [-1, 1, -1, 0, 0], [0, -1, 1, -1, 0], [0, 0, -1, 1, -1], [-1, 0, 0, -1, 1]]
)
R10_OTHER = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 0, 0, 1, 1], [1, 1, 0, 0, 1]]
)

#: From Lemma 4.1's differenced rows above the rows w <= W of Nan, Wang, Saligrama (2016): the
#: matrix the printed proof of Theorem 4.2 argues about.
PUBLISHED = np.array([
    [-1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, -1, -1, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 1, 0, 0],
    [0, 0, 1, 0, 1, 0, 0, 0],
    [1, 0, 0, 0, 0, 0, -1, 0],
    [0, 0, 0, 0, 1, 0, -1, 0],
    [0, 1, 0, 0, 0, 0, 0, -1],
    [0, 0, 0, 0, 0, 1, 0, -1],
])  # fmt: skip


def tu_by_definition(a):
    """All subdeterminants, one by one: the slow, short oracle."""
    for k in range(1, min(a.shape) + 1):
        columns = np.array(list(combinations(range(a.shape[1]), k)))
        for rows in combinations(range(a.shape[0]), k):
            dets = np.linalg.det(np.moveaxis(a[list(rows)][:, columns], 1, 0).astype(float))
            if np.abs(np.rint(dets)).max() > 1:
                return False
    return True


def random_network(rng, m, n, chain=0.5, longest=None):
    """Random paths in a random directed tree, rows and columns shuffled and negated."""
    parent = [
        0,
        *(v - 1 if rng.random() < chain else int(rng.integers(0, v)) for v in range(1, m + 1)),
    ]
    depth = [0] * (m + 1)
    for v in range(1, m + 1):
        depth[v] = depth[parent[v]] + 1
    a = np.zeros((m, n), dtype=int)
    for j in range(n):
        while True:
            u, v = map(int, rng.integers(0, m + 1, 2))
            column = np.zeros(m, dtype=int)
            while u != v:
                if depth[u] >= depth[v]:
                    column[u - 1], u = 1, parent[u]
                else:
                    column[v - 1], v = -1, parent[v]
            if longest is None or np.abs(column).sum() <= longest:
                break
        a[:, j] = column
    a = a[rng.permutation(m)][:, rng.permutation(n)]
    return a * rng.choice([-1, 1], m)[:, None] * rng.choice([-1, 1], n)


def two_sum(a, b):
    """Joined at the last row of a and the first column of b: totally unimodular iff both are."""
    below = np.hstack([np.outer(b[:, 0], a[-1]), b[:, 1:]])
    return np.vstack(
        [np.hstack([a[:-1], np.zeros((len(a) - 1, b.shape[1] - 1), dtype=int)]), below]
    )


def random_case(rng, kind):
    m, n = map(int, rng.integers(2, 11, 2))
    if kind == 0:
        dense = rng.uniform(0.05, 0.4)
        return rng.choice([-1, 0, 1], (m, n), p=[dense, 1 - 2 * dense, dense])
    if kind == 1:
        a = random_network(rng, m, n, rng.random())
        return a if rng.random() < 0.5 else a.T.copy()
    if kind == 2:  # all but totally unimodular, or just still so
        a = random_network(rng, m, n, rng.random())
        i, j = int(rng.integers(m)), int(rng.integers(n))
        a[i, j] = rng.choice([k for k in (-1, 0, 1) if k != a[i, j]])
        return a
    a = two_sum(R10, R10) if rng.random() < 0.3 else two_sum(R10, random_network(rng, 6, 5))
    a = a[rng.permutation(len(a))][:, rng.permutation(a.shape[1])]
    if rng.random() < 0.5:
        i, j = int(rng.integers(len(a))), int(rng.integers(a.shape[1]))
        a[i, j] = 0 if a[i, j] else 1
    return a


def assert_proven(a, answer):
    """The proof of an answer holds on its own; of a determinant, in other arithmetic too."""
    verify_unimodularity(a, answer)
    if answer.answer == "no":
        found = answer.submatrix
        assert len(set(found.rows)) == len(set(found.columns)) == len(found.rows)
        assert (
            round(np.linalg.det(np.asarray(a)[np.ix_(found.rows, found.columns)].astype(float)))
            == found.determinant
        )
        assert abs(found.determinant) >= 2
    json.dumps(answer.to_json(), allow_nan=False)


def test_matrices_up_to_ten_by_ten_get_the_answer_of_all_subdeterminants():
    """500 random matrices of four kinds: yes or no, never unknown, as the definition says; the
    submatrix or certificate holds.
    """
    rng, answers = np.random.default_rng(5), {}
    for case in range(500):
        a = random_case(rng, case % 4)
        assert max(a.shape) <= 10
        truth, answer = tu_by_definition(a), total_unimodularity(a)
        assert answer.answer == ("yes" if truth else "no"), (case, a.tolist(), answer)
        assert_proven(a, answer)
        answers[answer.answer, answer.proof] = answers.get((answer.answer, answer.proof), 0) + 1
    assert sum(count for (said, _), count in answers.items() if said == "yes") > 100
    assert sum(count for (said, _), count in answers.items() if said == "no") > 100
    assert {proof for _, proof in answers} >= {
        "network",
        "transposed network",
        "all subdeterminants",
        "submatrix",
    }


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
    from milp_trees.limits import Deadline
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
            realise([columns[v[1]] for v in part if isinstance(v, tuple)], Deadline(None))
            is not None
            for part in nx.connected_components(connected)
        )
        assert found == truth, a.tolist()
        seen.add(truth)
    assert seen == {True, False}


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
    for arcs, says in [
        ([*good, ("a", "d", "q7")], "neither a row nor a column"),
        ([("c", "a", "r0"), ("b", "c", "r0")], "Two arcs carry"),
        ([("c", "a", "r0")], "no arc for row r1"),
        ([("c", "a", "r0"), ("a", "c", "r1")], "no spanning tree"),
        ([("c", "a", "r0"), ("b", "c", "x1")], "all be rows, or all be columns"),
    ]:
        with pytest.raises(DataError, match=says):
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


def test_the_published_counterexample_is_not_totally_unimodular():
    """The 8 × 8 submatrix of the differenced IP3 has determinant -2: no partition of its rows can
    prove Theorem 4.2 in that form.
    """
    answer = total_unimodularity(PUBLISHED)
    assert answer.answer == "no"
    assert_proven(PUBLISHED, answer)
    assert (len(answer.submatrix.rows), abs(answer.submatrix.determinant)) == (8, 2)
    assert round(np.linalg.det(PUBLISHED)) == -2
    assert decide_by_ghouila_houri(PUBLISHED).answer == "no"


def two_trees():
    """One example, feature 1 at the roots and 2 at an inner child: on the right in tree 1, on the
    left in tree 2. Columns and the rows of J1 in order (left to right, fictitious child last) of
    each tree, and the rows w - W of J2.
    """
    columns = [
        f"{v}({t})" for t in (1, 2) for v in ("z1", "z2", "z3", "z4", "z5", "w11", "w21")
    ] + ["W11", "W21"]
    inner_right = ["z1 z2", "z1 z3 z4", "z1 z3 z5", "w21 z1 z3", "w11 z1"]
    inner_left = ["z1 z2 z4", "z1 z2 z5", "w21 z1 z2", "z1 z3", "w11 z1"]
    trees = [
        [[f"{v}({t})" for v in row.split()] for row in rows]
        for t, rows in ((1, inner_right), (2, inner_left))
    ]
    first = [np.array([[c in row for c in columns] for row in tree]).astype(int) for tree in trees]
    second = np.array(
        [
            [(c == f"w{k}({t})") - (c == f"W{k}") for c in columns]
            for k in ("11", "21")
            for t in (1, 2)
        ],
        dtype=int,
    )
    return columns, first, second


def test_the_printed_proof_argues_about_a_matrix_that_is_not_totally_unimodular():
    """The rows of J1, differenced as in Lemma 4.1 (one 1 and one -1 per column), above J2 contain
    the 8 × 8 matrix; as paths they are fine.
    """
    columns, first, second = two_trees()
    differenced = [np.vstack([rows[:1], np.diff(rows, axis=0), -rows[-1:]]) for rows in first]
    for rows in differenced:
        assert (
            decide_by_difference_rows(rows[:, :14], columns=True).answer == "yes"
        )  # the lemma itself is right
    stacked = np.vstack([*differenced, second])
    answer = total_unimodularity(stacked)
    assert answer.answer == "no"
    assert_proven(stacked, answer)
    chosen = [
        columns.index(c)
        for c in ("w11(1)", "w21(1)", "z1(2)", "z2(2)", "w11(2)", "w21(2)", "W11", "W21")
    ]
    there = {tuple(sign * row) for row in stacked[:, chosen] for sign in (1, -1)}
    assert {tuple(row) for row in PUBLISHED} <= there
    paths = np.vstack([*first, second])
    assert total_unimodularity(paths).answer == "yes"
    assert decide_by_network(paths, transposed=True).answer == "yes"


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


def path_form(rng, n_trees, n_rows, depth=3):
    """IP3 of a random ensemble as printed, and the arcs of its spanning tree: rows sum of z = 1, w
    + sum of z = 1, w - W <= 0.
    """
    names, rows, arcs = [], [], []

    def column(name, tail, head):
        names.append(name)
        arcs.append((tail, head, name))

    bought = {}
    for t in range(n_trees):
        column(f"z[{t},1]", "r", ("node", t, 1))
        used = {}

        def grow(h, path, tests, reach, t=t, used=used):
            if h >= 2**depth or not reach or (h > 1 and rng.random() < 0.3):
                rows.append(dict.fromkeys(path, 1))
                return
            k = int(rng.integers(3))
            if k not in tests:
                for i in reach:
                    used[k, i] = path
            cut = rng.random(n_rows) < 0.5
            for side in (0, 1):
                child = 2 * h + side
                column(f"z[{t},{child}]", ("node", t, h), ("node", t, child))
                grow(
                    child,
                    [*path, f"z[{t},{child}]"],
                    tests | {k},
                    [i for i in reach if cut[i] == side],
                )

        grow(1, [f"z[{t},1]"], frozenset(), list(range(n_rows)))
        for (k, i), path in used.items():
            column(f"w[{t},{k},{i}]", ("a", t, k, i), "r")
            if (k, i) not in bought:
                bought[k, i] = f"W[{k},{i}]"
                column(f"W[{k},{i}]", ("b", k, i), "r")
            rows.append({f"w[{t},{k},{i}]": 1, **dict.fromkeys(path, 1)})
            rows.append({f"w[{t},{k},{i}]": 1, bought[k, i]: -1})
    return names, rows, arcs


def as_pyomo(names, rows):
    m = pyo.ConcreteModel(name="path form")
    m.x = pyo.Var(names, domain=pyo.Binary)
    m.path = pyo.Constraint(
        range(len(rows)), rule=lambda m, i: sum(s * m.x[v] for v, s in rows[i].items()) <= 1
    )
    return m


def test_the_path_form_of_ip3_is_totally_unimodular_with_its_tree_and_without():
    """Theorem 4.2 is true in path form: the spanning tree proves it, and is found again without
    being given; from a Pyomo model, by its names.
    """
    rng = np.random.default_rng(11)
    for _ in range(12):
        names, rows, arcs = path_form(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        model = as_pyomo(names, rows)
        tree = [(t, h, model.x[label].name) for t, h, label in arcs]
        answer = total_unimodularity(model, tree)
        assert (answer.answer, answer.proof) == ("yes", "transposed network"), answer
        verify_network(model, answer.certificate)
        path = next(
            p
            for p in answer.to_json()["certificate"]["paths"]
            if any(name.startswith("x['z") for name, _ in p["arcs"])
        )
        assert path["of"].startswith("path")
        alone = total_unimodularity(model)
        assert alone.answer == "yes"
        verify_unimodularity(model, alone)
        wrong = [
            (h, t, label) if label.startswith("x['W") else (t, h, label) for t, h, label in tree
        ]
        assert check_network_certificate(model, wrong).answer == "unknown"


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
    for bad, says in [
        ([[1], [1, 0]], "different lengths"),
        ([1, 0], "two dimensions"),
        ([["a"]], "two dimensions"),
        ([[np.nan]], "not finite"),
    ]:
        with pytest.raises(DataError, match=says):
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


# -- the command ---------------------------------------------------------------------------------------------


def run(*words):
    return CliRunner().invoke(app, ["unimodular", *map(str, words)])


def test_the_command_reads_every_kind_of_model_file(tmp_path):
    """MPS and LP, plain and gzipped, with names; sparse npz; the answer of each is the same."""
    from milp_trees.linear.files import write_model
    from milp_trees.linear.matrix import compile_model

    m = pyo.ConcreteModel(name="cycle")
    m.x = pyo.Var(["a", "b", "c"], domain=pyo.Binary)
    m.edge = pyo.Constraint(
        [("a", "b"), ("b", "c"), ("a", "c")], rule=lambda m, u, v: m.x[u] + m.x[v] <= 1
    )
    m.cost = pyo.Objective(expr=pyo.summation(m.x))
    form = compile_model(m)
    files = [write_model(form, tmp_path / f"m{end}") for end in (".mps", ".mps.gz", ".lp")]
    packed = tmp_path / "n.lp.gz"
    packed.write_bytes(gzip.compress(files[-1].read_bytes()))
    sparse.save_npz(tmp_path / "m.npz", form.A)
    for file in [*files, packed, tmp_path / "m.npz"]:
        done = run(file, "--json")
        assert done.exit_code == 0, (file, done.output)
        found = json.loads(done.stdout)
        assert (found["answer"], abs(found["submatrix"]["determinant"]), found["rows"]) == (
            "no",
            2,
            3,
        )
        assert file.suffix == ".npz" or found["submatrix"]["column_names"] == ["x_a", "x_b", "x_c"]
    assert "not totally unimodular" in run(files[0]).stdout


def test_the_command_writes_and_draws_the_tree(tmp_path):
    """--out and --plot; a picture is not written where the proof is no tree."""
    sparse.save_npz(
        tmp_path / "m.npz", sparse.csr_matrix(random_network(np.random.default_rng(15), 6, 9))
    )
    done = run(tmp_path / "m.npz", "--out", tmp_path / "a.json", "--plot", tmp_path / "a.svg")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "a.json").read_text())["answer"] == "yes"
    assert (tmp_path / "a.svg").read_text().lstrip().startswith("<?xml")
    assert "carries" in done.stdout
    sparse.save_npz(tmp_path / "no.npz", sparse.csr_matrix(PUBLISHED))
    done = run(tmp_path / "no.npz", "--plot", tmp_path / "no.svg")
    assert done.exit_code == 0
    assert not (tmp_path / "no.svg").exists()


def test_the_command_takes_a_formulation_and_a_problem():
    """A formulation of trees on a table: the answer is about its matrix as written."""
    done = run(
        "flow-oct", "--data", "planted:rows=6,depth=1", "--depth", 1, "--json", "--time-limit", 20
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["answer"] in ("yes", "no", "unknown")


def test_a_formulation_completed_by_cuts_is_said_to_lack_them():
    """The rows of BendersOCT before any cut are a network matrix; the answer says that it is about
    these.
    """
    said = {
        name: json.loads(
            run(name, "--data", "planted:rows=6,depth=1", "--depth", 1, "--json").stdout
        )["reason"]
        for name in ("benders-oct", "oct-binary")
    }
    assert "before cuts" in said["benders-oct"]
    assert "before cuts" not in said["oct-binary"]


def test_the_command_proves_ip3_by_its_own_tree_and_refutes_ip1():
    """Figure 1 of the paper: IP3 by the tree the formulation names, its difference form by a look,
    IP1 by a submatrix.
    """
    found = {
        name: json.loads(run(name, "--example", "figure-1", "--json").stdout)
        for name in ("ip3", "ip3-closure", "ip1")
    }
    assert (found["ip3"]["answer"], found["ip3"]["proof"]) == ("yes", "transposed network")
    arcs = {
        arc["carries"]: (arc["tail"], arc["head"]) for arc in found["ip3"]["certificate"]["arcs"]
    }
    assert arcs["z[0]"] == ("centre", "node 0")
    assert (found["ip3-closure"]["answer"], found["ip3-closure"]["proof"]) == (
        "yes",
        "difference rows",
    )
    assert (found["ip1"]["answer"], abs(found["ip1"]["submatrix"]["determinant"])) == ("no", 2)


def test_wrong_use_of_the_command_is_one_sentence(tmp_path):
    """No such file, another kind of file, a broken file, a formulation without a problem."""
    (tmp_path / "model.txt").write_text("x")
    (tmp_path / "bad.npz").write_text("x")
    (tmp_path / "bad.mps").write_text("no model")
    (tmp_path / "bad.mps.gz").write_text("no model")
    (tmp_path / "bad.lp").write_text("no model")
    (tmp_path / "empty.npz").write_text("")
    damaged = bytearray(gzip.compress(b"NAME t\n" * 500))
    damaged[20] ^= 0xFF
    damaged[25] ^= 0x5A
    (tmp_path / "damaged.mps.gz").write_bytes(damaged)
    for words, says in [
        ((tmp_path / "model.txt",), "neither a formulation"),
        ((tmp_path / "none.mps",), "There is no file"),
        ((tmp_path / "bad.npz",), "no sparse matrix"),
        ((tmp_path / "bad.mps",), "cannot be read as a model"),
        ((tmp_path / "bad.mps.gz",), "not gzipped"),
        ((tmp_path / "bad.lp",), "holds no model"),
        ((tmp_path / "empty.npz",), "no sparse matrix"),
        ((tmp_path / "damaged.mps.gz",), "is damaged"),
        (("ip33", "--example", "figure-1"), "no formulation called"),
        (("ip3", "--example", "figure-9"), "no example called"),
        (("ip3",), "needs a problem"),
        (("ip3", "--data", "planted:rows=6,depth=1"), "no numeric columns"),
    ]:
        done = run(*words)
        assert done.exit_code == 1, (words, done.output)
        assert says in done.stderr
        assert done.stderr.count("\n") == 1
