"""Models that were changed in Pyomo: names are the user's, optima those of an enumeration, and nothing is
claimed about the problem.
"""

import json
import warnings

import numpy as np
import pyomo.environ as pyo
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError, IncompleteModelWarning, UnknownName, Unsupported
from milp_trees.data.feature import BinaryFeature
from milp_trees.models.nodes import Branch
from milp_trees.results.stored import result_from_json
from milp_trees.testing._named import dataset
from milp_trees.testing.oracle import _trees, n_trees
from milp_trees.testing.sets import get

MULTI = "flow-oct:sinks=multi"


def drawn(seed, depth=None):
    """A random problem with thresholds, and with equal, opposite and constant tests."""
    rng = np.random.default_rng(seed)
    n, actions = int(rng.integers(4, 9)), int(rng.integers(2, 4))
    found = []
    for f in range(int(rng.integers(1, 4))):
        if rng.integers(3) == 0:
            values = rng.integers(0, 4, n)
            found += [
                (BinaryFeature(f"c{f}", "<=", t + 0.5), values <= t)
                for t in sorted(set(values.tolist()))[:-1]
            ]
        else:
            found.append((BinaryFeature(f"c{f}"), rng.integers(0, 2, n)))
    found = found or [(BinaryFeature("c"), rng.integers(0, 2, n))]
    first = np.asarray(found[0][1], dtype=int)
    found += [(BinaryFeature("equal"), first)] * bool(rng.integers(2))
    found += [(BinaryFeature("opposite"), 1 - first)] * bool(rng.integers(2))
    found += [(BinaryFeature("constant"), np.ones(n))] * (not rng.integers(4))
    found = [found[k] for k in rng.permutation(len(found))]
    y = [f"k{k}" for k in rng.integers(0, actions, n)]
    y[0], y[1] = "k0", "k1"
    X = np.array([answers for _, answers in found], dtype=int).T
    data = dataset(X, [test for test, _ in found], y=y, groups=rng.integers(0, 2, n).tolist())
    return mt.Problem(data, mt.Accuracy(), mt.Trees(depth or int(rng.integers(1, 3)))), rng


def columns_of(problem):
    return list(dict.fromkeys(test.column for test in problem.dataset.features))


def variables_of(built, v, column):
    """Variables of a model that are 1 iff node v tests a column."""
    m, name = built.model, built.formulation.name
    if name == "oct":
        return [m.a[j, v] for j in built.columns(column)]
    tests = built.tests_of(column)
    return [m.a[f, v] if name == "oct-binary" else m.b[v, f] for f in tests]


def size(built, v):
    """Number of rows of the dataset in a leaf."""
    m, rows = built.model, built.rows_of(range(built.problem.dataset.n_rows))
    if built.formulation.name == "flow-oct":
        return sum(m.s[i, v, k] for i in rows for k in m.actions)
    return sum(m.z[i, v] for i in rows)


class FewColumns:
    """At most some columns in the whole tree."""

    names = ("flow-oct", MULTI, "oct", "oct-binary", "cut", "cut-w", "path-cut", "benders-oct")

    def __init__(self, problem, rng):
        self.most = int(rng.integers(0, 3))

    def add(self, built):
        m = built.model
        m.uses = pyo.Var(columns_of(built.problem), domain=pyo.Binary)
        m.used = pyo.Constraint(
            m.branch,
            m.uses.index_set(),
            rule=lambda m, v, c: sum(variables_of(built, v, c)) <= m.uses[c],
        )
        m.few = pyo.Constraint(expr=sum(m.uses.values()) <= self.most)

    def holds(self, tree, problem):
        return len({test.column for test in tree.splits}) <= self.most

    def price(self, tree):
        return 0


class PricedColumns(FewColumns):
    """A term of the objective for every column that is used."""

    names = ("flow-oct", "oct-binary", "path-cut", "oct")

    def add(self, built):
        self.most, self.each = 9, 1.5
        super().add(built)
        m = built.model
        m.objective.set_value(m.objective.expr + self.each * sum(m.uses.values()))

    def holds(self, tree, problem):
        return True

    def price(self, tree):
        return 1.5 * len({test.column for test in tree.splits})


