"""Rule files of CORELS and its relatives: `NAME.out`, `NAME.label` and `NAME.minor`.

A line of `.out` is the name of a rule in braces and a value per row: 1 where the rule holds, 0
elsewhere. A line of `.label` is the same for a class, and each row has one class. The line of
`.minor` marks the rows whose class is the rarer one among the rows on which the same rules hold.
Values are separated by spaces or tabs; each file may be gzipped.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.errors import DataError, DataWarning
from milp_trees.data.files import contents, decoded, find
from milp_trees.data.lines import TARGET

if TYPE_CHECKING:
    import pandas as pd

#: What the name of a file of rules ends in.
ENDINGS = (".out", ".out.gz")


def is_rule_file(path: str | Path) -> bool:
    return str(path).endswith(ENDINGS)


def holds_rules(raw: bytes, file: Path, label: str | Path | None) -> bool:
    """Whether a file holds rules; a table may have any ending."""
    if not is_rule_file(file):
        return False
    if label is not None or _there(_beside(file, "label")):
        return True
    return decoded(raw, file).lstrip()[:1] in ("{", "")


@dataclass(frozen=True)
class RuleTable:
    """Rules and labels of the same rows.

    Parameters
    ----------
    names : list of str, length M
        Names of the rules, without braces.
    X : uint8 array of shape (n, M)
        1 where a rule holds.
    classes : tuple of str
        Names of the classes in the order of the file, without braces; empty without labels.
    y : int64 array of shape (n,), optional
        Index of each row's class.
    label_sha256 : str
        SHA-256 of the file of labels, empty without labels.
    """

    names: list[str]
    X: np.ndarray
    classes: tuple[str, ...] = ()
    y: np.ndarray | None = None
    label_sha256: str = ""

    def frame(self) -> pd.DataFrame:
        """A column per rule, and the labels as the column `target`."""
        import pandas as pd

        frame = pd.DataFrame(self.X, columns=self.names)
        if self.y is not None:
            frame[TARGET] = np.array(self.classes, dtype=object)[self.y]
        return frame


def read_rules(
    raw: bytes, file: Path, label: str | Path | None = None, alone: bool = False
) -> RuleTable:
    """The rules of a file with the labels of the file beside it."""
    names, X = _lines(raw, file)
    if TARGET in names:
        raise DataError(
            f"{file} has a rule that is called {TARGET!r}, as the column of labels is; rename it."
        )
    beside = _beside(file, "label")
    if label is None and not _there(beside):
        if alone:
            return RuleTable(names, X)
        raise DataError(
            f"There is no file {beside} with the labels of {file}; name the file of labels with --label."
        )
    labels = find(beside if label is None else Path(label))
    bits = contents(labels)
    classes, y = _labels(bits, labels, len(X), file)
    if _there(minor := _beside(file, "minor")):
        _compare_minor(X, y, find(minor))
    return RuleTable(names, X, classes, y, hashlib.sha256(bits).hexdigest())


def minority(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 on rows whose class is not the most frequent one among rows equal in `X`; uint8, (n,).

    Of equally frequent classes the first counts as the most frequent.
    """
    group, count = _counts(X, y)
    return np.asarray(count.argmax(axis=1)[group] != y, dtype=np.uint8)


