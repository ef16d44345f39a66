"""`example`: small tables that are made here, for the commands of the documentation.

None is measured data. Every table is drawn from a rule that its description names, with random
numbers of Python's `random.Random.random`, whose sequence is promised never to change: a file has
the same bytes on every machine.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.common.writing import write_whole
from milp_trees.data.example_draws import chance, pick, spread, whole
from milp_trees.data.example_messy import messy

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Example:
    """A file that can be written.

    Parameters
    ----------
    file : str
        Its name.
    title : str
        What it holds, in one line.
    make : callable
        Returns its lines, as lists of cells; the first is the header.
    separator : str, default=","
        What stands between two cells.
    """

    file: str
    title: str
    make: Callable[[], list[Sequence[Any]]]
    separator: str = ","

    @property
    def text(self) -> str:
        """The file's text."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.separator, lineterminator="\n").writerows(self.make())
        return out.getvalue()

    def write(self, path: str | Path | None = None) -> Path:
        """Write the file; one that has this text already is left alone."""
        target = Path(self.file if path is None else path)
        try:
            if target.exists():
                if target.is_file() and target.read_bytes() == self.text.encode():
                    return target
                raise DataError(
                    f"{target} is there already and has other contents; give another name with -o, or remove it."
                )
            write_whole(target, self.text)
        except OSError as error:
            raise DataError(
                f"{target} cannot be written: {error.strerror}. Give another name with -o."
            ) from None
        return target


def people(rows_wanted: int = 1000, seed: int = 1) -> list[Sequence[Any]]:
    """Income is high with capital gains, or for married people with years at school or hours."""
    draw = Random(seed)
    jobs = ("office", "craft", "sales", "service", "farming", "management")
    rows: list[Sequence[Any]] = [
        ["age", "school", "hours", "job", "married", "sex", "gains", "income"]
    ]
    for _ in range(rows_wanted):
        age, school = whole(draw, 18, 70), whole(draw, 8, 18)
        hours, job = round(spread(draw, 40, 9)), pick(draw, jobs)
        married = "yes" if chance(draw, 0.6 if age >= 28 else 0.2) else "no"
        sex = pick(draw, ("female", "male"))
        gains = 100 * whole(draw, 51, 140) if chance(draw, 0.08) else 0
        high = gains > 0 or (married == "yes" and (school >= 13 or (hours >= 46 and age >= 30)))
        income = high != chance(draw, 0.05)
        rows.append([age, school, hours, job, married, sex, gains, "high" if income else "low"])
    return rows


def new_people() -> list[Sequence[Any]]:
    """Other persons, and no income."""
    return [row[:-1] for row in people(20, seed=8)]


def hiring() -> list[Sequence[Any]]:
    """Grades and interviews decide; women were marked down in interviews."""
    draw = Random(2)
    rows: list[Sequence[Any]] = [["sex", "degree", "grade", "years", "interview", "hired"]]
    for _ in range(240):
        sex, degree = pick(draw, ("f", "m")), int(chance(draw, 0.5))
        grade, years = whole(draw, 1, 5), whole(draw, 0, 12)
        interview = min(10, max(1, round(spread(draw, 6 if sex == "m" else 5, 2))))
        wanted = interview >= 7 or (degree and grade >= 4) or (years >= 8 and interview >= 5)
        hired = wanted != chance(draw, 0.1)
        rows.append([sex, degree, grade, years, interview, "yes" if hired else "no"])
    return rows


def trial() -> list[Sequence[Any]]:
    """The drug adds weeks for severe cases below 60 years, and takes some from all others."""
    draw = Random(3)
    rows: list[Sequence[Any]] = [["age", "severe", "smoker", "given", "p", "weeks"]]
    for _ in range(300):
        age, severe, smoker = whole(draw, 30, 80), int(chance(draw, 0.5)), int(chance(draw, 0.3))
        likely = 0.6 if severe else 0.3
        drug = chance(draw, likely)
        helped = 8 if severe and age < 60 else -3
        weeks = 20 - 6 * severe - 3 * smoker + (helped if drug else 0) + whole(draw, 0, 4)
        given, p = ("drug", likely) if drug else ("none", round(1 - likely, 1))
        rows.append([age, severe, smoker, given, p, weeks])
    return rows


def heart() -> list[Sequence[Any]]:
    """Illness follows an electrocardiogram, cholesterol and age; a cheap question says much."""
    draw = Random(4)
    rows: list[Sequence[Any]] = [
        ["age", "pain", "pressure", "cholesterol", "glucose", "ecg", "disease"]
    ]
    for _ in range(300):
        age, pressure = whole(draw, 30, 75), round(spread(draw, 130, 15))
        cholesterol, glucose = round(spread(draw, 230, 40)), round(spread(draw, 100, 20))
        ill = (age >= 55) + (cholesterol >= 250) + (glucose >= 115) >= 2
        pain = "yes" if chance(draw, 0.8 if ill else 0.3) else "no"
        ecg = pick(
            draw, ("abnormal",) * 9 + ("normal",) if ill else ("normal",) * 9 + ("abnormal",)
        )
        disease = "yes" if ill != chance(draw, 0.05) else "no"
        rows.append([age, pain, pressure, cholesterol, glucose, ecg, disease])
    return rows


