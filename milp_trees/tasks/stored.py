"""A task from its stored description."""

from collections.abc import Mapping
from typing import Any

from milp_trees.tasks.base import Task


def from_spec(spec: Mapping[str, Any]) -> Task:
    """The task that `task.spec()` described."""
    from milp_trees.common.registering import plugins
    from milp_trees.tasks.constraints import constraint

    options = dict(spec)
    kind = plugins.get("tasks", options.pop("name"))
    if "constraints" in options:
        options["constraints"] = tuple(
            constraint(**{k: _read(k, v) for k, v in c.items()}) if isinstance(c, Mapping) else c
            for c in options["constraints"]
        )
    return kind(**options)


def _read(name: str, value: Any) -> Any:
    """A parameter of a constraint; a task in it was described too."""
    return from_spec(value) if name == "task" and isinstance(value, Mapping) else value
