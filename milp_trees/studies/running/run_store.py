"""Helper runs (references and starts) that all workers of a study share; each is made once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from milp_trees.results.result import Result, Status
from milp_trees.solving.attempt import failed
from milp_trees.studies.identity import problem_key
from milp_trees.studies.one_run import HELPER
from milp_trees.studies.rows import DamagedRow
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.leases import Acquired, Held, Leases
from milp_trees.studies.stored_runs import recalled

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Seconds between two looks for a helper run that another worker makes.
LOOK = 0.05


class RunStore:
    """The helper runs in the folder of a study.

    Parameters
    ----------
    folder : Folder
    claims : Claims
    retries : int
        How often a helper run that crashed is made again.
    stopped : callable
        Says whether this worker has to end; then it does not wait for others.
    """

    def __init__(
        self, folder: Folder, claims: Leases, retries: int, stopped: Callable[[], bool]
    ) -> None:
        self.folder = folder
        self.claims = claims
        self.retries = retries
        self.stopped = stopped
        self._known: dict[str, Result] = {}
        self._taken: dict[str, Acquired] = {}
        #: When the helper run in flight began, a reading of `time.monotonic`.
        self.begun: float | None = None

    def recall(self, problem: Problem, key: str, role: str) -> Result | None:
        """The helper run with a key, also if another worker is making it now."""
        if role != HELPER:
            return None
        while key not in self._known:
            stored = self.folder.read(f"helpers/{key}.json")
            if stored is not None:
                try:
                    self._known[key] = recalled(stored["row"], problem)
                    break
                except DamagedRow:
                    self.folder.remove(f"helpers/{key}.json")
            taken = self.claims.take(f"helper-{key}")
            if isinstance(taken, Acquired):
                if len(taken.crashes) <= self.retries:
                    self._taken[key], self.begun = taken, time.monotonic()
                    return None
                sentence = crashed(taken.crashes)
                self.keep(failed(problem, "reference", Status.ERROR, sentence), key, role, 0)
                break
            if self.stopped():
                raise StudyError("The study was stopped.")
            if isinstance(taken, Held):
                time.sleep(LOOK)
        return self._known[key]

    def keep(self, result: Result, key: str, role: str, seed: int) -> None:
        """Share a helper run that was made now."""
        self._known[key], self.begun = result, None
        stored = {"row": result.to_json(), "seed": seed, "log": result.log}
        identity = problem_key(result.problem)
        self.folder.write(f"helpers/{key}.json", {**stored, "problem_key": identity})

    def give_up(self, why: str) -> None:
        """Leave helper runs that were not finished to others; an empty sentence is no crash."""
        for key, taken in self._taken.items():
            if key not in self._known:
                self.claims.give_up(f"helper-{key}", taken.attempt, why)


def crashed(crashes: tuple[str, ...]) -> str:
    """The sentence of a run that crashed too often."""
    return f"Every one of {len(crashes)} attempts crashed; the last: {crashes[-1]}"