def prices() -> list[Sequence[Any]]:
    """A line per feature of heart.csv: its name and its price."""
    return [
        ["age", 1],
        ["pain", 1],
        ["pressure", 2],
        ["cholesterol", "7.27"],
        ["glucose", "5.2"],
        ["ecg", "15.5"],
    ]


def costs() -> list[Sequence[Any]]:
    """Prices of errors and of the columns of heart.csv, in the format of published experiments."""
    return [
        [0, 20],
        [100, 0],
        ["attribute", "price", "discounted", "group", "first", "last"],
        ["age", 1, 1, "x", 0, 0],
        ["pain", 1, 1, "x", 1, 1],
        ["pressure", 2, 2, "x", 2, 2],
        ["cholesterol", "7.27", "5.17", "blood", 3, 3],
        ["glucose", "5.2", "3.1", "blood", 4, 4],
        ["ecg", "15.5", "15.5", "x", 5, 5],
    ]


def routes() -> list[Sequence[Any]]:
    """Minutes on three routes: the motorway jams at rush hour, the coast road floods."""
    draw = Random(5)
    rows: list[Sequence[Any]] = [["hour", "weekend", "rain", "motorway", "city", "coast"]]
    for _ in range(200):
        hour, weekend, rain = whole(draw, 5, 22), int(chance(draw, 2 / 7)), whole(draw, 0, 20)
        rush = not weekend and (7 <= hour <= 9 or 16 <= hour <= 18)
        motorway = 25 + (30 if rush else 0) + whole(draw, 0, 6)
        city = 36 + (8 if rush else 0) + whole(draw, 0, 6)
        coast = 33 + (20 if rain >= 10 else 0) + whole(draw, 0, 6)
        rows.append([hour, weekend, rain, motorway, city, coast])
    return rows


def survey() -> list[Sequence[Any]]:
    """A line stands for as many persons as its column `persons` says."""
    draw = Random(6)
    rows: list[Sequence[Any]] = [["age", "region", "visits", "persons", "satisfied"]]
    for _ in range(150):
        age, region = whole(draw, 18, 80), pick(draw, ("north", "south", "east", "west"))
        visits, persons = whole(draw, 0, 9), whole(draw, 1, 12)
        content = (visits >= 4 and region != "east") != chance(draw, 0.1)
        rows.append([age, region, visits, persons, "yes" if content else "no"])
    return rows


_ALL = (
    Example("people.csv", "1000 persons, who earn a high or a low income", people),
    Example("new.csv", "20 persons more, without the income: rows to predict", new_people),
    Example("messy.csv", "400 customers as a shop exports them: dates, %, €, gaps, ;", messy, ";"),
    Example("hiring.csv", "240 applicants of two sexes: for fairness", hiring),
    Example("trial.csv", "300 patients, of whom some got a drug: for policies", trial),
    Example("heart.csv", "300 patients and six examinations: for features with prices", heart),
    Example("prices.txt", "prices of the examinations, for `prune heart.csv`", prices, " "),
    Example("costs.txt", "prices of errors and examinations, for `--costs`", costs, " "),
    Example("routes.csv", "200 drives and their minutes on three routes: for decisions", routes),
    Example("survey.csv", "150 answers that stand for many persons: for weights", survey),
)
#: Name without its ending → the file.
EXAMPLES = {one.file.partition(".")[0]: one for one in _ALL}


def example_named(name: str) -> Example:
    """The example of a name, with or without its ending."""
    for short, one in EXAMPLES.items():
        if name in (short, one.file):
            return one
    raise UnknownName(
        f"There is no example {name!r}; there are {', '.join(one.file for one in _ALL)}."
    )


def example(name: str, path: str | Path | None = None) -> pd.DataFrame:
    """A generated example table, as pandas reads its file.

    Parameters
    ----------
    name : str
        `people`, `new`, `messy`, `hiring`, `trial`, `heart`, `routes`, `survey`, or with the ending
        `.csv`.
    path : path, optional
        Also write the file there.

    Returns
    -------
    DataFrame
        Of `messy` every column is text as it stands in the file.

    Raises
    ------
    UnknownName
        There is no such example.
    DataError
        The example is no table, or the file cannot be written.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.example("people").shape
    (1000, 8)
    """
    import pandas as pd

    one = example_named(name)
    if not one.file.endswith(".csv"):
        raise DataError(f"{one.file} is no table; write it with: milp-trees example {one.file}")
    if path is not None:
        one.write(path)
    raw = {"dtype": str, "keep_default_na": False} if one.separator == ";" else {}
    return pd.read_csv(io.StringIO(one.text), sep=one.separator, **raw)
