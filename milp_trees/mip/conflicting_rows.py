"""Why a Pyomo model is infeasible: rows that contradict each other, in its names and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from milp_trees.common.limits import Limit, Limits
from milp_trees.common.plurals import counted
from milp_trees.mip.irreducible import Subset, irreducible_rows
from milp_trees.mip.linear.matrix import MatrixModel, compile_with_fixed
from milp_trees.mip.registry import registry
from milp_trees.results.json import json_safe

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem

#: Functions that describe elements of sets and blocks of rows, by the names of these.
Words: TypeAlias = Mapping[str, Callable[[Any], str]]
#: Blocks with more conflicting rows are summed up in the text.
MOST_LISTED = 6


class ConflictingRow(NamedTuple):
    """One row of a model that is needed for its contradiction.

    `constraint` and `index` are its name in Pyomo, `words` say what the index stands for, and `doc`
    is the documentation of the constraint. `needed` says that the others have a common point.
    """

    constraint: str
    index: Any
    words: str
    doc: str
    needed: bool

    @property
    def name(self) -> str:
        """The name of the row in Pyomo, such as `left[3,1]`."""
        if self.index is None:
            return self.constraint
        return f"{self.constraint}[{_spelled(self.index)}]"


@dataclass(frozen=True, eq=False)
class ConflictingRows:
    """Rows of a model that contradict each other; `conflicting_rows` makes it.

    Parameters
    ----------
    model : str
        Name of the model.
    rows : tuple of ConflictingRow
    subset : Subset
        How it was found, and what is proven.
    among : tuple of str
        Names of the constraints that the rows are of; empty if they are of all.
    """

    model: str
    rows: tuple[ConflictingRow, ...]
    subset: Subset
    among: tuple[str, ...] = ()

    @property
    def irreducible(self) -> bool:
        """Whether no row can be left out; otherwise a limit ended the search."""
        return self.subset.irreducible

    @property
    def limit(self) -> Limit | None:
        """The limit that ended the search; None if it was completed."""
        return self.subset.limit

    @property
    def relaxed(self) -> bool:
        """Whether the rows contradict each other even if variables need not be integers."""
        return self.subset.relaxed

    def frame(self) -> pd.DataFrame:
        """One line per row: constraint, index, words, doc, needed."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(ConflictingRow._fields))

    def to_json(self) -> dict[str, Any]:
        """The object that `milp-trees why-not --formulation NAME --json` prints."""
        subset = self.subset
        plain: dict[str, Any] = json_safe(
            {
                "schema": "milp-trees/conflicting-rows/1",
                "model": self.model,
                "among": list(self.among),
                "irreducible": self.irreducible,
                "relaxed": subset.relaxed,
                "exact": subset.exact,
                "proved_by": subset.proved_by,
                "limit": None if subset.limit is None else subset.limit.value,
                "solves": subset.solves,
                "seconds": subset.seconds,
                "rows": [
                    {
                        "row": r.name,
                        "constraint": r.constraint,
                        "words": r.words,
                        "doc": r.doc,
                        "needed": r.needed,
                    }
                    for r in self.rows
                ],
            }
        )
        return plain

    def to_text(self) -> str:
        """What is proven, and the rows by their blocks."""
        subset = self.subset
        where = "in its linear relaxation" if subset.relaxed else "for whole numbers"
        proof = " and proven in rational numbers" if subset.exact else ""
        which = counted(len(self.rows), "row")
        verb = "contradicts its bounds" if len(self.rows) == 1 else "contradict each other"
        lines = [f"{which} of {self.model} {verb} {where} (found by {subset.proved_by}{proof})."]
        if self.among:
            lines[0] += f" They are among {', '.join(self.among)}; all other rows always hold."
        if not self.rows and self.among:
            lines = [
                f"The rows of {self.model} contradict each other without {', '.join(self.among)}."
            ]
        elif not self.rows:
            lines = [f"Bounds of variables of {self.model} contradict each other."]
        elif self.irreducible:
            lines[0] += " None of them can be left out."
        else:
            open_ = len(self.rows) - len(subset.needed)
            why = (
                f"the {subset.limit.value} limit ended the search"
                if subset.limit
                else "they were not told apart"
            )
            lines[0] += f" {open_} of them may be superfluous: {why}."
        blocks: dict[str, list[ConflictingRow]] = {}
        for row in self.rows:
            blocks.setdefault(row.constraint, []).append(row)
        for name, rows in sorted(blocks.items(), key=lambda block: len(block[1])):
            lines.append(f"  {name}: {rows[0].doc or 'no documentation'}")
            if len(rows) > MOST_LISTED:
                lines.append(
                    f"    {counted(len(rows), 'row')}, from {rows[0].name} to {rows[-1].name}"
                )
                continue
            lines += [f"    {r.name}{f': {r.words}' if r.words else ''}" for r in rows]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.to_text())}</pre>"

    def __repr__(self) -> str:
        state = "irreducible" if self.irreducible else "not irreducible"
        return f"<ConflictingRows of {self.model}: {counted(len(self.rows), 'row')}, {state}>"