class AtTheRoot:
    """The root tests one column."""

    names = ("flow-oct", "cut", "cut-w", "path-cut", "benders-oct", "oct-binary")

    def __init__(self, problem, rng):
        self.column = str(rng.choice(columns_of(problem)))

    def add(self, built):
        built.model.at_the_root = pyo.Constraint(
            expr=sum(variables_of(built, built.node(), self.column)) == 1
        )

    def holds(self, tree, problem):
        return isinstance(tree.root, Branch) and tree.root.test.column == self.column

    def price(self, tree):
        return 0


class EqualLeaves:
    """The sizes of the leaves differ by at most one row."""

    names = (MULTI, "oct", "oct-binary")

    def __init__(self, problem, rng):
        self.most = int(rng.integers(0, 3))

    def add(self, built):
        m, n = built.model, built.problem.dataset.n_rows
        nodes = m.nodes if built.formulation.name == "flow-oct" else m.leaves
        used = m.p if built.formulation.name == "flow-oct" else m.l
        m.low, m.high = pyo.Var(bounds=(1, n)), pyo.Var(bounds=(1, n))
        m.not_smaller = pyo.Constraint(
            nodes, rule=lambda m, v: size(built, v) >= m.low - n * (1 - used[v])
        )
        m.not_larger = pyo.Constraint(nodes, rule=lambda m, v: size(built, v) <= m.high)
        m.equal = pyo.Constraint(expr=m.high - m.low <= self.most)

    def holds(self, tree, problem):
        sizes = np.bincount(tree.routes(problem.dataset).leaf)
        return np.ptp(sizes) <= self.most

    def price(self, tree):
        return 0


class FairBranch:
    """Left of the root, two groups get the first action equally often, but for one row."""

    names = (MULTI,)

    def __init__(self, problem, rng):
        self.most = int(rng.integers(0, 2))
        self.sign = np.where(np.asarray(problem.dataset.groups) == 1, 1, -1)

    def add(self, built):
        m, rows = built.model, built.rows_of(range(len(self.sign)))
        left = [v for v in m.nodes if f"{v:b}".startswith("10")]
        gap = sum(int(s) * m.s[i, v, 0] for i, s in zip(rows, self.sign, strict=True) for v in left)
        m.fair = pyo.Constraint(expr=(-self.most, gap, self.most))

    def holds(self, tree, problem):
        if not isinstance(tree.root, Branch):
            return True
        data = problem.dataset
        left = data.X[:, data.index[tree.root.test]] == 0
        given = np.asarray(tree.actions)[tree.routes(data).action] == "k0"
        return abs(int((self.sign * left * given).sum())) <= self.most

    def price(self, tree):
        return 0


CONSTRAINTS = (FewColumns, PricedColumns, AtTheRoot, EqualLeaves, FairBranch)


def enumerated(problem, rule):
    """The least value, with the price, of the trees that keep a constraint; None if none does."""
    kept = (t for t in _trees(problem) if not problem.violations(t) and rule.holds(t, problem))
    return min((problem.value(t).number + rule.price(t) for t in kept), default=None)


def fault(label, problem, rule, best, solver="highs", presolve="rows"):
    """What is wrong with the optimum of a changed model; None if nothing is."""
    built = mt.build(label, problem, presolve=presolve)
    rule.add(built)
    result = mt.solve(built, solver=solver)
    where = f"{label}@{solver}, presolve={presolve}: {result!r}, enumeration {best}"
    if result.message.startswith("Parts of the solution that no row reaches"):
        return None  # the model has trees with empty leaves, the enumeration has none
    if result.changed is None:  # no coefficient is left in the constraint
        return None if result.optimal and result.value.number == best else where
    if best is None:
        return None if result.changed.status.value == "infeasible" else where
    if not (result.changed.optimal and result.changed.kept and result.bound is None):
        return where
    value = result.value.number + rule.price(result.tree)
    right = abs(value - best) < 1e-9 and rule.holds(result.tree, problem)
    return None if right and abs(result.changed.objective - value) < 1e-6 else where


