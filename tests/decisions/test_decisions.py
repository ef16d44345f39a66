"""Decision sets: every oracle against brute force, and one sentence for everything that can go
wrong.
"""

import json
import pickle

import networkx as nx
import numpy as np
import pyomo.environ as pyo
import pytest
from decisions_cases import SMALL_MILP, news, random_costs, small_milp
from row_tests import each_row

import milp_trees as mt
from milp_trees.decisions.base import LinearSet

SETS = {
    "listed": lambda: mt.decisions.ListedDecisions(
        [[1, 0, 2], [0, 1, 0], [0.5, 0.5, 1], [-1, 3, 0]], ["a", "b", "c"]
    ),
    "simplex": lambda: mt.decisions.simplex_decisions(5),
    "news": news,
    "grid": lambda: mt.decisions.grid_paths(3, 4),
    "assignment": lambda: mt.decisions.assignment_decisions(3),
    "knapsack": lambda: mt.decisions.knapsack_decisions([3, 1, 4, 1, 5, 9], 9),
    "two resources": lambda: mt.decisions.knapsack_decisions(
        [[3, 1, 4, 1, 5], [2, 7, 1, 8, 2.5]], [7, 9.5]
    ),
    "flow": lambda: mt.decisions.LinearDecisions(mt.decisions.grid_paths(3).program()),
    "matchings": lambda: mt.decisions.LinearDecisions(
        mt.decisions.assignment_decisions(3).program()
    ),
    "milp": lambda: mt.decisions.LinearDecisions(small_milp()),
}


def vertices_of(name, S):
    return SMALL_MILP if name == "milp" else S.vertices()


@each_row("name", SETS)
def test_the_oracle_finds_the_cheapest_of_all_vertices(name):
    S = SETS[name]()
    V = vertices_of(name, S)
    C = random_costs(S.dimension, np.random.default_rng(1))
    answer = S.solve(C)
    best = (C @ V.T).min(axis=1)
    np.testing.assert_allclose(
        answer.values, best, rtol=1e-9, atol=1e-9 * np.abs(C).max(axis=1).min()
    )
    np.testing.assert_allclose(
        (C * answer.decisions).sum(axis=1), answer.values, rtol=1e-12, atol=1e-12
    )
    nearest = np.abs(answer.decisions[:, None, :] - V[None, :, :]).max(axis=2).min(axis=1)
    assert nearest.max() < 1e-9  # the answers are vertices
    np.testing.assert_array_equal(S.value(C), answer.values)
    assert (S.highest(C) >= (C @ V.T).max(axis=1) - 1e-9 * np.abs(C).max(axis=1)).all()


@each_row("name", SETS)
def test_an_answer_depends_on_its_cost_vector_only(name):
    """In a batch, one by one, in another order, after other questions, after pickling: the same
    decision, ties included.
    """
    C = random_costs(SETS[name]().dimension, np.random.default_rng(2), m=12)
    at_once = SETS[name]().solve(C).decisions
    S = SETS[name]()
    one_by_one = np.array([S.solve(c[None, :]).decisions[0] for c in C[::-1]])[::-1]
    np.testing.assert_array_equal(one_by_one, at_once)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(S)).solve(C[::-1]).decisions[::-1], at_once
    )


@each_row("name", SETS)
def test_a_description_makes_the_same_set(name):
    S = SETS[name]()
    again = mt.decisions.decisions_from_spec(json.loads(json.dumps(S.spec())))
    assert type(again) is type(S)
    assert again.components == S.components
    C = random_costs(S.dimension, np.random.default_rng(3), m=5)
    np.testing.assert_array_equal(again.solve(C).decisions, S.solve(C).decisions)


@each_row("name", SETS)
def test_the_program_has_the_same_optima(name):
    S = SETS[name]()
    P = mt.decisions.LinearDecisions(S.program(), components=S.components)
    C = np.random.default_rng(4).normal(size=(15, S.dimension))
    np.testing.assert_allclose(P.value(C), S.value(C), atol=1e-9)


@each_row("name", SETS)
def test_a_label_gives_back_its_decision(name):
    S = SETS[name]()
    w = S.solve(np.random.default_rng(5).normal(size=(5, S.dimension))).decisions
    np.testing.assert_allclose([S.vector(S.label(v)) for v in w], w, atol=1e-9)


# -- memory and counts -------------------------------------------------------------------------------------------------------------------------


def test_equal_costs_are_asked_once_and_then_remembered():
    S = mt.decisions.assignment_decisions(2)
    C = np.array([[1.0, 2, 3, 4], [1.0, 2, 3, 4], [4.0, 3, 2, 1]])
    S.solve(C)
    assert (S.calls, S.remembered) == (2, 0)
    S.solve(C[:1])
    S.solve(np.vstack([C, -C]))
    assert (S.calls, S.remembered) == (4, 3)


def test_sets_with_quick_oracles_count_every_call():
    S = mt.decisions.grid_paths(2)
    S.solve(np.ones((3, 4)))
    S.value(np.ones((2, 4)))
    assert (S.calls, S.remembered) == (5, 0)


