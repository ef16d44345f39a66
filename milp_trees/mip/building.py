"""Building models with Pyomo: faster, and so that an interrupt leaves Pyomo as it was."""

from __future__ import annotations

import builtins
import contextlib
import gc
from collections.abc import Iterator

from milp_trees.common.limits import Limit, Stopped, collector_off
from milp_trees.methods.watch import Watch


@contextlib.contextmanager
def repaired() -> Iterator[None]:
    """Restore what Pyomo exchanges while it works, if an exception leaves this block.

    Pyomo exchanges `sum`, the iteration of sets, and the garbage collector. It restores them
    itself, unless an interrupt or the end of a time limit comes at exactly that place.
    """
    from pyomo.common.gc_manager import PauseGCCompanion
    from pyomo.core.base import constraint
    from pyomo.core.expr.template_expr import _TemplateIterManager as templates

    before = gc.isenabled(), PauseGCCompanion._stack_depth, constraint.TEMPLATIZE_CONSTRAINTS
    try:
        yield
    except BaseException:
        was_on, PauseGCCompanion._stack_depth, constraint.TEMPLATIZE_CONSTRAINTS = before
        if was_on:
            gc.enable()
        builtins.sum = templates.builtin_sum
        for exchanged in templates.iters or ():
            exchanged.release()
        templates.paused, templates.context, templates.iters = True, None, None
        raise


@contextlib.contextmanager
def fast_building(templates: bool) -> Iterator[None]:
    """Within this block constraints may be templates, and the garbage collector is off.

    Templates are three times faster to build and to hand over.
    """
    from pyomo.core.base import constraint

    before = constraint.TEMPLATIZE_CONSTRAINTS
    with collector_off():
        constraint.TEMPLATIZE_CONSTRAINTS = templates
        try:
            yield
        finally:
            constraint.TEMPLATIZE_CONSTRAINTS = before


def limit_of(end: BaseException) -> Limit:
    """The limit that an exception stands for which ended the building of a model."""
    if isinstance(end, Stopped):
        return end.limit
    return Limit.MEMORY if isinstance(end, MemoryError) else Limit.INTERRUPTED


def look_at_memory(watch: Watch) -> None:
    """Raise an error if memory has run out or the user's function stops; a timer keeps the time."""
    limit = watch.over()
    if limit in (Limit.MEMORY, Limit.CALLBACK):
        raise Stopped(limit)
