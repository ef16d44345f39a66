"""Every relation on every estimator: what differs, as a sentence, or None."""

from __future__ import annotations

import zlib
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from meta_dtypes import CONTAINERS
from meta_estimators import (
    BY_NAME,
    SUBJECTS,
    Subject,
    answers,
    asked_methods,
    difference,
    fitted,
    value_of,
)
from meta_relation import Relation
from meta_rows import SEEDS, THOROUGH, Rows, table

from milp_trees.common.errors import MilpTreesError

#: The tables that relations are tried on: with words, with missing values.
TABLES = {
    "numbers": {"text": False},
    "words": {"text": True},
    "gaps": {"text": True, "gaps": True},
    "gaps in numbers": {"text": False, "gaps": True},
}
#: Methods that give one number for all rows, which weights and repeated rows determine alike.
SCORES = ("score", "cost_report")
#: Without the switch a subject is tried with one in so many of the types and containers.
THINNED = 24


def tables_of(subject: Subject, relation: Relation) -> list[str]:
    """Names of the tables that are tried: without the switch one of those that a subject takes."""
    found = [
        name
        for name, kind in TABLES.items()
        if (subject.text or not kind["text"]) and (subject.gaps or not kind.get("gaps"))
    ]
    if THOROUGH:
        return found
    if relation.name in CONTAINERS or relation.name.startswith("sparse"):
        found = [name for name in found if not TABLES[name]["text"]]
    return [found[_number(subject, relation) % len(found)]]


def _number(subject: Subject, relation: Relation) -> int:
    return zlib.crc32(f"{subject.name} {relation.name}".encode())


@cache
def rows_of(name: str, seed: int) -> Rows:
    return table(seed, **TABLES[name])


@cache
def fitted_on(subject: str, name: str, seed: int) -> Any:
    return BY_NAME[subject].fitted(rows_of(name, seed))


@cache
def answered(subject: str, name: str, seed: int) -> dict[str, Any]:
    return answers(BY_NAME[subject], fitted_on(subject, name, seed), rows_of(name, seed))


def tried(subject: Subject, relations: list[Relation]) -> list[Relation]:
    """The relations that are tried; without the switch some of them, but each by some subjects."""
    number = SUBJECTS.index(subject)
    return [
        relation
        for k, relation in enumerate(relations)
        if THOROUGH or (number + k) % _thinned(relation) == 0
    ]


def _thinned(relation: Relation) -> int:
    if relation.name.startswith("columns of ") or relation.name in CONTAINERS:
        return THINNED
    return 1 if relation.always else 10


def asked_differs(subject: Subject, relation: Relation) -> str | None:
    """How the answers of a fitted estimator about changed rows differ."""
    for seed in SEEDS:
        for name in tables_of(subject, relation):
            why = _asked(subject, relation, name, seed)
            if why:
                return f"{name}, seed {seed}: {why}"
    return None


def _asked(subject: Subject, relation: Relation, name: str, seed: int) -> str | None:
    rows, model = rows_of(name, seed), fitted_on(subject.name, name, seed)
    before = answered(subject.name, name, seed)
    changed = relation.change(subject, model, rows)
    for other, more, index in changed or ():
        try:
            after = answers(subject, other, more)
        except (MilpTreesError, ValueError) as refusal:
            if relation.refusal == "never":
                return f"refused: {refusal}"
            continue
        if relation.refusal == "must":
            return "answered, but it has to be refused"
        methods = asked_methods(type(other))
        for method, answer in before.items():
            weighed = method in SCORES and "sample_weight" in methods[method]
            whole = relation.keeps == "answers" or (relation.keeps == "scores" and weighed)
            if whole or _by_row(answer, rows):
                why = difference(answer, after[method], index, rows.n)
                if why:
                    return f"{method}: {why}"
    return None


def fitted_differs(subject: Subject, relation: Relation) -> str | None:
    """How an estimator that is fitted to changed rows differs."""
    for seed in SEEDS:
        for name in tables_of(subject, relation):
            why = _fitted(subject, relation, name, seed)
            if why:
                return f"{name}, seed {seed}: {why}"
    return None


def _fitted(subject: Subject, relation: Relation, name: str, seed: int) -> str | None:
    rows = rows_of(name, seed)
    change = relation.change(subject, rows)
    if change is None:
        return None
    changed, parameters = change
    before, after = fitted_on(subject.name, name, seed), subject.make().set_params(**parameters)
    try:
        fitted(after, subject, changed)
        here, there = value_of(before), value_of(after)
        factor = 4 if relation.keeps == "scaled" else relation.factor if subject.counts else 1
        if factor > 1 and here is not None:
            here = (here[0], factor * here[1])
        if not _equal(here, there):
            return f"the value {here} became {there}"
        if relation.keeps in ("value", "scaled"):
            return None
        found = answers(subject, after, changed if changed.n == rows.n else rows)
    except (MilpTreesError, ValueError) as refusal:
        return None if relation.refusal == "may" else f"refused: {refusal}"
    expected = answered(subject.name, name, seed)
    for method, answer in expected.items():
        if relation.keeps == "answers" or _by_row(answer, rows):
            why = difference(answer, found[method], np.arange(rows.n), rows.n)
            if why:
                return f"{method}: {why}"
    return None


def _by_row(answer: Any, rows: Rows) -> bool:
    return np.ndim(answer) > 0 and len(answer) == rows.n and not isinstance(answer, dict)


def _equal(here: Any, there: Any) -> bool:
    """Values exactly, or where one of them is measured, to twelve digits."""
    if isinstance(here, (list, tuple)) and isinstance(there, (list, tuple)):
        return len(here) == len(there) and all(map(_equal, here, there))
    if isinstance(here, Fraction) and isinstance(there, Fraction):
        return here == there
    if isinstance(here, (int, float, Fraction)) and isinstance(there, (int, float, Fraction)):
        return bool(np.isclose(float(here), float(there), 1e-12, 1e-12))
    return bool(here == there)