def faults(seed, solver="highs", every=True):
    """What is wrong with one kind of constraint on a random problem, for each of its formulations."""
    problem, rng = drawn(seed)
    if n_trees(problem) > 1500:
        problem, rng = drawn(seed, depth=1)
    kind = CONSTRAINTS[seed % len(CONSTRAINTS)]
    rule = kind(problem, rng)
    best = enumerated(problem, rule)
    names = kind.names if every else kind.names[seed % 2 :: 2] or kind.names
    presolve = ("rows", False)[seed % 2]
    return [fault(label, problem, rule, best, solver, presolve) for label in names]


@pytest.mark.filterwarnings("ignore::milp_trees.common.errors.IncompleteModelWarning")
def test_own_constraints_have_the_optima_of_an_enumeration():
    """Five kinds of constraints and terms, on random problems with the formulations in turn."""
    found = [one for seed in range(15) for one in faults(seed, every=False)]
    assert len(found) > 25
    assert [one for one in found if one] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::milp_trees.common.errors.IncompleteModelWarning")
@pytest.mark.parametrize("solver", ["highs", "scip", "cbc"])
def test_own_constraints_on_many_problems(solver):
    found = [one for seed in range(100, 160) for one in faults(seed, solver)]
    assert [one for one in found if one] == []


def test_a_budget_links_two_trees():
    """A tree of depth 1 and one of depth 2, on two targets, share a number of splits."""
    for seed, most in ((1, 1), (5, 2), (8, 3)):
        first, _ = drawn(seed, depth=1)
        other = first.dataset.with_(y=list(reversed(first.dataset.y)))
        second = mt.Problem(other, mt.Accuracy(), mt.Trees(2))
        m = pyo.ConcreteModel("two trees")
        m.one, m.two = pyo.Block(), pyo.Block()
        one = mt.build("flow-oct", first, block=m.one)
        two = mt.build("oct-binary", second, block=m.two)
        splits = sum(m.one.b.values()) + sum(m.two.a.values())
        m.budget = pyo.Constraint(expr=splits <= most)
        with pytest.raises(DataError, match="this one has 0"):
            mt.solve(one)
        m.goal = pyo.Objective(expr=one.cost + two.cost)
        result = mt.solve(one)
        tables = [
            {
                n: min(p.value(t).number for t in _trees(p) if len(t.splits) == n)
                for n in range(most + 1)
                if any(len(t.splits) == n for t in _trees(p))
            }
            for p in (first, second)
        ]
        best = min(
            a + b for i, a in tables[0].items() for j, b in tables[1].items() if i + j <= most
        )
        trees = one.decode(), two.decode()
        assert result.changed.objective == pytest.approx(best)
        assert first.value(trees[0]).number + second.value(trees[1]).number == best
        assert len(trees[0].splits) + len(trees[1].splits) <= most
        assert (result.tree.splits, result.changed.constraints) == (trees[0].splits, ("budget",))
        assert result.changed.changes == ("The model holds 2 models of formulations.",)
        assert mt.solve(two, start="model").start["accepted"] is True


def test_names_are_the_users():
    """Whatever presolve does, an index answers on the rows as the user's test does."""
    for seed in range(12):
        problem, _ = drawn(seed)
        data = problem.dataset
        for presolve in ("rows", True, False):
            built = mt.build(MULTI, problem, presolve=presolve)
            for j, test in enumerate(data.features):
                same = [
                    g
                    for g in built.view.features
                    if (data.X[:, data.index[g]] == data.X[:, j]).all()
                ]
                if test not in same and not (presolve is True and same):
                    assert presolve is True
                    kind = "opposite answer" if len(set(data.X[:, j])) == 2 else "on every row"
                    with pytest.raises(Unsupported, match=kind):
                        built.test(test.name)
                    continue
                index = built.test(test.name)
                rows = built.rows_of(range(data.n_rows))
                assert (built.view.X[rows, index] == data.X[:, j]).all()
                assert (index.name, test in index.same) == (test.name, True)
                assert presolve is True or index.same == (test,)
                assert test.column in built.columns_of(index)


