"""Pages that are written when the site is built: docs/generated, which is not kept in git."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
GENERATED = DOCS / "generated"


class Pages:
    """Collects the generated pages; files that no longer belong are removed at the end."""

    def __init__(self, folder: Path = GENERATED) -> None:
        self.folder = folder
        self.written: dict[str, str] = {}

    def add(self, name: str, text: str) -> None:
        """Write a page, such as `methods/dp.md`; a file with the same text is not touched."""
        path = self.folder / name
        self.written[name] = text
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def remove_others(self) -> None:
        """Delete what an earlier build wrote and this one did not."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.relative_to(self.folder).as_posix() not in self.written:
                path.unlink()
