"""The example table with everything that exports of offices contain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random
from typing import Any

from milp_trees.data.example_draws import chance, pick, spread, whole

_TOWNS = [
    "Aachen",
    "Aarhus",
    "Bergen",
    "Bilbao",
    "Bologna",
    "Brno",
    "Cork",
    "Delft",
    "Evora",
    "Gdansk",
    "Ghent",
    "Graz",
    "Huelva",
    "Jena",
    "Kaunas",
    "Lille",
    "Linz",
    "Lucca",
    "Lund",
    "Lyon",
    "Malmo",
    "Metz",
    "Namur",
    "Nantes",
    "Odense",
    "Oulu",
    "Padua",
    "Pau",
    "Pecs",
    "Porto",
    "Reims",
    "Riga",
    "Siena",
    "Split",
    "Tartu",
    "Trier",
    "Turku",
    "Udine",
    "Vaasa",
    "Zadar",
]


def messy() -> list[Sequence[Any]]:
    """Customers leave if their contract is young and their discount small, or they spend little.

    The cells are separated by semicolons; there are identifiers, dates, percentages, amounts of
    euros with a decimal comma, a column of forty towns, one that is nearly empty, one that never
    changes, and missing cells.
    """
    draw = Random(7)
    rows: list[Sequence[Any]] = [
        [
            "customer_id",
            "signed",
            "discount",
            "spent",
            "town",
            "plan",
            "calls",
            "remark",
            "country",
            "left",
        ]
    ]
    for number in range(400):
        signed = date(2019, 1, 1) + timedelta(days=whole(draw, 0, 1800))
        discount, spent = whole(draw, 0, 30), max(3.5, spread(draw, 250, 90))
        plan, calls = pick(draw, ("basic", "family", "business")), whole(draw, 0, 9)
        young = signed >= date(2022, 1, 1)
        left = ((young and discount < 12) or (spent < 180 and calls >= 5)) != chance(draw, 0.08)
        rows.append(
            [
                f"C-{10007 + 13 * number}",
                signed.isoformat(),
                "" if chance(draw, 0.1) else f"{discount} %",
                "n/a" if chance(draw, 0.05) else _euros(spent),
                pick(draw, _TOWNS),
                "" if chance(draw, 0.07) else plan,
                calls,
                "call back" if chance(draw, 0.02) else "",
                "EU",
                "yes" if left else "no",
            ]
        )
    return rows


def _euros(amount: float) -> str:
    """As continental offices write it: 1.234,50 €."""
    whole_euros, cents = divmod(round(100 * amount * 4), 100)
    return f"{whole_euros:,}".replace(",", ".") + f",{cents:02d} €"
