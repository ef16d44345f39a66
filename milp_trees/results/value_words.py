"""The value of a model in words.

What a person counts comes first, the objective with its parts after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from milp_trees.common.errors import UnknownName
from milp_trees.common.plurals import counted, spaced
from milp_trees.common.registering import plugins
from milp_trees.tasks.base import is_objective

#: Parameters of tasks that add a penalty for parts of a model.
PENALTIES = ("leaf_penalty", "split_penalty", "feature_costs")


def value_words(row: Mapping[str, Any]) -> str:
    """The value of a result in words.

    For example `34 errors in 400 rows (8.5 %)`, and with a penalty
    `34 errors in 400 rows (8.5 %), 5 leaves; objective 0.135 = 0.085 + 5 x 0.01`.
    """
    if row["objective"] is None:
        return ""
    parts = _parts(row)
    rows = row["problem"]["data"].get("rows")
    if parts is None:
        if row["unit"] != "errors" or not rows:
            return quantity(row["objective"], row["unit"])
        return _errors(row["objective"], rows)
    whole = Fraction(row["exact"]) if row["exact"] else Fraction(row["objective"])
    rest = whole - sum((number * price for number, _, price in parts), Fraction(0))
    message = [_without_penalties(rest, row, rows)]
    message += [counted(int(number), *nouns) for number, nouns, _ in parts if nouns]
    terms = [
        f"{int(n)} x {_price(p)}" if nouns else f"{_price(p)} for features" for n, nouns, p in parts
    ]
    objective = " + ".join([_short(rest), *terms])
    return f"{', '.join(message)}; objective {_short(row['objective'])} = {objective}"


def quantity(number: float, unit: str) -> str:
    """A number with its unit; a loss with penalties is called what it is, an objective."""
    return f"{_short(number)} {'(objective)' if is_objective(unit) else unit}"


def _without_penalties(rest: Fraction, row: Mapping[str, Any], rows: int | None) -> str:
    """What the task counts, without the penalties."""
    unit = row["unit"]
    if unit.startswith("1 - "):
        return f"{unit[4:]} {_short(float(1 - rest))}"
    if unit != "rate":
        return f"{unit.partition(' + ')[0]} {_short(rest)}"
    if rows and _counts_errors(row["problem"]["task"]["name"]):
        return _errors(rest * rows, rows)
    return f"rate {_short(rest)}"


def _counts_errors(name: str) -> bool:
    """Whether the task of that name counts each wrong row once, if it has no penalty."""
    try:
        task: Any = plugins.get("tasks", name)
    except UnknownName:  # of a package that is not installed here
        return False
    return bool(getattr(task, "units", ("",))[0] == "errors")


def _errors(errors: Any, rows: int) -> str:
    """Errors, also as a share of the rows."""
    noun = "error" if errors == 1 else "errors"
    share = 100 * float(errors) / rows
    return f"{_short(errors)} {noun} in {counted(rows, 'row')} ({share:.1f} %)"


def _parts(row: Mapping[str, Any]) -> list[tuple[Fraction, tuple[str, ...], Fraction]] | None:
    """Number, nouns and price of each penalised part; None if nothing is penalised."""
    task, predictor = row["problem"]["task"], row["predictor"]
    if predictor is None or not any(name in task for name in PENALTIES):
        return None
    requested = list(_asked(predictor))
    listed = predictor.get("kind") == "rule-list"
    out: list[tuple[Fraction, tuple[str, ...], Fraction]] = []
    if "leaf_penalty" in task:
        leaves = ("rule (with the default)", "rules (with the default)")
        nouns: tuple[str, ...] = leaves if listed else ("leaf", "leaves")
        out.append((Fraction(len(requested) + 1), nouns, Fraction(task["leaf_penalty"])))
    if "split_penalty" in task:
        nouns = ("rule",) if listed else ("split",)
        out.append((Fraction(len(requested)), nouns, Fraction(task["split_penalty"])))
    if costs := task.get("feature_costs"):
        paid = sum(
            (Fraction(costs.get(c, 0)) for columns in requested for c in columns), Fraction(0)
        )
        out.append((Fraction(1), (), paid))
    return out


def _asked(node: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The columns of every split of a tree, or of every rule of a list, in their JSON."""
    if "rules" in node:
        for rule in node["rules"]:
            yield tuple(dict.fromkeys(x["column"] for x in rule["antecedent"]["literals"]))
        return
    if "root" in node:
        yield from _asked(node["root"])
    elif "test" in node:
        yield (node["test"]["column"],)
        yield from _asked(node["false"])
        yield from _asked(node["true"])


def _price(price: Fraction) -> str:
    """A penalty as it is usually written: with decimals, or as a short fraction."""
    decimals = price.denominator
    for prime in (2, 5):
        while decimals % prime == 0:
            decimals //= prime
    return _short(price) if decimals == 1 or price.denominator > 10**4 else str(price)


def _short(number: Any) -> str:
    """A number with six digits; whole ones with spaces after every three."""
    if isinstance(number, Fraction):
        number = int(number) if number.denominator == 1 else float(number)
    return spaced(number) if isinstance(number, int) else f"{number:.6g}"
