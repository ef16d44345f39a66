"""`Built`: a formulation's model of a problem, to be changed in Pyomo and brought back.

Indices of a model count what is left after presolve, so that the index of a test depends on which
other tests the data cannot tell from it. Here tests, rows and nodes are asked for by the user's
names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import MAX_NONZEROS, Limits
from milp_trees.methods.thresholds import is_open
from milp_trees.mip.built_tests import BuiltTest, ModelTests
from milp_trees.mip.incomplete import marked_incomplete
from milp_trees.mip.open_thresholds import for_models
from milp_trees.mip.reading_back import Reading, broken, read_back
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem
from milp_trees.tasks.grouping import packed

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.mip.conflicting_rows import ConflictingRows
    from milp_trees.mip.formulation import Formulation
    from milp_trees.mip.linear.matrix import MatrixModel

#: The values of `presolve`.
PRESOLVE = ("rows", True, False)
#: Steps on the way to a node.
_SIDES = {"left": 0, "right": 1}


@dataclass(frozen=True, eq=False)
class Built:
    """A Pyomo model of a problem, with the user's names for its indices; made by `mt.build`.

    Parameters
    ----------
    problem : Problem
        The problem that was modelled.
    formulation : Formulation
        The formulation, with its presolve switches.
    model : ConcreteModel or Block
        Holds the formulation's components. Constraints, variables and terms of the objective are
        added in Pyomo, on it or on the model that contains it.
    complete : bool
        Whether all rows are there. `mt.solve` finds the other ones while it solves; other programs
        do not.

    Examples
    --------
    >>> import milp_trees as mt
    >>> import pyomo.environ as pyo
    >>> data = mt.load("planted:rows=60,tests=5,depth=2")
    >>> built = mt.build("flow-oct", mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))
    >>> m, first = built.model, built.test(data.features[0].name)
    >>> m.first_at_the_root = pyo.Constraint(expr=m.b[built.node(), first] == 1)
    >>> result = mt.solve(built, start=None)
    >>> result.tree.root.test.name == data.features[0].name, result.changed.optimal
    (True, True)
    """

    problem: Problem
    formulation: Formulation
    model: Any
    complete: bool = True
    _known: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def view(self) -> Any:
        """The arrays that are modelled, in the order of the model's indices."""
        return self.model.view

    @property
    def whole(self) -> Any:
        """The Pyomo model that is solved: `model` itself, or the model that contains it."""
        return self.model.model()

    @property
    def parts(self) -> list[Built]:
        """This one, and the others that were built into blocks of the same model."""
        blocks = self.whole.block_data_objects(active=True)
        found = [b.built for b in blocks if isinstance(getattr(b, "built", None), Built)]
        return [self, *(one for one in found if one.model is not self.model)]

    @property
    def cost(self) -> Any:
        """The formulation's own objective as an expression, in `units` of the task.

        In a model of several blocks the objective is the user's, made of these.
        """
        return self.model.objective.expr

    # -- names -------------------------------------------------------------------------------------

    def test(self, name: str | BinaryFeature) -> BuiltTest:
        """The index in the model of a test of the problem.

        Parameters
        ----------
        name : str or BinaryFeature
            The test as the dataset names it, such as `age <= 37.5`.

        Returns
        -------
        BuiltTest
            An int that indexes the model's sets of tests. With the presolve that drops equal tests
            it may stand for several of them (`same`).

        Raises
        ------
        UnknownName
            The problem has no such test, or models of it may not use it.
        Unsupported
            Presolve dropped it as constant, or keeps its opposite.
        """
        return self._indexed().find(name)

    def tests_of(self, column: str) -> list[BuiltTest]:
        """The indices in the model of all tests of a column, thresholds in increasing order.

        Parameters
        ----------
        column : str

        Returns
        -------
        list of BuiltTest
            Tests that presolve dropped as constant are left out.

        Raises
        ------
        UnknownName
            No test of the problem asks about the column.
        Unsupported
            Presolve keeps the opposite of one of them.
        """
        return self._indexed().of_column(column)

    def columns_of(self, test: int) -> tuple[str, ...]:
        """The columns that an index of the model asks about.

        Parameters
        ----------
        test : int

        Returns
        -------
        tuple of str
            Several if presolve dropped equal tests of other columns.
        """
        return self._tests.columns_of(int(test))

    def columns(self, column: str) -> list[int]:
        """The indices of a column in a model whose variables are about columns and thresholds.

        Parameters
        ----------
        column : str

        Returns
        -------
        list of int
            Indices of the model's set `columns`. Several if the column has missing values.

        Raises
        ------
        Unsupported
            The variables of the model are about tests; `tests_of` has their indices.
        UnknownName
            No test of the problem asks about the column.
        """
        if self.formulation.tests_in is not None:
            raise Unsupported(
                f"The variables of {self.formulation.label} are about tests; ask built.tests_of({column!r})."
            )
        asked = {int(f) for f in self._tests.of_column(column)}
        groups = enumerate(fs for _, fs in self.view.columns)
        return [j for j, fs in groups if not asked.isdisjoint(fs)]

    def rows_of(self, row: int | Iterable[int]) -> Any:
        """The index in the model of a row of the dataset.

        Rows with equal tests share one index. A sum over the rows of the dataset counts each of
        them: `sum(m.z[built.rows_of(i), v] for i in range(n))`.

        Parameters
        ----------
        row : int or iterable of int
            Rows of the dataset, counted from 0.

        Returns
        -------
        int or list of int

        Raises
        ------
        DataError
            There is no such row.
        """
        places = self._rows
        if isinstance(row, (int, np.integer)):
            if not 0 <= row < len(places):
                raise DataError(f"The dataset has the rows 0 to {len(places) - 1}; got {int(row)}.")
            return int(places[row])
        return [self.rows_of(int(i)) for i in row]

    def node(self, *path: str) -> int:
        """The index of a node of the full tree, by the way from the root.

        Parameters
        ----------
        *path : {"left", "right"}
            A row goes left where the test is answered no, and right where it is answered yes.

        Returns
        -------
        int
            1 is the root, and the children of v are 2v and 2v + 1.

        Raises
        ------
        Unsupported
            The model has no full tree.
        DataError
            The way is none, or it is longer than the tree is deep.
        """
        self._check_full_tree()
        strange = [step for step in path if step not in _SIDES]
        if strange:
            raise DataError(
                f"A way to a node consists of 'left' and 'right', such as built.node('left', 'right'); got {strange[0]!r}."
            )
        if path and self.formulation.other_sides:
            raise Unsupported(
                f"In the model of {self.formulation.label} {self.formulation.other_sides}, so what is left of a node there depends on its test; built.leaves are all leaves, or take a formulation with the sides of the tree{_others(self.problem, tests=True)}."
            )
        depth = self.problem.trees.depth
        if len(path) > depth:
            raise DataError(f"The tree has depth {depth}, and the way has {len(path)} steps.")
        v = 1
        for step in path:
            v = 2 * v + _SIDES[step]
        return v

    def leaf(self, *path: str) -> int:
        """The index of a leaf of the full tree, by the whole way from the root; see `node`.

        Raises
        ------
        DataError
            The way ends above the leaves.
        """
        v, depth = self.node(*path), self.problem.trees.depth
        if len(path) < depth:
            raise DataError(
                f"The leaves of the full tree are {depth} steps from the root, and the way has {len(path)}; ask built.node for a node above them."
            )
        return v

    @property
    def leaves(self) -> list[int]:
        """The indices of all leaves of the full tree, from left to right."""
        self._check_full_tree()
        depth = self.problem.trees.depth
        return list(range(2**depth, 2 ** (depth + 1)))

    # -- values ------------------------------------------------------------------------------------

    def start(self, tree: Any) -> tuple[str, ...]:
        """Give every variable of the formulation the value that a tree has in the model.

        Parameters
        ----------
        tree : Tree or another model of the problem's space

        Returns
        -------
        tuple of str
            A sentence for each row and bound of the whole model that the values break; none if it
            is a feasible start. Empty too if added variables have no value yet.

        Raises
        ------
        DataError
            The tree does not keep the limits of the problem.
        Unsupported
            The tree is none of the model.
        """
        wrong = self.problem.violations(tree)
        if wrong:
            raise DataError(f"The tree is none of the problem: {wrong[0]}")
        self.encode(tree)
        matrix = self.compiled()
        if any(v.value is None for v in matrix.columns):
            return ()
        return broken(matrix, matrix.values())

    def encode(self, tree: Any) -> None:
        """As `start`, without a look at the rows."""
        try:
            simple = self.problem.space.simplify(tree, self.view)
            self.formulation.encode(simple, self.model)
        except LookupError as why:
            raise Unsupported(
                f"The model of {self.formulation.label} does not hold this {self.problem.space.noun} ({str(why).strip(chr(39))})."
            ) from None

    def decode(self) -> Any:
        """The tree (or rule list, or ensemble) that the values of the variables describe.

        Call it after a solver of Pyomo has loaded its solution; `mt.solve` does it by itself.

        Returns
        -------
        Tree, RuleList or Ensemble

        Raises
        ------
        DataError
            Variables have no values, the values break the model, or they describe a tree for which
            the model's other values would be different ones.
        """
        return self.reading().predictor

    def reading(self) -> Reading:
        """The decoded tree, with the values that were read."""
        matrix = self.compiled()
        empty = [v.name for v in matrix.columns if v.value is None and not v.stale]
        empty = empty or [v.name for v in matrix.columns if v.value is None]
        if empty:
            raise DataError(
                f"The variable {empty[0]} has no value; solve the model first, and let the solver load its solution."
            )
        x = matrix.rounded(matrix.values())
        wrong = broken(matrix, x)
        if wrong:
            raise DataError(
                f"The values are no solution of the model: {wrong[0]} A solver that stops at a limit may leave such values."
            )
        found = read_back(self, matrix, x)
        if found.wrong:
            raise DataError(found.wrong)
        return found

    def why_infeasible(
        self,
        *,
        among: Iterable[str] | None = None,
        solver: str | None = None,
        time_limit: float | None = 60.0,
    ) -> ConflictingRows:
        """Rows of the whole model that contradict each other, none of which can be left out.

        Parameters
        ----------
        among, solver, time_limit
            As for `milp_trees.plugins.conflicting_rows`; `among=["mine"]` asks only which rows of
            the constraint `mine` conflict, while all others hold.

        Returns
        -------
        ConflictingRows

        Raises
        ------
        DataError
            The model has a feasible point; of an incomplete model, without its cuts.
        SolverFailure
            It was not found out in time whether it has one.
        """
        from milp_trees.mip.conflicting_rows import rows_in_conflict

        words = self.formulation.meanings(self.model, self.problem)
        return rows_in_conflict(
            self.compiled(),
            self.whole,
            self.model,
            words,
            among,
            solver,
            Limits.asked(time_limit=time_limit),
        )

    def compiled(self) -> MatrixModel:
        """The whole model as a matrix, as it is now; without the mark of an incomplete model."""
        from milp_trees.mip.linear.matrix import compile_with_fixed

        mark = self.model.component("incomplete") if not self.complete else None
        if mark is None or not mark.active:
            return compile_with_fixed(self.whole)
        mark.deactivate()
        try:
            return compile_with_fixed(self.whole)
        finally:
            mark.activate()

    # -- parts -------------------------------------------------------------------------------------

    @property
    def _tests(self) -> ModelTests:
        if "tests" not in self._known:
            self._known["tests"] = ModelTests(self.problem, self.view, self.formulation.label)
        found: ModelTests = self._known["tests"]
        return found

    def _indexed(self) -> ModelTests:
        """The tests, for a model whose variables have them as indices."""
        if self.formulation.tests_in is None:
            raise Unsupported(
                f"The variables of {self.formulation.label} are about columns and thresholds, so a test has no index; ask built.columns('COLUMN'), or take a formulation with a variable per test{_others(self.problem, tests=True)}."
            )
        return self._tests

    @property
    def _rows(self) -> np.ndarray:
        """For every row of the dataset, its row of the view."""
        if "rows" not in self._known:
            self._known["rows"] = _places(self.problem, self.view)
        found: np.ndarray = self._known["rows"]
        return found

    def _check_full_tree(self) -> None:
        if self.model.component("branch") is None or self.model.component("leaves") is None:
            raise Unsupported(
                f"The model of {self.formulation.label} has no variables for the nodes of a full tree, so its nodes have no index; take a formulation that has them."
            )

    def __repr__(self) -> str:
        return f"<model of {self.formulation.label}: {self.problem!r}>"


