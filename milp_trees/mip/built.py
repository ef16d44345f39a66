"""`Built`: a formulation's model of a problem, to be changed in Pyomo and brought back.

Indices of a model count what is left after presolve, so that the index of a test depends on which
other tests the data cannot tell from it. Here tests, rows and nodes are asked for by the user's
names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import Limits
from milp_trees.mip.built_tests import BuiltTest, ModelTests, place_of, row_places
from milp_trees.mip.reading_back import Reading, broken, read_back
from milp_trees.mip.whole_models import others_that_hold
from milp_trees.problems.problem import Problem

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.mip.conflicting_rows import ConflictingRows
    from milp_trees.mip.formulation import Formulation
    from milp_trees.mip.linear.matrix import MatrixModel

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
        if isinstance(row, Iterable) and not isinstance(row, str):
            return [place_of(places, i) for i in row]
        return place_of(places, row)

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
        depth = self._depth()
        strange = [step for step in path if step not in _SIDES]
        if strange:
            raise DataError(
                f"A way to a node consists of 'left' and 'right', such as built.node('left', 'right'); got {strange[0]!r}."
            )
        if path and self.formulation.other_sides:
            raise Unsupported(
                f"In the model of {self.formulation.label} {self.formulation.other_sides}, so what is left of a node there depends on its test; built.leaves are all leaves, or take a formulation with the sides of the tree{others_that_hold(self.problem, tests=True)}."
            )
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
        v, depth = self.node(*path), self._depth()
        if len(path) < depth:
            raise DataError(
                f"The leaves of the full tree are {depth} steps from the root, and the way has {len(path)}; ask built.node for a node above them."
            )
        return v

    @property
    def leaves(self) -> list[int]:
        """The indices of all leaves of the full tree, from left to right."""
        depth = self._depth()
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
            The tree does not keep the limits of the problem, or is no model.
        Unsupported
            The tree is none of the model.
        """
        if not hasattr(tree, "routes"):
            raise DataError(
                f"A start is a model of the problem's space, such as mt.solve(problem).tree; got {type(tree).__name__}."
            )
        wrong = self.problem.violations(tree)
        if wrong:
            raise DataError(f"The tree is none of the problem: {wrong[0]}")
        self.encode(tree)
        matrix = self.compiled()
        if any(v.value is None for v in matrix.columns):
            return ()
        return broken(matrix, matrix.values())

    def encode(self, tree: Any) -> None:
        """As `start`, without looking at the rows."""
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
        return self.conflicting_rows(among, solver, Limits.asked(time_limit=time_limit))

    def conflicting_rows(
        self, among: Iterable[str] | None, solver: str | None, limits: Limits
    ) -> ConflictingRows:
        """As `why_infeasible`, with all limits.

        Parameters
        ----------
        among : iterable of str or None
        solver : str or None
        limits : Limits

        Returns
        -------
        ConflictingRows
        """
        from milp_trees.mip.conflicting_rows import rows_in_conflict

        words = self.formulation.meanings(self.model, self.problem)
        matrix, whole = self.compiled(), self.whole
        return rows_in_conflict(matrix, whole, self.model, words, among, solver, limits)

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
                f"The variables of {self.formulation.label} are about columns and thresholds, so a test has no index; ask built.columns('COLUMN'), or take a formulation with a variable per test{others_that_hold(self.problem, tests=True)}."
            )
        return self._tests

    @property
    def _rows(self) -> np.ndarray:
        """For every row of the dataset, its row of the view."""
        if "rows" not in self._known:
            self._known["rows"] = row_places(self.problem, self.view)
        found: np.ndarray = self._known["rows"]
        return found

    def _depth(self) -> int:
        """Depth of the full tree that the model has variables for."""
        if self.model.component("branch") is None or self.model.component("leaves") is None:
            raise Unsupported(
                f"The model of {self.formulation.label} has no variables for the nodes of a full tree, so its nodes have no index; take a formulation that has them."
            )
        return min(map(int, self.model.leaves)).bit_length() - 1

    def __repr__(self) -> str:
        return f"<model of {self.formulation.label}: {self.problem!r}>"
