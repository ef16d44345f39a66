"""Matrices of the programs of prunings: which are totally unimodular, and the proof that is not one."""

import numpy as np
import pyomo.environ as pyo
from unimodular_matrices import PUBLISHED, assert_proven

from milp_trees.unimodular import (
    check_network_certificate,
    decide_by_difference_rows,
    decide_by_ghouila_houri,
    decide_by_network,
    total_unimodularity,
    verify_network,
    verify_unimodularity,
)


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
