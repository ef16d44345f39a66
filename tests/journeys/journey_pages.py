"""What a section of a page says to do is done, in this process and in a folder of its own.

A section is found by its heading. Its blocks are done one after the other:

- `python`: run; a block whose first line is a comment with a file's name (`# my_task.py`) is
  written to that file instead;
- `toml`: written to the file that its first line names;
- `bash`: lines of `milp-trees`, each through the command line's own parser; a line that ends in
  `# exit code N` has to end with that code.

Files that commands name are there: all example tables are in the folder, and so are the files that
other sections of the same page write.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from milp_trees.data.examples import EXAMPLES

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.]+\.(?:py|toml))\n")


@dataclass
class Done:
    """What a section did: all that it printed, and the names that its Python blocks have made."""

    printed: str = ""
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    commands: list[list[str]] = field(default_factory=list)


def sections(page: str) -> dict[str, str]:
    """Heading → text up to the next heading of the second level."""
    text = (ROOT / page).read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def do(page: str, number: int, folder: Path, monkeypatch: Any) -> Done:
    """Do what the section with a number says."""
    found = {
        int(h.split(".")[0]): t for h, t in sections(page).items() if h.split(".")[0].isdigit()
    }
    blocks = BLOCK.findall(found[number])
    assert blocks, f"{page} has nothing to do in section {number}"
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    for one in EXAMPLES.values():
        one.write()
    for text in found.values():
        write_files(text)
    done = Done()
    for language, code in blocks:
        if language == "bash":
            for line in code.strip().splitlines():
                command(line, done)
        elif language == "python" and not FILE.match(code):
            python(code, done)
    return done


def write_files(text: str) -> None:
    """Write the blocks that name a file in their first line."""
    for _, code in BLOCK.findall(text):
        if named := FILE.match(code):
            Path(named[1]).write_text(code, encoding="utf-8")


def python(code: str, done: Done) -> None:
    """Run a block of Python; what it registers with `import` is noticed by its module's name."""
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code, "<the page>", "exec"), done.names)
    done.printed += out.getvalue()


def command(line: str, done: Done) -> None:
    """Run a line of the command line, and compare its exit code."""
    from milp_trees.cli.main import app

    expected = int(found[1]) if (found := re.search(r"# exit code (\d+)", line)) else 0
    words = shlex.split(line, comments=True)
    assert words[0] == "milp-trees", line
    got = CliRunner().invoke(app, words[1:])
    if got.exception is not None and not isinstance(got.exception, SystemExit):
        raise got.exception
    assert got.exit_code == expected, f"{line}\n{got.output}\n{got.stderr}"
    done.commands.append(words[1:])
    done.printed += got.stdout


def forget(folder: Path) -> None:
    """Forget the modules, and the plug-ins, that a page's files made."""
    from milp_trees.common.registering import plugins

    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and Path(file).parent == folder:
            plugins.forget_module(name)
            del sys.modules[name]


def do_all(page: str, folder: Path, monkeypatch: Any) -> Done:
    """Do all sections of a page in one folder, in which nothing is at the beginning."""
    monkeypatch.chdir(folder)
    done = Done()
    for text in sections(page).values():
        for language, code in BLOCK.findall(text):
            if language == "bash":
                for line in code.strip().splitlines():
                    command(line, done)
            elif language == "python":
                python(code, done)
    return done
