"""Figures for papers: the size, the fonts and the file of a figure."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.common.writing import replacing
from milp_trees.studies.paper.tables import latex_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from milp_trees.studies.study import Study


@contextmanager
def page_style(
    width_cm: float = 16.0,
    height_cm: float = 8.0,
    font: str | None = None,
    size: float = 8.0,
    latex: bool = False,
) -> Iterator[None]:
    """Settings of matplotlib with which a figure fits a page.

    Fonts are embedded whole as TrueType in PDF, and texts stay texts in SVG.

    Parameters
    ----------
    width_cm, height_cm : float
        Size of the figure in centimetres.
    font : str, optional
        Family of the page's font, such as "Times New Roman" or "serif".
    size : float, default=8
        Size of the font in points.
    latex : bool, default=False
        Texts are set by LaTeX with its own fonts (PDF and .pgf only).

    Yields
    ------
    None

    Raises
    ------
    DataError
        LaTeX is wanted and not installed, or there is no such font.
    """
    import matplotlib

    settings: dict[str, Any] = {
        "figure.figsize": (width_cm / 2.54, height_cm / 2.54),
        "font.size": size,
        "axes.titlesize": size,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "lines.linewidth": 1.2,
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
    }
    if font is not None:
        settings["font.family"] = _known_font(font)
    if latex:
        if not (system := next(filter(shutil.which, ("pdflatex", "xelatex", "lualatex")), None)):
            raise DataError(
                "LaTeX is not installed, so it cannot set the texts of the figure; install it, or "
                "name a font of the page instead."
            )
        settings |= {"pgf.texsystem": system, "pgf.rcfonts": False, "font.family": "serif"}
        settings["text.parse_math"] = False  # texts reach LaTeX as they are
    with matplotlib.rc_context(settings):
        yield


def _known_font(font: str) -> str:
    from matplotlib import font_manager

    generic, manager = ("serif", "sans-serif", "monospace"), font_manager.fontManager
    if font not in {*generic, *(entry.name for entry in manager.ttflist)}:
        # The list that matplotlib keeps may be older than the fonts.
        known = {entry.fname for entry in manager.ttflist}
        for path in set(font_manager.findSystemFonts()) - known:
            with suppress(OSError, RuntimeError):  # a file that is no font for it
                manager.addfont(path)
    families = sorted({entry.name for entry in manager.ttflist})
    if font not in (*generic, *families):
        raise DataError(
            f"There is no font {font!r}; there are {', '.join((*generic, *families[:30]))}."
        )
    return font


def save_figure(
    study: Study, kind: str, path: str | Path, *, options: dict[str, Any], style: dict[str, Any]
) -> None:
    """Draw a figure of a study into a file whose fonts and size fit a page.

    Parameters
    ----------
    study : Study
    kind : str
        As `Study.plot` takes it.
    path : str or Path
        .pdf, .svg, .png, or .pgf with LaTeX.
    options : dict
        As `Study.plot` takes them.
    style : dict
        As `page_style` takes them.
    """
    import matplotlib.pyplot as plt

    with page_style(**style):
        figure = study.plot(kind=kind, **options)
        backend = {"backend": "pgf"} if style.get("latex") else {}
        if backend:
            no_commands(figure)
        try:
            with replacing(path) as draft:
                figure.savefig(draft, bbox_inches="tight", **backend)
        finally:
            plt.close(figure)


def no_commands(figure: Figure) -> None:
    """Escape the texts of a figure, so that LaTeX sees no commands in names.

    Numbers at the ticks are matplotlib's own, and stay; names have places that are fixed.
    """
    from matplotlib.text import Text
    from matplotlib.ticker import FixedLocator

    figure.canvas.draw()  # ticks get their labels when they are drawn
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    at_ticks = {id(label) for axis in axes for label in axis.get_ticklabels(which="both")}
    for axis in axes:
        if isinstance(axis.get_major_locator(), FixedLocator):
            names = [label.get_text() for label in axis.get_ticklabels()]
            axis.set_ticks(axis.get_ticklocs(), [_escaped(name) for name in names])
    for text in figure.findobj(Text):
        if id(text) not in at_ticks:
            text.set_text(_escaped(text.get_text()))


def _escaped(text: str) -> str:
    return "\n".join(latex_text(line) for line in text.split("\n"))
