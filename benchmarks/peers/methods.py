"""Other programs as methods: a plug-in file for a SPEC, `plugins = ["peers/methods.py"]`.

Every peer runs in a process and an environment of its own (`environments.py` makes them; the variable
`MILP_TREES_PEER_<NAME>` names another interpreter). Its time is that from arrays in memory to its
answer, without the start of its process and its imports; its tree is scored here.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
import _estimators  # noqa: E402
import _jobs  # noqa: E402
import _peers  # noqa: E402
import environments  # noqa: E402
import numpy as np  # noqa: E402
import psutil  # noqa: E402

import milp_trees as mt  # noqa: E402
from milp_trees.common.limits import Limit, Stopped  # noqa: E402
from milp_trees.methods.finish import Clock, finish  # noqa: E402
from milp_trees.methods.watch import Watch  # noqa: E402
from milp_trees.plugins import Method, register  # noqa: E402
from milp_trees.results.result import TracePoint  # noqa: E402

#: What a peer may take beyond its limit until it is stopped.
LATE, LATE_SHARE = 1.0, 0.1


class Peer(Method):
    """A program that runs in an interpreter of its own."""

    engine: ClassVar[str]
    #: Whether it takes a penalty per leaf, and a limit on leaves.
    takes_prices: ClassVar[bool] = False
    #: Whether it is run on a part of the rows first, so that all is loaded before its clock starts.
    warms_up: ClassVar[bool] = True

    @property
    def python(self) -> Path:
        """The interpreter in which the peer is looked for."""
        return environments.python_of(self.engine)

    def installed(self) -> str | None:
        """The peer's version; None if it is not there."""
        folders = self.python.parent.parent.glob("lib/python3*/site-packages")
        found = metadata.distributions(name=self.engine, path=[str(f) for f in folders])
        return next((one.version for one in found), None)

    def software(self) -> dict[str, str]:
        """Also the peer's version, and fingerprints of the files that hand it the problem."""
        files = (_peers.WORKER, *(Path(m.__file__) for m in (_peers, _jobs, _estimators)))
        text = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
        found = {self.engine: self.installed() or "not installed", "worker": f"sha256-{text}"}
        return {**super().software(), **found}

    def unsupported_view(self, problem: mt.Problem) -> str | None:
        if self.installed() is None:
            return (
                f"{self.engine} has no environment of its own here; "
                f"`python benchmarks/peers/environments.py {self.engine}` makes it."
            )
        task, data, space = problem.spec()["task"], problem.dataset, problem.space
        plain = set(task) <= {"name", "leaf_penalty"} and task["name"] == "accuracy"
        if not plain or data.group_column is not None or data.counts is not None:
            return f"{self.name} is asked for plain accuracy with all features only."
        if space.max_depth is None:
            return f"{self.name} needs a depth limit."
        if not self.takes_prices and ("leaf_penalty" in task or space.max_leaf_nodes is not None):
            return f"{self.name} takes neither penalties nor limits on leaves."
        return None

    def search(self, problem: mt.Problem, limits: Any, start: Any, progress: Any) -> Any:
        clock, job = Clock(), self.job(problem, limits)
        watch = Watch(mt.Limits(threads=limits.threads, time=None), clock.begin)
        with tempfile.TemporaryDirectory() as folder:
            arrays = str(Path(folder) / "job.npz")
            job.write(arrays)
            worker = _peers.Worker(self.engine, str(self.python))
            try:
                answer, limit = watch.until(
                    lambda: worker.ask(
                        job, arrays, self.warms_up, 1, self.checks(worker, watch, limits)
                    )
                )
            finally:
                if worker.process.poll() is None:
                    worker.close()
        return self.result(problem, limits, clock, answer or {"status": "stopped"}, limit)

    def job(self, problem: mt.Problem, limits: Any) -> _jobs.Job:
        """The problem as the worker takes it."""
        space, data = problem.space, problem.dataset
        return _jobs.Job(
            "study",
            np.ascontiguousarray(data.X),
            np.asarray(data.y),
            depth=space.max_depth,
            leaves=space.max_leaf_nodes,
            min_leaf=space.min_samples_leaf,
            penalty=str(problem.spec()["task"].get("leaf_penalty", "0")),
            threads=limits.threads,
            time_limit=limits.time or 1e6,
        )

    def checks(self, worker: Any, watch: Watch, limits: Any) -> Callable[[], None]:
        """What is asked while the peer runs: time, memory and Ctrl-C.

        The worker may run a part of the rows first, for at most 20 seconds, which does not count.
        """
        child = psutil.Process(worker.process.pid)
        seconds = None if limits.time is None else limits.time * (1 + LATE_SHARE) + LATE
        until = None if seconds is None else time.perf_counter() + seconds
        if until is not None and self.warms_up:
            until += min(20, limits.time)

        def check() -> None:
            watch.check()
            if until is not None and time.perf_counter() > until:
                raise Stopped(Limit.TIME)
            if limits.memory_mb and child.memory_info().rss > limits.memory_mb * 2**20:
                raise Stopped(Limit.MEMORY)

        return check

    def result(
        self, problem: mt.Problem, limits: Any, clock: Clock, answer: dict, limit: Limit | None
    ) -> Any:
        """The answer of the worker as a result, with its tree scored here."""
        if answer["status"] not in ("done", "stopped"):
            if answer["status"] == "unsupported":
                raise mt.errors.Unsupported(answer["message"])
            raise mt.errors.SolverFailure(
                f"{self.engine} {answer['status']}: {answer.get('message', '')}"
            )
        done = answer["status"] == "done"
        tree = None if not done or answer["tree"] is None else _jobs.tree(answer["tree"], problem)
        optimal = bool(done and answer["optimal"] and self.exact)
        seconds = answer["call"][0] if done else limits.time or clock.seconds
        bound = answer.get("bound")
        if optimal:
            bound = problem.value(tree).exact
        late = limits.time is not None and seconds >= 0.95 * limits.time
        found = finish(
            problem,
            self.name,
            tree,
            bound=bound,
            claims_optimal=optimal,
            proved_by=self.name,
            clock=clock,
            limit=limit or (Limit.TIME if done and not optimal and late else None),
        )
        trace = (TracePoint(seconds, found.objective, found.bound),)
        return replace(found, seconds=seconds, times={"solve": seconds}, trace=trace)


@register
class PeerPystreed(Peer):
    """STreeD (van der Linden, de Weerdt and Demirović 2023), the package pystreed."""

    name = "peer-pystreed"
    engine = "pystreed"
    title: ClassVar[str] = "pystreed: dynamic programming, in a process of its own"
    takes_prices = True


@register
class PeerOdtlearn(Peer):
    """FlowOCT of odtlearn (Vossler, Aghaei, Justin, Jo, Gómez and Vayanos 2023) with CBC."""

    name = "peer-odtlearn"
    engine = "odtlearn"
    title: ClassVar[str] = "odtlearn: FlowOCT with CBC, in a process of its own"
    warms_up = False


@register
class PeerRollotree(Peer):
    """Rolling lookahead trees (Organ, Kayış and Hanaylı 2024), the package rollotree."""

    name = "peer-rollotree"
    engine = "rollotree"
    title: ClassVar[str] = "rollotree: rolling lookahead of two levels (heuristic)"
    exact = False
