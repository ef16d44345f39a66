"""`write_rules`: a dataset as the rule files of CORELS."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.writing import write_whole
from milp_trees.data.dataset import Dataset
from milp_trees.data.rule_files import ENDINGS, is_rule_file, minority
from milp_trees.lists.antecedents import Antecedents, AntecedentTable


def write_rules(
    dataset: Dataset,
    path: str | Path,
    antecedents: Antecedents | AntecedentTable | None = None,
    replace: bool = True,
) -> tuple[Path, Path, Path]:
    """Write a dataset as `NAME.out`, `NAME.label` and `NAME.minor`, which CORELS reads.

    CORELS ends a name at the first space. Spaces in names are therefore written as `_`, and the
    literals of an antecedent are separated by commas: `age <= 25 and sex != m` becomes
    `{age_<=_25,sex_!=_m}`.

    Parameters
    ----------
    dataset : Dataset
        Rows with a target. Row weights cannot be written.
    path : str or Path
        The file of rules, whose name ends in `.out` or, to be zipped, in `.out.gz`. The other two
        files are written beside it.
    antecedents : Antecedents or AntecedentTable, optional
        What the rules are, stated or mined already; by default the binary features of the dataset
        as they are.
    replace : bool, default=True
        Whether files that are there with other contents are replaced.

    Returns
    -------
    tuple of Path
        The three files.

    Raises
    ------
    DataError
        The name has another ending, rows have no target or have weights, two rules would have one
        name, or a file cannot be written, or is there already and is
        not to be replaced.
    """
    out = Path(path)
    if not is_rule_file(out):
        raise DataError(f"The name of a file of rules ends in {' or '.join(ENDINGS)}; got {out}.")
    y = dataset.require("y", "A file of labels")
    dataset.refuse_counts("A file of rules")
    if dataset.weights is not None and len(np.unique(dataset.weights)) > 1:
        raise DataError(
            "Rule files count every row once and cannot hold row weights; leave the weights out."
        )
    if antecedents is None:
        names, X = [_word(t.name) for t in dataset.features], dataset.X
    else:
        table = antecedents if isinstance(antecedents, AntecedentTable) else antecedents.of(dataset)
        names = [",".join(_word(x.name) for x in a.literals) for a in table.antecedents]
        X = table.X
    classes = [_word(str(c)) for c in dataset.classes or ()]
    for given in (names, classes):
        if len(set(given)) < len(given):
            twice = next(n for n in given if given.count(n) > 1)
            raise DataError(f"Two names would both be written as {twice!r}; rename one of them.")
    stem = out.with_name(out.name.removesuffix(".gz").removesuffix(".out"))
    label, minor = (stem.with_name(f"{stem.name}.{ending}") for ending in ("label", "minor"))
    held = (y[:, None] == np.arange(len(classes))).astype(np.uint8)
    contents = {
        out: _packed(out, names, X),
        label: _packed(label, classes, held),
        minor: _packed(minor, ["group_minority"], minority(X, y)[:, None]),
    }
    try:
        for file, content in contents.items() if not replace else ():
            if file.exists() and not (file.is_file() and file.read_bytes() == content):
                raise DataError(
                    f"{file} is there already and has other contents; give another name, or remove it."
                )
        for file, content in contents.items():
            write_whole(file, content)
    except OSError as error:
        raise DataError(f"{error.filename} cannot be written: {error.strerror}.") from None
    return out, label, minor


def _word(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip())


def _packed(file: Path, names: Sequence[str], columns: np.ndarray) -> bytes:
    text = np.full((2 * len(columns) + 1, len(names)), ord(" "), dtype=np.uint8)
    text[1::2] = columns + ord("0")
    text = np.ascontiguousarray(text.T)[:, :-1]
    lines = (b"{%s}%s\n" % (n.encode(), row.tobytes()) for n, row in zip(names, text, strict=True))
    whole = b"".join(lines)
    return gzip.compress(whole, mtime=0) if file.suffix == ".gz" else whole