def test_no_costs_no_calls():
    S = mt.decisions.assignment_decisions(2)
    assert S.solve(np.zeros((0, 4))).decisions.shape == (0, 4)
    assert S.calls == 0


# -- costs that cannot be used -----------------------------------------------------------------------------------------------------------------


@each_row(
    "costs, said",
    [
        (np.ones((2, 3)), "4 entries"),
        (np.ones(4), "4 entries"),
        ([[1, 2, np.nan, 4]], "'1:0' in row 0 is nan"),
        ([[0, 0, 0, 0], [1, np.inf, 3, 4]], "'0:1' in row 1 is inf"),
        ([["a", 0, 0, 0]], "array of numbers"),
        ([[1, 2], [3]], "array of numbers"),
    ],
)
@each_row("ask", ["solve", "value", "highest"])
def test_costs_that_do_not_fit_are_refused(costs, said, ask):
    with pytest.raises(mt.DataError, match=said):
        getattr(mt.decisions.assignment_decisions(2), ask)(costs)


# -- paths -------------------------------------------------------------------------------------------------------------------------------------


def test_paths_agree_with_networkx_on_random_graphs():
    rng = np.random.default_rng(6)
    for trial in range(20):
        acyclic = trial % 2 == 0
        graph = nx.gnp_random_graph(9, 0.4, seed=trial, directed=True)
        if acyclic:
            graph = nx.DiGraph([(u, v) for u, v in graph.edges if u < v])
        if not (0 in graph and 8 in graph and nx.has_path(graph, 0, 8)):
            continue
        S = mt.decisions.GraphPaths(graph, 0, 8)
        C = rng.integers(0, 5, (10, S.dimension)).astype(float)
        for c, w, z in zip(C, *S.solve(C), strict=True):
            nx.set_edge_attributes(graph, dict(zip(graph.edges, c.tolist(), strict=True)), "c")
            assert z == nx.bellman_ford_path_length(graph, 0, 8, weight="c")
            taken = [e for e, on in zip(graph.edges, w, strict=True) if on]
            assert nx.is_path(nx.DiGraph(taken), list(nx.topological_sort(nx.DiGraph(taken))))
        every = S.vertices(5000)
        assert len(every) == sum(1 for _ in nx.all_simple_paths(graph, 0, 8))
        assert S.n_vertices == (len(every) if S.acyclic else None)
        assert (S.highest(C) >= (C @ every.T).max(axis=1)).all()


def test_of_equally_cheap_paths_the_first_of_the_list_is_taken():
    S = mt.decisions.grid_paths(4)
    V = S.vertices()
    C = np.random.default_rng(7).integers(0, 3, (200, 24)).astype(float)
    np.testing.assert_array_equal(S.solve(C).decisions, V[(C @ V.T).argmin(axis=1)])


def test_paths_of_a_large_grid_are_counted_but_not_listed():
    S = mt.decisions.grid_paths(13)
    assert (S.n_vertices, S.dimension) == (2_704_156, 312)
    assert S.vertices() is None
    assert (
        mt.decisions.grid_paths(40).n_vertices == 27217014869199032015600
    )  # binom(78, 39), more than 64 bits
    c = np.random.default_rng(8).random(312)
    graph = nx.DiGraph()
    for name, v in zip(S.components, c.tolist(), strict=True):
        graph.add_edge(*map(int, name.split(">")), c=v)
    assert S.value(c[None, :])[0] == pytest.approx(
        nx.dijkstra_path_length(graph, 0, 168, weight="c"), rel=1e-12
    )


