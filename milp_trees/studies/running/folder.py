"""The folder of a study, which all its processes share; every file in it has one writer.

| file | holds |
|---|---|
| `plan.json` | the plan; workers read nothing else about the study |
| `round.json` | who leads now, what is left to do, and the settings of the workers |
| `jobs/ROUND-NNNN.json` | batches of run numbers with about equal estimated time |
| `claims/KEY.ATTEMPT` | who makes, or made, this attempt at a run; `.why` beside it says how it failed |
| `workers/NAME.json` | a living process; the time of the file is its heartbeat |
| `rows/NAME.jsonl` | finished rows, one a line, written by one worker |
| `helpers/KEY.json` | references and starts, each made once |
| `live/NAME.json` | what a worker does now |
| `environments/FINGERPRINT.json` | machines on which rows were made |
| `stops/FRONT.json` | the workers of this front end have to end, with `now` even before their run ends |
| `logs/NAME.txt` | what a worker printed |
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from milp_trees.studies.running.errors import StudyError

FOLDERS = ("jobs", "claims", "workers", "rows", "helpers", "live", "environments", "logs", "stops")


class Folder:
    """The files of a study.

    Parameters
    ----------
    path : path
        It is made if it does not exist.
    make : bool, default=True
        False for those who only read: nothing is made, and the folder must exist.

    Raises
    ------
    StudyError
        The folder cannot be made or written, or does not exist.
    """

    def __init__(self, path: str | Path, make: bool = True) -> None:
        self.path = Path(path).absolute()
        if not make:
            if not self.path.is_dir():
                raise StudyError(f"There is no folder {self.path} of a study; name its store.")
            return
        try:
            for name in FOLDERS:
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(
                f"The folder {self.path} of the study cannot be made ({error.strerror}); name a store in a folder where you may write."
            ) from error

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def read(self, name: str) -> Any:
        """The content of a JSON file; None if it does not exist, or is not complete."""
        try:
            return json.loads((self.path / name).read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def write(self, name: str, content: Any, durable: bool = True) -> None:
        """Write a JSON file at once: readers see the old content or the new one."""
        target = self.path / name
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(content, file)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, target)

    def make(self, name: str, content: Any, like: Path | None = None) -> bool:
        """Make a JSON file; False if it exists. Of several processes exactly one gets True."""
        target = self.path / name
        if like is not None:
            try:
                os.link(like, target)
                return True
            except FileExistsError:
                return False
            except OSError:
                pass  # not every file system has second names, and none has any number of them
        try:
            file = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return False
        try:
            os.write(file, json.dumps(content).encode())
        finally:
            os.close(file)
        return True

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with contextlib.suppress(OSError):
            (self.path / name).unlink()

    def names(self, folder: str, ending: str = "") -> list[str]:
        """The names of the files in a folder, sorted, without drafts."""
        try:
            found = os.listdir(self.path / folder)
        except FileNotFoundError:
            return []
        return sorted(name for name in found if name.endswith(ending) and not name.startswith("."))


@contextlib.contextmanager
def folder_of(store: str | Path | None) -> Iterator[Folder]:
    """The folder of the study with a store; one for the time being without a store."""
    if store is not None:
        with _nothing_left(Path(store), Path(f"{store}.runs")):
            yield Folder(f"{store}.runs")
        return
    path = tempfile.mkdtemp(prefix="milp-trees-study-")
    try:
        yield Folder(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _nothing_left(store: Path, path: Path) -> Iterator[None]:
    """Remove the store and the folder that this study made, if it is refused before it began."""
    new, new_folder = not store.exists(), not path.exists()
    try:
        yield
    except BaseException:
        begun = (path / "round.json").exists() or any(path.glob("workers/*.json"))
        if new_folder and not begun:
            shutil.rmtree(path, ignore_errors=True)
            for ending in ("", "-wal", "-shm", "-journal") if new else ():
                Path(f"{store}{ending}").unlink(missing_ok=True)
        raise
