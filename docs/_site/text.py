"""Text of generated pages: tables, and docstrings as Markdown."""

from __future__ import annotations

import inspect
import re
from typing import Any


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; empty without rows."""
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(text: str) -> str:
    """A docstring's text on one line of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`").replace("<", "&lt;")


def first_sentence(doc: str) -> str:
    """The summary line of a docstring."""
    return cell(doc.strip().split("\n\n")[0])


def parameters(cls: type) -> dict[str, str]:
    """Parameter → type and description, from the NumPy docstrings of a class and its bases."""
    found: dict[str, str] = {}
    for base in cls.__mro__:
        found = _parameters(inspect.cleandoc(vars(base).get("__doc__") or "")) | found
    return found


def _parameters(doc: str) -> dict[str, str]:
    out: dict[str, str] = {}
    _, found, block = doc.partition("Parameters\n----------\n")
    for entry in re.split(r"\n(?=\S)", block.split("\n\n")[0]) if found else ():
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            out[name] = f"{kind}. {' '.join(body.split())}"
    return out


def module_text(cls: Any) -> str:
    """The docstring of the module that defines a class, as Markdown."""
    module = inspect.getmodule(cls)
    return markdown(inspect.cleandoc((module and module.__doc__) or ""))


def markdown(text: str) -> str:
    """Docstring markup (reStructuredText) as Markdown with mathematics between dollar signs."""
    text = re.sub(r":math:`([^`]*)`", lambda m: "$" + " ".join(m[1].split()) + "$", text)
    blocks = re.split(r"\n\s*\n", text)
    return "\n\n".join(_block(b) for b in blocks)


def _block(block: str) -> str:
    found = re.search(r"^\.\. math::[ \t]*(.*)$", block, flags=re.MULTILINE)
    if not found:
        return block.replace("``", "`")
    before, formula = block[: found.start()].rstrip(), (found[1] + block[found.end() :]).strip()
    formula = "\n".join(line.strip() for line in formula.splitlines())
    if "\\\\" in formula or "&" in formula:
        formula = f"\\begin{{aligned}}\n{formula}\n\\end{{aligned}}"
    return "\n\n".join(filter(None, [before, f"$$\n{formula}\n$$"]))
