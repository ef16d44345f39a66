"""One table in files of every kind, and the commands that read tables."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from milp_trees.cli.main import app


def people(seed: int = 0, n: int = 26, thousandths: bool = False) -> pd.DataFrame:
    """Whole numbers, halves, 0 and 1, words with letters beyond ASCII, and a target.

    With `thousandths` all numbers of a column have three digits after the mark, like thousands
    with a separator. An answer may then be refused, but not be another.
    """
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 10, n), rng.integers(-6, 7, n) / 2
    d = rng.choice(["über", "voilà", "wood"], n)
    up = (a >= 5) ^ (d == "über") ^ (rng.random(n) < 0.2)
    b = 1 + rng.integers(1, 100, n) * 10 / 1000 + 0.001 if thousandths else b
    columns = {"a": a, "b": b, "c": rng.integers(0, 2, n), "d": d, "w": rng.integers(1, 4, n)}
    return pd.DataFrame(columns | {"y": np.where(up, "yes", "no")})


def _text(
    frame: pd.DataFrame,
    sep: str = ",",
    decimal: str = ".",
    end: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
) -> str:
    out = io.StringIO()
    frame.to_csv(out, sep=sep, decimal=decimal, index=False, lineterminator=end, quoting=quoting)
    return out.getvalue()


def _written(encoding: str = "utf-8", **form: Any) -> Callable[[pd.DataFrame, Path], None]:
    def write(frame: pd.DataFrame, path: Path) -> None:
        path.write_bytes(_text(frame, **form).encode(encoding))

    return write


def _zipped(frame: pd.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(_text(frame).encode()))


def _unended(frame: pd.DataFrame, path: Path) -> None:
    path.write_text(_text(frame).rstrip("\n"), "utf-8")


def _parquet(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[..., None]:
    return lambda frame, path: change(frame).to_parquet(path)


def _narrow(frame: pd.DataFrame) -> pd.DataFrame:
    kinds = {"a": "int8", "b": "float32", "c": "bool", "d": "category", "w": "uint16"}
    return frame.astype({name: kind for name, kind in kinds.items() if name in frame})


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes()


def _arrow(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes(dtype_backend="pyarrow")


def _numbered(frame: pd.DataFrame, path: Path) -> None:
    """With a first column of row numbers that has no name."""
    path.write_text(frame.to_csv(), "utf-8")


def _of_r(frame: pd.DataFrame, path: Path) -> None:
    """As `write.table` of R: the header lacks the name of the row numbers."""
    head, *lines = _text(frame, sep=" ", quoting=csv.QUOTE_NONNUMERIC).splitlines()
    path.write_text("\n".join([head, *(f'"{k}" {x}' for k, x in enumerate(lines, 1))]) + "\n")


#: How a table is written, by the name of the file.
FILES: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "plain.csv": _written(),
    "tabs.tsv": _written(sep="\t"),
    "tabs.txt": _written(sep="\t"),
    "semicolons.csv": _written(sep=";"),
    "commas as marks.csv": _written(sep=";", decimal=","),
    "tabs and commas as marks.tsv": _written(sep="\t", decimal=","),
    "quoted commas as marks.csv": _written(decimal=",", quoting=csv.QUOTE_ALL),
    "bars.csv": _written(sep="|"),
    "spaces.txt": _written(sep=" "),
    "quoted.csv": _written(quoting=csv.QUOTE_ALL),
    "quoted words.csv": _written(quoting=csv.QUOTE_NONNUMERIC),
    "lines of windows.csv": _written(end="\r\n"),
    "marked.csv": _written("utf-8-sig"),
    "wide.csv": _written("utf-16"),
    "latin.csv": _written("cp1252"),
    "zipped.csv.gz": _zipped,
    "unended.csv": _unended,
    "of R.txt": _of_r,
    "plain.parquet": _parquet(lambda frame: frame),
    "narrow.parquet": _parquet(_narrow),
    "nullable.parquet": _parquet(_nullable),
    "arrow.parquet": _parquet(_arrow),
}

#: How a table is written that is refused unless its features are named, with words of the refusal.
REFUSED = {"row numbers.csv": (_numbered, "looks like an identifier")}

#: The words after the name of the table; `{result}` is a result of `solve`, `{out}` a folder.
COMMANDS: dict[str, list[str]] = {
    "look": [],
    "antecedents": ["--max-literals", "1"],
    "estimate": ["--formulations", "flow-oct,oct"],
    "solve": ["--out", "{out}/r.json"],
    "compare": ["--methods", "dp,cart", "--reference", "none"],
    "front": ["--task", "f1"],
    "gap": [],
    "near-best": ["--slack", "1", "--depth", "1"],
    "prune": ["--features", "a,b,c", "--trees", "2", "--lambda", "1/100"],
    "rule-list": ["--max-length", "2"],
    "size-path": ["--leaves", "3"],
    "export-model": [
        "--formulation",
        "flow-oct",
        "--depth",
        "1",
        "--no-solution",
        "--out",
        "{out}/m.lp",
    ],
    "predict": [],
}
#: Commands that read a table and have no row above, with the reason.
NO_ROW = {
    "study": "its tables are read by the functions of compare",
    "library": "its tables are read by the functions of export-model",
    "spo": "its data are generated",
}
#: Before the table comes a result.
OF_RESULT = ("gap", "predict")
#: What a run takes, and where its table lies.
VOLATILE = {"seconds", "times", "trace", "history", "versions", "data", "path", "file", "guessed"}
VOLATILE |= {
    "sizes",
    "log",
    "out",
    "sha256",
    "key",
    "problem_key",
    "examples",
    "files",
    "trees_sha256",
}


def run(command: str, table: Path, out: Path, result: Path | None, *more: str) -> Any:
    """What a command says about a table, without times and places; a text if it is refused."""
    words = [word.format(out=out) for word in COMMANDS[command]]
    if command not in ("look", "predict"):
        words += ["-q"] if command != "prune" else []
    before = [str(result)] if command in OF_RESULT else []
    found = CliRunner().invoke(app, [command, *before, str(table), *words, *more, "--json"])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    if found.exit_code:
        return f"exit code {found.exit_code}: {found.stderr}"
    if command == "export-model":
        lines = (out / "m.lp").read_text("utf-8").splitlines()
        return [line for line in lines if not line.startswith("\\")]
    return settled(json.loads(found.stdout))


def settled(said: Any) -> Any:
    """An answer without what differs from run to run."""
    if isinstance(said, dict):
        kept = {
            k: settled(v)
            for k, v in said.items()
            if k not in VOLATILE and not (k == "sizes" and isinstance(v, dict))  # of a model
        }
        return {k: v for k, v in kept.items() if k != "name" or "rows" not in kept}
    return [settled(v) for v in said] if isinstance(said, list) else said


def first_difference(here: Any, there: Any, where: str = "") -> str | None:
    """Where two answers differ."""
    if isinstance(here, dict) and isinstance(there, dict):
        for key in dict.fromkeys([*here, *there]):
            why = first_difference(here.get(key), there.get(key), f"{where}/{key}")
            if why:
                return why
        return None
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = (
            first_difference(a, b, f"{where}/{k}")
            for k, (a, b) in enumerate(zip(here, there, strict=True))
        )
        return next((why for why in pairs if why), None)
    return None if here == there else f"{where}: {str(here)[:150]} against {str(there)[:150]}"


#: Parts of an answer that are models, or count what they ask.
MODELS = ("predictor", "model", "best", "tree", "trees", "lists", "list", "tests", "antecedents")
#: What a changed table, whose value is the same, is worth: entries of an answer by these names.
WORTH = ("status", "objective", "exact", "bound_exact", "count", "value", "values", "optimum_exact")


def worth(said: Any) -> Any:
    """What stays when rows, columns or names are in another order."""
    if isinstance(said, dict):
        kept = {k: v for k, v in said.items() if k in WORTH and not isinstance(v, (dict, list))}
        deeper = {k: worth(v) for k, v in said.items() if isinstance(v, (dict, list))}
        return kept | {k: v for k, v in deeper.items() if v and k not in MODELS}
    if isinstance(said, list):
        found = [worth(v) for v in said if isinstance(v, (dict, list))]
        return [v for v in found if v]
    return said
