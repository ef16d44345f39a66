"""The data of a command in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milp_trees.cli import reading
from milp_trees.cli.folding import folded
from milp_trees.common.plurals import counted
from milp_trees.data.targets import measured_target

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


def describe(train: Dataset, test: Dataset | None) -> str:
    """Which columns were taken as what, in words."""
    source = train.source
    features = source.get("features") or [t.column for t in train.features]
    target = source.get("columns", {}).get("target")
    shown = (
        ", ".join(features)
        if len(features) <= 8
        else ", ".join(features[:4]) + f", … , {features[-1]}"
    )
    lines = [
        f"data      {source.get('path', '')}: {train.total_rows} rows"
        + ("" if train.counts is None else f", grouped into {train.n_rows} distinct ones")
        + (f" for training, {test.n_rows} for test" if test is not None else "")
    ]
    lines += reading.described(source)
    if source.get("regression"):
        lines.append(f"target    {target or 'target'} (a number)")
    elif train.target_names is not None and target:
        lines.append(f"target    {target} (measured numbers)")
    elif train.classes is not None and measured_target(train):
        lines.append(
            f"target    {target or 'target'} ({counted(len(train.classes), 'different number')})"
        )
    elif train.classes is not None:
        classes = ", ".join(map(str, train.classes[:8])) + (", …" if len(train.classes) > 8 else "")
        lines.append(
            f"target    {target or 'target'} ({counted(len(train.classes), 'class', 'classes')}: {classes})"
        )
    roles = {
        k: v
        for k, v in source.get("columns", {}).items()
        if k not in ("target", "features", "drop")
    }
    lines += [
        f"{role:<9} {', '.join(v) if isinstance(v, list) else v}" for role, v in roles.items()
    ]
    tests = "" if train.numeric is not None else f" as {counted(train.n_features, 'test')}"
    lines.append(f"features  {counted(len(features), 'column')}{tests}: {shown}")
    return "\n".join(map(folded, lines))
