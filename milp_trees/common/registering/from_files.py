"""Plug-ins in single Python files that a study names, beside those of installed packages."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

from milp_trees.common.errors import DataError
from milp_trees.common.registering import plugins

#: Files that were imported, with their fingerprints.
_loaded: dict[Path, str] = {}


def load_file(path: str | Path) -> None:
    """Import a Python file, so that the plug-ins in it are registered.

    The name of the file and the fingerprint of its text become the origin of its classes, so runs
    with another text of the file are other runs. A file is imported once per process.
    """
    file = Path(path).resolve()
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise DataError(f"The plug-in file {path} cannot be read: {error.strerror}.") from None
    if file in _loaded:
        if _loaded[file] != digest:
            raise DataError(
                f"The plug-in file {path} has changed since it was imported; start Python again."
            )
        return
    name = f"plugin_file_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise DataError(f"The plug-in file {path} is no Python file; its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        plugins.forget_module(name)
        del sys.modules[name]
        why = f"{type(error).__name__}: {error}".rstrip(".")
        raise DataError(f"The plug-in file {path} cannot be imported: {why}. Mend it.") from error
    if not plugins.came_with(name, {file.name: f"sha256-{digest}"}):
        raise DataError(
            f"The plug-in file {path} registers no plug-in; write @register above a class in it."
        )
    _loaded[file] = digest