def build(
    formulation: str | Formulation,
    problem: Problem,
    *,
    presolve: str | bool = "rows",
    block: Any = None,
    incomplete: bool = False,
    max_nonzeros: int | None = MAX_NONZEROS,
) -> Built:
    """A formulation's model of a problem in Pyomo, to which own parts can be added.

    Constraints, variables and terms of the objective are added in Pyomo. `mt.solve(built)` solves
    the changed model under all limits; a solver of Pyomo can solve it too (`built.decode()`).

    Parameters
    ----------
    formulation : str or Formulation
        Its name, with options if there are any (`flow-oct:sinks=multi`).
    problem : Problem
    presolve : {"rows", True, False}, default="rows"
        `"rows"` merges rows with equal tests and keeps every test, so that each index means one
        test. True also drops tests that are constant on the rows, or equal or opposite to others: an
        index then stands for all tests that are equal. False does neither.
    block : Block, optional
        A block of the user's model that gets the components; several trees fit into one model. Its
        objective is deactivated: the user's is made of `built.cost` of each.
    incomplete : bool, default=False
        As for `Formulation.build`: whether a model whose cuts are found while it is solved is left
        open to other programs.
    max_nonzeros : int or None, default=20 million
        Larger models are not built.

    Returns
    -------
    Built

    Raises
    ------
    Unsupported
        The formulation cannot take the problem, or its model leaves out trees that are no better
        than others, so that an added constraint would exclude more than it says.
    UnknownName
        There is no such formulation.
    DataError
        An argument is not what it has to be.

    Examples
    --------
    At most one test of the column `f1`:

    >>> import milp_trees as mt
    >>> import pyomo.environ as pyo
    >>> data = mt.load("planted:rows=60,tests=5,depth=2")
    >>> built = mt.build("oct-binary", mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))
    >>> m, column = built.model, data.features[0].column
    >>> tested = sum(m.a[f, v] for f in built.tests_of(column) for v in m.branch)
    >>> m.once = pyo.Constraint(expr=tested <= 1)
    >>> mt.solve(built, start=None).changed.constraints
    ('once',)
    """
    chosen = _formulation(formulation)
    if not isinstance(problem, Problem):
        raise DataError(
            f"mt.build takes a Problem, such as mt.Problem(mt.load('people.csv'), mt.Accuracy(), mt.Trees(max_depth=2)); got {type(problem).__name__}."
        )
    if problem.by_steps(chosen):
        raise Unsupported(
            f"{chosen.label} solves this problem in steps, by one model after the other, so there is no model to change; build that of one step, with a task that is a sum over rows."
        )
    chosen = _presolved(chosen, presolve)
    chosen.check_buildable(problem, max_nonzeros)
    if chosen.leaves_out:
        raise Unsupported(
            f"{chosen.name} {chosen.leaves_out}, so that a constraint of yours would exclude more than it says; take a formulation that holds them all{_others(problem)}, or build it as it is by mt.registry.formulation({chosen.name!r}).build(problem)."
        )
    if is_open(problem):
        problem = for_models(problem)
    whole = chosen.whole(problem)
    if block is not None and not whole and not incomplete:
        raise Unsupported(
            f"The cuts of {chosen.label} are found while it is solved alone, so its model cannot be a block of another one; take a formulation that is complete{_others(problem)}."
        )
    if block is not None and not hasattr(block, "add_component"):
        raise DataError(
            f"block is a Pyomo block of your model, such as m.tree = pyo.Block(); got {type(block).__name__}."
        )
    m = chosen.assemble(problem, block, templates=False)
    if block is not None:
        m.objective.deactivate()
    elif not whole and not incomplete:
        marked_incomplete(m, chosen.name)
    m.built = Built(problem, chosen, m, whole)
    found: Built = m.built
    return found


