"""Solution files as solvers write them, each recognised by how it begins.

Read are the files of Gurobi (`.sol`), CPLEX (XML), HiGHS (`--solution_file`), SCIP
(`write solution`), CBC (`solution FILE`) and MIPLIB, which is also that of `export-model`. A
column that a file does not name has the value 0, as these programs leave zeros out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from milp_trees.common.errors import DataError
from milp_trees.mip.linear.solutions import OBJECTIVE, number_at

#: What is read, for the sentence about another file.
FORMATS = "Gurobi (.sol), CPLEX (XML), HiGHS (its raw style), SCIP, CBC and MIPLIB"
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
#: A line of CBC: whether the value breaks a bound, place, name, value and reduced cost.
OF_CBC = re.compile(rf"\s*(?:\*\*)?\s*\d+\s+(\S+)\s+({NUMBER})\s+{NUMBER}\s*")


@dataclass(frozen=True)
class StoredSolution:
    """A point by the names of a model file, and what the program says of it.

    Parameters
    ----------
    program : str
        Who wrote the file.
    objective : float or None
        The objective that the file states.
    status : str
        The status that it states, in the program's words; empty if it states none.
    values : dict of str to float
        Values by name.
    """

    program: str
    objective: float | None
    status: str
    values: dict[str, float]


def read_stored(path: Path) -> StoredSolution:
    """Read a solution file of any of these programs."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    for begins, read in READERS:
        if begins.match(text):
            found = read(text, path)
            if not found.values:
                message = f" (its status: {found.status})" if found.status else ""
                raise DataError(f"{path} holds no solution{message}; solve the model again.")
            return found
    raise DataError(
        f"{path} is no solution file that is known here, which are those of {FORMATS}; write the solution in one of these forms, or as lines 'NAME VALUE' below a line '=obj= NUMBER'."
    )


def _miplib(text: str, path: Path) -> StoredSolution:
    first, _, rest = text.partition("\n")
    lines = enumerate(rest.splitlines(), 2)
    stated = number_at(first.removeprefix(OBJECTIVE.strip()), path, 1)
    return StoredSolution("file", stated, "", _values(_pairs(lines, path), path))


def _gurobi(text: str, path: Path) -> StoredSolution:
    """Lines `NAME VALUE`, below comments, one of which states the objective."""
    stated = re.search(rf"^# Objective value = ({NUMBER})", text, re.MULTILINE)
    lines = ((i, line) for i, line in enumerate(text.splitlines(), 1) if not line.startswith("#"))
    values = _values(_pairs(lines, path), path)
    return StoredSolution("Gurobi", float(stated[1]) if stated else None, "", values)


def _cplex(text: str, path: Path) -> StoredSolution:
    """XML; of several solutions the first, which is the incumbent."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DataError(f"{path} is damaged XML ({error}); write the solution again.") from None
    one = root if root.tag == "CPLEXSolution" else root.find("CPLEXSolution")
    header = None if one is None else one.find("header")
    if one is None or header is None:
        raise DataError(f"{path} holds no solution of CPLEX; write it again.")
    message = header.get("objectiveValue")
    found = [
        (0, str(v.get("name")), str(v.get("value"))) for v in one.findall("./variables/variable")
    ]
    return StoredSolution(
        "CPLEX",
        None if message is None else number_at(message, path, 0),
        header.get("solutionStatusString", ""),
        _values(iter(found), path),
    )


def _highs(text: str, path: Path) -> StoredSolution:
    """The raw style: sections, of which the primal one holds a line per column."""
    lines = text.splitlines()
    status = lines[1].strip() if len(lines) > 1 else ""
    primal = re.search(
        rf"^# Primal solution values\nFeasible\nObjective ({NUMBER})$(.*?)^# Columns \d+\n(.*?)(?=^#|\Z)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    if primal is None:
        return StoredSolution("HiGHS", None, status, {})
    first = text[: primal.start(3)].count("\n") + 1
    values = _values(_pairs(enumerate(primal[3].splitlines(), first), path), path)
    return StoredSolution("HiGHS", float(primal[1]), status, values)


def _scip(text: str, path: Path) -> StoredSolution:
    """`objective value:`, then lines `NAME VALUE (obj:COST)`."""
    status = re.search(r"^solution status: (.*)$", text, re.MULTILINE)
    stated = re.search(rf"^objective value:\s+({NUMBER})\s*$", text, re.MULTILINE)
    message = status[1].strip() if status else ""
    if stated is None:
        return StoredSolution("SCIP", None, message, {})
    first = text[: stated.end()].count("\n") + 2
    rest = (line.partition("(obj:")[0] for line in text[stated.end() :].splitlines()[1:])
    values = _values(_pairs(enumerate(rest, first), path), path)
    return StoredSolution("SCIP", float(stated[1]), message, values)


def _cbc(text: str, path: Path) -> StoredSolution:
    """The status with the objective, then lines with place, name, value and reduced cost."""
    first, *lines = text.splitlines()
    status, _, stated = first.partition(" - objective value ")
    found = []
    for i, line in enumerate(lines, 2):
        match = OF_CBC.fullmatch(line)
        if match is None and line.strip():
            raise DataError(f"{path.name}, line {i} is not understood: {line.strip()[:60]!r}.")
        if match:
            found.append((i, match[1], match[2]))
    # After an end without a solution the values are those of a relaxation.
    none = status.startswith(("Infeasible", "Integer infeasible", "Unbounded", "Stopped on")) and (
        "no integer solution" in first or not status.startswith("Stopped on")
    )
    values = {} if none else _values(iter(found), path)
    number = re.match(rf"\s*({NUMBER})", stated)
    return StoredSolution("CBC", float(number[1]) if number else None, status, values)


#: How files begin, and who reads them.
READERS: tuple[tuple[re.Pattern[str], Callable[[str, Path], StoredSolution]], ...] = (
    (re.compile(r"=obj="), _miplib),
    (re.compile(r"\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*<CPLEXSolution", re.DOTALL), _cplex),
    (re.compile(r"Model status\n"), _highs),
    (re.compile(r"solution status:|objective value:|no solution available"), _scip),
    (
        re.compile(r"(Optimal|Infeasible|Integer infeasible|Unbounded|Stopped on)[^\n]*objective"),
        _cbc,
    ),
    (re.compile(r"#[^\n]*(Solution for model|Objective value)", re.IGNORECASE), _gurobi),
)


def _pairs(lines: Iterator[tuple[int, str]], path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, name and text of the value of lines `NAME VALUE`."""
    for i, line in lines:
        if not line.strip():
            continue
        parts = line.split()
        if len(parts) != 2:
            raise DataError(
                f"{path.name}, line {i} is not 'NAME VALUE': {line.strip()[:60]!r}; write the solution again."
            )
        yield i, parts[0], parts[1]


def _values(found: Iterator[tuple[int, str, str]], path: Path) -> dict[str, float]:
    values: dict[str, float] = {}
    for i, name, text in found:
        if name in values:
            raise DataError(f"{path.name}, line {i}: {name!r} has a value already.")
        values[name] = number_at(text, path, i)
    return values