def _counts(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The group of equal rows of each row, and the number of rows per group and class."""
    group = np.unique(np.packbits(X, axis=1), axis=0, return_inverse=True)[1].ravel()
    count = np.zeros((group.max(initial=0) + 1, int(y.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(count, (group, y), 1)
    return group, count


def _beside(file: Path, ending: str) -> Path:
    name = next(file.name.removesuffix(e) for e in reversed(ENDINGS) if file.name.endswith(e))
    return file.with_name(f"{name}.{ending}")


def _there(path: Path) -> bool:
    return path.is_file() or path.with_name(path.name + ".gz").is_file()


def _lines(raw: bytes, file: Path) -> tuple[list[str], np.ndarray]:
    """The names of a file's lines, and their values as columns."""
    names: dict[str, int] = {}
    columns: list[np.ndarray] = []
    for k, line in enumerate(decoded(raw, file).split("\n"), 1):
        if not line.strip():
            continue
        name, values = _line(line.strip(), f"{file} line {k}")
        if name in names:
            raise DataError(
                f"{file} has the name {name!r} twice, in lines {names[name]} and {k}; rename one."
            )
        if columns and len(values) != len(columns[0]):
            raise DataError(
                f"{file} line {k} has {len(values)} values and line {next(iter(names.values()))} has {len(columns[0])}; each line needs one value per row."
            )
        names[name] = k
        columns.append(values)
    if not columns:
        raise DataError(f"{file} is empty; a line per rule is expected, such as {{sex:Male}} 0 1.")
    return list(names), np.column_stack(columns)


def _line(line: str, where: str) -> tuple[str, np.ndarray]:
    """Name and values of a line; the name ends with the last brace, so it may contain braces."""
    end = line.rfind("}")
    if not line.startswith("{"):
        raise DataError(
            f"{where} begins with {line[:20]!r}; it must begin with a name in braces, such as {{sex:Male}}."
        )
    name, rest = line[1:end].strip(), line[end + 1 :].strip()
    if end < 0:
        raise DataError(f"{where} has no closing brace after the name; write {{NAME}} 0 1 ….")
    if not name:
        raise DataError(f"{where} has no name between its braces; give it one.")
    if not rest:
        raise DataError(f"{where} has a name but no values; it needs 0 or 1 for each row.")
    bits = np.frombuffer(rest.encode(), dtype=np.uint8)
    if len(bits) % 2 and (bits[1::2] == ord(" ")).all():
        values = bits[::2] - ord("0")
        if (values <= 1).all():
            return name, values
    fields = rest.split()
    strange = next((j for j, field in enumerate(fields) if field not in ("0", "1")), None)
    if strange is not None:
        raise DataError(
            f"{where} has {fields[strange][:20]!r} as its value number {strange + 1}; values are 0 or 1, separated by spaces."
        )
    return name, np.array(fields, dtype=np.uint8)


def _labels(raw: bytes, file: Path, n: int, rules: Path) -> tuple[tuple[str, ...], np.ndarray]:
    """The classes of a file of labels, and the class of each row."""
    names, held = _lines(raw, file)
    if len(held) != n:
        raise DataError(
            f"{file} has {len(held)} values per line and {rules} has {n}; both must be about the same rows."
        )
    if len(names) < 2:
        raise DataError(
            f"{file} has one line, the label {names[0]!r}; a line for each of at least two classes is needed."
        )
    each = held.sum(axis=1)
    if (each != 1).any():
        row = int((each != 1).argmax())
        given = " and ".join(repr(names[j]) for j in np.flatnonzero(held[row])[:2])
        message = f"the labels {given}" if given else "no label"
        raise DataError(
            f"{file} gives row {row + 1} {message}; in each position exactly one of its {len(names)} lines must hold 1."
        )
    y = held.argmax(axis=1)
    if (y == y[0]).all():
        raise DataError(
            f"{file} gives all {n} rows the label {names[y[0]]!r}, so there is nothing to learn; use rows of at least two classes."
        )
    return tuple(names), y


def _compare_minor(X: np.ndarray, y: np.ndarray, file: Path) -> None:
    """Warn if a file marks other rows than those of the rarer class among equal rows."""
    names, marks = _lines(contents(file), file)
    if len(names) != 1 or len(marks) != len(y):
        raise DataError(
            f"{file} must have one line with a value for each of the {len(y)} rows, and it has {len(names)} with {len(marks)}; remove it, as it is computed from the other files."
        )
    marked = marks[:, 0].astype(bool)
    group, count = _counts(X, y)
    left = np.zeros_like(count)
    np.add.at(left, (group[~marked], y[~marked]), 1)
    # What is not marked must be all rows of one class, and of a most frequent one.
    wrong = (left.max(axis=1) != count.max(axis=1)) | (left.sum(axis=1) != count.max(axis=1))
    if wrong.any():
        warnings.warn(
            f"{file} marks {int(marked.sum())} rows; computed from the rules and labels there are {int((count.sum(axis=1) - count.max(axis=1)).sum())}, and row {int(wrong[group].argmax()) + 1} is one of those "
            "where they differ. The computed ones are used; write the file again.",
            DataWarning,
            stacklevel=2,
        )
