"""Compiled code in files of the user, found again by a digest of its sources. Loads numba.

The name of a file holds a digest of everything that can change the code in it: the byte code of the
function and of all functions and constants that it reaches, the types of the arguments, the
versions of Python, numba and numpy, and the processor. So a file that is found is valid: its content need
not be compared with the sources, another installation of the same version finds the same files,
and different versions do not disturb each other. Files are written under another name and then
renamed, so a reader never sees an incomplete one.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import sys
import time
import types
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from milp_trees.common.compiling import files, inside

log = logging.getLogger("milp_trees")

#: Seconds after which an unread file may be deleted, and after which a new read is recorded.
_FORGOTTEN, _NOTED = 60 * 86400, 86400
_DIGEST = 32


def folder() -> Path:
    """The folder for compiled code: the one that NUMBA_CACHE_DIR names, or one of the user's."""
    given = inside.config.CACHE_DIR
    return (Path(given) if given else platformdirs.user_cache_path("milp-trees")) / "kernels"


class Store:
    """The files of one function, with the interface of numba's caches.

    Parameters
    ----------
    function : callable
        The function that is compiled.
    options : tuple
        How it is compiled: the same function with different options has different files.
    """

    def __init__(self, function: Callable[..., Any], options: tuple[Any, ...]) -> None:
        self._function, self._options = function, options

    @property
    def cache_path(self) -> str:
        return str(folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, or None if there is no such file."""
        # Compiled code needs the functions that count references. What numba knows about types and
        # functions, half a second to load, is only needed to compile.
        _provide_references(target_context)
        path = self.path(sig, target_context.codegen())
        payload = _read(path)
        if payload is None:
            return None
        try:
            return files.unpacked(target_context, payload)
        except (AttributeError, ImportError, pickle.UnpicklingError) as why:
            log.debug("%s names what does not exist any more: %s", path, why)
            return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Keep a compiled function; it is not kept if the folder cannot be written to."""
        path = self.path(sig, compiled.codegen)
        if _write(path, files.packed(compiled)):
            self._forget(path)

    def path(self, sig: Any, codegen: Any) -> Path:
        """The file for a signature."""
        return _path(self._stem(), (self._digest(), str(sig), self._options), codegen)

    def _stem(self) -> str:
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return name.replace("<", "").replace(">", "")

    def _digest(self) -> str:
        return digest_of(self._function)

    def _forget(self, kept: Path) -> None:
        """Delete files of this function, also unfinished ones, that were long not read."""
        for path in kept.parent.glob(f"{self._stem()}-*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _FORGOTTEN:
                    path.unlink()


def _provide_references(target_context: Any) -> None:
    """Provide the functions that count references, from their file if there is one."""
    if inside.rtsys._init:
        return
    path = _path("numba.references", (), target_context.codegen())
    made = files.provide_references(target_context, _read(path))
    if made is not None:
        _write(path, made)


def _path(stem: str, made_from: tuple[Any, ...], codegen: Any) -> Path:
    """The file for code that is made from this, by this Python, for this processor."""
    versions = (
        files.FORM,
        sys.implementation.cache_tag,
        inside.numba_version,
        inside.llvmlite_version,
        np.__version__,
        codegen.magic_tuple(),
    )
    digest = hashlib.sha256(repr((made_from, versions)).encode()).hexdigest()[:32]
    return folder() / f"{stem}-{digest}.code"


def _read(path: Path) -> bytes | None:
    """The content of a file; None if there is none, or a damaged one."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(payload).digest() != digest:
        log.debug("%s is damaged and is written again", path)
        return None
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _NOTED:
            os.utime(path)
    return payload


def _write(path: Path, payload: bytes) -> bool:
    """Keep content in a file; False, with a line in the log, if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not by `tempfile`, whose files only their owner may read: a folder may be shared.
        part = path.with_suffix(f".{uuid.uuid4().hex}.part")
        try:
            part.write_bytes(hashlib.sha256(payload).digest() + payload)
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as why:
        log.info("compiled code is not kept: %s", why)
        return False
    return True


@cache
def digest_of(function: Callable[..., Any]) -> str:
    """Digest of a function and of everything that it reaches."""
    found = hashlib.sha256()
    for part in _parts(function):
        found.update(part.encode())
        found.update(b"\0")
    return found.hexdigest()


def _parts(function: Callable[..., Any]) -> Iterator[str]:
    """The sources of compiled code as text.

    They are byte code and constants of a function, of the functions that it names, of those that
    these name, and so on.
    """
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (str, bytes, int, float, complex, type(None), np.generic)):
            yield repr(value)
            continue
        if id(value) in seen:
            yield "again"
            continue
        seen.add(id(value))
        yield f"{type(value).__module__}.{type(value).__qualname__}"
        if isinstance(value, types.CodeType):
            yield value.co_code.hex()
            yield repr((value.co_names, value.co_varnames, value.co_freevars))
            waiting += value.co_consts
        elif isinstance(value, types.FunctionType):
            yield f"{value.__module__}.{value.__qualname__}"
            if _ours(value.__module__):
                names = sorted(set(_names(value.__code__)) & set(value.__globals__))
                waiting += [value.__globals__[name] for name in names]
                waiting += [cell.cell_contents for cell in value.__closure__ or ()]
                waiting += [value.__code__, value.__defaults__]
        elif isinstance(value, (tuple, list)):
            waiting += value
        elif isinstance(value, (set, frozenset)):
            waiting += sorted(value, key=repr)
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, np.ndarray):
            yield hashlib.sha256(value.tobytes()).hexdigest() + str(value.dtype)
        elif isinstance(value, (type, types.ModuleType)):
            yield f"{getattr(value, '__module__', '')}.{value.__name__}"
            yield _source(value if isinstance(value, types.ModuleType) else value.__module__)
        elif inner := getattr(value, "py_func", getattr(value, "_defn", None)):
            # A kernel, or one of numba's intrinsics.
            waiting.append(inner)
        elif wrapped := getattr(value, "__wrapped__", None):
            waiting.append(wrapped)
        else:
            yield _source(type(value).__module__)
            if isinstance(value, inside.types.Type):
                yield str(value)


def _names(code: types.CodeType) -> Iterator[str]:
    """Names that a function reads, also in functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _ours(module: str | None) -> bool:
    """Whether a module's functions are followed; Python, numba and numpy count by version."""
    library = (module or "").split(".")[0]
    return library not in ("numba", "numpy", "llvmlite") and library not in sys.stdlib_module_names


def _source(module: Any) -> str:
    """Digest of a module's file, if the module is not a library's."""
    found = sys.modules.get(module) if isinstance(module, str) else module
    path = getattr(found, "__file__", None)
    if path is None or not _ours(found.__name__ if found else None):
        return ""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
