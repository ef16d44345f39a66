"""Random tables as people keep them, with what they truly hold.

A table is drawn with a separator, a decimal mark, an encoding and columns of many kinds; the truth is
kept beside the texts, so nothing of the package's reading is used to make it.
"""

import csv
import io
import random
from datetime import datetime

MISSING = ["", "NA", "n/a", "?", "-", "unknown", "NULL", "missing"]
DATES = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d %b %Y",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%m/%d/%Y %I:%M %p",
    "%B %d, %Y",
]
TEXTS = ["red", "Köln", "New York", "São Paulo", "a;b", "x|y", 'O"Neil', "1st", "none", "yes"]
#: Texts with many digits that are no numbers and no dates.
CODES = {
    "leading zeros": lambda r: f"{r.randint(0, 99):03d}",
    "version": lambda r: f"{r.randint(0, 3)}.{r.randint(0, 9)}.{r.randint(0, 20)}",
    "phone": lambda r: f"0{r.randint(100, 999)} {r.randint(10000, 999999)}",
    "phone with dashes": lambda r: (
        f"{r.randint(200, 999)}-{r.randint(200, 999)}-{r.randint(1000, 9999)}"
    ),
    "like a date": lambda r: f"2021-{r.randint(13, 40)}-{r.randint(10, 99)}",
    "address": lambda r: ".".join(str(r.randint(1, 255)) for _ in range(4)),
    "time of day": lambda r: f"{r.randint(0, 23):02d}:{r.randint(0, 59):02d}",
    "ratio": lambda r: f"{r.randint(1, 9)}/{r.randint(1, 9)}",
    "week": lambda r: f"2021-W{r.randint(1, 52):02d}",
    "range": lambda r: f"{r.randint(10, 20)}-{r.randint(21, 40)}",
    "weight": lambda r: f"{r.randint(1, 99)} kg",
}


def written(value, decimal, thousands, digits):
    """A number as text."""
    whole, _, part = f"{abs(value):.{digits}f}".partition(".")
    if thousands:
        whole = f"{int(whole):,}".replace(",", thousands)
    return ("-" if value < 0 else "") + whole + (decimal + part if part else "")


def column(r, n, decimal):
    """The kind of a column, its values and its texts."""
    other = ".,"[decimal == "."]
    kind = r.choice(
        ["whole", "number", "number", "large", "percent", "money", "date", "text", "code"]
    )
    if kind == "whole":
        values = [r.choice([r.randint(-500, 5000), r.randint(1990, 2024)]) for _ in range(n)]
        return kind, values, [str(v) for v in values]
    if kind == "number":
        digits = r.choice([1, 2, 4])
        values = [round(r.gauss(0, 50), digits) for _ in range(n)]
        return kind, values, [written(v, decimal, "", digits) for v in values]
    if kind == "large":
        mark, digits = r.choice(["'", " ", "\u00a0", other]), r.choice([0, 2])
        values = [round(r.uniform(0, 9e6), digits) for _ in range(n)]
        return kind, values, [written(v, decimal, mark, digits) for v in values]
    if kind == "percent":
        values = [round(r.uniform(0, 100), 1) for _ in range(n)]
        gap = r.choice(["", " ", "\u00a0"])
        return kind, values, [written(v, decimal, "", 1) + gap + "%" for v in values]
    if kind == "money":
        unit, mark = r.choice(["$", "€", "CHF", "£", "kr"]), r.choice(["", other, "'"])
        front, gap = r.random() < 0.5, " " if len(unit) > 1 else r.choice(["", " "])
        values = [round(r.uniform(0, 90000), 2) for _ in range(n)]
        texts = [written(v, decimal, mark, 2) for v in values]
        return kind, values, [unit + gap + t if front else t + gap + unit for t in texts]
    if kind == "date":
        form = r.choice(DATES)
        time = [r.randint(0, 23), r.randint(0, 59)] if "%H" in form or "%I" in form else []
        days = [(r.randint(1950, 2030), r.randint(1, 12), r.randint(1, 28)) for _ in range(n)]
        values = [datetime(*day, *time) for day in days]
        return kind, values, [v.strftime(form) for v in values]
    if kind == "text":
        words = r.sample(TEXTS, r.randint(2, 5))
        values = [r.choice(words) for _ in range(n)]
        return kind, values, values
    code = r.choice(list(CODES))
    values = [CODES[code](r) for _ in range(n)]
    return code, values, values


def messy(seed):
    """The bytes of a table, and for every column its name, kind and values (None is missing)."""
    r = random.Random(seed)
    n, sep, decimal = r.choice([40, 80]), r.choice(",;\t|"), r.choice(".,")
    encoding = r.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le"])
    truth, cells = [], []
    for j in range(r.randint(2, 5)):
        kind, values, texts = column(r, n, decimal)
        values, texts = list(values), list(texts)
        if r.random() < 0.3:
            plain = kind in ("text", *CODES)
            word = r.choice(["", "NA"] if plain else MISSING)
            for i in range(1, n):
                if r.random() < 0.1:
                    values[i], texts[i] = None, word
        truth.append((f"{r.choice(['a', 'größe', 'x y', 'Unit price'])}{j}", kind, values))
        cells.append(texts)
    labels = [r.choice(["ja", "nein"]) for _ in range(n)]
    truth.append(("label", "text", labels))
    out = io.StringIO()
    table = csv.writer(
        out,
        delimiter=sep,
        lineterminator=r.choice(["\n", "\r\n"]),
        quoting=r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    end = [""] if r.random() < 0.1 else []
    table.writerow([name for name, _, _ in truth] + end)
    for row in zip(*cells, labels, strict=True):
        table.writerow([*row, *end])
        if r.random() < 0.02:
            out.write("\n")
    return out.getvalue().encode(encoding), truth


def write(folder, text, name="table.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def table(*columns, sep=";"):
    """Lines of a table with a target of two classes; a column is its name and its cells."""
    n = len(columns[0][1])
    rows = [[name for name, _ in columns] + ["y"]]
    rows += [[str(cells[i]) for _, cells in columns] + ["no" if i % 3 else "yes"] for i in range(n)]
    return "\n".join(sep.join(row) for row in rows) + "\n"
