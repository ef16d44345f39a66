"""From the files of the workers into one store: every row once, whatever is killed when.

How far each file was read is kept in the store, and is written in one step with the rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from milp_trees.studies.one_run import HELPER, RUN
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.row_files import Rows
from milp_trees.studies.store import Entry, Store
from milp_trees.studies.stored_runs import is_final

#: Beginning of the keys in the store's table `about` under which the places in files are kept.
READ = "read/"


class Merging:
    """Follows the files of the workers and adds new rows to a store.

    Parameters
    ----------
    folder : Folder
    store : Store

    Attributes
    ----------
    final : set of str
        Keys of the runs that have an answer.
    """

    def __init__(self, folder: Folder, store: Store) -> None:
        self.folder = folder
        self.store = store
        self._marks = {
            name.removeprefix(READ): int(value)
            for name, value in store.about().items()
            if name.startswith(READ)
        }
        self._files: dict[str, Rows] = {}
        self._helpers = set(store.ends(HELPER))
        self._environments = set(store.environments())
        self.final = {
            key
            for key, (status, limit) in store.ends(RUN).items()
            if is_final({"status": status, "limit": limit})
        }

    def step(self) -> list[dict[str, Any]]:
        """Add what is new; the new rows of runs."""
        entries: list[Entry] = []
        marks: dict[str, str] = {}
        rows: list[dict[str, Any]] = []
        for name in self.folder.names("rows", ".jsonl"):
            if name not in self._files:
                path = Path(self.folder / f"rows/{name}")
                self._files[name] = Rows(path, self._marks.get(name, 0))
            found = [e for e in self._files[name].read() if e["key"] not in self.final]
            self.final |= {entry["key"] for entry in found if is_final(entry["row"])}
            rows += [entry["row"] for entry in found]
            entries += [_entry(e["row"], e["key"], RUN, e["log"]) for e in found]
            marks[READ + name] = str(self._files[name].offset)
        entries += self._new_helpers()
        if entries:
            self.store.merge(entries, marks)
        self._add_environments()
        return rows

    def _new_helpers(self) -> list[Entry]:
        found = []
        for name in self.folder.names("helpers", ".json"):
            key = name.removesuffix(".json")
            stored = None if key in self._helpers else self.folder.read(f"helpers/{name}")
            if stored is not None and "row" in stored:
                self._helpers.add(key)
                row = {
                    **stored["row"],
                    "seed": stored["seed"],
                    "problem_key": stored["problem_key"],
                }
                found.append(_entry(row, key, HELPER, stored["log"]))
        return found

    def _add_environments(self) -> None:
        for name in self.folder.names("environments", ".json"):
            fingerprint = name.removesuffix(".json")
            if fingerprint not in self._environments:
                found = self.folder.read(f"environments/{name}")
                if found is not None:
                    self._environments.add(fingerprint)
                    self.store.add_environment(fingerprint, found)

    def share_helpers(self) -> None:
        """Put the store's references and starts into the folder, so that none is made again."""
        for row in self.store.rows(HELPER):
            name = f"helpers/{row['key']}.json"
            if is_final(row) and not (self.folder / name).exists():
                log = self.store.log(row["key"], HELPER)
                names = ("seed", "problem_key")
                self.folder.write(name, {"row": row, "log": log, **{n: row[n] for n in names}})


def _entry(row: dict[str, Any], key: str, role: str, log: str) -> Entry:
    own = {name: value for name, value in row.items() if name not in ("seed", "problem_key", "key")}
    return Entry(own, key, role, row["problem_key"], row["seed"], log)
