"""What a page holds of a study: rows, problems, machines, and the details of every run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DamagedRowWarning
from milp_trees.exports.pages.downsample import cut, thin, without_folders
from milp_trees.exports.pages.drawings import drawing
from milp_trees.exports.pages.packing import Shared, columns
from milp_trees.exports.pages.problems import data_names, problems
from milp_trees.results.json import json_safe
from milp_trees.studies import Study
from milp_trees.studies.columns import COLUMNS, flat
from milp_trees.studies.problem_groups import same_problems
from milp_trees.studies.rows import with_gaps_to_best

#: Columns of the page beside those of `Study.frame()`.
MORE = {
    "gap_to_best": "distance of the value from the best bound of all runs of the problem",
    "started": "time when the run began (UTC)",
    "finished": "time when the run ended (UTC)",
}
#: Headings of columns whose names are too short for a reader.
TITLES = {"name": "problem", "problem": "fingerprint of the problem", "rows": "model rows"}


@dataclass(frozen=True)
class Detail:
    """How much of every run a page keeps.

    Parameters
    ----------
    log : int
        Characters of a log.
    trace : int
        Moments of a trace.
    pictures : bool
        Whether models are drawn; their text is always kept.
    """

    log: int
    trace: int
    pictures: bool


@dataclass(frozen=True)
class Source:
    """A study that was read for a page.

    Parameters
    ----------
    study : Study
        The study.
    references : list of dict
        Rows of runs that only served as references.
    left_out : list of str
        A sentence for each damaged row.
    about : dict
        What the store says of the whole study: `title`, `command`, `version`, `commit`, ….
    environments : dict
        Machines with their software, by fingerprint.
    """

    study: Study
    references: list[dict[str, Any]]
    left_out: list[str]
    about: dict[str, str] = field(default_factory=dict)
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Study | str | Path) -> Source:
        """A study in memory, or in a file."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DamagedRowWarning)
            study = store if isinstance(store, Study) else Study.open(store)
            references = list(study.store.rows("reference"))
            about, environments = study.store.about(), study.store.environments()
        message = [str(w.message) for w in caught if issubclass(w.category, DamagedRowWarning)]
        return cls(study, references, list(dict.fromkeys(message)), about, environments)


