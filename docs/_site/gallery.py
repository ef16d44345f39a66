"""The gallery: every file of docs/gallery draws one picture, which is stored beside it.

`make gallery` draws them anew. A file's docstring holds title, text and, after `Alt:`, what the
picture shows; running the file leaves the picture in `picture`, a figure or the text of an SVG.
"""

from __future__ import annotations

import ast
import io
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _site import live
from _site.files import DOCS, Pages

FOLDER = DOCS / "gallery"
#: Pictures are the same wherever they are drawn: no date, no random names, text as text.
STYLE = {"svg.hashsalt": "milp-trees", "svg.fonttype": "none", "figure.dpi": 80}


@dataclass(frozen=True)
class Example:
    """One file of the gallery."""

    name: str
    title: str
    text: str
    alt: str
    code: str

    @staticmethod
    def read(path: Path) -> Example:
        tree = ast.parse(source := path.read_text(encoding="utf-8"))
        title, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
        text, _, alt = rest.partition("Alt:")
        code = "\n".join(source.splitlines()[tree.body[0].end_lineno or 0 :]).strip() + "\n"
        return Example(path.stem, title, text.strip(), " ".join(alt.split()), code)


def examples() -> list[Example]:
    """All files of the gallery by name."""
    return [Example.read(path) for path in sorted(FOLDER.glob("*.py"))]


def drawn(example: Example) -> str:
    """The picture as SVG, by running the code."""
    import matplotlib

    matplotlib.use("agg")
    with matplotlib.rc_context(STYLE):
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(example.code, f"docs/gallery/{example.name}.py", "exec"), names)
        return _svg(names["picture"])


def _svg(picture: Any) -> str:
    if isinstance(picture, str):
        return picture
    import matplotlib.pyplot as plt

    figure = getattr(picture, "figure", picture)
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close("all")
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def write(pages: Pages) -> None:
    """A page per picture with its code, and one with all pictures."""
    cards = []
    for example in examples():
        pages.add(f"gallery/{example.name}.md", _page(example))
        cards.append(
            f":::{{grid-item-card}} {example.title}\n:link: {example.name}\n:link-type: doc\n"
            f":img-bottom: ../../gallery/{example.name}.svg\n:img-alt: {example.alt}\n:::"
        )
    listed = "\n".join(example.name for example in examples())
    pages.add(
        "gallery/index.md",
        "# Gallery\n\nTwo pages to try, each one file that can be sent around.\n\n"
        f"::::{{grid}} 1 1 2 2\n:gutter: 3\n\n{live.cards('../../')}\n::::\n\n"
        "Each picture below leads to the few lines that draw it.\n\n"
        "::::{grid} 1 2 2 3\n:gutter: 3\n\n" + "\n".join(cards) + "\n::::\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n",
    )


def _page(example: Example) -> str:
    picture = f"```{{image}} ../../gallery/{example.name}.svg\n:alt: {example.alt}\n```"
    code = f"```python\n{example.code}```"
    return f"# {example.title}\n\n{example.text}\n\n{picture}\n\n{code}\n"


if __name__ == "__main__":
    for one in examples():
        if sys.argv[1:] and one.name not in sys.argv[1:]:
            continue
        begin = time.process_time()
        (FOLDER / f"{one.name}.svg").write_text(drawn(one), encoding="utf-8")
        print(f"{one.name}: {time.process_time() - begin:.1f} s")
