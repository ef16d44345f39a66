"""Work that is shared among processes, each of which runs one solver at a time."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def each(
    work: Callable[..., Outcome],
    items: Sequence[Item],
    jobs: int,
    *more: Any,
    first: Callable[[], None] | None = None,
) -> Iterator[tuple[Item, Outcome]]:
    """Every item with the outcome of `work(item, *more)`, in the order in which they are finished.

    Ctrl-C and errors end the processes; outcomes that were yielded before are not lost.
    """
    if jobs <= 1 or len(items) <= 1:
        if first is not None:
            first()
        for item in items:
            yield item, work(item, *more)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(items)), context, _begin, (first,))
    running: dict[Future[Outcome], Item] = {}
    finished = False
    try:
        running = {pool.submit(work, item, *more): item for item in items}
        for done in as_completed(running):
            yield running[done], done.result()
        finished = True
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=finished, cancel_futures=True)
        for process in [] if finished else processes:
            process.terminate()


def _begin(first: Callable[[], None] | None) -> None:
    """The start of a process; Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if first is not None:
        first()
