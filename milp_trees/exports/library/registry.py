"""The registry of a library: what is known about each of its files, as JSON, CSV and `.solu`.

`registry.json` holds everything; the CSV table, the `.solu` file and `SHA256SUMS` are derived from
it and from the files, so that a check can derive them again.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.writing import write_whole
from milp_trees.mip.linear.lp import spelled
from milp_trees.results.json import json_safe, number, relative_gap

#: Kind of the JSON file, and its version.
SCHEMA = "milp-trees instance library 1"
#: Names of the files of a library that are no instances.
JSON, CSV, SOLU, SUMS, PAGE = (
    "registry.json",
    "registry.csv",
    "library.solu",
    "SHA256SUMS",
    "index.html",
)
#: Folder of what has been finished by a build that is not complete.
UNFINISHED = "unfinished"
#: Objectives of solvers that differ by less than this, relative to their size, are equal.
ROUNDING = 1e-6
#: What is claimed about an instance: the word in the `.solu` file, and its meaning.
CLAIMS = {
    "opt": "the objective is proven to be optimal",
    "best": "the objective is the best one known, and not proven",
    "inf": "the instance is proven to be infeasible",
    "unkn": "no solution is known",
}
#: Classes of difficulty, in MIPLIB's sense, for the solvers and the seconds that the registry
#: states.
CLASSES = {
    "easy": "at least one of the solvers solves the file within the limit",
    "hard": "none of them does, but the answer is proven by other means",
    "open": "nothing here proves the answer",
}


@dataclass(frozen=True)
class Instance:
    """One instance: a problem in the form of one formulation.

    All objectives and bounds are those of the file, which is always minimised; the natural value is
    `offset + scale · objective`.
    """

    instance: str
    status: str
    claim: str
    objective: float | None
    bound: float | None
    variables: int
    binaries: int
    integers: int
    continuous: int
    constraints: int
    nonzeros: int
    lp_bound: float | None
    root_bound: float | None
    integrality_gap: float | None
    root_gap: float | None
    solvers: str
    easy_as: str
    value: str
    unit: str
    sense: str
    offset: str
    scale: str
    tolerance: float
    proved_by: str
    proof_seconds: float | None
    evidence: str
    derived_by: str
    group: str
    kind: str
    problem: str
    formulation: str
    source: str
    licence: str
    published: bool
    tags: str
    bytes: int
    model_sha256: str
    solution_sha256: str
    proof_sha256: str = ""
    statement_sha256: str = ""
    #: Of every solver that read the file: status, objective, bound, root bound, seconds, nodes.
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """Name of the model file."""
        return f"{self.instance}.mps.gz"

    @property
    def solution(self) -> str | None:
        """Name of the solution file; None if no solution is known."""
        return f"{self.instance}.sol" if self.solution_sha256 else None

    @property
    def proof(self) -> str | None:
        """Name of the proof file; None if there is none."""
        return f"{self.instance}.proof" if self.proof_sha256 else None


#: The columns of the CSV table, each with a sentence.
COLUMNS = {
    "instance": "Name of the instance; its files are NAME.mps.gz and NAME.sol.",
    "status": "easy, hard or open, for the solvers and the limit that registry.json states.",
    "claim": "opt, best, inf or unkn, as in library.solu.",
    "objective": "Objective of the file at its solution; empty if none is known.",
    "bound": "Largest proven lower bound on the objective.",
    "variables": "Number of columns of the file.",
    "binaries": "Integer columns between 0 and 1.",
    "integers": "Other integer columns.",
    "continuous": "Continuous columns.",
    "constraints": "Number of rows.",
    "nonzeros": "Number of coefficients in rows.",
    "lp_bound": "Objective of the linear relaxation.",
    "root_bound": "Best bound of a solver at the end of its root node.",
    "integrality_gap": "|objective - lp_bound| / |objective|; empty if the objective is 0 and differs.",
    "root_gap": "The same for root_bound.",
    "solvers": "Every solver with its seconds if it solved the file, or with its limit.",
    "easy_as": "For hard and open instances: other formulations of the same problem that are easy.",
    "value": "Natural value of the solution, as an exact fraction where it is exact.",
    "unit": "Unit of the natural value.",
    "sense": "Whether the natural value is to be small (min) or large (max).",
    "offset": "Natural value of the objective 0.",
    "scale": "Natural value per unit of the objective.",
    "tolerance": "Objectives that differ by at most this mean the same value: 0 for exact costs.",
    "proved_by": "The method that claims the optimum, the bound or the infeasibility.",
    "proof_seconds": "Seconds of that method.",
    "evidence": "proved by file (NAME.proof), derived again (by a method that shares nothing with the first), claimed, or nothing proved.",
    "derived_by": "The independent methods that derived the claim again; NAME@SOLVER solved a file.",
    "group": "Group of the problem in the specification.",
    "kind": "Kind of the problem: trees, rule-lists, pruned or decisions.",
    "problem": "Name of the problem in the specification.",
    "formulation": "Formulation with its options.",
    "source": "Where the data come from.",
    "licence": "Licence of the data.",
    "published": "Whether the licence allows to publish the files.",
    "tags": "Words to search for.",
    "bytes": "Size of the model file.",
    "model_sha256": "SHA-256 of NAME.mps.gz.",
    "solution_sha256": "SHA-256 of NAME.sol; empty if there is none.",
    "proof_sha256": "SHA-256 of NAME.proof, which milp-trees check checks; empty if there is none.",
    "statement_sha256": "SHA-256 of what NAME.proof is about, without the answer; the model file has it too.",
}


@dataclass(frozen=True)
class Registry:
    """All instances of a library, and how it was made.

    Parameters
    ----------
    about : mapping
        `title`, `version`, `solver_seconds`, `proof_seconds`, `solvers` (with versions), `versions`,
        `machine`, `made`.
    instances : tuple of Instance
        Sorted by name.
    refused : tuple of mapping
        Problem, formulation and reason of each pair that cannot be written.
    """

    about: Mapping[str, Any]
    instances: tuple[Instance, ...]
    refused: tuple[Mapping[str, str], ...] = ()

    def to_json(self) -> str:
        plain = json_safe(
            {
                "schema": SCHEMA,
                "about": self.about,
                "instances": [dataclasses.asdict(one) for one in self.instances],
                "refused": self.refused,
            }
        )
        return json.dumps(plain, indent=1, allow_nan=False) + "\n"

    def to_csv(self) -> str:
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows([_cell(getattr(one, c)) for c in COLUMNS] for one in self.instances)
        return text.getvalue()

    def to_solu(self) -> str:
        """A line per instance: what is claimed, its name, and its objective if one is known."""
        return "".join(
            f"={one.claim}=  {one.instance}"
            + ("" if one.objective is None else f"  {spelled(float(one.objective))}")
            + "\n"
            for one in self.instances
        )


def instance_name(problem: str, formulation: str) -> str:
    """A readable name for files.

    The problem `uci/iris/depth=2` and `flow-oct` give `uci-iris-depth2--flow-oct`.
    """
    return f"{_plain(problem)}--{_plain(formulation)}"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower().replace("=", "")).strip("-.") or "x"


def gap_to(objective: float | None, bound: float | None) -> float | None:
    """The gap between an objective and a bound, relative to the objective.

    None if one is unknown, or only the objective is 0.
    """
    if objective is None or bound is None:
        return None
    if near(objective, bound):
        return 0.0
    gap = relative_gap(objective, bound)
    return None if gap is None or not math.isfinite(gap) else round(gap, 6)


def near(a: float, b: float, tolerance: float = 0.0) -> bool:
    """Whether two objectives are equal up to the tolerance of solvers, or a larger one.

    Without a tolerance objectives are whole numbers, so that less than half a unit is allowed.
    """
    share = ROUNDING * max(1.0, abs(a), abs(b))
    return abs(a - b) <= (max(tolerance, share) if tolerance else min(0.499, share))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return spelled(value) if isinstance(value, float) else str(value)


def read_registry(folder: Path) -> Registry:
    """The registry of a library."""
    path = folder / JSON
    if not path.is_file():
        raise DataError(
            f"{folder} holds no {JSON}, so it is no library; make one with `milp-trees library build SPEC --out {folder}`."
        )
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        if held["schema"] != SCHEMA:
            raise ValueError(f"its schema is {held['schema']!r} and not {SCHEMA!r}")
        if not all(isinstance(part, Mapping) for part in (held["about"], *held["refused"])):
            raise TypeError("about and refused must hold tables")
        return Registry(
            held["about"],
            tuple(read_instance(one) for one in held["instances"]),
            tuple(held["refused"]),
        )
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise DataError(f"{path} is damaged: {str(error).rstrip('.')}.") from None


def read_instance(held: Mapping[str, Any]) -> Instance:
    """A row of the JSON file, refused if it makes no sense by itself."""
    one = Instance(**held)
    name = one.instance
    for part in dataclasses.fields(Instance):
        if not _fits(getattr(one, part.name), str(part.type)):
            raise ValueError(f"{name!r} has {getattr(one, part.name)!r} as its {part.name}")
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,239}", name):
        raise ValueError(f"the name {name!r} is not that of an instance")
    if one.claim not in CLAIMS or one.status not in CLASSES:
        raise ValueError(f"{name} has the claim {one.claim!r} and the status {one.status!r}")
    for text in (one.offset, one.scale, *([one.value] if one.value else [])):
        if not re.fullmatch(r"-?\d+(/\d+)?|-?\d+(\.\d*)?(e[+-]?\d{1,3})?", text):
            raise ValueError(f"{name} has {text!r} where a number is expected")
        float(Fraction(text))  # it has no denominator 0, and a float can hold it
    for run in one.runs.values():
        run["status"]
    return one


def _fits(value: Any, kind: str) -> bool:
    """Whether a value has the type that a field of `Instance` is annotated with."""
    if value is None:
        return kind.endswith("None")
    if kind.startswith("float"):
        return number(value)
    if kind.startswith("Mapping"):
        return isinstance(value, Mapping)
    return type(value).__name__ == kind


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(registry: Registry) -> list[str]:
    """Names of all files of a library except `SHA256SUMS`."""
    own = [
        name for one in registry.instances for name in (one.model, one.solution, one.proof) if name
    ]
    return sorted([*own, JSON, CSV, SOLU, PAGE])


def checksums(folder: Path, names: Iterable[str]) -> str:
    """The text of `SHA256SUMS`, which `sha256sum --check` reads."""
    return "".join(f"{sha256(folder / name)}  {name}\n" for name in sorted(names))


def replace_text(path: Path, text: str) -> None:
    """Write a text file as a whole or not at all."""
    write_whole(path, text)
