"""What a model file means, as JSON and as comments: objective in natural units, and all names."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.methods.finish import versions
from milp_trees.mip.linear.files import CONSTANT, FileModel
from milp_trees.results.json import json_safe

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation
    from milp_trees.mip.linear.matrix import MatrixModel
    from milp_trees.problems.problem import Problem

#: Kind of the JSON file, and its version.
SCHEMA = "milp-trees model file 1"
#: A larger set is described in the JSON only, so that the comments stay short.
MOST_COMMENTS = 500
#: A longer part of the problem's description is left to the JSON too.
MOST_CHARACTERS = 200


def description(
    problem: Problem, formulation: Formulation, m: Any, matrix: MatrixModel, file: FileModel
) -> dict[str, Any]:
    """The description of a model file, without the solution."""
    view: Any = m.view
    offset = Fraction(view.to_value(0))
    words = formulation.meanings(m, problem)
    components, sets = _components(m, words)
    return {
        "schema": SCHEMA,
        "objective": {
            "sense": "min",
            "offset": str(offset),
            "scale": str(Fraction(view.to_value(1)) - offset),
            "unit": problem.task.unit,
            "natural_sense": problem.task.sense,
            "exact": bool(view.exact),
            "meaning": "natural value = offset + scale * objective of the file",
        },
        "problem": problem.spec(),
        "formulation": {
            "name": formulation.name,
            "label": formulation.label,
            "title": formulation.title,
            "reference": formulation.reference,
            "options": dataclasses.asdict(formulation),
        },
        "versions": versions(),
        "sizes": {
            "variables": file.model.n_variables,
            "rows": file.model.n_rows,
            "nonzeros": int(file.model.A.nnz),
        },
        "components": components,
        "sets": {name: _set(s, words.get(name)) for name, s in sets.items()},
        "variables": dict(zip(file.columns, _places_of_columns(matrix, file), strict=True)),
        "rows": dict(zip(file.rows, _places_of_rows(matrix, file), strict=True)),
    }


def _components(
    m: Any, words: Mapping[str, Callable[[Any], str]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Documentation and index sets of variables and constraints, and the sets themselves."""
    import pyomo.environ as pyo

    components: dict[str, Any] = {}
    sets: dict[str, Any] = {}
    for kind, group in (("variable", pyo.Var), ("constraint", pyo.Constraint)):
        for c in m.component_objects(group, active=True):
            over = (
                [s for s in c.index_set().subsets() if s.doc and s.isfinite()]
                if c.is_indexed()
                else []
            )
            name = c.local_name
            components[name] = {
                "kind": kind,
                "doc": c.doc,
                "sets": [s.local_name for s in over],
                **_elements(c.keys(), words.get(name)),
            }
            sets |= {s.local_name: s for s in over}
    return components, sets


def _set(s: Any, words: Callable[[Any], str] | None) -> dict[str, Any]:
    return {"doc": s.doc, "size": len(s), **_elements(s, words)}


def _elements(s: Iterable[Any], words: Callable[[Any], str] | None) -> dict[str, Any]:
    return {} if words is None else {"elements": {_key(e): words(e) for e in s}}


def _key(index: Any) -> str:
    return ",".join(map(str, index)) if isinstance(index, tuple) else str(index)


def _place(component: str, index: Any) -> list[Any]:
    """Component and index of a name: `["b", 1, 3]`."""
    return [component, *(index if isinstance(index, tuple) else () if index is None else (index,))]


def _places_of_columns(matrix: MatrixModel, file: FileModel) -> list[list[Any]]:
    known = [_place(v.parent_component().local_name, v.index()) for v in matrix.columns]
    return known + [[CONSTANT]] * (len(file.columns) - len(known))


def _places_of_rows(matrix: MatrixModel, file: FileModel) -> list[list[Any]]:
    return [
        _place(matrix.row_labels[i], matrix.row_indices[i]) if i >= 0 else []
        for i in file.source.tolist()
    ]


def comments(described: Mapping[str, Any], beside: str | None = None) -> Iterator[str]:
    """The description as lines of comments, without the names of single variables and rows."""
    objective, formulation = described["objective"], described["formulation"]
    more = "" if beside is None else f" {beside} says the same, and what each name stands for."
    yield f"Written by milp-trees {described['versions']['milp-trees']}.{more}"
    yield f"Formulation: {formulation['label']}, {formulation['title']}, {formulation['reference']}"
    for part in ("task", "space", "data"):
        yield f"{part.capitalize()}: {json.dumps(_brief(described['problem'][part]))}"
    sense = {"min": "minimised", "max": "maximised"}[objective["natural_sense"]]
    yield f"Value in {objective['unit']} ({sense}) = {objective['offset']} + {objective['scale']} * objective of this file (minimised)"
    if described.get("comment"):
        yield described["comment"]
    solution = described.get("solution")
    if solution is not None and solution["status"] == "optimal":
        yield f"Optimum: objective {solution['objective']:.15g}, value {solution['value']:.15g} {objective['unit']}, proved by {solution['proved_by']}"
    elif solution is not None:
        yield f"The problem is infeasible, proved by {solution['proved_by']}."
    yield ""
    for name, c in described["components"].items():
        index = f"[{','.join(c['sets'])}]" if c["sets"] else ""
        yield f"{c['kind'].capitalize()} {name}{index}: {c['doc']}"
        yield from _listed(c)
    for name, s in described["sets"].items():
        yield f"Set {name} of {s['size']}: {s['doc']}"
        yield from _listed(s)
    yield ""


def _brief(said: Mapping[str, Any]) -> dict[str, Any]:
    """The short entries of a map.

    Costs of all pairs of actions, or lists of thresholds, would fill pages.
    """
    safe = json_safe(said)
    return {key: value for key, value in safe.items() if len(json.dumps(value)) <= MOST_CHARACTERS}


def _listed(part: Mapping[str, Any]) -> Iterator[str]:
    elements = part.get("elements", {})
    if len(elements) <= MOST_COMMENTS:
        yield from (f"  {key} = {text}" for key, text in elements.items())
