"""Which rows of a study are about one problem: permutations of a problem are the same problem."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

#: Longer lists and texts of a description are replaced by their length.
LONGEST_LIST, LONGEST_TEXT = 12, 300
#: Parts of a description of data that permuted data do not share.
_OF_ARRAYS = ("arrays_sha256", "permutation")


def same_problems(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The fingerprint under which each problem is counted and shown.

    Permutations of a problem have fingerprints of their own and the same optimum, so they are one
    problem: if they have the same name, and descriptions that differ in the arrays alone.
    """
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row.get("run") or {}).get("permutation") or 0):
        key, name = row["problem_key"], (row.get("run") or {}).get("name")
        if key in found:
            continue
        data = {k: v for k, v in row["problem"]["data"].items() if k not in _OF_ARRAYS}
        stated = json.dumps([name, brief({**row["problem"], "data": data})], sort_keys=True)
        found[key] = first.setdefault(stated if name else key, key)
    return found


def brief(value: Any) -> Any:
    """A description without its long parts: arrays, the trees of an ensemble, long texts."""
    if isinstance(value, Mapping):
        return {str(k): brief(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) > LONGEST_LIST:
            return f"{len(value)} values"
        return [brief(v) for v in value]
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}…"
    return value
