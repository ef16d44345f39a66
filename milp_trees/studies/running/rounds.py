"""`round.json`: what is left of a study, and how workers make it.

It is written by the front end that leads. Every front end that takes the lead begins a round of its own. Workers of an earlier round finish
their run and end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder


@dataclass(frozen=True)
class Round:
    """One round of a study.

    Parameters
    ----------
    number : int
        From 1 on.
    front : str
        Name of the front end that leads.
    plan : str
        Fingerprint of the plan.
    jobs : tuple of str
        Names of the batches.
    retries : int
        How often a run that crashed is made again.
    memory_mb : number or None
        Memory that a worker and its solver may use together, in MB; a worker with more is ended.
    cores : int
        Cores that a run owns.
    detached : bool
        Whether workers go on when no front end is there.
    again : mapping
        Runs whose last row is an error, by key: the first attempt that counts in this round.
    """

    number: int
    front: str
    plan: str
    jobs: tuple[str, ...] = ()
    retries: int = 2
    memory_mb: float | None = None
    cores: int = 1
    detached: bool = False
    again: Mapping[str, int] = field(default_factory=dict)

    def write(self, folder: Folder) -> None:
        folder.write("round.json", asdict(self))

    @classmethod
    def read(cls, folder: Folder) -> Round | None:
        """The round of a folder; None if there is none yet."""
        found = folder.read("round.json")
        try:
            return None if found is None else cls(**{**found, "jobs": tuple(found["jobs"])})
        except (TypeError, KeyError):
            raise StudyError(
                f"{folder / 'round.json'} is damaged, or of another version of milp-trees; start the study again with its SPEC."
            ) from None


def fingerprint(plan: Plan) -> str:
    """Fingerprint of the runs of a plan; equal for the same SPEC, data and software."""
    runs = [[run.number, run.key, run.problem, run.method] for run in plan.runs]
    return hashlib.sha256(json.dumps(runs).encode()).hexdigest()[:16]
