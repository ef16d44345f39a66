"""`Formulation`: one published mathematical program, built as a readable Pyomo model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import MAX_NONZEROS, Limits
from milp_trees.common.registering import labels
from milp_trees.mip.building import fast_building
from milp_trees.mip.incomplete import marked_incomplete
from milp_trees.mip.open_thresholds import refuse_open
from milp_trees.mip.sizes import too_many
from milp_trees.models.space import Space
from milp_trees.problems.problem import Problem
from milp_trees.problems.support import unsupported_reason

if TYPE_CHECKING:
    import numpy as np

    from milp_trees.common.limits import Deadline
    from milp_trees.methods.claims import Claims
    from milp_trees.mip.linear.matrix import MatrixModel, Separator


@dataclass(frozen=True)
class Stage:
    """One of the models with which a formulation solves a problem, and what is known beside it.

    Parameters
    ----------
    model : ConcreteModel
    covers : int, optional
        The objective up to which the model holds every predictor; None if it holds all.
    bound : int, optional
        A lower bound on the objective that is proven without solving the model.
    proved_by : str
        The method that proved this bound.
    incumbent : predictor, optional
        A feasible predictor.
    seconds : dict
        Seconds that the stages of its making took, by their names.
    sizes : dict
        Further numbers that a result shows beside the size of the model.
    """

    model: Any
    covers: int | None = None
    bound: int | None = None
    proved_by: str = ""
    incumbent: Any = None
    seconds: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


class ModelSize(NamedTuple):
    """Size of a model before or after it is built."""

    variables: int
    binaries: int
    rows: int
    nonzeros: int


@dataclass(frozen=True)
class Formulation(ABC):
    """Base of all formulations; stateless apart from its options, which are fields.

    A subclass names itself, says which space and view it takes, declares the model, and translates
    predictors to values and back. Formulations of trees are subclasses of `TreeFormulation`; see
    `formulations/_template.py`.
    """

    registry_group: ClassVar[str] = "formulations"

    name: ClassVar[str]
    title: ClassVar[str] = ""
    #: Paper or page that the model comes from.
    reference: ClassVar[str] = ""
    #: Space and view it takes, and the questions it answers.
    space: ClassVar[type[Space] | tuple[type[Space], ...]]
    needs: ClassVar[type | tuple[type, ...]]
    questions: ClassVar[frozenset[str]] = frozenset({"best"})
    #: Whether side rows, a minimum leaf size above 1, general costs can be expressed (trees).
    takes_side_rows: ClassVar[bool] = False
    takes_min_leaf: ClassVar[bool] = False
    takes_any_costs: ClassVar[bool] = True
    #: Kinds of constraints on the tree itself that it takes (`Structure.kind`).
    takes_structure: ClassVar[frozenset[str]] = frozenset()
    #: Whether the linear relaxation has an integral optimum if there are no side constraints and no
    #: limits on leaves. It is then solved first, as a linear program, by every solver that takes one.
    integral_relaxation: ClassVar[bool] = False
    #: Whether, with the integer variables fixed at integers, some optimum has the other variables
    #: at integers too (flows, routings). It is used only where all coefficients are whole numbers.
    #: With general costs they are not, because gains are written as shares.
    implied_integer: ClassVar[bool] = False
    #: Rank among the methods that are run when no method is named, as `Method.default_rank`.
    #: Engines come first, since they need no solver.
    default_rank: ClassVar[int | None] = None
    #: Rank among the methods with which answers are compared (`result.agrees`): the smallest rank
    #: that takes the problem is used. None: the formulation is used only when it is named.
    reference_rank: ClassVar[int | None] = None
    #: Whether it makes proofs of bounds (`claims`).
    proves: ClassVar[bool] = False
    #: Coefficients are optimal subproblem values of a dynamic programme.
    dp_derived: ClassVar[bool] = False
    #: Name of what the model of such a formulation is derived by, for the certificate.
    derived_by: ClassVar[str] = ""
    #: Whether the size is known without making all stages; otherwise it is not looked at before.
    quick_size: ClassVar[bool] = True
    #: As `Method.parts`. Formulations of one space are assumed to share the code that declares
    #: their rows, unless this field states something else.
    shared_components: ClassVar[frozenset[str]] = frozenset({"common rows"})
    verification_rank: ClassVar[int] = 80
    #: Constraints (by name) that may be left out without changing the optimum, each with the reason
    #: for which it is in the model.
    redundant: ClassVar[Mapping[str, str]] = {}
    #: Which numbers may change in a built model, whose other rows and columns they leave as they are:
    #: words of `milp_trees.mip.persistent.CHANGEABLE`.
    changeable: ClassVar[frozenset[str]] = frozenset()
    #: Why the model does not hold every predictor of the space: those that are no better than
    #: others are left out. Empty if it holds them all, so that further constraints may be added.
    leaves_out: ClassVar[str] = ""
    #: Names of continuous variables that are 0 or 1 for every predictor. They are declared integer
    #: where a user's constraint has them, since the model's own rows need not make them whole then.
    zero_one: ClassVar[frozenset[str]] = frozenset()
    #: The set of the model in which tests have indices; None if its variables are about columns.
    tests_in: ClassVar[str | None] = "features"
    #: Why the left child of a node is not where its test is answered no; empty if it is.
    other_sides: ClassVar[str] = ""
    #: Options with which a solver is fast on this model: `{"highs": {"solver": "ipm"}}`.
    suggested_options: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    # -- what a subclass writes -------------------------------------------------------------------------------

    @abstractmethod
    def declare(self, m: Any, view: Any, space: Any) -> None:
        """Add sets, variables, constraints and the objective to a Pyomo model.

        Parameters
        ----------
        m : ConcreteModel
            Gets all components. The objective `m.objective` is minimised, in integer units, or in
            others that `objective_unit` states.
        view : view of the task
            The view that `presolved_view` returns, such as a CostMatrix.
        space : Space
            The models that are allowed.
        """

    @abstractmethod
    def decode(self, m: Any) -> Any:
        """The predictor that the values of the model's variables describe."""

    @abstractmethod
    def encode(self, predictor: Any, m: Any) -> None:
        """Set every variable of the model to the solution that a predictor describes."""

    @abstractmethod
    def model_size(self, view: Any, space: Any) -> ModelSize:
        """Size of the model, from formulas: nothing is built."""

    @abstractmethod
    def presolved_view(self, problem: Problem) -> Any:
        """The view that is modelled; presolve is applied as far as its switches allow."""

    def unsupported_view(self, view: Any, space: Any) -> str | None:
        """Why this formulation cannot express a view, beyond its switches; None if it can."""
        return None

    def objective_unit(self, view: Any) -> int:
        """Units of the view in one unit of the model's objective."""
        return 1

    def bound_from(self, view: Any, space: Any, duals: Mapping[str, np.ndarray]) -> int | None:
        """A bound on the objective that holds, from a solver's duals of the relaxation's rows.

        It follows from them in integers, whatever they are.

        Parameters
        ----------
        view : LeafSums
            The view that the model was built from.
        space : Space
        duals : mapping of name to array
            Duals of the rows by the names of the model's constraints.

        Returns
        -------
        int or None
            None if the solver's own bound is used.
        """
        return None

    def separator(self, m: Any, matrix: MatrixModel) -> Separator | None:
        """The object that finds violated cuts, for models that are completed by cuts.

        None for a model that is complete when it is built.
        """
        return None

    @property
    def complete(self) -> bool:
        """Whether the built model holds all its rows.

        A formulation with a separator is not complete: further rows are found while it is solved.
        """
        return type(self).separator is Formulation.separator

    def whole(self, problem: Problem) -> bool:
        """Whether the model of a problem holds all its rows when it is built."""
        return self.complete

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        """For sets and blocks of rows of the model, functions that describe an element in words.

        The keys are names of sets and blocks; the description of a model file lists these words.
        """
        return {}

    def claims(
        self,
        problem: Problem,
        duals: Callable[[], Mapping[str, np.ndarray]],
        deadline: Deadline,
    ) -> Claims:
        """A proof of the bound of the relaxation; written by formulations that prove.

        Parameters
        ----------
        problem : Problem
            It is supported.
        duals : callable
            Solves the relaxation and returns the solver's duals of its rows, by the name of their
            block. A proof must follow from them in exact integers, whatever they are.
        deadline : Deadline

        Returns
        -------
        Claims

        Raises
        ------
        Unsupported
            There is no such proof; the sentence names the reason.
        Stopped
            A limit was reached.
        """
        raise Unsupported(self.unproved(problem) or "")

    def unproved(self, problem: Problem) -> str | None:
        """As `Method.unproved`."""
        return None if self.proves else f"{self.name} writes no proofs."

    def weights_of_tests(self, m: Any) -> Mapping[int, np.ndarray] | None:
        """The values of the tests of every branch node at a point, which may be fractional.

        Trees are made from them that a solver gets while it searches (`milp_trees.mip.rounding`).

        Parameters
        ----------
        m : ConcreteModel
            Its variables have the values of the point.

        Returns
        -------
        mapping of int to array of shape (F,), or None
            Nodes are numbered as in a heap: root 1, children 2v and 2v + 1. None if the model has no
            variable per node and test; then trees are read from integral points only.
        """
        return None

    def options_for(self, solver: str, view: Any, space: Any) -> Mapping[str, Any]:
        """Solver options that the formulation suggests for a view.

        Options of the user have priority over these.

        Parameters
        ----------
        solver : str
            Name of the solver.
        view : view of the task
            The view that is modelled.
        space : Space

        Returns
        -------
        mapping
            Options by the solver's own names.
        """
        return self.suggested_options.get(solver, {})

    def relaxation_options_for(self, solver: str, view: Any, space: Any) -> Mapping[str, Any]:
        """Solver options for the linear relaxation alone; by default those of the model.

        Parameters
        ----------
        solver : str
        view : view of the task
        space : Space

        Returns
        -------
        mapping
        """
        return self.options_for(solver, view, space)

    def has_integral_relaxation(self, view: Any, space: Any) -> bool:
        """Whether the linear relaxation of a view has an integral optimum.

        A formulation that declares `integral_relaxation` says here what must not be added to it.
        """
        return self.integral_relaxation

    def warm_up(self, space: Space | None = None) -> None:
        """Compile what problems of a space need; by default, of every space it takes."""

    def templates(self, view: Any, space: Any) -> bool:
        """Whether constraints may be templates: Pyomo makes none over an empty index set."""
        return True

    def reprice(self, m: Any, view: Any, space: Any) -> bool:
        """Give a built model the objective of a view that differs in its costs only.

        Parameters
        ----------
        m : ConcreteModel
            A model of this formulation; `m.view` is still the view that it was built from.
        view : view of the task
        space : Space

        Returns
        -------
        bool
            False if costs stand in other rows too, and the model has to be built again.
        """
        return False

    def hand_on(self, m: Any, view: Any, space: Any) -> None:
        """Give a view what a model's own view keeps of what was derived from it, where it holds.

        Parameters
        ----------
        m : ConcreteModel
            A model of this formulation; `m.view` is still the view that it was built from.
        view : view of the task
            It differs from that in the numbers that `changeable` names.
        space : Space
            The space of the view.
        """

    # -- what the package does with it ------------------------------------------------------------------------

    def unsupported(self, problem: Problem) -> str | None:
        """The sentence that explains why this formulation cannot take a problem, or None."""
        return unsupported_reason(self, problem) or self.unsupported_view(
            self.presolved_view(problem), problem.space
        )

    def build(
        self,
        problem: Problem,
        incomplete: bool = False,
        max_nonzeros: int | None = MAX_NONZEROS,
    ) -> Any:
        """The Pyomo model of a problem: no solving, no I/O; every call gives the same model.

        Parameters
        ----------
        problem : Problem
        incomplete : bool, default=False
            What to do if the model is completed by cuts that are found while it is solved (see
            `whole`). By default its name says so, `IncompleteModelWarning` is given, and its
            constraint `incomplete` makes it infeasible for every solver that finds no cuts. With
            True the model comes without them, to be completed by `separator`.
        max_nonzeros : int or None, default=20 million
            Larger models are not built.

        Returns
        -------
        ConcreteModel

        Raises
        ------
        Unsupported
            The formulation cannot take the problem, the data leave many thresholds open, or the
            model would be too large; the sentence gives the reason.
        """
        self.check_buildable(problem, max_nonzeros)
        m = self.assemble(problem)
        return m if incomplete or self.whole(problem) else marked_incomplete(m, self.name)

    def check_buildable(self, problem: Problem, max_nonzeros: int | None = MAX_NONZEROS) -> None:
        """Raise the error that `build` raises for a problem that it cannot build.

        Parameters
        ----------
        problem : Problem
        max_nonzeros : int or None, default=20 million

        Raises
        ------
        Unsupported
            As for `build`.
        """
        refuse_open(self.name, problem)
        why = self.unsupported(problem)
        if why:
            raise Unsupported(why)
        if self.quick_size:
            size = self.model_size(self.presolved_view(problem), problem.space)
            if why := too_many(size.nonzeros, Limits(nonzeros=max_nonzeros)):
                raise Unsupported(f"{self.label} {why}")

    def assemble(self, problem: Problem, block: Any = None, templates: bool = True) -> Any:
        """The Pyomo model of a problem that is known to be supported.

        Parameters
        ----------
        problem : Problem
        block : Block, optional
            Gets the components; by default a new model.
        templates : bool, default=True
            Whether constraints may be templates, which Pyomo's file writers do not take.

        Returns
        -------
        ConcreteModel or Block
        """
        import pyomo.environ as pyo

        m = pyo.ConcreteModel(name=self.name) if block is None else block
        m.view, m.space = self.presolved_view(problem), problem.space
        with fast_building(templates and self.templates(m.view, m.space)):
            self.declare(m, m.view, m.space)
        return m

    def stages(self, problem: Problem) -> Iterator[Stage]:
        """The models of a problem that is known to be supported, to be solved one after the other.

        By default there is one. If there are several, each holds the best predictors, and a later
        one is needed only if those before it leave a gap; the last one is the whole model.
        """
        yield self.stage(problem)

    def stage(self, problem: Problem) -> Stage:
        """The model of a problem that is known to be supported, with what is known beside it."""
        return Stage(self.assemble(problem))

    @property
    def label(self) -> str:
        """Name with the options that differ from their defaults: `flow-oct:merge_rows=off`."""
        return labels.label(self)
