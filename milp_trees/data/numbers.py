"""Numbers as people write them: `1,200.50`, `1.200,50 €`, `12.5 %`, `CHF 1'200`, `(3.5)`.

A text is a number under a decimal mark or it is none; what both marks could mean is left to the
caller. Codes, phone numbers, versions and addresses are no numbers: groups of thousands must be
complete and do not begin with zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Codes of currencies (ISO 4217) and short names in use; any sign of a currency counts too.
CURRENCIES = [
    "AED",
    "ARS",
    "AUD",
    "BRL",
    "CAD",
    "CHF",
    "CLP",
    "CNY",
    "COP",
    "CZK",
    "DKK",
    "EGP",
    "EUR",
    "GBP",
    "HKD",
    "HUF",
    "IDR",
    "ILS",
    "INR",
    "JPY",
    "KRW",
    "KZT",
    "MXN",
    "MYR",
    "NGN",
    "NOK",
    "NZD",
    "PEN",
    "PHP",
    "PKR",
    "PLN",
    "RON",
    "RUB",
    "SAR",
    "SEK",
    "SGD",
    "THB",
    "TRY",
    "TWD",
    "UAH",
    "USD",
    "VND",
    "ZAR",
    "Fr.",
    "SFr.",
    "kr",
    "kr.",
    "zł",
    "Kč",
    "Ft",
    "lei",
]
#: Signs of currencies (Unicode category Sc).
_SIGNS = "$¢£¤¥֏؋৲৳৻૱௹฿៛₠-⃀﷼﹩＄￠￡￥￦"
_MONEY = rf"(?:(?:US|A|C|R|HK|NZ|S|NT|Mex)?[{_SIGNS}]|(?:{'|'.join(c.replace('.', chr(92) + '.') for c in CURRENCIES)})(?![^\W\d_]))"
#: Sign, unit, sign, digits with their marks, unit.
_CELL = (
    rf"^(\()?\s*([-+−]?)\s*({_MONEY}|)\s*([-+−]?)(\d[\d.,'’ ]*|[.,]\d+)((?:[eE][-+]?\d+)?)"
    rf"\s*(%|{_MONEY}|)\s*(\))?$"
)
_POINT = r"(?:\d+|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:['’]\d{3})+|[1-9]\d{0,2}(?: \d{3})+)(?:\.\d*)?|\.\d+"
_COMMA = _POINT.replace(r"\.", "#").replace(",\\d{3}", r"\.\d{3}").replace("#", ",")
#: Digits in groups of thousands after a plus sign are rather a phone number.
_GROUPED = r"[,.'’ ]\d{3}"
#: More digits than a double holds, before a decimal mark: the name of something.
_LONG = r"^(?:\d['’ ]?){16}|^\d{1,3}(?:[.,]\d{3}){5}"


class Parts(NamedTuple):
    """Texts of a column, taken apart; texts that are no numbers have NaN for both marks.

    Parameters
    ----------
    unit : array of str, shape (n,)
    point, comma : arrays of float, shape (n,)
        The number if the decimal mark is a point, and if it is a comma.
    whole : array of bool, shape (n,)
        Whether there is no mark of either kind.
    """

    unit: np.ndarray
    point: np.ndarray
    comma: np.ndarray
    whole: np.ndarray


def parts(cells: Any) -> Parts:
    """Take texts apart; `cells` is a Series of texts without spaces at their ends."""
    found = (
        cells.str.extract(_CELL)
        .fillna("")
        .set_axis(["open", "sign", "before", "inner", "digits", "power", "after", "close"], axis=1)
    )
    digits = found["digits"].str.rstrip(" ")
    signs = found["sign"] + found["inner"]
    bad = (digits == "") | (signs.str.len() > 1) | ((found["open"] == "") != (found["close"] == ""))
    bad |= (found["before"] != "") & (found["after"] != "")
    bad |= digits.str.contains(_LONG)
    bad |= (found["open"] != "") & (signs != "")
    bad |= (signs == "+") & digits.str.contains(_GROUPED)
    negative = signs.isin(["-", "−"]) | (found["open"] != "")
    power = found["power"]
    point, comma = (
        _numbers(digits, form, mark, power, negative, bad)
        for form, mark in ((_POINT, "."), (_COMMA, ","))
    )
    unit = (found["before"] + found["after"]).to_numpy(dtype=object)
    whole = ~digits.str.contains(r"[.,]")
    return Parts(unit, point, comma, whole.to_numpy(dtype=bool))


def _numbers(digits: Any, form: str, mark: str, power: Any, negative: Any, bad: Any) -> np.ndarray:
    """The numbers whose digits have a form, NaN for others; every digit is read."""
    fits = (digits.str.fullmatch(form) & ~bad).to_numpy(dtype=bool)
    plain = digits[fits].str.replace("," if mark == "." else ".", "", regex=False)
    plain = plain.str.replace(r"['’ ]", "", regex=True).str.replace(mark, ".", regex=False)
    out = np.full(len(digits), np.nan)
    out[fits] = (plain + power[fits]).to_numpy(dtype=str).astype(float)
    return np.where(negative.to_numpy(dtype=bool), -out, out)


def marks(cells: Any) -> set[str]:
    """The decimal marks without which some of the texts are no numbers.

    Only columns that hold nothing but numbers count; a text like `1,234` leaves the mark open.
    """
    if not len(cells) or not cells.str.contains(r"\d").all():
        return set()
    found = parts(cells)
    point, comma = ~np.isnan(found.point), ~np.isnan(found.comma)
    out = set()
    if point.all() and not comma.all():
        out.add(".")
    if comma.all() and not point.all():
        out.add(",")
    return out


class Guess(NamedTuple):
    """What a column of numbers is, or what keeps it from being one.

    `decimal` is None if no number has a mark. `problem` and `remedy` are empty if all is clear.
    `own` says whether the numbers themselves show their mark.
    """

    decimal: str | None
    unit: str
    problem: str = ""
    remedy: str = ""
    own: bool = False


#: What is said of numbers such as `1.234` where nothing tells, and what to do.
OPEN = "holds numbers such as {!r}, in which the mark may stand before thousands or before decimals"
SAY_MARK = "say which mark is the decimal one with --decimal . or --decimal ,"


def guess(
    cells: Any, rows: np.ndarray, stated: str | None, usual: str | None, sure: bool = True
) -> Guess | None:
    """The decimal mark and unit of texts, most of which are numbers; None if too few are."""
    found = parts(cells)
    point, comma = ~np.isnan(found.point), ~np.isnan(found.comma)
    either = point | comma
    if not either.any():
        return None
    units, places = np.unique(found.unit[either].astype(str), return_inverse=True)
    of_units = np.bincount(places, weights=rows[either])
    unit = str(units[of_units.argmax()])
    decimal, own = stated, False
    if decimal is None:
        only = [int(rows[a & ~b].sum()) for a, b in ((point, comma), (comma, point))]
        decimal = None if only[0] == only[1] else ".,"[only[1] > only[0]]
        own = decimal is not None
    open_ = either & (found.point != found.comma)  # what both marks give another value
    if decimal is None and open_.any():
        # Amounts of money have no three decimals, so the usual mark says too little about them.
        doubtful = (
            not sure
            and unit not in ("", "%")
            and cells[open_].str.contains(str(usual), regex=False).any()
        )
        if usual is None or doubtful:
            return Guess(
                None,
                unit,
                OPEN.format(cells[open_].iloc[0]),
                SAY_MARK,
            )
        decimal = usual
    if of_units.max() < 0.9 * of_units.sum():
        names = ", ".join(repr(str(u)) if u else "none" for u in units[:4])
        return Guess(
            decimal,
            unit,
            f"holds numbers of different units ({names})",
            "write all of them in one unit",
        )
    marked = either & ~found.whole
    return Guess(decimal if decimal and marked.any() else None, unit, own=own)


def values(cells: Any, decimal: str | None, unit: str) -> np.ndarray:
    """The numbers of texts, of shape (n,)."""
    found = parts(cells)
    number = found.comma if decimal == "," else found.point
    if decimal is None:
        number = np.where(found.whole, found.point, np.nan)
    return np.where(found.unit.astype(str) == unit, number, np.nan)
