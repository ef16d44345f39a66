"""The environment of runs as data: the machine, and the software that can change a run or its time.

A study stores every environment once, under its fingerprint, and each row names the fingerprint of
the environment in which it was made. So rows of different machines are told apart, and their times
are never averaged (`milp_trees.studies.measures`).
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from milp_trees.common.registering import GROUPS
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import availability_of

OWN = "milp-trees"
#: The folder of the sources, if the package runs from them and was not installed from a file.
SOURCES = Path(__file__).resolve().parents[2]
#: Extras of this package that no run uses.
_NOT_USED = ("test", "dev", "notebooks")
#: Differences that a sentence names.
SAID = 6
#: What tells two environments apart, with its name in sentences. The command is kept too, but does
#: not count: a study that is continued by another command runs in the same environment.
PARTS = {
    "machine": "machine",
    "cpu": "processor",
    "cores": "cores",
    "logical_cores": "logical cores",
    "memory_mb": "memory",
    "os": "operating system",
    "python": "Python",
    "commit": "commit of milp-trees",
    "solvers": "solvers",
    "versions": "packages",
}


def environment(command: Sequence[str] | None = None) -> dict[str, Any]:
    """The environment of this process, as plain data for JSON."""
    return {**_fixed(), "command": list(sys.argv if command is None else command)}


def fingerprint(found: Mapping[str, Any]) -> str:
    """Fingerprint of an environment: 16 hexadecimal digits, equal on equal machines."""
    reported = {part: found.get(part) for part in PARTS}
    return hashlib.sha256(json.dumps(reported, sort_keys=True).encode()).hexdigest()[:16]


def differences(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """What differs between environments, in words such as `numpy 2.1 or 2.2`."""
    environments, message = list(found), []
    for part, name in PARTS.items():
        values = [one.get(part) for one in environments]
        if not any(isinstance(value, Mapping) for value in values):
            message += _different(name, values)
            continue
        tables = [value or {} for value in values]
        for key in sorted({key for table in tables for key in table}, key=str.lower):
            message += _different(key, [table.get(key, "absent") for table in tables])
    return message


def mixed(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The sentence that rows of a study come from several environments; empty for one."""
    if len(found) < 2:
        return ""
    reported = differences(found.values())
    more = len(reported) - SAID
    what = "; ".join(reported[:SAID]) + (f"; and {more} more" if more > 0 else "")
    return f"The runs were made in {len(found)} environments, whose times are never averaged. They differ in {what}."


def _different(name: str, values: list[Any]) -> list[str]:
    texts = list(dict.fromkeys("unknown" if value is None else str(value) for value in values))
    return [] if len(texts) < 2 else [f"{name} {', '.join(texts[:-1])} or {texts[-1]}"]


@cache
def _fixed() -> dict[str, Any]:
    """What does not change while this process lives."""
    return {
        "machine": platform.node() or None,
        "cpu": _cpu(),
        "cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count(),
        "memory_mb": round(psutil.virtual_memory().total / 2**20, -2),  # kernels take a little
        "os": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "commit": _commit(),
        "solvers": _solvers(),
        "versions": _versions(),
    }


def _cpu() -> str | None:
    """The model of the processor."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        for wanted in ("model name", "Model", "Hardware"):  # x86, then what ARM machines have
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == wanted:
                    return value.strip()
    if sys.platform == "darwin":
        return _output(["sysctl", "-n", "machdep.cpu.brand_string"]) or None
    return platform.processor() or platform.machine() or None


def _commit() -> str | None:
    """The commit of this package's sources, with `+` if files of the package were changed."""
    folder = SOURCES
    if (folder / ".git").exists():
        git = ["git", "-C", str(folder)]
        found = _output([*git, "rev-parse", "HEAD"])
        changed = _output([*git, "status", "--porcelain", "-uno", "--", "*.py"])
        return f"{found}{'+' if changed else ''}" if found else None
    with suppress(metadata.PackageNotFoundError, ValueError, KeyError):
        stated = metadata.distribution(OWN).read_text("direct_url.json")  # `pip install git+…`
        commit = None if stated is None else json.loads(stated)["vcs_info"]["commit_id"]
        return None if commit is None else str(commit)
    return None


def _output(command: list[str]) -> str:
    """What a command prints; empty if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _solvers() -> dict[str, str]:
    """The installed solvers with their versions."""
    found = {name: availability_of(cls()) for name, cls in registry.classes("solvers").items()}
    return {name: known.version or "unknown" for name, known in found.items() if known.found}


def _versions() -> dict[str, str]:
    """The installed distributions that a run can use.

    They are this package and the packages of plug-ins, with all that these require, directly or not.
    """
    wanted = [OWN]
    for group in GROUPS:
        points = metadata.entry_points(group=f"milp_trees.{group}")
        wanted += [point.dist.name for point in points if point.dist is not None]
    found: dict[str, str] = {}
    while wanted:
        name = _plain(wanted.pop())
        if name in found:
            continue
        with suppress(metadata.PackageNotFoundError):
            one = metadata.distribution(name)
            found[name] = one.version
            wanted += [need for text in one.requires or () if (need := _needed(name, text))]
    return dict(sorted(found.items()))


def _needed(name: str, requirement: str) -> str | None:
    """The name in a requirement, unless it belongs to an extra that no run uses."""
    extra = re.search(r"""extra\s*==\s*["']([^"']+)""", requirement)
    if extra is not None and (name != OWN or extra[1] in _NOT_USED):
        return None
    named = re.match(r"[A-Za-z0-9._-]+", requirement)
    return None if named is None else named[0]


def _plain(name: str) -> str:
    """A distribution's name in the one spelling that the index uses."""
    return re.sub(r"[-_.]+", "-", name).lower()