def test_a_wrong_name_is_told():
    problem = mt.Problem(
        dataset(
            [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 1]],
            [
                BinaryFeature("age", "<=", 37.5),
                BinaryFeature("young"),
                *map(BinaryFeature, ("sex", "b")),
            ],
            y=[0, 1, 1],
            groups=[0, 1, 1],
            group_column="sex",
        ),
        mt.Accuracy(),
        mt.Trees(2),
    )
    built = mt.build("flow-oct", problem, presolve=True)
    assert built.test("age<=37.5") == built.test(BinaryFeature("age", "<=", 37.5))
    for name, told in (
        ("age > 37.5", "take its left side"),
        ("sex", "split_on_group=True"),
        ("agee <= 37.5", "Did you mean 'age <= 37.5'"),
    ):
        with pytest.raises(UnknownName, match=told):
            built.test(name)
    with pytest.raises(Unsupported, match=r"opposite answer of 'age <= 37.5'.*presolve='rows'"):
        built.test("young")
    with pytest.raises(UnknownName, match="Its columns are age, b"):
        built.tests_of("agee")
    for rows in (np.array([True, False]), [True], 1.0, "1"):
        with pytest.raises(DataError, match="asked for by their numbers"):
            built.rows_of(rows)
    with pytest.raises(DataError, match="got str"):
        built.start("a tree")
    with pytest.raises(DataError, match="rows 0 to 2; got 3"):
        built.rows_of(3)
    assert (built.node(), built.leaf("left", "right"), built.leaves) == (1, 5, [4, 5, 6, 7])
    with pytest.raises(DataError, match="2 steps from the root"):
        built.leaf("left")
    with pytest.raises(DataError, match="got 'up'"):
        built.node("up")
    other = mt.build("oct", problem)
    with pytest.raises(Unsupported, match="rows below a threshold go left"):
        other.node("left")
    with pytest.raises(Unsupported, match="a test has no index"):
        other.test("b")
    with pytest.raises(DataError, match="solver='highs'"):
        mt.build("flow-oct@highs", problem)
    with pytest.raises(Unsupported, match="keeps one of several splits"):
        mt.build("state-flow", problem)


def test_a_changed_model_claims_nothing_about_the_problem():
    """Its bound is the solver's, a start that breaks it is told, and the unchanged model is as ever."""
    problem = get("xor")
    built = mt.build("flow-oct", problem)
    plain = mt.solve(built)
    assert plain.optimal
    assert plain.changed is None
    assert plain.agrees is True
    m = built.model
    m.one_split = pyo.Constraint(expr=sum(m.b.values()) <= 1)
    result = mt.solve(built)
    assert (result.status.value, result.bound, result.agrees) == ("feasible", None, None)
    assert result.value.number > plain.value.number
    assert result.changed.bound == pytest.approx(result.value.number)
    assert (result.start["method"], result.start["accepted"]) == ("dp", False)
    assert "one_split is broken by" in result.start["reason"]
    assert built.start(plain.tree) == (result.start["reason"],)
    read = result_from_json(json.loads(json.dumps(result.to_json())), problem)
    assert read.changed == result.changed
    found = mt.verify(result)
    assert (found.verdict.value, found.claim) == ("recomputed", "")
    m.many = pyo.Constraint(expr=sum(m.b.values()) >= 2)
    none = mt.solve(built)
    assert none.changed.status.value == "infeasible"
    assert (none.status.value, none.tree) == ("no solution", None)
    assert "the constraints one_split, many" in none.message


def test_flows_that_a_constraint_counts_are_whole():
    """With half an action in a leaf the constraint would be met at half the price."""
    problem = get("randomising_leaf")
    free = mt.Problem(problem.dataset, mt.Accuracy(), problem.space)
    built = mt.build(MULTI, free)
    m, groups = built.model, np.asarray(problem.dataset.groups)
    rows = built.rows_of(range(len(groups)))
    gap = sum(
        (1 if g == "a" else -1) * m.s[i, v, 1]
        for i, g in zip(rows, groups.tolist(), strict=True)
        for v in m.nodes
    )
    m.parity = pyo.Constraint(expr=(-1, gap, 1))
    assert not m.w[1, 0].is_binary()
    result = mt.solve(built)
    assert result.changed.kept
    assert result.value == mt.solve(problem).value


