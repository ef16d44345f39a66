"""Which file of this folder, or of a family, holds which command.

A new command is one file here with a function under `@app.command(...)`; it is found by itself.
Only the file of the command that is run is imported, because a program that answers in a second
cannot import those of all the others.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from milp_trees.common.registering import families

#: A command, named by its decorator or by its function, or a group of commands.
_COMMAND = re.compile(
    r'^@app\.command\(\s*(?:"(?P<named>[\w-]+)")?.*?^def (?P<function>\w+)\('
    r'|^app\.add_typer\(\w+, name="(?P<group>[\w-]+)"',
    re.MULTILINE | re.DOTALL,
)


@cache
def homes() -> dict[str, str]:
    """The module of every command, by the name of the command."""
    files = {f"{__package__}.{p.stem}": p for p in sorted(Path(__file__).parent.glob("*.py"))}
    files |= families.files("commands")
    found: dict[str, str] = {}
    for module, path in files.items():
        for match in _COMMAND.finditer(path.read_text("utf-8")):
            name = match["named"] or match["group"] or match["function"].replace("_", "-")
            found[name] = module
    return found


def load(words: Sequence[str]) -> None:
    """Import the file of the command that a command line names, or those of all commands.

    Parameters
    ----------
    words : sequence of str
        The command line without the name of the program. If it names no command, it asks for the
        list of commands, or an answer must list them; but the version needs none.
    """
    name = next((word for word in words if not word.startswith("-")), "")
    if not name and words and words[0] == "--version":
        return
    for module in [homes()[name]] if name in homes() else dict.fromkeys(homes().values()):
        importlib.import_module(module)
