"""`milp-trees plot`: a figure of a study for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from milp_trees.cli.app import Json, app, write
from milp_trees.cli.failing import explained
from milp_trees.cli.help import STUDIES
from milp_trees.cli.outputs import writable
from milp_trees.cli.table import StoreFile, TimeOuts
from milp_trees.common.errors import DataError

#: Kinds of files that a figure can be.
FILES = (".pdf", ".svg", ".png", ".pgf")


@app.command(rich_help_panel=STUDIES)
@explained
def plot(
    store: StoreFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="File: .pdf, .svg, .png or .pgf.")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="overview, profile, solved, target, ratios, integrals, ranks or variability.",
        ),
    ] = "profile",
    timeouts: TimeOuts = "limit",
    base: Annotated[
        str | None, typer.Option("--base", help="ratios: the method that others are compared with.")
    ] = None,
    target: Annotated[
        float, typer.Option("--target", min=0, help="target: distance from the best known value.")
    ] = 0.0,
    environment: Annotated[
        str | None, typer.Option("--environment", help="Only runs of this environment.")
    ] = None,
    width: Annotated[
        float, typer.Option("--width", min=1, max=100, help="Width in centimetres.")
    ] = 16.0,
    height: Annotated[
        float, typer.Option("--height", min=1, max=100, help="Height in centimetres.")
    ] = 8.0,
    font: Annotated[
        str | None,
        typer.Option("--font", help="Family of the page's font, such as serif or Times New Roman."),
    ] = None,
    font_size: Annotated[
        float, typer.Option("--font-size", min=1, max=100, help="Size of the font in points.")
    ] = 8.0,
    latex: Annotated[
        bool, typer.Option("--latex", help="Let LaTeX set the texts, with its own fonts.")
    ] = False,
    as_json: Json = False,
) -> None:
    """A figure of a study, with the fonts of the page embedded."""
    if out.suffix.lower() not in FILES:
        raise DataError(f"A figure's name ends in {', '.join(FILES)}; got {out.name!r}.")
    if out.suffix.lower() == ".pgf" and not latex:
        raise DataError("A .pgf file holds texts that LaTeX sets; give --latex too.")
    if latex and out.suffix.lower() not in (".pdf", ".pgf"):
        raise DataError(f"LaTeX makes .pdf and .pgf files only; got {out.name!r}.")
    writable(picture=out)
    import matplotlib

    matplotlib.use("Agg")
    from milp_trees.studies import Study
    from milp_trees.studies.paper.style import save_figure

    options = {"timeouts": timeouts, "base": base, "target": target, "environment": environment}
    style = {"width_cm": width, "height_cm": height, "font": font, "size": font_size}
    save_figure(Study.open(store), kind, out, options=options, style={**style, "latex": latex})
    write({"file": str(out), "kind": kind, **options}, None, as_json)
