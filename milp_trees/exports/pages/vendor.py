"""JavaScript libraries of other people that a page holds, unchanged, with licence and checksum."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files

from milp_trees.common.errors import MilpTreesError


@dataclass(frozen=True)
class Library:
    """A minified library as its authors published it.

    Parameters
    ----------
    name, version, licence : str
    source : str
        Package and file from which it was taken.
    file : str
        Its name in `assets/vendor`.
    sha256 : str
        Checksum of the file.
    """

    name: str
    version: str
    licence: str
    source: str
    file: str
    sha256: str

    def text(self) -> str:
        """The library's code."""
        code = (_FOLDER / self.file).read_bytes()
        found = hashlib.sha256(code).hexdigest()
        if found != self.sha256:
            raise MilpTreesError(
                f"The file {self.file} is not {self.name} {self.version} as published "
                f"(SHA-256 {found} instead of {self.sha256}); install milp-trees again."
            )
        return code.decode("utf-8")


_FOLDER = files("milp_trees.exports.pages") / "assets" / "vendor"


def libraries() -> tuple[Library, ...]:
    """The libraries, in the order in which a page must load them."""
    listed = json.loads((_FOLDER / "libraries.json").read_text("utf-8"))
    return tuple(Library(**entry) for entry in listed)


def licences() -> str:
    """The licences of the libraries and of what they hold; a page must carry this text."""
    return (_FOLDER / "LICENSES.txt").read_text("utf-8")