def test_a_constraint_without_variables_is_named():
    problem, _ = drawn(3)
    built = mt.build("flow-oct", problem)
    built.model.never = pyo.Constraint(expr=0 * built.model.b[1, 0] >= 2)
    for ask in (mt.solve, mt.Built.why_infeasible, mt.Built.decode):
        with pytest.raises(DataError, match="constraint never, in which no variable"):
            ask(built)


def test_a_constraint_on_what_no_tree_decides_is_told():
    """In the model with one sink a row need not flow although it could."""
    problem = get("xor")
    built = mt.build("flow-oct:sinks=single", problem)
    m = built.model
    m.little = pyo.Constraint(expr=sum(m.z[i, 1] for i in m.rows) == 1)
    result = mt.solve(built, start=None)
    assert result.status.value == "error"
    assert (result.changed.optimal, result.changed.kept) == (True, False)
    assert "does not follow" in result.message or "do not follow" in result.message
    m.little.deactivate()
    m.one_role.deactivate()
    loose = mt.solve(built, start=None)
    assert "one_role (" in loose.changed.changes[0]
    assert "was taken away" in loose.changed.changes[0]


def test_a_model_without_its_cuts_is_completed_by_solve_only():
    problem = get("xor")
    with pytest.warns(IncompleteModelWarning):
        built = mt.build("benders-oct", problem)
    assert not built.complete
    answer = pyo.SolverFactory("appsi_highs").solve(built.model, load_solutions=False)
    assert answer.solver.termination_condition == "infeasible"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        built.model.root = pyo.Constraint(expr=built.model.b[1, 0] == 1)
        result = mt.solve(built)
    assert result.changed.constraints == ("root",)
    assert result.changed.optimal
    assert result.tree.root.test == problem.dataset.features[0]
    with pytest.raises(Unsupported, match="cannot be a block"):
        mt.build("benders-oct", problem, block=pyo.Block())


def test_solvers_of_pyomo_and_what_they_leave(tmp_path):
    """Every writer of Pyomo takes the model, and values that are no solution are refused."""
    problem = get("xor")
    built = mt.build("flow-oct", problem)
    with pytest.raises(DataError, match="has no value"):
        built.decode()
    for suffix in ("lp", "mps"):
        built.model.write(str(tmp_path / f"model.{suffix}"))
    built.model.b[1, 1].fix(1)
    pyo.SolverFactory("appsi_highs").solve(built.model)
    tree = built.decode()
    assert tree.root.test == problem.dataset.features[1]
    assert problem.value(tree).number == 0
    built.model.p[1].set_value(1)
    with pytest.raises(DataError, match="no solution of the model"):
        built.decode()
    for change, told in (
        (lambda m: m.add_component("q", pyo.Constraint(expr=m.p[1] * m.p[2] == 0)), "not linear"),
        (lambda m: m.add_component("sos", pyo.SOSConstraint(var=m.p, sos=1)), "SOSConstraint"),
        (lambda m: setattr(m.objective, "sense", pyo.maximize), "is maximised"),
    ):
        other = mt.build("flow-oct", problem)
        change(other.model)
        with pytest.raises(DataError, match=told):
            mt.solve(other)
    with pytest.raises(DataError, match="name the solver alone"):
        mt.solve(built, "flow-oct@highs")
    with pytest.raises(DataError, match="solve the problem itself"):
        mt.solve(built, proof=tmp_path / "proof")


def test_an_objective_that_no_tree_has_is_told():
    """Rows need not flow, so the most errors of a model are more than those of any tree."""
    problem = mt.Problem(
        mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=[0, 1, 1, 0]), mt.Accuracy(), mt.Trees(1)
    )
    for label, right in (("flow-oct", False), ("flow-oct:sinks=multi", True)):
        built = mt.build(label, problem)
        built.model.objective.set_value(-built.model.objective.expr)
        result = mt.solve(built, start=None)
        assert (result.changed.objective, result.changed.kept) == (-2 if right else -4, right)
        assert ("The objective is -4 in the solution and" in result.message) != right
        assert (result.status.value == "error") != right
