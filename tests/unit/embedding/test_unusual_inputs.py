"""Inputs that cannot be read are refused in a sentence, and fixed ones stay as they are."""

import pyomo.environ as pyo
import pytest
from pyomo.repn import generate_standard_repn

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.embedding.embed import chosen, expected_size
from milp_trees.models.nodes import Branch, Leaf


def tree():
    """A tree over two columns of numbers: yes above 3, and no up to it where y is large."""
    high, side = mt.BinaryFeature("x", "<=", 3.0), mt.BinaryFeature("y", "<=", 0.5)
    return mt.Tree(Branch(high, Leaf(1), Branch(side, Leaf(0), Leaf(1))), ("no", "yes"))


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"bounds": {"z": (0, 9)}}, "bounds name the column 'z'"),
        ({"bounds": {"x": 9}}, "pair of numbers"),
        ({"bounds": {"x": ("a", 9)}}, "pair of numbers"),
        ({"bounds": {"x": (0, 1e300)}}, "narrower bounds"),
        ({"tolerance": "1e-6"}, "tolerance must be"),
        ({"tolerance": float("inf")}, "tolerance must be"),
    ],
)
def test_wrong_bounds_and_tolerances_are_refused(wishes, words):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var(bounds=(0, 1))
    with pytest.raises(DataError, match=words):
        mt.embed(tree(), {"x": m.x, "y": m.y}, **wishes)


def test_an_indexed_variable_is_no_value():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(0, 1))
    with pytest.raises(DataError, match="'x' is no value"):
        mt.embed(tree(), {"x": m.x, "y": m.x[0]})


def test_a_forest_of_one_class_predicts_it():
    """Its trees are single nodes, and no votes are compared."""
    from sklearn.ensemble import RandomForestClassifier

    m = pyo.ConcreteModel()
    m.any = pyo.Var(bounds=(0, 1))
    m.tree = mt.embed(RandomForestClassifier(2).fit([[0.0], [1.0]], ["a", "a"]), {})
    m.goal = pyo.Objective(expr=m.any - m.tree.action["a"])
    assert m.tree.sizes == expected_size(chosen("auto", m.tree._trees), m.tree._trees)
    m.tree.leaf[0, 0].set_value(1.0)
    m.tree.leaf[1, 0].set_value(1.0)
    m.tree.action["a"].set_value(1.0)
    assert m.tree.audit()
    assert m.tree.predicted() == "a"


def test_a_fixed_input_is_not_moved():
    """It lies in the gap above a threshold, where the block may choose either side."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 4)), pyo.Var(bounds=(-1, 1))
    m.tree = mt.embed(tree(), {"x": m.x, "y": m.y})
    m.x.fix(3 + 1e-7)
    with pytest.raises(DataError, match="no solution yet"):
        m.tree.predicted()
    m.y.set_value(1.0)
    for leaf, variable in m.tree.leaf.items():
        variable.set_value(float(leaf == 1))
    audit = m.tree.audit()
    assert (m.x.value, m.y.value) == (3 + 1e-7, 1.0)
    assert (audit.predicted, audit.output) == ("yes", "no")
    assert "'x' is fixed outside" in audit.message


@pytest.mark.parametrize(
    "formulation", ["leaf-boxes", "log-paths", "strong-paths", "paths", "big-m"]
)
@pytest.mark.parametrize(("domain", "least"), [(pyo.Integers, 1e-4), (pyo.Reals, 1e-6)])
def test_a_very_wide_column_stays_in_the_rows(formulation, domain, least):
    """Solvers drop coefficients of 1e-9, and whole numbers are told apart by one."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=domain, bounds=(0, 1e10)), pyo.Var(bounds=(-1, 1))
    m.tree = mt.embed(tree(), {"x": m.x, "y": m.y}, formulation)
    found = []
    for row in m.tree.component_data_objects(pyo.Constraint):
        held = generate_standard_repn(row.body)
        pairs = zip(held.linear_coefs, held.linear_vars, strict=True)
        found += [abs(c) for c, v in pairs if v is m.x]
    assert found
    assert min(found) >= least


def test_categories_and_dates_have_a_form_of_their_own():
    """Categories need 0/1 variables, and dates are numbers of days."""
    m = pyo.ConcreteModel()
    m.n, m.gone = pyo.Var(domain=pyo.Integers, bounds=(0, 5)), pyo.Var(bounds=(0, 1))
    color = mt.Tree(Branch(mt.BinaryFeature("c", "==", "red", "no"), Leaf(0), Leaf(1)), (0, 1))
    for given in ({}, m.n, 3):
        with pytest.raises(DataError, match="give a mapping"):
            mt.embed(color, {"c": given})
    for given in ({"red": m.n}, {"red": m.gone}, ("red", m.gone)):
        with pytest.raises(DataError, match="as Binary"):
            mt.embed(color, {"c": given})
    day = mt.Tree(Branch(mt.BinaryFeature("d", "<=", "2021-01-05"), Leaf(0), Leaf(1)), (0, 1))
    with pytest.raises(DataError, match="number of days"):
        mt.embed(day, {"d": "2021-01-06"})
    m.day = mt.embed(day, {"d": 18633})
    assert m.day._trees.inputs["d"].cells.n == 1
