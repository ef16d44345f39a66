"""The CBC program: where it is, its version, and a channel on which it writes line by line."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import platform
import queue
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from milp_trees.mip.solver import Availability

from ._common import WINDOWS


def executable() -> str | None:
    """The path of CBC: on PATH, else in the wheel of PuLP 3, else in that of cbcbox."""
    return shutil.which("cbc") or next(
        (str(p) for p in _in_wheels() if os.access(p, os.X_OK)), None
    )


def _in_wheels() -> Iterator[Path]:
    # The packages are located and not imported: PuLP imports a HiGHS, which cannot be in one
    # process with OR-tools.
    suffix = ".exe" if WINDOWS else ""
    for folder in _package("pulp"):
        system = {"Windows": "win", "Darwin": "osx"}.get(platform.system(), "linux")
        machine = (
            "arm64" if platform.machine() in ("arm64", "aarch64") and system == "linux" else "i64"
        )
        yield folder / "solverdir" / "cbc" / system / machine / f"cbc{suffix}"
    for folder in _package("cbcbox"):
        yield from sorted(folder.glob(f"**/bin/cbc{suffix}"))


def _package(name: str) -> Iterator[Path]:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent


@functools.lru_cache
def probe(path: str) -> Availability:
    """Run CBC once to get its version."""
    try:
        message = subprocess.run(
            [path, "-quit"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return Availability(False, reason=f"{path} does not run: {error}.")
    version = re.search(r"Version:\s*(\S+)", message)
    if "CBC" not in message.upper() or version is None:
        return Availability(False, reason=f"{path} does not answer like CBC.")
    return Availability(True, version[1])


def line_buffered() -> tuple[int, int]:
    """Both ends of a channel on which a C program writes line by line.

    It is a terminal on systems that have such terminals.
    """
    if WINDOWS:
        return os.pipe()
    import pty
    import tty

    reader, writer = pty.openpty()
    tty.setraw(writer)
    return reader, writer


def read_all(reader: int, texts: queue.SimpleQueue[str | None]) -> None:
    """Forward what is printed, and None at the end."""
    # A terminal whose other end is closed reports an error instead of an end of file.
    with contextlib.suppress(OSError):
        while chunk := os.read(reader, 65536):
            texts.put(chunk.decode(errors="replace"))
    texts.put(None)
    os.close(reader)
