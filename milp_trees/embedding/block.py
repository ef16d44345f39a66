"""`TreeBlock`: a fitted model as a Pyomo block, with its output, its sizes and its audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.block import ScalarBlock

from milp_trees.common.errors import DataError
from milp_trees.embedding.inputs import held
from milp_trees.embedding.rows import Size, linear
from milp_trees.embedding.trees import Trees

if TYPE_CHECKING:
    from milp_trees.embedding.audit import Audit


#: What is said of a model whose variables have no values.
UNSOLVED = "The model has no solution yet: its variables have no values; solve it first."


class TreeBlock(ScalarBlock):  # type: ignore[misc]  # Pyomo has no types
    """A fitted model inside a Pyomo model; `mt.embed` makes it.

    Attributes
    ----------
    leaf : Var
        1 for the leaf that is reached: `leaf[l]`, numbered from left to right as in `routes`, or
        `leaf[t, l]` of an ensemble.
    action : Expression or Var
        1 for the label that is predicted, by label; for models that choose among labels.
    value : Expression
        The predicted number; by the name of the target if there are several.
    probability : Expression
        The share of each class, by label.
    score : Expression
        What is added up before a class is chosen, by label; of gradient boosting with two classes a
        single number, which is positive for the second.
    formulation : str
        Name of the formulation.
    margins : dict
        For each column of real numbers, the largest distance above a threshold at which the block
        lets the other side begin.
    """

    def __init__(self) -> None:
        super().__init__(concrete=True)

    # -- after a solve -----------------------------------------------------------------------------

    def row(self) -> dict[str, Any]:
        """The values of the columns in the current solution, in the user's terms.

        Returns
        -------
        dict of str to value
            None for a missing value. Whole numbers are rounded; a category is its text, and
            `another category` for one that no variable names. Dates are numbers of days since
            1970-01-01, ordered categories texts.
        """
        try:
            return {column: held(one) for column, one in self._trees.inputs.items()}
        except ValueError as error:
            raise DataError(UNSOLVED) from error

    def leaves(self) -> tuple[int, ...]:
        """The leaf of every tree in the current solution."""
        trees, out = self._trees, []
        if all(leaf.value is None for leaf in self.leaf.values()):
            raise DataError(UNSOLVED)
        for t, n in enumerate(trees.forest.n_leaves):
            values = [self.leaf[trees.key(t, leaf)].value or 0.0 for leaf in range(n)]
            out.append(int(np.argmax(values)))
        return tuple(out)

    def predicted(self) -> Any:
        """The output of the block in the current solution.

        Returns
        -------
        label, float or tuple of floats
        """
        output = self._trees.forest.output
        leaves = self.leaves()
        if output.leaf_action is not None:
            return output.actions[int(output.leaf_action[leaves[0]])]
        if output.actions:
            values = [pyo.value(self.action[name]) for name in output.actions]
            return output.actions[int(np.argmax(values))]
        sums = self._sums(leaves)
        return float(sums[0]) if len(sums) == 1 else tuple(sums.tolist())

    def audit(self, move: bool = True) -> Audit:
        """Compare the output of the block with what the model predicts at the current solution.

        Parameters
        ----------
        move : bool, default=True
            Whether the inputs are moved inside their leaf if the model predicts something else, as
            it happens when a solver ends within its tolerance beyond a threshold.

        Returns
        -------
        Audit
        """
        from milp_trees.embedding.audit import audited

        return audited(self, move)

    @property
    def sizes(self) -> Size:
        """Numbers of variables, binaries, rows and nonzeros of the block as it is built."""
        variables = list(self.component_data_objects(pyo.Var))
        rows = list(self.component_data_objects(pyo.Constraint))
        nonzeros = sum(len(_linear_vars(row)) for row in rows)
        return Size(len(variables), sum(v.is_binary() for v in variables), len(rows), nonzeros)

    def _sums(self, leaves: tuple[int, ...]) -> np.ndarray:
        output = self._trees.forest.output
        sums = np.zeros(len(output.names))
        for values, leaf in zip(output.leaf_values, leaves, strict=True):
            sums = sums + values[leaf]
        return np.asarray(sums if output.base is None else sums + output.base)


def _linear_vars(row: Any) -> list[Any]:
    from pyomo.repn import generate_standard_repn

    return list(generate_standard_repn(row.body, compute_values=False).linear_vars)


def make_block(trees: Trees, formulation: Any) -> TreeBlock:
    """The block of a forest in a formulation."""
    b = TreeBlock()
    b._trees = trees
    b.formulation = formulation.name
    b.margins = {c: one.cells.margin for c, one in trees.inputs.items() if one.cells.margin}
    binary = formulation.binary_leaves
    b.leaf = pyo.Var(
        trees.keys,
        domain=pyo.Binary if binary else pyo.UnitInterval,
        doc="z[l] or z[t,l]: 1 for the leaf that is reached",
    )
    b.trees = pyo.RangeSet(0, len(trees.forest.roots) - 1, doc="trees")
    counts = trees.forest.n_leaves

    def one_leaf(b: Any, t: int) -> Any:
        return linear((1.0, b.leaf[trees.key(t, leaf)]) for leaf in range(counts[t])) == 1

    b.one_leaf = pyo.Constraint(
        b.trees, rule=one_leaf, doc="sum of z[t,l] = 1: every tree has one leaf"
    )

    formulation.declare(b, trees)
    _outputs(b, trees)
    return b


def _outputs(b: Any, trees: Trees) -> None:
    """Add what the leaves add up to, and the labels that follow."""
    output = trees.forest.output
    counts = trees.forest.n_leaves
    if output.names:
        index = list(output.names)
        place = {name: k for k, name in enumerate(index)}

        def total(_: Any, *name: Any) -> Any:
            k = place.get(name[0], 0) if name else 0
            base = 0.0 if output.base is None else float(output.base[k])
            terms = [
                (float(output.leaf_values[t][leaf, k]), b.leaf[trees.key(t, leaf)])
                for t, n in enumerate(counts)
                for leaf in range(n)
            ]
            return linear(terms, base)

        sets = [index] if len(index) > 1 else []
        b.add_component(
            output.kind,
            pyo.Expression(
                *sets,
                rule=total,
                doc=f"{output.kind}: base and the sum of the values of the leaves",
            ),
        )
    if not output.actions:
        return
    if output.leaf_action is not None:
        chosen = output.leaf_action
        place = {name: k for k, name in enumerate(output.actions)}

        def action(_: Any, name: Any) -> Any:
            return linear(
                (1.0, b.leaf[trees.key(0, leaf)])
                for leaf in np.flatnonzero(chosen == place[name]).tolist()
            )

        b.action = pyo.Expression(
            list(output.actions), rule=action, doc="1 for the action of the leaf"
        )
        return
    from milp_trees.embedding.votes import declare_votes

    declare_votes(b, trees)