def conflicting_rows(
    model: Any,
    formulation: Formulation | None = None,
    problem: Problem | None = None,
    *,
    among: Iterable[str] | None = None,
    solver: str | None = None,
    time_limit: float | None = 60.0,
    limits: Limits | None = None,
) -> ConflictingRows:
    """Rows of an infeasible Pyomo model that contradict each other, none of which can be left out.

    Bounds of variables and integrality always hold. If the linear relaxation has no point, the
    rows are of the relaxation; otherwise each trial is an integer program.

    Parameters
    ----------
    model : ConcreteModel
        A linear model, possibly with integer variables, for example with constraints of your own.
    formulation, problem : Formulation and Problem, optional
        What the model was built from: then indices are described in words.
    among : iterable of str, optional
        Names of constraints: the rows are of these, and all others always hold. For example those
        that were added to a built model, or `["side"]` for the side constraints of a tree.
    solver : str, optional
        By default the solver that comes with the package.
    time_limit : float or None, default=60
        Seconds for all programs. What is found by then is an infeasible set of rows of which some
        may be superfluous, and says so.
    limits : Limits, optional
        All limits, in place of `time_limit`.

    Returns
    -------
    ConflictingRows

    Raises
    ------
    DataError
        The model has a feasible point.
    SolverFailure
        It was not found out in time whether it has one.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(name="three rows")
    >>> m.x = pyo.Var(["a", "b"], domain=pyo.Binary)
    >>> m.both = pyo.Constraint(expr=m.x["a"] + m.x["b"] >= 2, doc="both are chosen")
    >>> m.one = pyo.Constraint(expr=m.x["a"] + m.x["b"] <= 1, doc="at most one is chosen")
    >>> m.some = pyo.Constraint(expr=m.x["a"] + m.x["b"] >= 1, doc="one is chosen")
    >>> found = conflicting_rows(m)
    >>> sorted(row.name for row in found.rows), found.irreducible
    (['both', 'one'], True)
    """
    words: Words = {}
    if formulation is not None and problem is not None:
        words = formulation.meanings(model, problem)
    limits = limits or Limits.asked(time_limit=time_limit)
    return rows_in_conflict(compile_with_fixed(model), model, model, words, among, solver, limits)


def rows_in_conflict(
    matrix: MatrixModel,
    whole: Any,
    block: Any,
    words: Words,
    among: Iterable[str] | None,
    solver: str | None,
    limits: Limits,
) -> ConflictingRows:
    """As `conflicting_rows`, for the matrix of a model.

    Parameters
    ----------
    matrix : MatrixModel
    whole : ConcreteModel
        The model that the matrix was made from.
    block : ConcreteModel or Block
        The part of it that the words are about.
    words : mapping
        As `Formulation.meanings` returns.
    among : iterable of str, optional
    solver : str, optional
    limits : Limits

    Returns
    -------
    ConflictingRows
    """
    among = None if among is None else tuple(among)
    subset = irreducible_rows(matrix, solver or registry.default_solver, limits, among)
    rows = []
    for i in subset.rows:
        label, index = matrix.row_labels[i], matrix.row_indices[i]
        component = whole.find_component(label)
        known = words if component is not None and component.parent_block() is block else {}
        doc = getattr(component, "doc", None) or ""
        said = _in_words(component, index, known)
        rows.append(ConflictingRow(label, index, said, doc, i in subset.needed))
    return ConflictingRows(matrix.name, tuple(rows), subset, among or ())


def _in_words(component: Any, index: Any, words: Words) -> str:
    """The meaning of an index: that of the block, or those of the sets it is from."""
    if index is None or not words:
        return ""
    own = words.get(component.local_name)
    if own is not None:
        return own(index)
    if not component.is_indexed():
        return ""
    sets = list(component.index_set().subsets())
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) != len(sets):
        return ""
    said = [
        words[s.local_name](part)
        for s, part in zip(sets, parts, strict=True)
        if s.local_name in words
    ]
    return "; ".join(said)


def _spelled(index: Any) -> str:
    return ",".join(map(str, index)) if isinstance(index, tuple) else str(index)
