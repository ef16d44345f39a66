"""Files are written whole or not at all: beside their place, and then renamed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from milp_trees.common.errors import DataError

#: Folders of devices and of open files, which are written to and never replaced.
_SPECIAL = ("/dev/", "/proc/")


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write a file so that its place holds the old content or the new one, never a part."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    with replacing(path) as draft, open(draft, "wb") as file:
        file.write(data)
        if draft != Path(path):
            file.flush()
            os.fsync(file.fileno())  # some disks say only now that they are full
    return Path(path)


def refuse_to_replace(path: str | Path) -> None:
    """Refuse to write a page or a table over the file of a study."""
    if Path(path).is_file():
        with Path(path).open("rb") as file:
            if file.read(16) == b"SQLite format 3\0":
                raise DataError(
                    f"{path} is the file of a study or another database, which is not replaced; name another file."
                )


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new name, with the ending of `path`, for a file that then takes its place.

    If the block raises, the new file is removed, and what was in its place stays. Devices and pipes
    have no new name; they are written to at once.
    """
    path = Path(path)
    if special(path):
        yield path
        return
    target = path.resolve()
    draft = target.with_name(f".{os.urandom(8).hex()}.new{target.suffix}")
    try:
        yield draft
        if target.exists():
            os.chmod(draft, stat.S_IMODE(target.stat().st_mode))
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def special(path: str | Path) -> bool:
    """Whether a path is a device, a pipe or an open file, which cannot be replaced."""
    path = Path(path)
    if str(path.absolute()).startswith(_SPECIAL):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()
