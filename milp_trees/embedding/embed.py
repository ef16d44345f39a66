"""`embed`: a fitted model as a block of the user's own Pyomo model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.embedding.block import TreeBlock

#: Largest violation of a row that solvers allow by default.
TOLERANCE = 1e-6


def embed(
    model: Any,
    inputs: Mapping[str, Any],
    formulation: str = "auto",
    *,
    columns: Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    tolerance: float = TOLERANCE,
) -> TreeBlock:
    """A fitted model as a Pyomo block over the user's variables.

    Parameters
    ----------
    model : Tree, RuleList, Ensemble, Result, or fitted estimator
        An estimator of this package, or a decision tree, forest or gradient boosting of
        scikit-learn.
    inputs : mapping of str to variable, expression or constant
        The value of every column that the model asks, in the variables of the user's model. A
        column of numbers is a linear expression; a column of 0 and 1 a binary variable; a date the
        number of days since 1970-01-01; an ordered category its place, 0 for the lowest. A column
        of categories is a mapping of each category to a 0/1 variable, in which `None` stands for
        all others, or the text of one category. Where a value may be missing, it is a pair of the
        value and a 0/1 variable that is 1 if it is missing.
    formulation : {"auto", "leaf-boxes", "log-paths", "strong-paths", "paths", "big-m"}
        `"auto"` takes leaf boxes for a single tree, whose relaxation is then the convex hull,
        log paths for ensembles, which are as strong as strong paths and have fewer binaries, and
        paths for rule lists whose leaves are too many boxes.
    columns : sequence of str, optional
        Names of the columns of a scikit-learn model that was fitted on an array; by default `x0`,
        `x1`, ….
    bounds : mapping of str to (float, float), optional
        Least and largest value of columns whose variables have no bounds. They are not added to the
        model: the solution must keep them.
    tolerance : float, default=1e-6
        Largest violation of a row or of an integer that the solver allows. Values of real columns
        are told apart from a threshold if they are larger by twice as much, relative to its size
        and to the width of the bounds; see `TreeBlock.margins`.

    Returns
    -------
    TreeBlock
        An unattached block, to be assigned to an attribute of the model.

    Raises
    ------
    DataError
        A column is not given, or its bounds are not finite.
    Unsupported
        The model is not made of trees.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> import milp_trees as mt
    >>> from milp_trees.models.nodes import Branch, Leaf
    >>> tree = mt.Tree(Branch(mt.BinaryFeature("price", "<=", 9.5), Leaf(0), Leaf(1)), ("few", "many"))
    >>> m = pyo.ConcreteModel()
    >>> m.price = pyo.Var(bounds=(0, 20))
    >>> m.demand = mt.embed(tree, {"price": m.price})
    >>> m.wanted = pyo.Constraint(expr=m.demand.action["many"] == 1)
    >>> m.demand.sizes
    Size(variables=2, binaries=2, rows=3, nonzeros=7)
    """
    from milp_trees.embedding.block import make_block
    from milp_trees.embedding.inputs import bind
    from milp_trees.embedding.reading import read_forest
    from milp_trees.embedding.trees import Trees

    if not isinstance(tolerance, Real) or not 0 < tolerance < 0.1:
        raise DataError(
            f"tolerance must be a number above 0 and below 0.1, such as 1e-6; got {tolerance!r}."
        )
    forest = read_forest(model, columns)
    trees = Trees(forest, bind(forest, inputs, dict(bounds or {}), tolerance))
    return make_block(trees, chosen(formulation, trees))


def chosen(name: str, trees: Any) -> Any:
    """The formulation of a name; for `auto` the strongest that is small."""
    from milp_trees.embedding.big_m import BigM
    from milp_trees.embedding.leaf_boxes import LeafBoxes
    from milp_trees.embedding.logarithmic import LogPaths
    from milp_trees.embedding.paths import Paths, StrongPaths

    known: dict[str, Any] = {f.name: f for f in (LeafBoxes, LogPaths, StrongPaths, Paths, BigM)}
    if name != "auto" and name not in known:
        raise DataError(
            f"There is no formulation {name!r} of models as blocks; there are auto, {', '.join(known)}."
        )
    if name == "auto":
        name = _automatic(trees)
    return known[name]()


def expected_size(formulation: Any, trees: Any) -> Any:
    """The size of a block by formula, before it is built: of its leaves, rows and classes."""
    from milp_trees.embedding.rows import Size
    from milp_trees.embedding.votes import votes_size

    parts = zip(formulation.size(trees), votes_size(trees), strict=True)
    return Size(*(a + b for a, b in parts))


def _automatic(trees: Any) -> str:
    """Leaf boxes for a tree, log paths for ensembles, paths if a rule list has too many boxes."""
    if not trees.single:
        return "log-paths"
    return "leaf-boxes" if trees.few_boxes() else "paths"