class Content:
    """The data of a page, in any degree of detail.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.rows: list[dict[str, Any]] = source.study.rows
        store = source.study.store
        log = store.log
        self.title = source.about.get("title") or ("" if store.path is None else store.path.stem)
        used = {(row.get("run") or {}).get("environment") for row in self.rows}
        self.environments = {
            fingerprint: {name: value for name, value in one.items() if name != "command"}
            for fingerprint, one in source.environments.items()
            if fingerprint in used
        }
        self.logs = [without_folders(log(row["key"], "run")) for row in self.rows]
        self.shown = same_problems(self.rows)
        self.problems = problems(self.rows, source.references, self.shown)
        self.flat = self._flat()
        models: dict[Any, dict[str, str]] = {}
        self.models = [self._model(row, models) for row in self.rows]

    def _flat(self) -> list[dict[str, Any]]:
        best, own = self._gaps_to_best(), []
        names = data_names(str(flat(row)["data"] or "") for row in self.rows)
        for row, gap in zip(self.rows, best, strict=True):
            run = row.get("run") or {}
            one = flat(row)
            one |= {
                "name": self.problems[self.shown[row["problem_key"]]]["name"],
                "problem": self.shown[row["problem_key"]],
                "data": names[str(one["data"] or "")],
                "gap_to_best": gap,
                "is_exact": row["exact"] is not None,
                "started": run.get("started"),
                "finished": row.get("finished"),
            }
            own.append(json_safe(one))
        return own

    def _gaps_to_best(self) -> list[float | None]:
        """The gap of every row to the best bound of its problem."""
        places: dict[str, list[int]] = {}
        for k, row in enumerate(self.rows):
            places.setdefault(self.shown[row["problem_key"]], []).append(k)
        out: list[float | None] = [None] * len(self.rows)
        for own in places.values():
            for k, row in zip(own, with_gaps_to_best([self.rows[k] for k in own]), strict=True):
                out[k] = row["gap_to_best"]
        return out

    def _model(
        self, row: Mapping[str, Any], known: dict[Any, dict[str, str]]
    ) -> dict[str, str] | None:
        if row["predictor"] is None:
            return None
        key = row["problem_key"], repr(row["predictor"])
        if key not in known:
            known[key] = drawing(row["predictor"], row["problem"]["space"])
        return known[key]

    def main(self, detail: Detail) -> dict[str, Any]:
        """What a page reads at once: rows with their traces, problems, columns and machines."""
        ids = _ids([row["key"] for row in self.rows])
        rows = [
            {**one, "id": name, "trace": thin(row["trace"], detail.trace)}
            for one, name, row in zip(self.flat, ids, self.rows, strict=True)
        ]
        return {
            "rows": columns(rows),
            "column_texts": self._columns(),
            "problems": self.problems,
            "meta": self._meta(detail),
        }

    def details(self, detail: Detail) -> dict[str, Any]:
        """What a page reads when a run or a problem is opened."""
        predictors, logs, versions = Shared(), Shared(), Shared()
        runs = []
        for row, model, log in zip(self.rows, self.models, self.logs, strict=True):
            shown = model if model is None or detail.pictures else {"text": model["text"]}
            runs.append(
                {
                    **{k: row[k] for k in ("exact", "bound_exact", "checked", "sizes", "times")},
                    **{k: row[k] for k in ("start", "scores", "key", "problem_key")},
                    "options": row["options"],
                    "crashes": (row.get("run") or {}).get("crashes") or [],
                    "versions": versions.number(row["versions"]),
                    "predictor": None if shown is None else predictors.number(shown),
                    "log": logs.number(cut(log, detail.log)) if log else None,
                }
            )
        return json_safe(  # type: ignore[no-any-return]
            {
                "runs": runs,
                "predictors": predictors.values,
                "logs": logs.values,
                "versions": versions.values,
            }
        )

    def _columns(self) -> dict[str, dict[str, str]]:
        scores = dict.fromkeys(k for row in self.flat for k in row if k.startswith("score_"))
        message = {**COLUMNS, **MORE, **dict.fromkeys(scores, "score on the test rows")}
        return {
            name: {
                "title": TITLES.get(name, name.replace("_", " ")),
                "text": text,
                "kind": _kind(name, [row.get(name) for row in self.flat]),
            }
            for name, text in message.items()
        }

    def _meta(self, detail: Detail) -> dict[str, Any]:
        store = self.source.study.store
        logs = sum(len(log) > detail.log for log in self.logs)
        thinned = sum(len(row["trace"]) > detail.trace for row in self.rows)
        return {
            "title": self.title,
            "about": _notes(self.source.about),
            "store": "" if store.path is None else store.path.name,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": metadata.version("milp-trees"),
            "environments": json_safe(self.environments),
            "left_out": self.source.left_out,
            "detail": {
                "log": detail.log,
                "logs_cut": logs,
                "trace": detail.trace,
                "traces_thinned": thinned,
                "pictures": detail.pictures,
            },
        }


def _notes(about: Mapping[str, str]) -> dict[str, str]:
    """Notes of the study for its readers, without marks for the program and folder names."""
    found = {name: text for name, text in about.items() if "/" not in name and text}
    if "command" in found:
        program, _, rest = found["command"].partition(" ")
        found["command"] = f"{Path(program).name} {rest}".strip()
    return found


def _ids(keys: list[str]) -> list[str]:
    """Short names of runs for links: the beginnings of their fingerprints, made unique."""
    out: list[str] = []
    seen: dict[str, int] = {}
    for key in keys:
        short = key[:10]
        seen[short] = seen.get(short, 0) + 1
        out.append(short if seen[short] == 1 else f"{short}-{seen[short]}")
    return out


def _kind(name: str, values: list[Any]) -> str:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return "flag"
    if not known or not all(type(value) in (int, float) for value in known):
        return "text"
    return "seconds" if name.endswith("seconds") or name == "time_limit" else "number"