def _formulation(given: Any) -> Formulation:
    """The formulation of a name; the solver is named when the model is solved."""
    from milp_trees.mip.formulation import Formulation

    if isinstance(given, Formulation):
        return given
    if not isinstance(given, str):
        raise DataError(
            f"A formulation is named by a text such as 'flow-oct'; got {type(given).__name__}."
        )
    name, _, solver = given.partition("@")
    if solver:
        raise DataError(
            f"A model is built without a solver: write mt.build({name!r}, …), and mt.solve(built, solver={solver!r})."
        )
    found: Formulation = registry.spelled("formulations", name)
    return found


def _presolved(formulation: Any, presolve: Any) -> Any:
    """The formulation with the presolve that was asked for."""
    if not any(presolve is known or presolve == known for known in PRESOLVE):
        raise DataError(f"presolve is 'rows', True or False; got {presolve!r}.")
    known = {f.name for f in fields(formulation)}
    off = {} if presolve is True else {"drop_tests": False}
    off |= {"merge_rows": False} if presolve is False else {}
    return replace(formulation, **{name: value for name, value in off.items() if name in known})


def _others(problem: Problem, tests: bool = False) -> str:
    """Formulations that take a problem and hold every predictor, as words in brackets."""
    names = []
    for name in registry.formulations_for(problem):
        other: Any = registry.formulation(name)
        whole = not other.leaves_out and other.complete and (other.tests_in or not tests)
        if whole and other.unsupported(problem) is None:
            names.append(name)
    return f" ({', '.join(names[:4])})" if names else ""


def _places(problem: Problem, view: Any) -> np.ndarray:
    """For every row of the dataset, its row of a view."""
    n = problem.dataset.n_rows
    places = np.full(n, -1, dtype=np.int64)
    places[view.rows] = np.arange(view.n_rows)
    if (places >= 0).all():
        return places
    # A row that was merged has the answers of the one that stands for it.
    whole = problem.space.tests(problem.dataset)
    X = np.asarray(whole.X if isinstance(whole.X, np.ndarray) else problem.dataset.X)
    index = {test: j for j, test in enumerate(whole.features)}
    words = packed(np.ascontiguousarray(X[:, [index[test] for test in view.features]]))
    known = {words[i].tobytes(): int(places[i]) for i in view.rows.tolist()}
    for i in np.flatnonzero(places < 0).tolist():
        places[i] = known[words[i].tobytes()]
    return places