def test_negative_costs_are_allowed_in_a_cycle_that_pays_nothing():
    S = mt.decisions.GraphPaths(
        [("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("a", "t")], "s", "t"
    )
    w, z = S.solve([[1, -1, 1, 3, 5], [0, 0, 0, 0, 0]])
    assert [S.label(v) for v in w] == ["s>a+a>b+b>t", "s>a+a>t"]
    assert z.tolist() == [3, 0]
    with pytest.raises(
        mt.errors.SolverFailure, match="row 1 of the costs: a cycle of the graph costs less than 0"
    ):
        S.solve([[1, 1, 1, 1, 1], [1, -2, 1, 3, 5]])


def test_edges_off_every_path_are_components_that_stay_zero():
    S = mt.decisions.GraphPaths([(0, 1), (1, 2), (1, 3), (4, 1)], 0, 2)
    assert S.solve([[1, 1, -9, -9]]).decisions.tolist() == [[1, 1, 0, 0]]
    assert mt.decisions.LinearDecisions(S.program()).solve([[1, 1, -9, -9]]).values.tolist() == [2]


@each_row(
    "graph, ends, said",
    [
        (nx.Graph([(0, 1)]), (0, 1), "undirected"),
        (nx.MultiDiGraph([(0, 1), (0, 1)]), (0, 1), "multigraph"),
        ([(0, 1), (0, 1)], (0, 1), "twice"),
        ([(0, 1), ("0", 1)], (0, 1), "same name"),
        ([(0, 1)], (0, 7), "target 7 is no node"),
        ([(0, 1)], (1, 0), "No path leads from 1 to 0"),
        ([(0, 1)], (1, 1), "two different nodes"),
        ([], (0, 1), "no edges"),
        ([(0, "a+b")], (0, "a+b"), "must not contain"),
    ],
)
def test_graphs_without_a_set_of_paths_are_refused(graph, ends, said):
    with pytest.raises(mt.DataError, match=said):
        mt.decisions.GraphPaths(graph, *ends)


# -- PyEPO -------------------------------------------------------------------------------------------------------------------------------------


class Knapsackish:
    """The interface of pyepo.model.opt.optModel: at most two of four items, most valuable."""

    num_cost = 4
    modelSense = -1

    def setObj(self, c):
        self.c = np.asarray(c)

    def solve(self):
        w = np.zeros(4, dtype=np.float32)
        best = np.argsort(-self.c, kind="stable")[:2]
        w[best[self.c[best] > 0]] = 0.9999999
        return w, float(self.c @ w)


def test_a_pyepo_model_that_maximises_takes_negated_values():
    S = mt.decisions.decisions_from_pyepo(Knapsackish(), ["a", "b", "c", "d"])
    values = np.array([[5.0, 1, 4, 0], [-1, -2, 3, -1]])
    answer = S.solve(-values)
    assert [S.label(w) for w in answer.decisions] == ["a+c", "c"]
    assert answer.values.tolist() == [-9, -3]


def test_pyepo_models_with_a_foreign_interface_are_refused():
    with pytest.raises(mt.DataError, match="has no `num_cost`"):
        mt.decisions.decisions_from_pyepo(object())
    bad = Knapsackish()
    bad.modelSense = "max"
    with pytest.raises(mt.DataError, match="modelSense"):
        mt.decisions.decisions_from_pyepo(bad)
    with pytest.raises(mt.DataError, match="4 costs"):
        mt.decisions.decisions_from_pyepo(Knapsackish(), ["a"])


def test_pyepo_itself_serves_when_installed():
    import highspy  # noqa: F401  (PyEPO loads OR-tools, after which HiGHS cannot be loaded)

    pytest.importorskip("pyepo", reason="PyEPO is not installed")
    from pyepo.model.omo import shortestPathModel

    S = mt.decisions.decisions_from_pyepo(shortestPathModel((3, 3), solver="appsi_highs"))
    C = np.random.default_rng(14).random((10, 12))
    np.testing.assert_allclose(S.value(C), mt.decisions.grid_paths(3).value(C), atol=1e-6)


# -- a set as a program ------------------------------------------------------------------------------------------------------------------------


def test_a_linear_set_may_have_further_variables():
    S = mt.decisions.ListedDecisions([[1.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    program = S.program()
    assert isinstance(program, LinearSet)
    P = mt.decisions.LinearDecisions(program, components=S.components)
    assert P.dimension == 2
    assert {tuple(w) for w in P.vertices()} == {(1, 2), (3, 0), (0, 0)}


@pytest.mark.parametrize("low", [None, -2.0])
def test_an_lp_that_is_unbounded_is_called_so_although_zero_costs_tie_everywhere(low):
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.y = pyo.Var(bounds=(0, 1))
    if low is not None:
        m.least = pyo.Constraint(expr=m.x >= low)
    m.cost = pyo.Objective(expr=m.x + m.y)
    with pytest.raises(
        mt.DataError,
        match=f"unbounded: 'x' is not limited {'downwards' if low is None else 'upwards'}",
    ):
        mt.decisions.LinearDecisions(m)


@pytest.mark.parametrize(
    ("name", "given"), [("lower", float("nan")), ("upper", [1, 2, 3]), ("upper", [1, float("nan")])]
)
def test_bounds_that_fit_no_decision_are_one_sentence(name, given):
    with pytest.raises(mt.DataError, match=f"`{name}` is one value without NaN"):
        mt.decisions.LinearDecisions.from_arrays(at_most=([[1, 1]], [1]), **{name: given})


def test_edges_that_are_no_pairs_and_names_instead_of_variables_are_one_sentence():
    with pytest.raises(mt.DataError, match="list of edges"):
        mt.decisions.GraphPaths([0, 1], 0, 1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.cost = pyo.Objective(expr=m.x)
    with pytest.raises(mt.DataError, match="lists Pyomo variables"):
        mt.decisions.LinearDecisions(m, decision=["x"])


def test_a_pyepo_model_whose_objective_is_not_that_of_its_solution_is_an_error():
    class Wrong(Knapsackish):
        def solve(self):
            return super().solve()[0], 7.0

    with pytest.raises(mt.errors.SolverFailure, match="reports the objective -7"):
        mt.decisions.decisions_from_pyepo(Wrong())
